"""Complex arithmetic: ops on complex leaves whose values suit them, differentiated at once.

Elsewhere complex tensors are rare, and rarer still one that a function is defined for. What a formula does
with the conjugates shows in gradients alone, so each call is followed by a backward or by two.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.ops.recipe import Recipe
from conformance.generate.state.features import COMPLEX, DOUBLE, GRAD_CALL
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import Store, TensorInfo
from conformance.generate.steps import call_op, leaves

_DTYPES = ("complex128", "complex128", "complex64")
_SCALED = ("mul", "mul", "__mul__", "__rmul__", "div", "__truediv__")
_NUMBERS = (2j, 1 - 1j, -1 + 1j, -2j, 1j)
"""Complex numbers by which a product or a quotient leaves nothing to round."""
_VALUES = {"power_of_two": "complex_units", "positive": "complex_right", "moderate": "complex_small"}
"""Kinds of literals by the domain of an op."""


@step(240, COMPLEX, recipes="on_complex")
def complex_op(state: GenState, about: Any = None) -> bool:
    """An op on a complex tensor, mostly a new leaf, and a derivative of it."""
    recipe = state.pick(state.vocabulary.on_complex)
    x = state.any_tensor() if state.tensors and state.below(3) == 2 else None
    if x is None or x.kind != "c":
        x = leaves.make_leaf(state, _shape(state, recipe), _values(recipe), state.pick(_DTYPES), True)
    if x.kind != "c":  # the leaf was refused
        return True
    before = len(state.steps)
    scaled = _scaled if state.below(8) or not x.shape else _added
    applied = call_op.apply(state, recipe, x) if state.below(8) else scaled(state, x)
    if applied and len(state.steps) > before and state.tensors:
        out = state.tensors[-1]
        if out.requires_grad and out is not x:
            twice = state.features & (DOUBLE | GRAD_CALL) == DOUBLE | GRAD_CALL
            state.schedule("differentiate_twice" if twice and state.below(2) else "backward", out)
    return True


def _scaled(state: GenState, x: TensorInfo) -> bool:
    """The product with, or the quotient by, a complex number."""
    op, number = state.pick(_SCALED), state.pick(_NUMBERS)
    bits, frac = x.store.bits + 3, x.store.frac + 1
    if not state.supports(op) or not state.fits(x.dtype, bits, frac):
        return False
    name = state.result_name()
    if state.emit(op, (x.ref, number), (), (name,)):
        state.bind(name, Store(bits, frac, x.store.inexact), (x,))
    return True


def _added(state: GenState, x: TensorInfo) -> bool:
    """The sum of a complex number times slices of a tensor, which the gradient goes to."""
    number, bits, frac = state.pick(_NUMBERS), x.store.bits + 4, x.store.frac
    if not state.supports("index_add") or not state.indices or not state.fits(x.dtype, bits, frac):
        return False
    at = leaves.make_leaf(state, x.shape[:1], "indices", "int64")
    name = state.result_name()
    if state.emit("index_add", (x.ref, 0, at.ref, x.ref), (("alpha", number),), (name,)):
        state.bind(name, Store(bits, frac, x.store.inexact), (x,))
    return True


def _values(recipe: Recipe) -> str:
    """The kind of literals that suits an op's first operand."""
    domain = "moderate" if recipe.op.grows == "explodes" else recipe.domains[recipe.first]
    return _VALUES.get(domain or "any", "complex")


def _shape(state: GenState, recipe: Recipe) -> tuple[int, ...]:
    """A shape of the program's, or a square if the op may want one."""
    return (2, 2) if recipe.binary and state.below(2) else state.pick(state.shapes)
