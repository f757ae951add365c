"""The reach of a step, by the name of its operation: what must be observed after it."""

from __future__ import annotations

from collections.abc import Callable

from conformance.program import DELETE, OPAQUE
from specs.callbacks import WRITING_CLASSES, class_of

EVERYTHING = "everything"
"""A density that no program is drawn at: all that is live, and every grad, is observed after each step."""


def speaks_of_gradients(op: str) -> bool:
    """Tell by its name whether an operation may fill, clear or retain a grad."""
    return "grad" in op or "backward" in op


CHANGES_ITS_OPERAND = OPAQUE | {
    DELETE, ".grad", ".grad=", ".grad_dtype=", ".requires_grad=", "requires_grad_", "retain_grad",
}  # fmt: skip
"""Operations that change their one operand alone."""


CHECKPOINT = "torch.utils.checkpoint.checkpoint"
"""Runs a function of the program, which may write."""


def may_change_others(op: str) -> bool:
    """Tell by its name whether an operation may change what is neither its operand nor its result."""
    if op in CHANGES_ITS_OPERAND:
        return False
    if op in ("step", "__call__", "load_state_dict", "train", "eval", CHECKPOINT):  # to what others hold
        return True
    if op.startswith("__"):
        return op.startswith("__i") or op == "__setitem__"
    return op.endswith(("_", "=")) or speaks_of_gradients(op) or class_of(op) in WRITING_CLASSES


class _Reaches(dict[str, tuple[bool, bool]]):
    """By operation, whether it may change grads, and whether it may change other tensors."""

    def __missing__(self, op: str) -> tuple[bool, bool]:
        found = self[op] = speaks_of_gradients(op), may_change_others(op)
        return found


reach_of = _Reaches().__getitem__  # NB: it takes half the time of a cached function


def reach_at(density: str) -> Callable[[str], tuple[bool, bool]]:
    """Return `reach_of`, or what takes any operation for one that may change all there is."""
    return (lambda op: (True, True)) if density == EVERYTHING else reach_of
