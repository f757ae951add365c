"""Leaves: literal tensors with values chosen so that arithmetic on them is exact.

The literals come from tables, so that a leaf costs three choices. What is computed from leaves is drawn in
``call_op``.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

from conformance.generate.state.gen_state import GenState, Kwargs, NotDrawn
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import Store, TensorInfo
from conformance.program import Device, Dtype

Shape = tuple[int, ...]

SHAPE_SETS: tuple[tuple[Shape, ...], ...] = (
    ((2,), (), (2,), (1,)),
    ((2,), (2, 2), (), (2, 2)),
    ((2, 2), (2,), (2, 1), (2, 2)),
    ((4,), (2, 2), (2,), (4,)),
    ((3,), (2, 3), (), (3,)),
    ((2, 3), (3,), (3, 2), (1, 3)),
    ((2, 4), (4,), (4, 2), (2,)),
    ((1, 2), (2, 1), (2, 2), (2,)),
    ((2, 2, 2), (2, 2), (2,), (2, 1, 2)),
    ((), (1,), (), (2,)),
    ((4,), (2, 2), (), (1, 4)),
    ((2, 2), (2, 2), (1,), ()),
    ((2,), (0,), (2, 0), ()),
)
"""Sets of shapes; a program draws its leaves from one set, so that most of them broadcast or multiply."""

SCALAR_SHAPES: tuple[tuple[Shape, ...], ...] = (((),),)

FLOATS: dict[str, tuple[tuple[float, ...], ...]] = {
    "any": (
        (1.0, 2.0, 3.0, 4.0, -1.0, -2.0),
        (2.0, -1.0, 3.0, 1.0, -2.0),
        (-3.0, 2.0, 0.0, 1.0, 4.0, -1.0, 2.0),
        (0.5, -1.5, 2.0, 1.0, -0.5),
        (4.0, 1.0, -2.0, 3.0, 2.0, -4.0, -3.0),
        (0.0, 1.0, -1.0),
        (3.0, 3.0, -2.0, 0.0, 2.0),
    ),
    "power_of_two": ((1.0, 2.0, -1.0), (2.0, 4.0, -2.0, 1.0, 0.5), (-4.0, 0.5, 2.0)),
    "positive": ((1.0, 2.0, 3.0), (2.0, 0.5, 4.0, 1.0), (3.0, 4.0, 1.0, 2.0, 0.5)),
    "signs": ((1.0, -1.0, 0.0), (-1.0, 1.0, 1.0, 0.0), (1.0, 1.0, -1.0)),
    "small": ((0.5, -1.0, 1.5, 1.0, -0.5), (1.0, -1.5, 0.5), (-1.0, 0.5, 1.0, -0.5)),
    "small_power_of_two": ((1.0, -0.5, 0.5, -1.0), (-1.0, 1.0, 0.5), (0.5, 1.0)),
    "small_positive": ((0.5, 1.0, 1.5), (1.5, 1.0, 0.5, 1.0), (1.0, 0.5)),
    "halves": ((0.5,),),
}
INDICES = ((0, 1, 1, 0, 1), (1, 0, 0), (0,))
INTEGERS = ((2, 1, 3, 0), (0, 1, 1, 0, 1), (-1, 2, 5))
BOOLS = ((True, False, False), (False, True), (True, True, False, True))


UNITS = ((1j, 1 + 0j, -2j, -1 + 1j, 2 + 0j), (1 + 1j, -1j, 0.5 + 0j), (-2 + 0j, 0.5 - 0.5j, 1j, 1 + 0j))
"""Complex numbers by which others can be divided without rounding."""

COMPLEX_ROWS = {
    "complex_units": UNITS,
    "complex_small": ((0.5 + 1j, -1 - 0.5j, 1j, 1 - 1j), (-0.5 + 0.5j, 1 + 0j, -1j), (1 + 0.5j, -1 + 1j, 0j)),
    "complex_axis": ((1j, 1 + 1j, -1 + 0j), (1 - 1j, -1j, 1 + 0j), (-1 + 1j, 1 + 0j, 0j)),
    "complex_axis_right": ((1 + 1j, 1 + 0j, 1 - 1j), (1 - 1j, 1 + 1j)),
    "complex_right": ((1 + 2j, 2 - 1j, 0.5 + 0j, 3 + 1j), (2 + 0.5j, 1 - 3j, 4 + 0j), (0.5 - 1j, 1 + 1j)),
}
"""Complex numbers for ops that others do not suit: small ones, and those right of the imaginary axis."""
_BITS = {
    "complex_small": 1, "signs": 1, "small": 1, "small_power_of_two": 1, "small_positive": 1, "halves": 0,
    "complex_axis": 1, "complex_axis_right": 1,
}  # fmt: skip
"""Bits of the parts of such values, if they are not 3."""
_WHOLE = ("int64", "bool", "signs", "complex_axis", "complex_axis_right")
"""Kinds of values without fractional bits."""


def _turned(row: tuple[float, ...]) -> tuple[complex, ...]:
    """Complex numbers of each value and the next one."""
    return tuple(complex(real, imag) for real, imag in zip(row, (*row[1:], row[0]), strict=True))


def _nested(flat: tuple[Any, ...], shape: Shape, at: int) -> Any:
    if not shape:
        return flat[at % len(flat)]
    step = 1
    for extent in shape[1:]:
        step *= extent
    return [_nested(flat, shape[1:], at + k * step) for k in range(shape[0])]


@cache
def literals(shape: Shape, kind: str) -> tuple[Any, ...]:
    """Nested lists of that shape: each row of values, started at each of its positions."""
    if kind == "int64":
        rows: Any = INTEGERS
    elif kind == "indices":
        rows = INDICES
    elif kind == "bool":
        rows = BOOLS
    elif kind == "complex":
        rows = (*(_turned(row) for row in FLOATS["any"]), *UNITS)
    elif kind in COMPLEX_ROWS:
        rows = COMPLEX_ROWS[kind]
    else:
        rows = FLOATS[kind]
    found = [_nested(row, shape, at) for row in rows for at in range(len(row))]
    return tuple(value for n, value in enumerate(found) if value not in found[:n])


_KINDS = tuple(
    product(("plain",) * 8 + ("ones", "ones", "zeros", "positive", "power_of_two"), (True, True, False))
)
"""Values of a leaf, and its requires_grad."""
HALVES = ("float16", "bfloat16")
FLOATING = ("float64", "float32", "float16", "bfloat16")


@step(9)
def leaf(state: GenState, about: Any = None) -> bool:
    """A new leaf with one of the program's shapes, mostly requiring grad."""
    kind, flag = state.pick(_KINDS)
    shape = state.pick(state.shapes)
    dtype = state.dtype
    if state.dtypes and state.below(2):
        dtype = state.pick(state.dtypes)
    flag = flag or state.always_grad
    if dtype in ("int64", "bool"):
        flag = state.unchecked and flag
        return literal(state, shape, dtype, dtype, flag)
    if kind in ("ones", "zeros"):
        if state.supports(f"torch.{kind}"):
            return constant(state, f"torch.{kind}", shape, dtype, flag)
        kind = "plain"
    if dtype.startswith("complex"):
        kind = "complex_units" if kind == "power_of_two" else "complex"
    return literal(state, shape, "any" if kind == "plain" else kind, dtype, flag)


