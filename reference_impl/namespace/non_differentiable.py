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
from specs.dtype_names import SCALARS, scalar_type
from specs.errors import need_kernel
from specs.layout import as_torch_lays_out
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
    _need_tolerances(rtol, atol)
    close = np.isclose(array_of(x), array_of(y), rtol, atol, equal_nan)
    return wrap(as_torch_lays_out(np.asarray(close), [array_of(x), array_of(y)]))


def allclose(x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Return True if all elements are equal within tolerances."""
    check_compared("allclose", x, y)
    _one_dtype(x, y)
    _need_tolerances(rtol, atol)
    return bool(np.allclose(array_of(x), array_of(y), rtol, atol, equal_nan))


def _need_tolerances(rtol: float, atol: float) -> None:
    for name, given in (("rtol", rtol), ("atol", atol)):
        if given < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {given:g}")


def _one_dtype(x: Tensor, y: Tensor) -> None:
    if array_of(x).dtype != array_of(y).dtype:
        raise RuntimeError(f"{scalar_type(x)} did not match {scalar_type(y)}")
    if where := clash(tuple(x.shape), tuple(y.shape)):
        refuse_by("op/shapes-broadcast", **where)


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
        out = np.asarray(function(array, axis=axis, keepdims=keepdim), order="C")
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
    return wrap(as_torch_lays_out(order(array_of(x), dim, descending), [array_of(x)]))


def order(x: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """The indices that sort ``x`` along a dimension, stably."""
    axis = axis_of(dim, x.ndim)
    if not x.ndim:
        return np.zeros((), np.int64)
    if x.dtype.kind == "V":
        x = x.astype(np.float32)  # numpy does not sort NaNs of bfloat16 last
    if not descending:
        return np.argsort(x, axis, kind="stable")
    flipped = np.argsort(np.flip(x, axis), axis, kind="stable")
    return np.ascontiguousarray(np.flip(x.shape[axis] - 1 - flipped, axis))


def _map(function: Callable[..., Any], lacking: str = "") -> Callable[..., Tensor]:
    """Make an elementwise function whose result has no gradient, for dtypes of kinds not ``lacking``."""

    def mapped(x: Tensor) -> Tensor:
        return _mapped(function, lacking, x)

    return mapped


def _pair(function: Callable[..., Any], lacking: str = "") -> Callable[..., Tensor]:
    """Make such a function of two tensors."""

    def paired(x: Tensor, y: Tensor) -> Tensor:
        return _mapped(function, lacking, x, y)

    return paired


def _mapped(function: Callable[..., Any], lacking: str, *operands: Any) -> Tensor:
    need_kernel(function.__name__, np.asarray(_array(operands[0])), lacking)
    arrays = [_array(x) for x in operands]
    return wrap(as_torch_lays_out(np.array(broadcasting(function, *arrays)), arrays))


def broadcasting(function: Callable[..., Any], *arrays: Any) -> Any:
    """Call an elementwise function of arrays; refuse shapes that do not broadcast."""
    try:
        return function(*arrays)
    except ValueError:
        if where := clash(*[np.shape(array) for array in arrays]):
            refuse_by("op/shapes-broadcast", **where)
        raise


def _infinite(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make a test for one of the infinities, which complex numbers do not have."""
    test = _map(function)

    def infinite(x: Tensor) -> Tensor:
        if x.is_complex():
            refuse_by("op/complex-extreme", name=function.__name__)
        return test(x)

    infinite.__name__ = function.__name__
    return infinite


def underivable(out: Tensor, x: Tensor, *node: str) -> Tensor:
    """Give the result of an op without a derivative a node, with a name of its own or not, that refuses."""
    if x.requires_grad and STATE.enabled and not STATE.inference:
        make_output_of(out, NotImplementedNode((gradient_edge(x),), *node))
    return out


@marking
def isin(x: Any, among: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Test each element for membership in ``among``."""
    taken = [isinstance(each, (Tensor, int, float, complex)) for each in (x, among)]
    if not all(taken) or not (isinstance(x, Tensor) or isinstance(among, Tensor)):
        refuse_by("op/arguments", name="isin", given=f"{type(x).__name__}, {type(among).__name__}")
    for each in (x, among):
        _need_dtype("isin", each, "bc")
    return tensor_of(np.isin(_array(x), _array(among), invert=invert))


def _corners(name: str) -> Callable[..., Tensor]:
    """Make a function for the row and column indices on one side of a diagonal."""

    def indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, **_: Any) -> Tensor:
        if dtype not in (dtypes.int64, dtypes.int32):
            raise NotImplementedError(f"\"{name}\" not implemented for '{SCALARS[dtype.name]}'")
        return tensor_of(np.stack(getattr(np, name)(row, offset, col)).astype(dtype.numpy))

    indices.__name__ = name
    return indices


_ITERATING: dict[str, Any] = {
    "isclose": isclose, "allclose": allclose,
}  # fmt: skip
"""Functions whose kernels iterate over elements."""
_LOGICAL: dict[str, Any] = {
    "logical_and": _pair(np.logical_and), "logical_or": _pair(np.logical_or),
    "logical_xor": _pair(np.logical_xor),
}  # fmt: skip
"""Functions that do so and write into a tensor beside the first one."""
_OTHERS: dict[str, Any] = {
    "equal": equal, "gcd": _pair(np.gcd, "bfcV"), "lcm": _pair(np.lcm, "bfcV"),
}  # fmt: skip
BOTH: dict[str, Any] = {
    "all": _found(np.all), "any": _found(np.any),
    "argmax": _position(np.argmax), "argmin": _position(np.argmin), "argsort": argsort,
    "isnan": _map(np.isnan), "isinf": _map(np.isinf), "isfinite": _map(np.isfinite),
    "isposinf": _infinite(np.isposinf), "isneginf": _infinite(np.isneginf), "isreal": _map(np.isreal),
    "signbit": _map(np.signbit, "c"), "logical_not": _map(np.logical_not),
    **{name: meeting(function, Numbers.ANY) for name, function in _ITERATING.items()},
    **{name: meeting(function, Numbers.LATER) for name, function in _LOGICAL.items()},
    **{name: meeting(function) for name, function in _OTHERS.items()},
}  # fmt: skip
"""Functions that are methods too, by name."""

FUNCTIONS: dict[str, Any] = {
    "is_tensor": is_tensor, "is_floating_point": geometry.is_floating_point,
    "is_complex": geometry.is_complex, "numel": geometry.numel, "result_type": result_type,
    "promote_types": promote_types, "can_cast": can_cast, "isin": meeting(isin),
    "tril_indices": _corners("tril_indices"), "triu_indices": _corners("triu_indices"),
    "broadcast_shapes": geometry.broadcast_shapes,
}  # fmt: skip
"""Functions that are not methods, by name."""

OPERATORS: dict[str, str] = {
    "__and__": "bitwise_and", "__rand__": "bitwise_and", "__or__": "bitwise_or", "__ror__": "bitwise_or",
    "__xor__": "bitwise_xor", "__rxor__": "bitwise_xor", "__invert__": "_invert", "__mod__": "remainder",
    "__floordiv__": "floor_divide", "__rfloordiv__": "_rfloor_divide", "__rmod__": "_rremainder",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift", "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_", "__imod__": "remainder_",
    "__ifloordiv__": "floor_divide_", "__ilshift__": "bitwise_left_shift_",
    "__irshift__": "bitwise_right_shift_", "__pos__": "positive", "__rlshift__": "_rlshift",
    "__rrshift__": "_rrshift",
}  # fmt: skip
"""Methods behind Python operators that generated programs do not use."""
