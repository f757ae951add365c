"""Op effects: what a step does to memory and to histories, as far as its operation tells.

How errors move along a program is in ``dataflow``.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from functools import cache
from typing import Any

from conformance.program import LAYERS, OPTIMIZERS, SAVING_MODES, Device, Dtype, Step
from specs.callbacks import WRITING_CLASSES, class_of
from specs.kind import ALIASES as SHARING
from specs.op import Op

CASTS = frozenset(["to", "double", "float", "half", "bfloat16", "cuda", "cpu"])
"""Operations that copy a tensor of another dtype or device, and return any other tensor itself."""

FLAGS = frozenset(["requires_grad_", "detach_"])
"""Operations that are named like writes but leave the elements alone."""

ALIASES = frozenset(["data", "detach", "Parameter", "numpy", "from_numpy"])
"""Operations whose result shows an operand's memory without its history."""

HOLDERS = OPTIMIZERS | LAYERS | {"torch.autograd.graph.get_gradient_edge"}
"""Operations whose result holds their operands from then on."""

CLIPS = frozenset(["clip_grad_norm_", "clip_grad_value_"])
"""Operations that write to the grads of their operands."""

DIVIDING = frozenset(["divides", "inverts", "multiplies_all"])
"""The words of `Op.grows` of ops whose gradients are quotients."""

SILENT = frozenset(["data", "data=", "grad=", "set_"])
"""Operations after which a write to memory may go unnoticed by the nodes that saved it."""

ROUNDING_FUNCTIONS = {"cross_entropy": 16, "layer_norm": 16, "clip_grad_norm_": 8}
"""Functions beside the op table that round, with the units that one application may be off."""

NORMALISING_FUNCTIONS = frozenset(["layer_norm"])
"""Those of them that scale rows up, and add an operand last, which may cancel what they have rounded."""

CANCELLING_FUNCTIONS = NORMALISING_FUNCTIONS | {"cross_entropy"}
"""Those of them that add an operand last, or subtract one."""

ADAPTIVE = frozenset(["torch.optim.Adam", "torch.optim.AdamW"])
"""Optimizers whose steps round what they add to their parameters."""

ADAPTIVE_ULP = 16
"""The units that such a step may be off."""


RUNS_OF_ENGINE: Mapping[str, tuple[str, ...]] = {
    "backward": ("roots", "seeds", "retain_graph", "create_graph", "inputs"),
    "torch.autograd.backward": ("roots", "seeds", "retain_graph", "create_graph", "seeds", "inputs"),
    "torch.autograd.grad": ("roots", "inputs", "seeds", "retain_graph", "create_graph"),
}
"""The operations that run the engine, and the parts their leading arguments play."""

PARTS_BY_KEYWORD = {
    "tensors": "roots", "outputs": "roots",
    "gradient": "seeds", "grad_tensors": "seeds", "grad_variables": "seeds", "grad_outputs": "seeds",
}  # fmt: skip
"""The parts of arguments that are passed by keyword."""


@cache
def base(op: str) -> str:
    """The declared op behind a step's operation: `mul_`, `__imul__` and `torch.mul` are all `mul`."""
    from specs.ops import OPERATORS

    name = OPERATORS.get(op) or op.rpartition(".")[2]
    return name.removesuffix("_")


def name_of_op(name: str, ops: Container[str]) -> str:
    """Return the name under which a function is among the ops, or its own if it is not: `special.xlog1py` is
    `_special_xlog1py`, and `arctanh` is `atanh`.
    """
    inner = (f"_{name}", f"_special_{name}", f"_linalg_{name}", name.replace("arc", "a", 1))
    return next((each for each in inner if each in ops), name)


@cache
def writes(op: str) -> bool:
    """Tell by its name whether an operation changes its first operand's elements."""
    if op.startswith("__"):
        return op.startswith("__i") or op == "__setitem__"
    if op == "load_state_dict":
        return True
    return (op.endswith("_") and op not in FLAGS) or class_of(op) in WRITING_CLASSES


