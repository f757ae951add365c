"""The rules behind a change: of those marked when it came about, the ones that decide the fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.explanation.value import TOLD_FACTS, Change, ExecutedLine, TensorState
from specs.rule import RULES

MOST = 3
"""The most rules told for one change."""

_USUAL = {"retains_grad": False, "grad": None, "grad_fn": None, "version": 0, "device": "cpu", "base": None,
          "stale": False}  # fmt: skip
_DECIDED_AS = {"base": "is_view", "stale": "grad_fn"}

_CUT = ("copy/tensor-copies", "detach/in-place-makes-a-leaf", "nn/parameter-cuts", "data/cuts", "detach/cuts",
        "inference/records-nothing", "inference/alone-records-nothing", "mode/no-grad-records-nothing",
        "requires_grad/integer-results-never", "function/non-differentiable",
        "nn/state-is-detached")  # fmt: skip
_FLAG = ("requires_grad/flag-at-creation", "nn/parameter-requires-grad",
         "nn/freezes-the-parameters-themselves", "requires_grad/flag-is-set-in-place",
         "copy/deepcopy-takes-the-grad-along", "copy/pickle-keeps-the-flag")  # fmt: skip
_WRITTEN = ("write/rewrites-the-base", "write/plain-tensor-joins-graph", "write/history-becomes-the-write")
_RECORDED = ("device/copy-is-an-op", *_WRITTEN, "view/requires-grad-follows-base", "view/stale-regenerates",
             "double/create-graph-records", "function/is-recorded", "leaf/op-result-is-no-leaf")  # fmt: skip
_PLAIN = ("leaf/no-history-without-requires-grad", "device/made-there-is-a-leaf", "copy/from-numpy-shares")

FIRST: dict[tuple[str, bool], tuple[str, ...]] = {
    ("is_leaf", True): (*_CUT, *_FLAG, "view/leaf-without-a-history", *_PLAIN),
    ("is_leaf", False): _RECORDED,
    ("requires_grad", True): (*_FLAG, *_WRITTEN, "view/requires-grad-follows-base",
                              "double/create-graph-records", "function/is-recorded",
                              "requires_grad/any-input", "leaf/op-result-is-no-leaf"),
    ("requires_grad", False): (*_CUT, "nn/freezes-the-parameters-themselves",
                               "requires_grad/flag-is-set-in-place", *_PLAIN),
    ("grad_fn", True): (*_RECORDED, "nn/linear-is-one-node"),
    ("grad_fn", False): (*_CUT, *_PLAIN),
    ("grad", True): ("copy/deepcopy-takes-the-grad-along", "grad/accepted-on-non-leaf",
                     "grad/assigned-as-is", "retain/accumulates",
                     "retain/fills-grad", "grad/accumulates", "double/accumulates-out-of-place",
                     "double/create-graph-records", "nn/zero-grad-fills-in-place",
                     "grad/only-leaves-are-filled", "backward/leaf-root",
                     "hook/result-replaces", "device/gradient-comes-back",
                     "version/write-bumps"),
    ("grad", False): ("nn/zero-grad-forgets", "grad/assign-none-clears"),
    ("version", True): ("optim/step-is-a-write", "nn/state-is-copied-in", "function/dirty-counts-as-written",
                        "version/increment-counts", "version/write-bumps", "write/allowed-under-no-grad",
                        "version/shared-by-detach", "version/shared-by-views", "nn/parameter-shares"),
    ("version", False): ("version/data-has-its-own", "data/assign-swaps", "inference/has-no-version"),
    ("retains_grad", True): ("retain/flag",),
    ("retains_grad", False): ("retain/moves-with-write", "retain/moves-by-its-own-number"),
    ("device", True): ("device/copy-is-an-op", "device/made-there-is-a-leaf", "device/like-its-model",
                       "nn/to-swaps-data", "device/data-moves-the-end"),
    ("base", True): ("view/shares-storage", "view/base-is-the-root", "view/no-grad-tag"),
    ("memory", True): ("detach/shares-storage", "data/assign-swaps", "data/cuts", "nn/state-is-detached",
                       "nn/parameter-shares", "copy/from-numpy-shares", "copy/numpy-shares",
                       "view/shares-storage"),
    ("value", True): ("version/data-has-its-own", "data/assign-swaps", "version/set-data-keeps",
                      "copy/numpy-shares", "write/allowed-under-no-grad"),
    ("stale", True): ("view/unread-passes-for-a-leaf", *_WRITTEN),
    ("stale", False): ("view/stale-regenerates",),
}  # fmt: skip
"""The rules that may decide a fact, by whether its value is set, the decisive first."""

BY_DEFAULT: dict[tuple[str, bool], str] = {
    ("is_leaf", True): "requires_grad/flag-at-creation",
    ("is_leaf", False): "leaf/op-result-is-no-leaf",
    ("requires_grad", False): "requires_grad/flag-at-creation",
    ("requires_grad", True): "requires_grad/any-input",
    ("grad_fn", False): "leaf/no-history-without-requires-grad",
    ("grad_fn", True): "leaf/op-result-is-no-leaf",
    ("grad", True): "grad/only-leaves-are-filled",
    ("grad", False): "grad/assign-none-clears",
    ("version", True): "version/write-bumps",
    ("version", False): "version/write-bumps",
    ("base", True): "view/shares-storage",
    ("memory", True): "view/shares-storage",
    ("value", True): "version/data-has-its-own",
    ("device", True): "device/made-there-is-a-leaf",
    ("stale", True): "view/unread-passes-for-a-leaf",
    ("stale", False): "view/stale-regenerates",
    ("retains_grad", True): "retain/flag",
    ("retains_grad", False): "retain/moves-with-write",
}
"""The rule whose statement decides a fact where none was marked: factories mark nothing that is plain."""


class Reasons:
    """Explains one step after another; it knows the states that were told."""

    def __init__(self, given: bool = True) -> None:
        self.given = given
        self.known: dict[int, TensorState] = {}

    def explained(self, step: ExecutedLine, subjects: Mapping[int, Sequence[str]]) -> ExecutedLine:
        """Return the step with its changes and the rules behind them, given the marks by tensor."""
        changes: list[Change] = []
        spoken = {mark for marks in subjects.values() for mark in marks}
        loose = [mark for mark in step.marks if mark not in spoken]
        names = {number: name for name, number in reversed(list(step.names.items()))}
        for number, name in sorted(names.items()):
            now, old = step.tensors.get(number), self.known.get(number)
            if now is None or now is old:
                continue
            own = [*subjects.get(number, ()), *loose] if number in subjects else list(step.marks)
            for fact, was, value in self._changed(step, old, now):
                because = _because(step, own, fact, value, now, was) if self.given else ()
                changes.append(Change(name, fact, was, value, because))
            self.known[number] = now
        rules = [rule for change in changes for rule in change.because[:1]]
        ranked = sorted(dict.fromkeys(rules), key=rules.count, reverse=True)
        return replace(step, changes=tuple(changes), because=tuple(ranked[:MOST]))

    def _changed(
        self, step: ExecutedLine, old: TensorState | None, now: TensorState
    ) -> Iterator[tuple[str, Any, Any]]:
        for fact in TOLD_FACTS:
            was, value = _told(old, fact, step), _told(now, fact, step)
            usual = old is None and fact in _USUAL and value == _USUAL[fact]
            if not usual and (old is None or was != value):
                yield fact, was, value
        if old is None or old.storage != now.storage:
            shares = (n for n, s in self.known.items() if s.storage == now.storage and n in step.tensors)
            other = next((n for n in shares if n not in (now.number, now.base)), None)
            if other is not None and now.base is None:
                yield "memory", None, other
        elif old.version == now.version and old.value != now.value and now.value is not None:
            yield "value", old.value, now.value


def _told(state: TensorState | None, fact: str, step: ExecutedLine) -> Any:
    if state is None:
        return None
    if fact == "grad" and state.grad is not None and state.grad_value is None:
        grad = step.tensors.get(state.grad)
        return f"a tensor of shape {list((grad or state).shape)}"
    return getattr(state, "grad_value" if fact == "grad" else fact)


def deciding(fact: str, value: Any, marks: Iterable[str]) -> str | None:
    """Return the rule, of those marked, that decides a fact which has that value now."""
    marked = set(marks)
    first = FIRST.get((fact, value is not None if fact == "grad" else value not in (None, False, 0)), ())
    return next((rule for rule in first if rule in marked), None)


def _because(
    step: ExecutedLine, own: Sequence[str], fact: str, value: Any, now: TensorState, was: Any
) -> tuple[str, ...]:
    """Return the marked rules that decide a fact: the tensor's own first, then any of the line's."""
    key = fact, value is not None if fact == "grad" else value not in (None, False, 0) or value == []
    if fact == "is_leaf" and value and not now.requires_grad:
        key = "is_leaf", True
    first = FIRST.get(key, ())
    for marks in (own, step.marks):
        found = [rule for rule in first if rule in marks and _fits(step, rule, fact, now, was)]
        if found:
            return tuple(found[:MOST])
    if key in (("is_leaf", True), ("requires_grad", False)) and _is_lost(step, now):
        return (_LOST_AS_INTEGER if "int" in now.dtype or now.dtype == "bool" else "detach/cuts",)
    if fact == "device" and any(now.number in flow.gives and flow.takes for flow in step.flows):
        return ("device/like-its-model",)
    if key in BY_DEFAULT:
        return (BY_DEFAULT[key],)
    decided = _DECIDED_AS.get(fact, fact)
    marked = [m for m in dict.fromkeys(own) if m in RULES and decided in RULES[m].decides]
    return tuple(sorted(marked, key=lambda rule: len(RULES[rule].decides))[:MOST])


_ALONE = frozenset({"copy/tensor-copies", "optim/step-is-a-write", "nn/parameter-requires-grad"})
"""The rules beside which others say nothing new."""
_LOST_AS_INTEGER = "requires_grad/integer-results-never"


def _is_lost(step: ExecutedLine, now: TensorState) -> bool:
    return any(flow.lost and now.number in flow.gives for flow in step.flows)


def _fits(step: ExecutedLine, rule: str, fact: str, now: TensorState, was: Any) -> bool:
    """Tell whether a rule that was marked can be about this tensor."""
    if rule in ("retain/fills-grad", "retain/accumulates"):
        return not now.is_leaf
    if rule in ("grad/only-leaves-are-filled", "backward/leaf-root", "grad/accumulates"):
        return now.is_leaf and (rule != "grad/accumulates" or was is not None)
    if rule == "device/copy-is-an-op" and fact != "device":
        return now.node is not None and now.grad_fn == "ToCopyBackward0"
    if rule == "version/write-bumps" and fact == "grad":
        return not step.ran
    if rule == "version/shared-by-views":
        return now.base is not None
    if rule in ("nn/parameter-cuts", "detach/cuts"):
        return _is_lost(step, now)
    if rule in _CUT and fact == "is_leaf":
        return not now.requires_grad
    return True
