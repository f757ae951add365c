"""Functions without derivatives: comparisons of whole tensors, indices, counts, bits.

Ops with gradients are declared in ``specs/ops``; functions that return values with a gradient beside indices
(``max`` along a dimension) are in `sorting`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.dtypes import dtype
from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, make_output_of
from reference_impl.core.graph import NotImplementedNode, gradient_edge
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import check_compared, marking
from reference_impl.namespace import geometry
from reference_impl.namespace.meeting import Numbers, meeting
from specs.errors import need_kernel
from specs.ops.helpers import axes_of, axis_of
from specs.signature import clash


def _array(x: Any) -> Any:
    return array_of(x) if isinstance(x, Tensor) else x


def tensor_of(array: Any) -> Tensor:
    """Wrap an array, copied if it is a view."""
    array = np.asarray(array)
    return wrap(array.copy() if array.base is not None else array)


def is_tensor(value: Any) -> bool:
    """Return True for a tensor."""
    return isinstance(value, Tensor)


def equal(x: Tensor, y: Tensor) -> bool:
    """Return True if shapes and elements are equal."""
    check_compared("equal", x, y)
    a, b = array_of(x), array_of(y)
    return a.shape == b.shape and bool((a == b).all())


def isclose(x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Compare elements within tolerances."""
    _one_dtype(x, y)
    return tensor_of(np.isclose(array_of(x), array_of(y), rtol, atol, equal_nan))