def first_leaf(state: GenState) -> bool:
    """The leaf a program begins with; it requires grad."""
    return literal(state, state.shapes[0], "any", state.dtype, True)


def literal(state: GenState, shape: Shape, kind: str, dtype: str, flag: bool) -> bool:
    """A ``torch.tensor`` of values from the tables."""
    values = state.pick(literals(shape, kind))
    name = state.result_name()
    kwargs = _keywords(dtype, flag, 0 in shape, state.device)
    if not state.emit("torch.tensor", (values,), kwargs, (name,)):
        return True
    tensor = state.bind(name, Store(_BITS.get(kind, 3), 0 if kind in _WHOLE or dtype in _WHOLE else 1))
    if dtype not in FLOATING and tensor is not None and not flag and not state.below(3):
        state.schedule("fill_across_dtypes", tensor)
    elif state.inference and tensor is not None and in_inference_mode(state) and state.below(2):
        state.schedule("use_outside", tensor)
    elif dtype in HALVES and tensor is not None and state.numbers and not state.below(4):
        state.schedule("scale_half", tensor)
    return True


def in_inference_mode(state: GenState) -> bool:
    """True if what is made now is an inference tensor."""
    return bool(state.mode) and state.mode[-1].lstrip("@") == "inference_mode"


def make_leaf(state: GenState, shape: Shape, kind: str, dtype: str, flag: bool = False) -> TensorInfo:
    """Make a leaf that the next step needs, under an unused name. Raises NotDrawn if it may not be."""
    state.rebind = False
    made = len(state.tensors)
    literal(state, shape, kind, dtype, flag)
    if len(state.tensors) == made:
        raise NotDrawn
    return state.tensors[-1]


def constant(state: GenState, op: str, shape: Shape, dtype: str, flag: bool) -> bool:
    """A leaf of ones or of zeros."""
    name = state.result_name()
    args = shape if shape and state.below(2) else (shape,)
    if state.emit(op, args, _keywords(dtype, flag, device=state.device), (name,)):
        state.bind(name, Store(2))
    return True


@cache
def _keywords(dtype: str, flag: bool, empty: bool = False, device: str = "cpu") -> Kwargs:
    """Keywords of a factory. Literals of int64, bool and float32 need no dtype, unless they are empty."""
    kwargs: Kwargs = ()
    if dtype != "float32" and (empty or dtype not in ("int64", "bool")):
        kwargs = (("dtype", Dtype(dtype)),)
    if device != "cpu":
        kwargs = (*kwargs, ("device", Device(device)))
    return (*kwargs, ("requires_grad", True)) if flag else kwargs
