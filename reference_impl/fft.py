"""``torch.fft``: discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.out_argument import taking_out
from reference_impl.namespace.factories import tensor
from reference_impl.namespace.missing import loading
from reference_impl.namespace.ranges import arange
from reference_impl.namespace.tensor_arguments import tell_of_tensors
from specs.dtype_names import SCALARS
from specs.ops.helpers import axis_of

_FORWARD = {None: 0, "backward": 0, "ortho": 1, "forward": 2}
_INVERSE = {None: 2, "backward": 2, "ortho": 1, "forward": 0}


def _norm(norm: str | None, forward: bool) -> int:
    known = _FORWARD if forward else _INVERSE
    if norm not in known:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return known[norm]


def _floating(x: Tensor) -> Tensor:
    if x.dtype in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"Unsupported dtype {SCALARS[x.dtype.name]}")
    return x if x.is_floating_point() or x.is_complex() else x.to(dtypes.default())


def _need_real(name: str, x: Tensor, kind: str = "real") -> None:
    if x.is_complex():
        raise RuntimeError(f"{name} expects a {kind} input tensor, but got {SCALARS[x.dtype.name]}")


def _complex(x: Tensor) -> Tensor:
    x = _floating(x)
    return x if x.is_complex() else x.to(dtypes.of(np.result_type(x.dtype.numpy, np.complex64)))


def _need_points(size: int | None) -> None:
    if size is not None and size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")


def _resized(x: Tensor, dims: Sequence[int], sizes: Sequence[int | None]) -> Tensor:
    """Cut or pad dimensions at their end."""
    pads = [0] * (2 * x.ndim)
    for d, size in zip(dims, sizes, strict=True):
        _need_points(size)
        if size is not None and size < x.shape[d]:
            x = x.narrow(d, 0, size)
        elif size is not None:
            pads[2 * (x.ndim - 1 - d) + 1] = size - x.shape[d]
    return x.constant_pad_nd(tuple(pads), 0) if any(pads) else x


def _places(x: Tensor, s: Any, dim: Any) -> tuple[list[int], list[int | None]]:
    """The dimensions to transform, and their sizes, None to leave one as it is."""
    s = (s,) if isinstance(s, int) else s
    if dim is None and s is not None and len(s) > x.ndim:
        raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {x.ndim} dimensions.")
    if dim is None:
        dim = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    named = (dim,) if isinstance(dim, int) else tuple(dim)
    if s is not None and len(s) != len(named):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    dims = [axis_of(d, x.ndim) for d in named]
    if len(set(dims)) < len(dims):
        raise RuntimeError("FFT dims must be unique")
    sizes: list[int | None] = [None] * len(dims) if s is None else [None if n == -1 else n for n in s]
    return dims, sizes


# -- transforms --------------------------------------------------------------------------------------
def _both_ways(forward: bool) -> Callable[..., Tensor]:
    def transform(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
        """The transform along a dimension."""
        x, at = _floating(input), axis_of(dim, input.ndim)
        x = _resized(x, [at], [n])
        if x.is_complex():
            return x._fft_c2c(dims=(at,), norm=_norm(norm, forward), forward=forward)
        found = x._fft_r2c(dims=(at,), norm=_norm(norm, forward), half=False)
        return found if forward else found.conj()

    transform.__name__ = "fft" if forward else "ifft"
    return transform


def _all_ways(name: str, forward: bool, default: Any) -> Callable[..., Tensor]:
    def transform(input: Tensor, s: Any = None, dim: Any = default, norm: str | None = None) -> Tensor:
        """The transform along several dimensions."""
        x = _complex(input)
        dims, sizes = _places(x, s, dim)
        return _resized(x, dims, sizes)._fft_c2c(dims=tuple(dims), norm=_norm(norm, forward), forward=forward)

    transform.__name__ = name
    return transform


def _from_real(name: str, default: Any) -> Callable[..., Tensor]:
    def transform(input: Tensor, s: Any = None, dim: Any = default, norm: str | None = None) -> Tensor:
        """The half transform of real numbers that says all."""
        _need_real("rfftn", input, "real-valued")
        x = _floating(input)
        dims, sizes = _places(x, s, dim)
        _need_axes(name, dims)
        x = _resized(x, dims, sizes)
        return x._fft_r2c(dims=tuple(dims), norm=_norm(norm, True), half=True)

    transform.__name__ = name
    return transform


def _to_real(name: str, default: Any) -> Callable[..., Tensor]:
    def transform(input: Tensor, s: Any = None, dim: Any = default, norm: str | None = None) -> Tensor:
        """The real numbers of a half transform."""
        x = _complex(input)
        dims, sizes = _places(x, s, dim)
        _need_axes(name, dims)
        last = sizes[-1]
        size = 2 * (x.shape[dims[-1]] - 1) if last is None else last
        _need_points(size)
        x = _resized(x, dims, [*sizes[:-1], size // 2 + 1])
        return x._fft_c2r(dims=tuple(dims), norm=_norm(norm, False), size=size)

    transform.__name__ = name
    return transform


fft, ifft = _both_ways(True), _both_ways(False)
fft2, ifft2 = _all_ways("fft2", True, (-2, -1)), _all_ways("ifft2", False, (-2, -1))
fftn, ifftn = _all_ways("fftn", True, None), _all_ways("ifftn", False, None)
rfft2, rfftn = _from_real("rfft2", (-2, -1)), _from_real("rfftn", None)
irfft2, irfftn = _to_real("irfft2", (-2, -1)), _to_real("irfftn", None)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The half transform of real numbers along a dimension."""
    _need_real("rfft", input)
    _need_points(n)
    return rfftn(input, None if n is None else (n,), (dim,), norm)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The real numbers of a half transform along a dimension."""
    _need_points(n)
    return irfftn(input, None if n is None else (n,), (dim,), norm)


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform of a half of a symmetric signal."""
    x, at = _complex(input), axis_of(dim, input.ndim)
    size = 2 * (x.shape[at] - 1) if n is None else n
    _need_points(size)
    x = _resized(x, [at], [size // 2 + 1])
    return x.conj()._fft_c2r(dims=(at,), norm=_norm(norm, True), size=size)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The half of a symmetric signal of which that is the transform."""
    _need_real("ihfft", input)
    x, at = _floating(input), axis_of(dim, input.ndim)
    x = _resized(x, [at], [n])
    return x._fft_r2c(dims=(at,), norm=_norm(norm, False), half=True).conj()


def _symmetric(name: str, default: Any) -> Callable[..., Tensor]:
    def transform(input: Tensor, s: Any = None, dim: Any = default, norm: str | None = None) -> Tensor:
        """The transform of a signal that is symmetric along the last dimension, of which half is given."""
        x = _complex(input)
        dims, sizes = _places(x, s, dim)
        _need_axes(name, dims)
        size = 2 * (x.shape[dims[-1]] - 1) if sizes[-1] is None else sizes[-1]
        _need_points(size)
        x = _resized(x, dims, [*sizes[:-1], size // 2 + 1])
        if dims[1:]:
            x = x._fft_c2c(dims=tuple(dims[:-1]), norm=_norm(norm, True), forward=True)
        return x.conj()._fft_c2r(dims=(dims[-1],), norm=_norm(norm, True), size=size)

    transform.__name__ = name
    return transform


def _half_of_symmetric(name: str, default: Any) -> Callable[..., Tensor]:
    def transform(input: Tensor, s: Any = None, dim: Any = default, norm: str | None = None) -> Tensor:
        """The half of such a signal of which that is the transform."""
        if input.is_complex():
            found = SCALARS[input.dtype.name]
            raise RuntimeError(f"Only supports floating-point dtypes, but found: {found}")
        x = _floating(input)
        dims, sizes = _places(x, s, dim)
        _need_axes(name, dims)
        half = _resized(x, dims, sizes)._fft_r2c(dims=(dims[-1],), norm=_norm(norm, False), half=True)
        if not dims[1:]:
            return half.conj()
        return half._conj_physical()._fft_c2c(dims=tuple(dims[:-1]), norm=_norm(norm, False), forward=False)

    transform.__name__ = name
    return transform


def _need_axes(name: str, dims: list[int]) -> None:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


hfft2, hfftn = _symmetric("hfft2", (-2, -1)), _symmetric("hfftn", None)
ihfft2, ihfftn = _half_of_symmetric("ihfft2", (-2, -1)), _half_of_symmetric("ihfftn", None)


# -- frequencies -------------------------------------------------------------------------------------
def fftfreq(n: int, d: float = 1.0, requires_grad: bool = False, **how: Any) -> Tensor:
    """The frequencies of a transform."""
    counted = tensor([*range((n + 1) // 2), *range(-(n // 2), 0)], **{"dtype": dtypes.default()} | how)
    return counted.mul(1 / (max(n, 1) * d)).requires_grad_(requires_grad)


def rfftfreq(n: int, d: float = 1.0, requires_grad: bool = False, **how: Any) -> Tensor:
    """The frequencies of a half transform."""
    counted = arange(n // 2 + 1, **{"dtype": dtypes.default()} | how)
    return counted.mul(1 / (max(n, 1) * d)).requires_grad_(requires_grad)


def _rolled(x: Tensor, dim: Any, forward: bool) -> Tensor:
    dims = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    at = tuple(axis_of(d, x.ndim) for d in dims)
    return x.roll(tuple(x.shape[d] // 2 if forward else (x.shape[d] + 1) // 2 for d in at), at)


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The transform with its zero frequency in the middle."""
    return _rolled(input, dim, True)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Undo `fftshift`."""
    return _rolled(input, dim, False)


_WITH_OUT = (
    "fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn",
    "hfft", "ihfft", "hfft2", "hfftn", "ihfft2", "ihfftn",
)  # fmt: skip
globals().update({name: taking_out(globals()[name], casts=False) for name in _WITH_OUT})
tell_of_tensors(globals(), __name__, "fft_")
__getattr__ = loading(__name__)
