"""First and second derivatives of each op in each dtype, drawn as often as those of any other.

Elsewhere half precision is rare, and a second derivative depends on what else a program happens to draw. Here
an op, a dtype and the operands are drawn for it, and it is differentiated twice at once. The gradient that is
passed in requires grad and mostly has a history, so that what is linear has a second derivative, too.
Functions that are not of the op table's methods are in ``layer_derivatives``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.ops.magnitude import GROWTH, bounds_of_number
from conformance.generate.ops.recipe import Recipe
from conformance.generate.ops.suited import suited
from conformance.generate.state.features import DERIVATIVES, DOUBLE, GRAD_CALL
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import Store, TensorInfo
from conformance.generate.steps import call_op, leaves
from conformance.generate.steps.backward import CREATE, backward
from conformance.generate.steps.leaves import FLOATING

HALVES = ("float16", "bfloat16")
_TWICE = DOUBLE | GRAD_CALL
_TRIES = 4
"""Calls to try on operands that were made: some would leave the exact range."""
_UNUSED: Kwargs = (("allow_unused", True),)
_HISTORIES = ("clone", "neg", "clone", "")
"""Ops that make a gradient to pass in from a leaf; without one it is the leaf itself."""
_FIRST_NUMBERS = (2, -1.0, 0.5, 1.0)

_PLAIN = {"positive": "positive", "power_of_two": "power_of_two", "zero_or_power_of_two": "power_of_two"}
_SMALL = {"positive": "small_positive", "power_of_two": "small_power_of_two",
          "zero_or_power_of_two": "small_power_of_two"}  # fmt: skip
_COMPLEX = {"positive": "complex_right", "power_of_two": "complex_units", "moderate": "complex_small",
            "zero_or_power_of_two": "complex_units"}  # fmt: skip
_FEWEST = {"positive": "halves"}
_FEWEST_COMPLEX = {"positive": "complex_axis_right"}
"""Kinds of literals by the domain of an operand."""


@step(800, DERIVATIVES, recipes="differentiable")
def derivatives(state: GenState, about: Any = None) -> bool:
    """A call of any op on new leaves of any dtype, and its derivatives."""
    recipe = state.pick(state.pick(state.vocabulary.differentiable))
    dtype = dtype_for(state, _on_complex(state, recipe))
    numbers = tuple(at for at in recipe.others if _is_number(state, recipe, at))
    found = suited(recipe, numbers, state.shapes is leaves.SCALAR_SHAPES[0])
    if not found:
        return False
    shapes = state.pick(found)
    operands: list[Any] = [
        state.pick(recipe.numbers[at]) if shape is None else _operand(state, recipe, at, shape, dtype)
        for at, shape in enumerate(shapes)
    ]
    made = [one for one in operands if one.__class__ is TensorInfo and one.requires_grad]
    x = operands[recipe.first]
    if recipe.mutates and x.requires_grad:
        x = operands[recipe.first] = _written(state, x)
    elif x.requires_grad and x.shape[:1] == x.shape[1:2] and not state.below(3):
        x = operands[recipe.first] = _turned(state, x)
    out = _called(state, recipe, x, operands, shapes)
    if out is not None:
        differentiate(state, out, made)
    return True


@step(32, DERIVATIVES, recipes="number_first")
def number_first(state: GenState, about: Any = None) -> bool:
    """A function of a number and a tensor, in this order, and its derivatives."""
    function = state.pick(state.vocabulary.number_first)
    dtype = dtype_for(state, True)
    domain = function.op.domain if isinstance(function.op.domain, dict) else {}
    kind = _literals(state, domain.get("y", "any"), dtype)
    y = leaves.make_leaf(state, state.pick(state.shapes), kind, dtype, True)
    number = state.pick(_FIRST_NUMBERS)
    bits, frac = GROWTH[function.op.grows]([bounds_of_number(number), y.store], y.size, ())
    name = state.fresh_name()
    if state.emit(function.spelled, (number, y.ref), (), (name,)):
        out = state.bind(name, Store(bits + (y.kind == "c"), frac), (y,))
        if out is not None:
            differentiate(state, out, [y])
    return True


def dtype_for(state: GenState, complex_too: bool) -> str:
    """One of the program's dtypes that can require grad."""
    found = [
        each
        for each in dict.fromkeys(state.dtypes)
        if each in FLOATING or (complex_too and _is_complex(each))
    ]
    return state.pick(found or [state.dtype])


def _is_complex(dtype: str) -> bool:
    return dtype.startswith("complex")


def _on_complex(state: GenState, recipe: Recipe) -> bool:
    return "c" in recipe.dtypes and (state.rounding or recipe.exact_on_complex)


def _is_number(state: GenState, recipe: Recipe, at: int) -> bool:
    kind = recipe.kinds[at]
    return kind == "number" or (kind == "either" and (recipe.reflected or state.below(4) == 3))


