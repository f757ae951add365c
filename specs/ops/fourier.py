"""Discrete Fourier transforms, as PyTorch's three ops: between complex numbers, from and to real ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.kind import Bool, Count, IntList, Tensor
from specs.op import op

_FACTS: dict[str, Any] = {
    "internal": True,
    "dtypes": "keep",
    "exact": False,
    "ulp": 64,
    "complex": True,
    "real": True,
}
Dims = tuple[int, ...]


def _scaled(x: np.ndarray, dtype: Any, count: int, norm: int) -> np.ndarray:
    """The sums as they are, over the root of their number, or over it."""
    scaled = x if norm == 0 else x / (math.sqrt(count) if norm == 1 else count)
    return np.asarray(scaled, dtype, order="C")


def _count(shape: Dims, dims: Dims) -> int:
    return math.prod(shape[d] for d in dims)


def _complex_of(x: np.ndarray) -> Any:
    return np.result_type(x.dtype, np.complex64)


@op(node="FftC2CBackward0", **_FACTS)
def _fft_c2c(x: Tensor, *, dims: IntList, norm: Count, forward: Bool) -> Any:
    """The transform of complex numbers."""
    found = np.fft.fftn(x, axes=dims) if forward else np.fft.ifftn(x, axes=dims, norm="forward")
    return _scaled(found, x.dtype, _count(x.shape, dims), norm)


@op(node="FftR2CBackward0", **_FACTS)
def _fft_r2c(x: Tensor, *, dims: IntList, norm: Count, half: Bool) -> Any:
    """The transform of real numbers, or the half of it that says all."""
    found = (np.fft.rfftn if half else np.fft.fftn)(x, axes=dims)
    return _scaled(found, _complex_of(x), _count(x.shape, dims), norm)


@op(node="FftC2RBackward0", **_FACTS)
def _fft_c2r(x: Tensor, *, dims: IntList, norm: Count, size: Count) -> Any:
    """The real numbers whose half transform that is; ``size`` of them along the last dimension."""
    rest = [x.shape[d] for d in dims[:-1]]
    found = np.fft.irfftn(x, [*rest, size], axes=dims, norm="forward")
    return _scaled(found, x.real.dtype, math.prod(rest) * size, norm)


def _from_complex(g: Any, x: Any, dims: Dims, norm: int, half: bool) -> Any:
    """Only the shape of ``x`` counts, but PyTorch saves it."""
    if half and g.shape[dims[-1]] != x.shape[dims[-1]]:
        whole = g.new_zeros(x.shape)
        whole.narrow(dims[-1], 0, g.shape[dims[-1]]).copy_(g)
        g = whole
    return g._fft_c2c(dims=dims, norm=norm, forward=False)


def _from_real(g: Any, x_shape: Dims, dims: Dims, norm: int) -> Any:
    found = g._fft_r2c(dims=dims, norm=norm, half=True)
    twice = g.shape[dims[-1]] - x_shape[dims[-1]]
    if twice > 0:
        found.narrow(dims[-1], 1, twice).mul_(2)
    return found


_fft_c2c.wrt(x=lambda g, dims, norm, forward: g._fft_c2c(dims=dims, norm=norm, forward=not forward))
_fft_r2c.wrt(x=_from_complex)
_fft_c2r.wrt(x=_from_real)
