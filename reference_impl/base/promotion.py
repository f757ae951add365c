"""Type promotion: the arrays that an op's body computes on, cast as the op declares.

``base.dtypes`` promotes dtypes; casting a tensor is an op (``namespace.copy_ops``). Nothing here knows of
gradients: an operand is a number, or has an ``_array``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.rules import by, refuse_by
from specs.errors import need_kernel
from specs.layout import converted, laid_out_like
from specs.op import Op
from specs.signature import picker

Prepared = tuple[tuple[Any, ...], "np.dtype | None"]
"""The arrays (and numbers), and the dtype that they were cast to or had anyway; None if they are as given."""
Prepare = Callable[[tuple[Any, ...]], Prepared]
_COMPUTED = "fdFD"
"""Numpy's letters of what is computed in as it is; half precision is not."""


def preparer(op: Op) -> Prepare:
    """The function that makes arrays of the op's operands, and tells the result's dtype."""
    prepare = _preparer(op)
    return _putting_into(op.names.index(op.into), prepare) if op.into else prepare


def _putting_into(at: int, prepare: Prepare) -> Prepare:
    """The same, but that the result has the dtype of the operand number ``at``."""

    def prepared(operands: tuple[Any, ...]) -> Prepared:
        return prepare(operands)[0], operands[at]._array.dtype

    return prepared


def _preparer(op: Op) -> Prepare:
    if op.dtypes in ("keep", "same", "accumulate"):
        alone = len(op.operands) == 1
        prepare: Prepare = _one_as_it_is if alone else _as_they_are
        if op.wide:
            prepare = _widening(op, alone)
        return _counting(op, prepare) if op.dtypes == "accumulate" and not op.mutates else prepare
    cast = _caster(op)

    def one(operands: tuple[Any, ...]) -> Prepared:
        array = operands[0]._array
        dtype = array.dtype
        return ((array,), dtype) if dtype.char in _COMPUTED else cast((array,))

    def two(operands: tuple[Any, ...]) -> Prepared:
        x, y = operands
        x = x._array
        dtype = x.dtype
        array = getattr(y, "_array", None)
        if array is not None:
            y = array
            alike = y.dtype is dtype
        else:
            alike = type(y) is float or type(y) is int
        return ((x, y), dtype) if alike and dtype.char in "fd" else cast((x, y))

    def several(operands: tuple[Any, ...]) -> Prepared:
        return cast(_arrays(operands))

    # One or two operands, the first of them a tensor, is what most ops have: what `cast` does to floats,
    # written out.
    first = op.operands[0].kind.name == "tensor"
    return {1: one, 2: two}.get(len(op.operands), several) if first else several


def _caster(op: Op) -> Callable[[tuple[Any, ...]], Prepared]:
    """The function that casts all operands but masks and indices to the dtype torch.result_type gives."""
    aside = [operand.kind.name in ("mask", "indices") for operand in op.operands]
    taking = picker([i for i, apart in enumerate(aside) if not apart])
    factor = op.names.index(op.factor) if op.factor else None

    def cast(arrays: tuple[Any, ...]) -> Prepared:
        if op.dtypes == "numeric":
            _need_numbers(op, arrays)
        target = _result_type(taking(arrays))
        _need_kernel(op, target)
        if op.dtypes == "float" and target.kind in "biu":
            target = dtypes.default().numpy
        wide = dtypes.WIDER.get(target) if op.wide else None
        given = enumerate(zip(arrays, aside, strict=True))
        if wide is None or not by("op/half-rounds-once"):
            return tuple([a if apart else _as(target, a) for _, (a, apart) in given]), target
        return tuple(
            [a if apart else _widened(a, target, wide, at == factor) for at, (a, apart) in given]
        ), target

    return cast


def _arrays(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([getattr(x, "_array", x) for x in operands])


def _one_as_it_is(operands: tuple[Any, ...]) -> Prepared:
    return (operands[0]._array,), None


def _as_they_are(operands: tuple[Any, ...]) -> Prepared:
    return _arrays(operands), None


def _need_kernel(op: Op, dtype: np.dtype) -> None:
    """Refuse a dtype without a kernel before it is cast; the op's body sees what it is cast to."""
    if op.lacks:
        need_kernel(op.kernel or op.name.rstrip("_"), dtype, op.lacks)


def _widening(op: Op, alone: bool) -> Prepare:
    """Half precision as float32, to be rounded when it is done (in place, by being written)."""

    def one(operands: tuple[Any, ...]) -> Prepared:
        array = operands[0]._array
        return ((array,), None) if array.itemsize != 2 else widened((array,))

    def several(operands: tuple[Any, ...]) -> Prepared:
        arrays = _arrays(operands)
        return (arrays, None) if arrays[0].itemsize != 2 else widened(arrays)

    def widened(arrays: tuple[Any, ...]) -> Prepared:
        dtype = arrays[0].dtype
        _need_kernel(op, dtype)
        others = [a.dtype for a in arrays if isinstance(a, np.ndarray) and a.dtype != dtype]
        # What does not go together is refused as it is.
        if (
            dtype not in dtypes.WIDER
            or any(map(dtypes.differentiable, others))
            or not by("op/half-rounds-once")
        ):
            return arrays, None
        wide = dtypes.WIDER[dtype]
        arrays = tuple([converted(a, wide) if getattr(a, "dtype", None) == dtype else a for a in arrays])
        return arrays, None if op.mutates else dtype

    return one if alone else several


def _counting(op: Op, prepare: Prepare) -> Prepare:
    """Integers and bools as int64."""

    def counted(operands: tuple[Any, ...]) -> Prepared:
        prepared = prepare(operands)
        arrays = prepared[0]
        _need_kernel(op, arrays[0].dtype)
        return ((arrays[0].astype(np.int64),), None) if arrays[0].dtype.kind in "biu" else prepared

    return counted


def _need_numbers(op: Op, arrays: tuple[Any, ...]) -> None:
    """Refuse bools, tensors or not, as they come: promotion would make numbers of them."""
    if any(a.dtype.kind == "b" if isinstance(a, np.ndarray) else isinstance(a, bool) for a in arrays):
        name = op.name.rstrip("_")
        both = all(isinstance(a, np.ndarray) and a.dtype.kind == "b" for a in arrays)
        refuse_by("op/bool-arithmetic", name=name, case=f"{name} both" if both else None)


def _result_type(arrays: Any) -> np.dtype:
    return dtypes.promote(
        [a for a in arrays if isinstance(a, np.ndarray)], [a for a in arrays if not isinstance(a, np.ndarray)]
    )


def _as(target: np.dtype, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype == target:
            return value
        # NB: in memory of its own, also what is expanded.
        return laid_out_like(converted(value, target), value)
    return np.asarray(value).astype(target)


def _widened(value: Any, target: np.dtype, wide: np.dtype, factor: bool) -> Any:
    """Return a value, rounded to half precision, as float32; a factor or divisor is not rounded."""
    if factor and not np.ndim(value) and by("op/half-factor-is-not-rounded"):
        return np.asarray(value).astype(wide)
    return converted(_as(target, value), wide)