def allclose(x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Return True if all elements are equal within tolerances."""
    check_compared("allclose", x, y)
    _one_dtype(x, y)
    return bool(np.allclose(array_of(x), array_of(y), rtol, atol, equal_nan))


def _one_dtype(x: Tensor, y: Tensor) -> None:
    if array_of(x).dtype != array_of(y).dtype:
        raise RuntimeError(f"{x.type()} did not match {y.type()}")


def result_type(x: Any, y: Any) -> dtype:
    """The dtype of arithmetic on two tensors or numbers."""
    given = [_array(x), _array(y)]
    arrays = [a for a in given if isinstance(a, np.ndarray)]
    return dtypes.of(dtypes.promote(arrays, [a for a in given if not isinstance(a, np.ndarray)]))


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that holds both."""
    return dtypes.of(dtypes.promote([np.empty(1, a.numpy), np.empty(1, b.numpy)]))


def _need_dtype(name: str, x: Any, lacking: str) -> None:
    """Refuse a dtype before PyTorch looks for a kernel; ``lacking`` are numpy's letters of kinds."""
    if (given := np.asarray(_array(x)).dtype).kind in lacking:
        raise RuntimeError(f"{name}(): does not support {given} input")


def can_cast(a: dtype, b: dtype) -> bool:
    """Return True if a result of dtype ``a`` may be written to a tensor of dtype ``b``."""
    return dtypes.castable(a.numpy, b.numpy)


def _found(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make a test of all elements, or of those along dimensions."""

    def test(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        array = array_of(x)
        given = [dim] if isinstance(dim, int) else dim
        axis = None if given is None else axes_of(given, x.ndim)
        out = function(array, axis=axis, keepdims=keepdim)
        return tensor_of(out.astype(np.uint8) if array.dtype == np.uint8 else out)

    return test


def _position(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make a search for an extreme's index, in the flattened tensor or along a dimension."""

    def at(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        if x.is_complex():
            refuse_by("op/complex-extreme", name=function.__name__, case=function.__name__)
        _need_dtype(function.__name__, x, "b")
        axis = None if dim is None else axis_of(dim, x.ndim)
        if not x.ndim:
            return tensor_of(np.int64(0))
        array = array_of(x)
        if axis is None and not array.size:
            raise IndexError(
                f"{function.__name__}(): Expected reduction dim to be specified for input.numel() == 0."
            )
        if axis is not None and not array.shape[axis]:
            name = function.__name__
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
        return tensor_of(function(array, axis=axis, keepdims=keepdim))

    return at


def argsort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort along a dimension."""
    if x.is_complex():
        refuse_by("op/complex-extreme", name="argsort", case="sort")
    return wrap(order(array_of(x), dim, descending))


def order(x: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """The indices that sort ``x`` along a dimension, stably."""
    if not x.ndim:
        return np.zeros((), np.int64)
    axis = axis_of(dim, x.ndim)
    if x.dtype.kind == "V":
        x = x.astype(np.float32)  # numpy does not sort NaNs of bfloat16 last
    if not descending:
        return np.argsort(x, axis, kind="stable")
    flipped = np.argsort(np.flip(x, axis), axis, kind="stable")
    return np.ascontiguousarray(np.flip(x.shape[axis] - 1 - flipped, axis))


def _map(function: Callable[..., Any], lacking: str = "") -> Callable[..., Tensor]:
    """Make an elementwise function whose result has no gradient, for dtypes of kinds not ``lacking``."""

    def mapped(*operands: Any) -> Tensor:
        need_kernel(function.__name__, np.asarray(_array(operands[0])), lacking)
        return tensor_of(_broadcasting(function, *[_array(x) for x in operands]))

    return mapped


def _broadcasting(function: Callable[..., Any], *arrays: Any) -> Any:
    """Call an elementwise function of arrays; refuse shapes that do not broadcast."""
    try:
        return function(*arrays)
    except ValueError:
        if where := clash(*[np.shape(array) for array in arrays]):
            refuse_by("op/shapes-broadcast", **where)
        raise


_BITS: dict[Any, str] = {
    np.bitwise_and: "bitwise_and", np.bitwise_or: "bitwise_or", np.bitwise_xor: "bitwise_xor",
    np.left_shift: "lshift", np.right_shift: "rshift",
}  # fmt: skip
"""Torch's names of the kernels."""


def _bits(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make an elementwise function of bools and integers, or of integers alone, with promotion."""
    kinds = "iu" if _BITS[function].endswith("shift") else "biu"

    def mapped(x: Any, y: Any) -> Tensor:
        target = result_type(x, y).numpy
        if target.kind not in kinds:
            scalar = {"b": "Bool", "f8": "Double"}.get(target.str[1:].strip("1"), "Float")
            raise NotImplementedError(f"\"{_BITS[function]}_cpu\" not implemented for '{scalar}'")
        pair = [np.asarray(_array(operand)).astype(target) for operand in (x, y)]
        return tensor_of(_broadcasting(function, *pair))

    return mapped


def _infinite(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make a test for one of the infinities, which complex numbers do not have."""
    test = _map(function)

    def infinite(x: Tensor) -> Tensor:
        if x.is_complex():
            refuse_by("op/complex-extreme", name=function.__name__)
        return test(x)

    infinite.__name__ = function.__name__
    return infinite


def bitwise_not(x: Tensor) -> Tensor:
    """Invert each bit, or each bool."""
    need_kernel("bitwise_not", array_of(x), "fcV")
    return tensor_of(np.invert(array_of(x)))


def _invert(x: Tensor) -> Tensor:
    """Invert each bit, or each bool: ``~x``."""
    if array_of(x).dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(x)


def underivable(out: Tensor, x: Tensor, *node: str) -> Tensor:
    """Give the result of an op without a derivative a node, with a name of its own or not, that refuses."""
    if x.requires_grad and STATE.enabled and not STATE.inference:
        make_output_of(out, NotImplementedNode((gradient_edge(x),), *node))
    return out


def bincount(x: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """Count each non-negative integer, or sum the weights that stand beside it."""
    need_kernel("bincount", array_of(x), "bfcV")
    counted = np.bincount(array_of(x), _array(weights), minlength)
    if not isinstance(weights, Tensor):
        return tensor_of(counted)
    given = array_of(weights).dtype
    kept = given if given == np.float32 else counted.dtype
    return underivable(tensor_of(counted.astype(kept)), weights, "bincount")


@marking
def isin(x: Any, among: Any) -> Tensor:
    """Test each element for membership in ``among``."""
    _need_dtype("isin", x, "bc")
    return tensor_of(np.isin(_array(x), _array(among)))


@marking
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None, out_int32: bool = False,
) -> Tensor:  # fmt: skip
    """The insertion indices of elements in a sorted vector, or in that of each row."""
    order = array_of(sorted_sequence)
    if sorter is not None:
        order = np.take_along_axis(order, array_of(sorter), -1)
    at: Any = "right" if right or side == "right" else "left"
    wanted, kind = _array(input), np.int32 if out_int32 else np.int64
    if np.size(wanted):
        need_kernel("searchsorted_out", np.result_type(order, wanted), "bc")
    if order.ndim == 1:
        return tensor_of(np.searchsorted(order, wanted, at).astype(kind))
    if order.shape[:-1] != wanted.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            f"boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(order.shape)} and input value tensor {list(wanted.shape)}"
        )
    rows = zip(order.reshape(-1, order.shape[-1]), wanted.reshape(-1, wanted.shape[-1]), strict=True)
    found = np.array([np.searchsorted(line, row, at) for line, row in rows], kind)
    return tensor_of(found.reshape(wanted.shape))


@marking
def bucketize(input: Any, boundaries: Tensor, *, right: bool = False, out_int32: bool = False) -> Tensor:
    """The index of the bucket of each element, between sorted boundaries."""
    return searchsorted(boundaries, input, right=right, out_int32=out_int32)


def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count elements in equal-width bins; elements outside the bins are ignored."""
    array = array_of(x)
    need_kernel("histogram", array, "biuc")
    ends = (float(array.min()), float(array.max())) if min == max == 0 else (min, max)
    return tensor_of(np.histogram(array, bins, ends)[0].astype(array.dtype))


def tril_indices(row: int, col: int, offset: int = 0, **_: Any) -> Tensor:
    """The row and column indices on and below a diagonal."""
    return tensor_of(np.stack(np.tril_indices(row, offset, col)))


def triu_indices(row: int, col: int, offset: int = 0, **_: Any) -> Tensor:
    """The row and column indices on and above a diagonal."""
    return tensor_of(np.stack(np.triu_indices(row, offset, col)))


_ITERATING: dict[str, Any] = {
    "isclose": isclose, "allclose": allclose, "bitwise_and": _bits(np.bitwise_and),
    "bitwise_or": _bits(np.bitwise_or), "bitwise_xor": _bits(np.bitwise_xor),
    "bitwise_left_shift": _bits(np.left_shift), "bitwise_right_shift": _bits(np.right_shift),
}  # fmt: skip
"""Functions whose kernels iterate over elements."""
_LOGICAL: dict[str, Any] = {
    "logical_and": _map(np.logical_and), "logical_or": _map(np.logical_or),
    "logical_xor": _map(np.logical_xor),
}  # fmt: skip
"""Functions that do so and write into a tensor beside the first one."""
_OTHERS: dict[str, Any] = {
    "equal": equal, "nextafter": _map(np.nextafter, "biuc"), "gcd": _map(np.gcd, "bfcV"),
    "lcm": _map(np.lcm, "bfcV"), "bincount": bincount,
}  # fmt: skip
BOTH: dict[str, Any] = {
    "all": _found(np.all), "any": _found(np.any),
    "argmax": _position(np.argmax), "argmin": _position(np.argmin), "argsort": argsort,
    "isnan": _map(np.isnan), "isinf": _map(np.isinf), "isfinite": _map(np.isfinite),
    "isposinf": _infinite(np.isposinf), "isneginf": _infinite(np.isneginf), "isreal": _map(np.isreal),
    "signbit": _map(np.signbit, "c"), "logical_not": _map(np.logical_not), "bitwise_not": bitwise_not,
    "histc": histc, "_invert": _invert,
    **{name: meeting(function, Numbers.ANY) for name, function in _ITERATING.items()},
    **{name: meeting(function, Numbers.LATER) for name, function in _LOGICAL.items()},
    **{name: meeting(function) for name, function in _OTHERS.items()},
}  # fmt: skip
"""Functions that are methods too, by name."""

FUNCTIONS: dict[str, Any] = {
    "is_tensor": is_tensor, "is_floating_point": geometry.is_floating_point,
    "is_complex": geometry.is_complex, "numel": geometry.numel, "result_type": result_type,
    "promote_types": promote_types, "can_cast": can_cast, "isin": meeting(isin),
    "searchsorted": meeting(searchsorted), "bucketize": meeting(bucketize), "tril_indices": tril_indices,
    "triu_indices": triu_indices, "broadcast_shapes": geometry.broadcast_shapes,
}  # fmt: skip
"""Functions that are not methods, by name."""

OPERATORS: dict[str, str] = {
    "__and__": "bitwise_and", "__rand__": "bitwise_and", "__or__": "bitwise_or", "__ror__": "bitwise_or",
    "__xor__": "bitwise_xor", "__rxor__": "bitwise_xor", "__invert__": "_invert", "__mod__": "remainder",
    "__floordiv__": "floor_divide", "__rfloordiv__": "_rfloor_divide", "__rmod__": "_rremainder",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift", "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_", "__imod__": "remainder_",
    "__ifloordiv__": "floor_divide_", "__ilshift__": "bitwise_left_shift_",
    "__irshift__": "bitwise_right_shift_", "__pos__": "positive",
}  # fmt: skip
"""Methods behind Python operators that generated programs do not use."""
