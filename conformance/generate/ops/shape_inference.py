"""Shape inference: run the bodies of ops on bare arrays to find the arguments they accept and their results.

The bodies come from the op declarations. There is no autograd, no view and no version here, and values do not
matter.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from specs.active_rules import set_aside
from specs.op import Op, Overloads
from specs.ops import overloads


class BareArray:
    """An array with the tensor methods of the op table, for bodies that call those."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    shape = property(lambda self: self.array.shape)
    ndim = property(lambda self: self.array.ndim)
    dtype = property(lambda self: self.array.dtype)
    requires_grad = property(lambda self: False)
    is_leaf = property(lambda self: True)

    def dim(self) -> int:
        return self.array.ndim

    def new_zeros(self, size: Any) -> BareArray:
        return BareArray(np.zeros(size, self.array.dtype))

    def new_full(self, size: Any, value: Any) -> BareArray:
        return BareArray(np.full(size, value, self.array.dtype))

    def to(self, dtype: Any) -> BareArray:
        return BareArray(self.array.astype(dtype))

    def numel(self) -> int:
        return self.array.size

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim: int | None = None) -> Any:
        strides = tuple(step // self.array.itemsize for step in self.array.strides)
        return strides if dim is None else strides[dim]

    def is_contiguous(self) -> bool:
        return bool(self.array.flags.c_contiguous)

    def clone_contiguous(self) -> BareArray:
        return BareArray(self.array.copy())

    def is_complex(self) -> bool:
        return self.array.dtype.kind == "c"

    def is_floating_point(self) -> bool:
        return self.array.dtype.kind == "f"

    def __len__(self) -> int:
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        try:
            op = _named(name)
        except KeyError:
            raise AttributeError(name) from None

        def method(*args: Any, **kwargs: Any) -> Any:
            receiver = op.receiver
            return call_body(*op.bind((*args[:receiver], self, *args[receiver:]), kwargs, BareArray))

        return method


@cache
def _named(name: str) -> Overloads:
    return overloads(name)


def call_body(op: Op, operands: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """Run an op's body on `BareArray` operands; it may raise a refusal."""
    if op.composite:
        return op.body(**dict(zip(op.names, operands, strict=True)), **attributes)
    arrays = tuple(value.array if isinstance(value, BareArray) else value for value in operands)
    if op.dtypes == "float":
        arrays = tuple([_floating(a) if isinstance(a, np.ndarray) else a for a in arrays])
    out = op.compute(arrays, attributes)
    if op.mutates:
        np.broadcast_to(out, arrays[0].shape)
        return operands[0]
    return tuple(map(BareArray, out)) if isinstance(out, tuple | list) else BareArray(out)


def _floating(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64) if array.dtype.kind in "bi" else array


def shapes_of(
    op: Op, operands: tuple[Any, ...], attributes: dict[str, Any]
) -> tuple[tuple[int, ...], ...] | None:
    """Return the shapes of an op's results; None if it refuses the arguments."""
    try:
        with np.errstate(all="ignore"), set_aside():
            out = call_body(op, operands, attributes)
    except (
        RuntimeError,
        ValueError,
        IndexError,
        TypeError,
        AttributeError,
        ArithmeticError,
        NotImplementedError,
    ):
        return None
    if isinstance(out, tuple | list):
        return tuple(one.shape for one in out)
    return () if out is None else (out.shape,)
