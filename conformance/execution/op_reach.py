"""The reach of a step, by the name of its operation: what must be observed after it."""

from __future__ import annotations

from conformance.program import DELETE, OPAQUE, Step
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


FIRST_LOOKS, LOOKS_A_STEP = 160, 3
"""So many tensors may be looked at in looks at everything, and so many more for each step before."""


class Scope:
    """The names to observe after each step of a program, told by its steps: all sides observe the same.

    What is live grows with a program, so that looking at everything costs the more, the longer it is. At the
    density `each` it is therefore done as often as `FIRST_LOOKS` and `LOOKS_A_STEP` allow. Most programs are
    not affected; in long ones some writes and backwards are looked at like plain steps, and a difference that
    shows later is looked for at `EVERYTHING`.
    """

    def __init__(self, density: str) -> None:
        self._density = density
        self.reach_of = (lambda op: (True, True)) if density == EVERYTHING else reach_of
        self._names: set[str] = set()
        self._left = FIRST_LOOKS

    def after(self, step: Step) -> tuple[bool, bool]:
        """Tell whether to look at grads that nobody retains after the next step, and at all that is live."""
        op, args, _, out, _ = step
        names, density = self._names, self._density
        if op == DELETE:
            names.difference_update([value.name for value in args])
        else:
            names.update(out)
        grads, everything = self.reach_of(op)
        everything = everything and density != "touched"
        if density == "each":
            if everything:
                everything = len(names) <= self._left
                self._left -= len(names) if everything else 0
            self._left += LOOKS_A_STEP
        return grads, everything
