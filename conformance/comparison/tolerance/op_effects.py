"""What a step does to memory and to histories, as far as the name of its operation tells.

How that moves along a program is `taint`'s business.
"""

from __future__ import annotations

from functools import cache

from conformance.program import SAVING_MODES, Step
from specs.callbacks import WRITING_CLASSES, class_of
from specs.op import Op

FRESH = frozenset(["matmul", "rmatmul", "pow", "rpow", "rtruediv", "square"])
"""Composites whose result never looks at an operand's memory; that of any other may."""

NEW = frozenset(["getitem", "narrow", "chunk", "reshape", "reshape_as", "view_as", "expand_as"])
"""Composites whose result may look there and never is the operand itself; that of any other may be."""

CASTS = frozenset(["to", "double", "float", "half", "bfloat16", "cuda", "cpu"])
"""Operations that copy what has another dtype or is elsewhere, and return what is as they say."""

FLAGS = frozenset(["requires_grad_", "detach_"])
"""Operations that are named like writes and leave the elements alone."""

ALIASES = frozenset(["data", "detach", "Parameter", "numpy", "from_numpy"])
"""Operations that look at an operand's memory and leave its history."""

HOLDERS = frozenset(["torch.optim.SGD", "torch.autograd.graph.get_gradient_edge"])
"""Operations whose result stands for their operands from then on."""

OVERWRITES = frozenset(["copy_", "fill_", "zero_"])

HANDING_ON = frozenset(["prod", "cumprod"])
"""Operations whose formula reads elements, and gives the gradient itself where no two were multiplied."""


@cache
def base(op: str) -> str:
    """The declared op behind a step's operation: `mul_`, `__imul__` and `torch.mul` are all `mul`."""
    from specs.ops import OPERATORS

    name = OPERATORS.get(op) or op.rpartition(".")[2]
    return name.removesuffix("_")


@cache
def writes(op: str) -> bool:
    """Whether a step changes its first operand's elements, as far as its operation's name tells."""
    if op.startswith("__"):
        return op.startswith("__i") or op == "__setitem__"
    return (op.endswith("_") and op not in FLAGS) or class_of(op) in WRITING_CLASSES


@cache
def result_of(op: str) -> str:
    """Whether a result is `fresh`, a `view`, `either` of them, or `any`: these, or an operand itself."""
    from specs import ops

    name = base(op)
    found = ops.load().get(name, ())
    if not found or any(o.composite for o in found):
        return "fresh" if name in FRESH else "either" if name in NEW else "any"
    return "view" if any(o.view for o in found) else "fresh"


def _declared(name: str) -> list[Op]:
    """The overloads of that name, and those of its in-place form."""
    from specs import ops

    return [*ops.load().get(name, ()), *ops.IN_PLACE.get(name + "_", ())]


@cache
def keeps_values(op: str) -> bool:
    """Whether a gradient depends on elements of operands or result; it may where no formula tells."""
    name = base(op)
    found = _declared(name)
    if name in CASTS or not found or any(o.composite for o in found):
        return name not in CASTS
    return any(slot.source in ("operand", "out") for o in found for slot in o.slots)


@cache
def hands_on(op: str) -> bool:
    """Whether an operand may get the very gradient that came in: where a formula reads no element it may."""
    name = base(op)
    found = _declared(name)
    if name in HANDING_ON or not found or any(o.composite for o in found):
        return name not in FRESH
    return any(
        not {o.slots[n].source for n in formula.picks} & {"operand", "out"}
        for o in found
        for formula in o.formulas.values()
    )


def written_all_the_same(step: Step, rule: str) -> bool:
    """Whether a refused step may have written: outside of inference mode, what a hook failed to pack, the
    first of what an optimizer holds, or a view whose history cannot be made anew for it.
    """
    packed = writes(step.op) and step.op not in OVERWRITES and not SAVING_MODES.keys().isdisjoint(step.mode)
    return (
        packed or step.op == "step" or rule in ("inference/write-outside-refused", "view/window-outside-base")
    )
