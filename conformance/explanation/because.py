"""The rules behind a change: of those marked on a line, the ones that decide the fact."""

from __future__ import annotations

from dataclasses import replace

from conformance.explanation.value import TOLD_FACTS, Change, ExecutedLine, TensorState
from specs.rule import RULES

MOST = 3
"""The most rules told for one change."""

_USUAL = {"retains_grad": False, "grad": None, "version": 0, "device": "cpu", "base": None, "stale": False}
_DECIDED_AS = {"base": "is_view", "stale": "grad_fn"}
_FIRST = {
    "is_leaf": ("detach/cuts", "data/cuts", "nn/parameter-cuts", "copy/tensor-copies", "device/copy-is-an-op",
                "mode/no-grad-records-nothing", "leaf/op-result-is-no-leaf"),
    "requires_grad": ("requires_grad/flag-at-creation", "requires_grad/flag-is-set-in-place",
                      "nn/parameter-requires-grad", "detach/cuts", "requires_grad/any-input"),
    "grad_fn": ("device/copy-is-an-op", "write/rewrites-the-base", "write/history-becomes-the-write",
                "leaf/op-result-is-no-leaf"),
    "version": ("optim/step-is-a-write", "version/write-bumps"),
    "grad": ("retain/fills-grad", "grad/accumulates", "grad/sums-paths", "nn/zero-grad-forgets",
             "grad/assign-none-clears", "backward/implicit-one"),
}  # fmt: skip
"""The rules to tell first, by fact."""


def explained_step(step: ExecutedLine, before: ExecutedLine | None) -> ExecutedLine:
    """Return the step with its changes and the rules behind them."""
    changes: list[Change] = []
    told: set[int] = set()
    for name, number in step.names.items():
        if number in told or number not in step.tensors:
            continue
        told.add(number)
        now = step.tensors[number]
        old = before.tensors.get(number) if before and number in before.names.values() else None
        for fact in TOLD_FACTS:
            was, value = _told(old, fact), _told(now, fact)
            if old is None and fact in _USUAL and value == _USUAL[fact]:
                continue
            if old is None or was != value:
                changes.append(Change(name, fact, was, value, _because(step, fact)))
    because = [rule for change in changes for rule in change.because]
    ranked = sorted(dict.fromkeys(because), key=because.count, reverse=True)
    return replace(step, changes=tuple(changes), because=tuple(ranked[:MOST]))


def _told(state: TensorState | None, fact: str) -> object:
    if state is None:
        return None
    if fact == "grad":
        return (
            None if state.grad is None else state.grad_value if state.grad_value is not None else "a tensor"
        )
    return getattr(state, fact)


def _because(step: ExecutedLine, fact: str) -> tuple[str, ...]:
    """Return the marked rules that decide a fact: those to tell first, then the most specific."""
    decided = _DECIDED_AS.get(fact, fact)
    found = [mark for mark in dict.fromkeys(step.marks) if mark in RULES and decided in RULES[mark].decides]
    first = _FIRST.get(fact, ())
    found.sort(key=lambda r: (first.index(r) if r in first else len(first), len(RULES[r].decides)))
    return tuple(found[:MOST])
