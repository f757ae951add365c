"""``stft`` and ``istft``: the spectra of windows along a signal, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.base.device import place_of
from reference_impl.base.dtypes import bfloat16, float16
from reference_impl.base.not_modelled import refuse_unless_default
from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import ones
from specs.dtype_names import SCALARS

_MODES = {"reflect": ("_reflected1d", 1), "replicate": ("_replicated1d", 2), "circular": ("_circular", 3)}


def _whole_window(
    name: str, window: Tensor | None, win_length: int, n_fft: int, like: Tensor
) -> Tensor | None:
    """The window with zeros on both sides up to the length of a transform; without one, ones if shorter."""
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is None:
        if win_length == n_fft:
            return None
        window = like.new_ones((win_length,))
    if window.ndim != 1 or window.shape[0] != win_length:
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={win_length}, but got window "
            f"with size {list(window.shape)}"
        )
    if win_length == n_fft:
        return window
    left = (n_fft - win_length) // 2
    return window.constant_pad_nd((left, n_fft - win_length - left), 0)


def _need_spectrum(x: Tensor) -> None:
    if not x.is_floating_point() and not x.is_complex():
        raise RuntimeError("stft: expected a tensor of floating point or complex values")


def stft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Tensor:  # fmt: skip
    """The spectra of windows along a signal, or along each of a batch."""
    if x.ndim not in (1, 2):
        raise RuntimeError(f"stft: expected a 1D or 2D tensor, but got {x.ndim}D tensor")
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    given = window is not None and window.is_complex()
    if onesided and (given or x.is_complex()):
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if center and pad_mode not in ("constant", *_MODES):
        raise NotImplementedError(f"Unrecognised padding mode {pad_mode}")
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    refuse_unless_default("stft", {"align_to_window": align_to_window}, align_to_window=None)
    if return_complex is None:
        if not x.is_complex() and not given:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further "
                "require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    dims = x.ndim
    if center:
        wide = x.view((*(1,) * (3 - dims), *x.shape))
        pads = (n_fft // 2, n_fft // 2)
        if pad_mode == "constant":
            wide = wide.constant_pad_nd(pads, 0)
        else:
            if pad_mode == "reflect" and pads[0] >= wide.shape[-1]:
                raise RuntimeError(
                    "Argument #4: Padding size should be less than the corresponding input dimension, but "
                    f"got: padding ({pads[0]}, {pads[1]}) at dimension 2 of input {list(wide.shape)}"
                )
            name, mode = _MODES[pad_mode]
            wide = getattr(wide, name)(dims=1, how=(*pads, mode))
        x = wide.view(tuple(wide.shape)[3 - dims :])
    _need_spectrum(x)
    x = x.unsqueeze(0) if dims == 1 else x
    if not 0 < n_fft <= x.shape[1]:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {x.shape[1]}, but got n_fft={n_fft}")
    count = 1 + (x.shape[1] - n_fft) // hop
    row, step = x.stride()
    frames = x.as_strided((x.shape[0], count, n_fft), (row, hop * step, step))
    whole = _whole_window("stft", window, length, n_fft, x.detach())
    frames = frames if whole is None else frames.mul(whole)
    if frames.dtype in (float16, bfloat16):
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {SCALARS[frames.dtype.name]}")
    norm = int(bool(normalized))
    if frames.is_complex():
        out = frames._fft_c2c(dims=(2,), norm=norm, forward=True)
    else:
        out = frames._fft_r2c(dims=(2,), norm=norm, half=onesided is not False)
    out.transpose_(1, 2)
    if dims == 1:
        out.squeeze_(0)
    return out if return_complex else out.view_as_real()


def istft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, normalized: bool = False,
    onesided: bool | None = None, length: int | None = None, return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """The signal whose windows have those spectra."""
    if not x.is_complex():
        refuse_by("op/istft-takes-spectra")
    if window is not None and window.is_complex() and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    half = x.shape[-2] != n_fft if onesided is None else onesided
    rows = n_fft // 2 + 1 if half else n_fft
    if 0 in x.shape or x.shape[-2] != rows:
        raise RuntimeError(
            "istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{'n_fft / 2 + 1' if half else 'n_fft'} when onesided={half}, but got {x.shape[-2]}"
        )
    if not 0 < hop <= size:
        raise RuntimeError("istft: expected 0 < hop_length <= win_length")
    whole = _whole_window("istft", window, size, n_fft, x.detach().real)
    if whole is None:
        whole = ones(n_fft, dtype=x.dtype, device=place_of(x))
        whole = whole.real if whole.is_complex() else whole
    pairs = x.view_as_real()
    dims, count = pairs.ndim, pairs.shape[-2]
    total = n_fft + hop * (count - 1)
    pairs = pairs.unsqueeze(0) if dims == 3 else pairs
    spectra = pairs.transpose(1, 2).view_as_complex()
    norm = 1 if normalized else 2
    if return_complex:
        frames = spectra._fft_c2c(dims=(2,), norm=norm, forward=False)
    else:
        if not half:
            spectra = spectra.slice(-1, 0, n_fft // 2 + 1, 1)
        frames = spectra._fft_c2r(dims=(2,), norm=norm, size=n_fft)
    frames = frames.mul(whole.view((1, 1, n_fft)))
    signal = frames.unfold_backward((frames.shape[0], total), 1, n_fft, hop)
    weights = whole.pow(2).expand((1, count, n_fft)).unfold_backward((1, total), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    kept = min(end, total)
    signal, weights = signal.slice(1, start, kept, 1), weights.slice(1, start, kept, 1)
    least = float(np.abs(array_of(weights)).min())
    if least <= 1e-11:
        raise RuntimeError(f"window overlap add min: 1 [ Tensor with min {least} ]")
    signal = signal.div(weights)
    signal = signal.squeeze(0) if dims == 3 else signal
    return signal.constant_pad_nd((0, end - total), 0) if end > total else signal


BOTH: dict[str, Any] = {"istft": istft, "stft": stft}
"""Functions that are methods too, by name."""
