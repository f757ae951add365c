"""Complex numbers as pairs of reals, by views: ``view_as_real``, ``view_as_complex``, ``real``, ``imag``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.base.dtypes import NoSuchDtype
from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of, storage_of
from reference_impl.core.as_strided import Memory, window_on
from reference_impl.core.tensor import Tensor
from specs.kind import Offset
from specs.kind import Tensor as TensorOperand
from specs.op import op
from specs.ops.shapes import strides_of


@op(internal=True, node="ViewAsRealBackward0", view=True, dtypes="keep", complex=True)
def view_as_real(x: TensorOperand) -> Any:
    """Real and imaginary parts along a new last dimension, in the same memory."""
    if x.dtype.kind != "c":
        refuse_by("window/reals-of-complex", dtype=str(x.dtype))
    return np.lib.stride_tricks.as_strided(x.real, (*x.shape, 2), (*x.strides, x.itemsize // 2))


view_as_real.wrt(x=lambda g: g.contiguous().view_as_complex())

_COMPLEX: dict[np.dtype, np.dtype] = {
    np.dtype(np.float64): np.dtype(np.complex128),
    np.dtype(np.float32): np.dtype(np.complex64),
}


@op(internal=True, node="ViewAsComplexBackward0", view=True, dtypes="keep", complex=True)
def _view_as_complex(x: TensorOperand, *, offset: Offset, storage: Memory) -> Any:
    """Pairs along the last dimension as complex numbers, in the same memory."""
    if x.dtype not in _COMPLEX:
        _refuse_pairs(f"elements of {x.dtype}", "dtype", dtype=x.dtype)
    if not x.ndim:
        _refuse_pairs("a tensor without dimensions", "scalar")
    if x.shape[-1] != 2:
        _refuse_pairs(f"a last dimension of size {x.shape[-1]}", "size")
    strides = strides_of(x)
    if strides[-1] != 1:
        _refuse_pairs(f"a last dimension with stride {strides[-1]}", "stride")
    if any(step % 2 and n != 1 for step, n in zip(strides[:-1], x.shape[:-1], strict=True)):
        _refuse_pairs(f"the strides {strides}", "strides")
    if offset % 2:
        _refuse_pairs(f"the offset {offset}", "offset")
    halved = tuple([step // 2 for step in strides[:-1]])
    return window_on(storage, _COMPLEX[x.dtype], (x.shape[:-1], halved, offset // 2))


def _refuse_pairs(what: str, case: str, **details: Any) -> None:
    refuse_by("window/pairs-side-by-side", what=what, case=case, **details)


_view_as_complex.wrt(x=lambda g: g.contiguous().view_as_real())


def view_as_complex(self: Tensor) -> Tensor:
    """Pairs along the last dimension as complex numbers: a view; refused where they do not lie as such."""
    if array_of(self).dtype == np.float16:
        raise NoSuchDtype("numpy has no complex dtype as narrow as float16")
    return self._view_as_complex(offset=self.storage_offset(), storage=storage_of(self))


def real(self: Tensor) -> Tensor:
    """The real parts: a view; a real tensor itself."""
    return self.view_as_real().select(-1, 0) if self.is_complex() else self


def imag(self: Tensor) -> Tensor:
    """The imaginary parts, as a view."""
    if not self.is_complex():
        refuse_by("window/imaginary-of-complex", dtype=self.dtype)
    return self.view_as_real().select(-1, 1)


def _written(part: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Any], None]:
    """Make the assignment to the real or imaginary parts: a copy of a tensor or number into them."""

    def write(self: Tensor, value: Any) -> None:
        shown = part(self)
        if isinstance(value, (int, float, complex)):
            value = shown.detach().new_zeros(()).fill_(value)
        if not isinstance(value, Tensor):
            raise TypeError(f"can't assign a {type(value).__name__} to a {shown.type()}")
        shown.copy_(value)

    return write


METHODS: dict[str, Any] = {"view_as_complex": view_as_complex}
"""The methods by name."""
PROPERTIES: dict[str, Any] = {
    "real": property(real, _written(real)),
    "imag": property(imag, _written(imag)),
}
"""The attributes by name."""


def complex_(real: Tensor, imag: Tensor) -> Tensor:
    """Combine real and imaginary parts of one dtype, float32 or float64."""
    for told, given in (("real", real), ("imag", imag)):
        if not isinstance(given, Tensor):
            refuse_by("op/arguments", name="complex", given=f"{told}={type(given).__name__}")
    wants = (np.float32, np.float64)
    got = [x.type().removeprefix("torch.").removesuffix("Tensor") for x in (real, imag)]
    if array_of(real).dtype == array_of(imag).dtype == np.float16:
        raise NoSuchDtype("numpy has no complex dtype as narrow as float16")
    if array_of(real).dtype not in wants or array_of(imag).dtype not in wants:
        refuse_by("op/complex-is-made-of-floats", real=got[0], imag=got[1])
    if got[0] != got[1]:
        raise RuntimeError(
            f"Expected object of scalar type {got[0]} but got scalar type {got[1]} for second argument"
        )
    return real._complex(imag)


FUNCTIONS: dict[str, Any] = {**METHODS, "real": real, "imag": imag}
"""Functions of the namespace, by name."""
