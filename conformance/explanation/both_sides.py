"""Comparing what a script did on the reference and on torch, line by line and fact by fact."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Any

from conformance.explanation.explanation import Explanation
from conformance.explanation.value import ExecutedLine, TensorState

COMPARED = (
    "is_leaf",
    "requires_grad",
    "grad_fn",
    "grad",
    "version",
    "retains_grad",
    "shape",
    "dtype",
    "value",
)
"""The facts that are compared, by name, after each line."""
FUSED = frozenset({
    "CdistBackward0", "DistBackward0", "GluBackward0", "MkldnnRnnLayerBackward0", "NanToNumBackward0",
    "PixelShuffleBackward0", "Rot90Backward0", "RreluWithNoiseBackward0",
    "ScaledDotProductFlashAttentionForCpuBackward0", "SoftMarginLossBackward0",
    "WeightNormInterfaceBackward0",
})  # fmt: skip
"""Nodes of kernels that the reference composes of other ops: the names of its nodes are others."""
OF_VMAP = "StackBackward0"
"""The node of what a vmap gives: the reference computes one by one and stacks."""
NUDGE, SWAY = 1e-6, 10
"""The relative change of the random numbers that shows what rounding decides, and how much more than torch's
own change the difference from the reference may be.
"""


@dataclass(frozen=True)
class Disagreement:
    """A fact of a name that is not the same on torch after a line."""

    line: int
    passes: int
    name: str
    fact: str
    reference: Any
    torch: Any


def nudged(draws: list[Any]) -> list[Any]:
    """Return the random numbers, those that are not whole changed a little."""

    def nudge(at: int, x: Any) -> Any:
        return x * (1 + (NUDGE if at % 2 else -NUDGE)) if isinstance(x, float) and x % 1 else x

    return [[shape, [nudge(at, x) for at, x in enumerate(values)]] for shape, values in draws]


class BothSides:
    """The states of both sides after each pass of a line that changed something on both.

    Values that hang on rounding are not compared: torch itself makes others of them when the random numbers
    change in their last digits, as ``again`` shows. What their names hold later comes of them. Whether a
    gradient was written to on its way is not compared either: such versions count from where the tensor is
    first seen.
    """

    def __init__(
        self, found: Explanation, there: Explanation, lost_at: int | None, again: Explanation | None = None
    ) -> None:
        self.differ: list[Disagreement] = []
        self.facts = self.lines = 0
        self.fused: dict[str, str] = {}
        self._maps = any("vmap" in line for line in found.source)
        self.rounded: list[str] = []
        self._told: set[tuple[str, str]] = set()
        self._since: dict[int, tuple[int | None, int | None]] = {}
        self._given = _first_seen_while_backward_runs(found)
        by_place = {_place(step): step for step in there.steps}
        nudged = {_place(step): step for step in again.steps} if again else {}
        last = {_place(step): step for step in found.steps}
        for here in found.steps:
            torch = by_place.get(_place(here))
            if torch is None or last[_place(here)] is not here:
                continue  # a line that calls a function is looked at before and after
            if found.error is not None and here is found.steps[-1]:
                continue
            self.lines += 1
            unlike = lost_at is not None and torch.number >= lost_at
            self._compare(here, torch, nudged.get(_place(here)), unlike)

    def _compare(
        self, here: ExecutedLine, torch: ExecutedLine, nudged: ExecutedLine | None, unlike: bool
    ) -> None:
        for name in sorted(here.names.keys() & torch.names.keys()):
            one = here.tensors.get(here.names[name])
            other = torch.tensors.get(torch.names[name])
            if one is None or other is None or one.stale or other.stale:
                continue
            since = self._since.setdefault(one.number, (one.version, other.version))
            for fact in COMPARED:
                was, is_ = _fact(one, fact), _fact(other, fact)
                if unlike and fact in ("value", "grad"):
                    was, is_ = was is None, is_ is None
                if fact == "version" and one.number in self._given and None not in (was, is_, *since):
                    was, is_ = was - since[0], is_ - since[1]
                self.facts += 1
                if _alike(was, is_) or (name, fact) in self._told:
                    continue
                if fact == "grad_fn" and (is_ in FUSED or (self._maps and was == OF_VMAP)):
                    self.fused.setdefault(is_, str(was))
                elif fact in ("value", "grad") and (
                    name in self.rounded or _sways(name, fact, was, is_, nudged)
                ):
                    if name not in self.rounded:
                        self.rounded.append(name)
                else:
                    self._told.add((name, fact))
                    self.differ.append(Disagreement(here.line, here.passes, name, fact, was, is_))

    def notes(self) -> list[str]:
        """Return what else to know of the comparison."""
        told = [
            f"vmap computes all at once in torch: the node of its result is {node}"
            if mine == OF_VMAP and node not in FUSED
            else f"torch fuses a kernel: its node is {node} where the reference has {mine}"
            for node, mine in self.fused.items()
        ]
        if self.rounded:
            more = f" and {len(self.rounded) - 3} more" if len(self.rounded) > 3 else ""
            told.append(
                f"rounding decides values of {', '.join(self.rounded[:3])}{more}: torch itself makes others "
                "if the random numbers change in the last digit"
            )
        return told


def _first_seen_while_backward_runs(found: Explanation) -> set[int]:
    """Return the numbers of the tensors that a backward or ``grad()`` made."""
    seen: set[int] = set()
    given: set[int] = set()
    lines: set[int] = set()
    before = False  # a function or a comprehension returned what the backward in it made
    for step in found.steps:
        if step.ran:
            lines.add(step.line)
        if before or step.line in lines:
            given |= step.tensors.keys() - seen
        before = bool(step.ran)
        seen |= step.tensors.keys()
    return given


def _sways(name: str, fact: str, was: Any, is_: Any, nudged: ExecutedLine | None) -> bool:
    """Tell whether torch's own value changes about as much when the random numbers change a little."""
    state: TensorState | None = nudged.tensors.get(nudged.names.get(name, -1)) if nudged else None
    if state is None:
        return False
    swayed = _distance(is_, _fact(state, fact))
    return swayed > 0 and _distance(is_, was) <= SWAY * swayed


def _distance(one: Any, other: Any) -> float:
    """Return the greatest difference of two values of one form, infinite if they are not."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        return max(map(_distance, one, other), default=0.0)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other)
    return 0.0 if one == other else math.inf


def _place(step: ExecutedLine) -> tuple[int, str, int]:
    return step.line, step.function, step.passes


def _fact(state: Any, fact: str) -> Any:
    if fact == "grad":
        return state.grad_value if state.grad_value is not None else (state.grad is not None) or None
    return getattr(state, fact)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-5)
    if isinstance(one, str) and isinstance(other, str) and "j" in one and "j" in other:
        try:
            return cmath.isclose(complex(one), complex(other), rel_tol=1e-3, abs_tol=1e-5)
        except ValueError:
            return one == other
    return one == other or (str(one) == str(other))