def _operand(state: GenState, recipe: Recipe, at: int, shape: tuple[int, ...], dtype: str) -> TensorInfo:
    """A new leaf for an operand; positions and masks are of their own dtypes."""
    kind = recipe.kinds[at]
    if kind == "mask":
        return leaves.make_leaf(state, shape, "bool", "bool")
    if kind == "indices":
        return leaves.make_leaf(state, shape, "indices", "int64")
    flag = at == recipe.first or state.below(4) > 0 or state.always_grad
    domain = "moderate" if recipe.op.grows == "explodes" else recipe.domains[at] or "any"
    several = recipe.op.grows in ("contracts", "multiplies_all", "raises", "explodes") and not recipe.view
    return leaves.make_leaf(state, shape, _literals(state, domain, dtype, several), dtype, flag)


def _literals(state: GenState, domain: str, dtype: str, several: bool = False) -> str:
    """The kind of literals that suits an operand: few bits where the dtype has few, fewer still where
    ``several`` of them are multiplied.
    """
    fewer = several and state.below(4) > 0
    if _is_complex(dtype):
        kinds = _COMPLEX | _FEWEST_COMPLEX if fewer else _COMPLEX
        return kinds.get(domain, "complex_axis" if fewer else "complex")
    if fewer:
        return (_SMALL | _FEWEST if dtype in HALVES else _SMALL).get(domain, "signs")
    if dtype in HALVES:
        return _SMALL.get(domain) or ("signs" if state.below(2) else "small")
    return _PLAIN.get(domain, "any")


def _written(state: GenState, x: TensorInfo) -> TensorInfo:
    """A copy of a leaf, which may be written to."""
    name = state.fresh_name()
    if not (state.supports("clone") and state.emit("clone", (x.ref,), (), (name,))):
        return x
    return state.bind(name, Store(x.store.bits, x.store.frac), (x,)) or x


def _turned(state: GenState, x: TensorInfo) -> TensorInfo:
    """A leaf with its first two dimensions swapped, so that it does not lie row by row."""
    name = state.fresh_name()
    if not (state.supports("transpose") and state.emit("transpose", (x.ref, 0, 1), (), (name,))):
        return x
    turned = state.bind(name, x.store, (x,))
    if turned is not None:
        turned.base = x
    return turned or x


def _called(
    state: GenState, recipe: Recipe, x: TensorInfo, operands: list[Any], shapes: tuple[Any, ...]
) -> TensorInfo | None:
    """Call the op on these operands; the result, or None if there is none."""
    words = [one.ref if one.__class__ is TensorInfo else one for one in operands]
    before = len(state.steps)
    for _ in range(_TRIES):
        call = call_op.call_on(state, recipe, shapes)
        if call is None:
            return None
        args = call_op.arguments(recipe, words, call)
        if call_op.perform(state, recipe, x, operands, args, call) and len(state.steps) > before:
            return x if recipe.mutates else state.tensors[-1] if state.tensors else None
    return None


def differentiate(state: GenState, out: TensorInfo, inputs: list[TensorInfo]) -> None:
    """Differentiate a result by these inputs, and the gradients, too, if the program has what it takes."""
    if not inputs or not out.requires_grad or out.deleted:
        return
    if state.features & _TWICE != _TWICE or not state.supports("torch.autograd.grad"):
        state.schedule(backward, out)
        return
    leaf, g = _upstream(state, out)
    names = tuple(state.fresh_name() for _ in inputs)
    kwargs = CREATE + _UNUSED if len(inputs) > 1 or state.below(2) else CREATE
    g.store.may_hold_grad = True
    if not state.emit("torch.autograd.grad", (out.ref, _listed(inputs), g.ref), kwargs, names):
        return
    found = [state.bind_measured(name, (out, x, g)) for name, x in zip(names, inputs, strict=True)]
    firsts = [one for one in found if one is not None and one.requires_grad]
    if firsts:
        _differentiate_again(state, state.pick(firsts), [leaf, *inputs])
        out.freed = True


def _differentiate_again(state: GenState, first: TensorInfo, inputs: list[TensorInfo]) -> None:
    """Differentiate a gradient by what it depends on."""
    v = leaves.make_leaf(state, first.shape, _of_gradients(state, first), first.dtype)
    v.store.may_hold_grad = True
    first.freed = True
    if state.below(2):
        state.emit("backward", (first.ref, v.ref))
        return
    names = tuple(state.fresh_name() for _ in inputs)
    if state.emit("torch.autograd.grad", (first.ref, _listed(inputs), v.ref), _UNUSED, names):
        for name in names:
            state.bind_measured(name)


def _listed(tensors: list[TensorInfo]) -> Any:
    return tensors[0].ref if len(tensors) == 1 else [one.ref for one in tensors]


def _of_gradients(state: GenState, y: TensorInfo) -> str:
    """The kind of literals for a gradient of a tensor."""
    return "complex_units" if y.kind == "c" else "signs" if state.below(2) else "small"


def _upstream(state: GenState, y: TensorInfo) -> tuple[TensorInfo, TensorInfo]:
    """A new leaf, and the gradient that is made of it for a result."""
    leaf = leaves.make_leaf(state, y.shape, _of_gradients(state, y), y.dtype, True)
    op = state.pick(_HISTORIES)
    if not op or not state.supports(op):
        return leaf, leaf
    name = state.fresh_name()
    if not state.emit(op, (leaf.ref,), (), (name,)):
        return leaf, leaf
    return leaf, state.bind(name, Store(leaf.store.bits, leaf.store.frac), (leaf,)) or leaf