@cache
def aliases(op: str) -> str:
    """Return whose memory a result shows, by the word of `Op.aliases`: for an unknown op, anybody's."""
    from specs import ops

    return max((o.aliases for o in ops.load().get(base(op), ())), key=tuple(SHARING).index, default="self")


def shows(step: Step) -> str:
    """Return whose memory the result of a step shows; an entry of a state dict is one of its tensors."""
    is_entry = step.op == "__getitem__" and type(step.args[-1]) is str
    return "self" if is_entry else aliases(step.op)


def _declared(name: str) -> list[Op]:
    """The overloads of that name, and those of its in-place form."""
    from specs import ops

    return [*ops.load().get(name, ()), *ops.IN_PLACE.get(name + "_", ())]


@cache
def is_declared(op: str) -> bool:
    """Tell whether an operation is one of the op table."""
    return bool(_declared(base(op)))


@cache
def keeps_values(op: str) -> bool:
    """Tell whether a gradient may depend on elements of operands or result."""
    name = base(op)
    found = _declared(name)
    if name in CASTS or not found or any(o.composite for o in found):
        return name not in CASTS
    return any(slot.source in ("operand", "out") for o in found for slot in o.slots)


@cache
def divides(op: str) -> bool:
    """Tell whether a gradient is divided by elements that it reads: exact where these are powers of two."""
    return any(o.grows in DIVIDING for o in _declared(base(op)))


def divides_what_is_written(steps: Iterable[Step]) -> bool:
    """Tell whether a gradient may be divided by what was written to unnoticed."""
    ops = {step.op for step in steps}
    return not SILENT.isdisjoint(op.rpartition(".")[2] for op in ops) and any(map(divides, ops))


@cache
def hands_on(op: str, alone: bool = False) -> bool:
    """Tell whether an operand may get the very gradient that came in, as where a formula reads no element.

    With inference tensors ``alone`` the node may be that of a copy within the kernel.
    """
    found = _declared(base(op))
    if alone and any(o.alone is not None for o in found):
        return True
    if not found or any(o.composite for o in found):
        return aliases(op) != "never"
    return any(
        o.hands_on or not {o.slots[n].source for n in formula.picks} & {"operand", "out"}
        for o in found
        for formula in o.formulas.values()
    )


@cache
def overwrites(op: str) -> bool:
    """Tell whether a step overwrites elements without reading them."""
    return any(o.overwrites for o in _declared(base(op)))


def saves_by_hooks(step: Step) -> bool:
    """Tell whether hooks are called with what the step saves."""
    return bool(step.mode) and not SAVING_MODES.keys().isdisjoint(step.mode)


def written_all_the_same(step: Step, rule: str) -> bool:
    """Tell whether a refused step may have written all the same.

    So it may outside of inference mode, if a hook failed to pack a tensor, if an optimizer got part of the
    way, or if a view's history could not be regenerated.
    """
    saves = writes(step.op) and not overwrites(step.op) and step.op != "set_"
    packed = saves and saves_by_hooks(step)
    return (
        packed or step.op == "step" or rule in ("inference/write-outside-refused", "view/window-outside-base")
    )


# -- what arguments tell -----------------------------------------------------------------------------
_COMPLEX = re.compile("complex|cfloat|cdouble|polar|fft")
"""Names, of dtypes and of functions, that may make complex numbers of real ones."""


def dtypes_named(step: Step) -> set[str]:
    """The dtypes among the arguments of a step."""
    return {value.name for value in _arguments(step) if isinstance(value, Dtype)}


def makes_complex(step: Step) -> bool:
    """Tell whether a step may give complex numbers where there were none."""
    named = any(map(_COMPLEX.search, (step.op, *dtypes_named(step))))
    return named or any(map(_holds_complex, _arguments(step)))


def leaves_the_cpu(step: Step) -> bool:
    """Tell whether a step names another device."""
    named = any(isinstance(value, Device) and value.name != "cpu" for value in _arguments(step))
    return named or base(step.op) == "cuda"


def _arguments(step: Step) -> tuple[Any, ...]:
    """Return the arguments of a step, those by keyword last."""
    return *step.args, *(value for _, value in step.kwargs)


def _holds_complex(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_holds_complex, value))
    return isinstance(value, complex)
