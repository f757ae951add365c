"""What an op's body computes on: the arrays of its operands, cast as the op says.

Promotion between dtypes is ``dtypes``' business; casting a tensor is an op (``copies``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl import dtypes
from reference_impl.rule_marks import refuse
from reference_impl.tensor import Tensor
from specs.layout import converted
from specs.op import Op, picker

Prepared = tuple[tuple[Any, ...], "np.dtype | None"]
"""The arrays (and numbers), and the dtype that they were cast to or had anyway; None if they are as given."""
_COMPUTED = "fdFD"
"""Numpy's letters of what is computed in as it is; half precision is not."""
Prepare = Callable[[tuple[Any, ...]], Prepared]


def preparer(op: Op) -> Prepare:
    """The function that makes arrays of the op's operands."""
    if op.dtypes == "keep":
        return _one_as_it_is if len(op.operands) == 1 else _as_they_are
    if op.dtypes in ("wide", "same") or (op.dtypes == "sum" and op.mutates):
        return _as_wide_in_place if op.mutates else _as_wide
    if op.dtypes == "sum":
        return _sum
    cast = _caster(op)

    def one(operands: tuple[Any, ...]) -> Prepared:
        array = operands[0]._array
        dtype = array.dtype
        return ((array,), dtype) if dtype.char in _COMPUTED else cast((array,))

    def two(operands: tuple[Any, ...]) -> Prepared:
        x, y = operands
        x = x._array
        dtype = x.dtype
        if isinstance(y, Tensor):
            y = y._array
            alike = y.dtype is dtype
        else:
            alike = type(y) is float or type(y) is int
        return ((x, y), dtype) if alike and dtype.char in "fd" else cast((x, y))

    def several(operands: tuple[Any, ...]) -> Prepared:
        return cast(tuple([x._array if isinstance(x, Tensor) else x for x in operands]))

    # One or two operands, the first of them a tensor, is what most ops have: what `cast` does to floats,
    # written out.
    first = op.operands[0].kind.name == "tensor"
    return {1: one, 2: two}.get(len(op.operands), several) if first else several


def _caster(op: Op) -> Callable[[tuple[Any, ...]], Prepared]:
    """The function that casts all operands but masks and indices to the dtype torch.result_type gives."""
    aside = [operand.kind.name in ("mask", "indices") for operand in op.operands]
    taking = picker([i for i, apart in enumerate(aside) if not apart])

    def cast(arrays: tuple[Any, ...]) -> Prepared:
        if op.dtypes == "numeric":
            _need_numbers(op, arrays)
        target = _result_type(taking(arrays))
        if op.dtypes == "float" and target.kind in "biu":
            target = dtypes.default().numpy
        wide = dtypes.WIDER.get(target)
        given = [a if apart else _as(target, a) for a, apart in zip(arrays, aside, strict=True)]
        if wide is not None:
            given = [a if apart else converted(a, wide) for a, apart in zip(given, aside, strict=True)]
        return tuple(given), target

    return cast


def _one_as_it_is(operands: tuple[Any, ...]) -> Prepared:
    return (operands[0]._array,), None


def _as_they_are(operands: tuple[Any, ...]) -> Prepared:
    return tuple([x._array if isinstance(x, Tensor) else x for x in operands]), None


def _as_wide(operands: tuple[Any, ...]) -> Prepared:
    """Numbers of half precision as float32, to be rounded when it is done, if they are all of one dtype."""
    arrays, _ = _as_they_are(operands)
    dtype = arrays[0].dtype
    if dtype.itemsize != 2 or dtype not in dtypes.WIDER or not _alike(arrays, dtype):
        return arrays, None
    wide = dtypes.WIDER[dtype]
    return tuple([converted(a, wide) if getattr(a, "dtype", None) == dtype else a for a in arrays]), dtype


def _alike(arrays: tuple[Any, ...], dtype: np.dtype) -> bool:
    given = [a.dtype for a in arrays if isinstance(a, np.ndarray)]
    return all(other == dtype or not dtypes.differentiable(other) for other in given)


def _as_wide_in_place(operands: tuple[Any, ...]) -> Prepared:
    """The same, rounded by being written."""
    return _as_wide(operands)[0], None


def _sum(operands: tuple[Any, ...]) -> Prepared:
    arrays, dtype = _as_wide(operands)
    return ((arrays[0].astype(np.int64),), None) if arrays[0].dtype.kind in "biu" else (arrays, dtype)


def _need_numbers(op: Op, arrays: tuple[Any, ...]) -> None:
    """Refuse bools, tensors or not, as they come: promotion would make numbers of them."""
    if any(a.dtype.kind == "b" if isinstance(a, np.ndarray) else isinstance(a, bool) for a in arrays):
        refuse("op/bool-arithmetic", name=op.name.rstrip("_"))


def _result_type(arrays: Any) -> np.dtype:
    return dtypes.promote(
        [a for a in arrays if isinstance(a, np.ndarray)], [a for a in arrays if not isinstance(a, np.ndarray)]
    )


def _as(target: np.dtype, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.dtype == target else converted(value, target)
    return np.asarray(value).astype(target)
