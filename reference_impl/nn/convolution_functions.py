"""Convolutions of ``torch.nn.functional``, and what they refuse, in PyTorch's order and words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace.factories import zeros
from reference_impl.namespace.formats import keeping_format
from reference_impl.nn.window_functions import for_each
from specs.dtype_names import SCALARS
from specs.errors import need_kernel

IN_C = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
         "int64": "long int", "int32": "int", "uint8": "unsigned char"}  # fmt: skip
"""C++'s names of dtypes."""


def _need_image(name: str, ndim: int, input: Tensor, bias: Tensor | None) -> None:
    """Refuse input of other dimensions than a convolution takes, or of another dtype than its bias."""
    if input.ndim not in (ndim + 1, ndim + 2):
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, but got "
            f"input of size: {list(input.shape)}"
        )
    if bias is not None and input.dtype != bias.dtype:
        names = [IN_C.get(x.dtype.name, x.dtype.name) for x in (input, bias)]
        raise RuntimeError(f"Input type ({names[0]}) and bias type ({names[1]}) should be the same")


def _settings(weight: Tensor, groups: int, given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a convolution, each with one value for each dimension of the kernel."""
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    ndim, settings = weight.ndim - 2, {}
    for name, value in given.items():
        settings[name] = for_each(value, ndim)
        if len(settings[name]) != ndim:
            raise RuntimeError(
                f"expected {name} to be a single integer value or a list of {ndim} values to match the "
                f"convolution dimensions, but got {name}={list(settings[name])}"
            )
    for name in ("padding", "output_padding"):
        if min(settings.get(name, (0,))) < 0:
            raise RuntimeError(f"negative {name} is not supported")
    if min(settings["stride"]) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    return settings


def _need_fit(x: Tensor, weight: Tensor, bias: Tensor | None, groups: int, *, transposed: bool) -> None:
    """Refuse a weight or bias of another shape or dtype than the input and the groups ask for."""
    size = list(weight.shape)
    if weight.ndim != x.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {size}, but got "
            f"{x.ndim}-dimensional input of size {list(x.shape)} instead"
        )
    if size[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight "
            f"of size {size} instead"
        )
    if size[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{size}] instead"
        )
    inputs, outputs = (size[0], size[1] * groups) if transposed else (size[1] * groups, size[0])
    given = "Given transposed=1" if transposed else f"Given groups={groups}"
    if x.shape[1] != inputs:
        raise RuntimeError(
            f"{given}, weight of size {size}, expected input{list(x.shape)} to have {inputs} channels, but "
            f"got {x.shape[1]} channels instead"
        )
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(
            f"{'Given transposed=1,' if transposed else 'Given'} weight of size {size}, expected bias to be "
            f"1-dimensional with {outputs} elements, but got bias of size {list(bias.shape)} instead"
        )


def _need_one_dtype(x: Tensor, weight: Tensor) -> None:
    if x.dtype != weight.dtype:
        names = [SCALARS[each.dtype.name] for each in (x, weight)]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")


def _need_dilation(ndim: int, dilation: tuple[int, ...], *, transposed: bool) -> None:
    """Refuse dilations that do not advance. One dimension is done as two."""
    if min(dilation) > 0:
        return
    each = (1, *dilation) if ndim == 1 else dilation
    names = ("depth", "height", "width")[-len(each) :]
    told = ", ".join(f"dilation_{name}: {d}" for name, d in zip(names, each, strict=True))
    raise RuntimeError(f"dilation should be greater than zero, but got {told if transposed else list(each)}")


def _need_less_padding(settings: dict[str, tuple[int, ...]]) -> None:
    """Refuse a padding of the output that neither stride nor dilation leaves room for."""
    names = ("output_padding", "stride", "dilation")
    each = zip(*(settings[name] for name in names), strict=True)
    if all(extra < max(stride, dilation) for extra, stride, dilation in each):
        return
    told = []
    for name in names:
        values = settings[name]
        if len(values) == 1:  # which is done as two
            values = (0 if name == "output_padding" else 1, *values)
        axes = ("depth", "height", "width")[-len(values) :]
        told += [f"{name}_{axis}: {value}" for axis, value in zip(axes, values, strict=True)]
    raise RuntimeError(
        f"output padding must be smaller than either stride or dilation, but got {' '.join(told)}"
    )


def _pads_alike(input: Tensor, weight: Tensor, stride: Any, dilation: Any) -> tuple[Tensor, tuple[int, ...]]:
    """The input and the padding by which the result has its size; where that is odd, the input is padded."""
    ndim = weight.ndim - 2
    if any(s != 1 for s in for_each(stride, ndim)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    dilations = for_each(dilation, ndim)
    totals = [d * (k - 1) for d, k in zip(dilations, weight.shape[2:], strict=True)]
    if any(total % 2 for total in totals):
        odd = [n for total in reversed(totals) for n in (0, total % 2)]
        input = input.constant_pad_nd(tuple(odd), 0)
    return input, tuple(total // 2 for total in totals)


def _by_parts(convolve: Callable[..., Tensor], x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Convolve complex numbers by three convolutions of real ones, in the order of PyTorch's steps."""
    (real, imaginary), (w, v) = _parts(x), _parts(weight)
    first, second = (None, None) if bias is None else _parts(bias)
    a, b = convolve(real, w, first), convolve(imaginary, v)
    added, weights = first if first is None else first.add(second), w.add(v)
    c = convolve(real.add(imaginary), weights, added).sub(a).sub(b).mul_scalar(1j)
    return a.sub(b).add(c)


def _parts(x: Tensor) -> tuple[Tensor, Tensor]:
    pairs = x.resolve_conj().view_as_real()
    return pairs.select(-1, 0), pairs.select(-1, 1)


def _convolution(ndim: int) -> Callable[..., Tensor]:
    def convolve(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        """Convolve ``(N, C, ...)`` or ``(C, ...)`` with a weight of ``(out, C / groups, ...)``."""
        _need_image(f"conv{ndim}d", ndim, input, bias)
        if input.ndim == ndim + 1:
            return convolve(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
        if input.is_complex():
            _need_one_dtype(input, weight)
            how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
            return _by_parts(partial(convolve, **how), input, weight, bias)
        if padding == "same":
            input, padding = _pads_alike(input, weight, stride, dilation)
        elif padding == "valid":
            padding = 0
        elif isinstance(padding, str):
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        given = {"stride": stride, "padding": padding, "dilation": dilation}
        settings = _settings(weight, groups, given)
        _need_fit(input, weight, bias, groups, transposed=False)
        _need_dilation(ndim, settings["dilation"], transposed=False)
        _need_one_dtype(input, weight)
        if max(settings["dilation"]) > 1:
            need_kernel("slow_conv_dilated<>", array_of(input), "biu-l")
        else:
            need_kernel("compute_columns3d" if ndim == 3 else "slow_conv2d", array_of(input), "b")
        if bias is None:  # its place among the edges stays
            bias = wrap_beside(weight, np.zeros(weight.shape[0], array_of(weight).dtype))
        return input._conv_bias(weight, bias, **settings, groups=groups)

    convolve.__name__ = f"conv{ndim}d"
    return keeping_format(convolve) if ndim > 1 else convolve


conv1d = _convolution(1)
conv2d = _convolution(2)
conv3d = _convolution(3)


def _transposed(ndim: int) -> Callable[..., Tensor]:
    def convolve(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        """The gradient of a convolution as a layer, with a weight of ``(C, out / groups, ...)``."""
        _need_image(f"conv_transpose{ndim}d", ndim, input, bias)
        if input.ndim == ndim + 1:
            x = input.unsqueeze(0)
            return convolve(x, weight, bias, stride, padding, output_padding, groups, dilation).squeeze(0)
        given = {"stride": stride, "padding": padding, "output_padding": output_padding, "dilation": dilation}
        if input.is_complex():
            _need_one_dtype(input, weight)
            return _by_parts(partial(convolve, groups=groups, **given), input, weight, bias)
        settings = _settings(weight, groups, given)
        _need_fit(input, weight, bias, groups, transposed=True)
        _need_dilation(ndim, settings["dilation"], transposed=True)
        _need_less_padding(settings)
        _need_one_dtype(input, weight)
        need_kernel(f"slow_conv_transpose{max(ndim, 2)}d_out", array_of(input), "biu-l")
        if bias is None:
            bias = zeros(weight.shape[1] * groups, dtype=weight.dtype, device=weight.device)
        return input._conv_transpose(weight, bias, **settings, groups=groups)

    convolve.__name__ = f"conv_transpose{ndim}d"
    return keeping_format(convolve) if ndim > 1 else convolve


conv_transpose1d, conv_transpose2d, conv_transpose3d = _transposed(1), _transposed(2), _transposed(3)
