"""The normalising functions of ``torch.nn.functional``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from reference_impl.autograd.function import Function
from reference_impl.base.dtypes import bfloat16, float16, float32
from reference_impl.base.modes import inference_mode, no_grad
from reference_impl.base.rules import by, hold_back, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of
from reference_impl.core.saved import standing_in
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import levels_of
from reference_impl.namespace.factories import ones, zeros, zeros_like
from reference_impl.namespace.formats import keeping_format
from reference_impl.nn.convolution_functions import IN_C
from reference_impl.nn.window_functions import avg_pool2d, avg_pool3d
from specs.active_rules import set_aside
from specs.errors import need_kernel
from specs.ops import layers


def _given(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: tuple[int, ...]
) -> tuple[Tensor, Tensor]:
    """Weight and bias, ones and zeros where there is none."""
    like: dict[str, Any] = {"dtype": x.dtype, "device": x.device}
    return (
        standing_in(ones(shape, **like)) if weight is None else weight,
        standing_in(zeros(shape, **like)) if bias is None else bias,
    )


def _need_dtypes(x: Tensor, *given: Tensor | None) -> None:
    """Refuse other dtypes beside the input's, but for float32 beside a half precision."""
    others = [each.dtype for each in given if each is not None and each.dtype != x.dtype]
    if any(dtype != float32 for dtype in others):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if others and x.dtype not in (bfloat16, float16):
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def _statistics(
    x: Tensor, axes: tuple[int, ...], eps: float, shape: tuple[int, ...] | None = None
) -> dict[str, Tensor]:
    """The statistics of the input as it is now, for the backward pass; nothing of them is recorded."""
    with set_aside(), no_grad():
        found = layers.statistics(x.detach(), axes, eps)
        return found if shape is None else {name: each.view(shape) for name, each in found.items()}


class _Deviation(Function):
    """The deviation that a norm found, as a result of a node that gives its weight and bias zeros."""

    @staticmethod
    def forward(ctx: Any, found: Tensor, *parameters: Tensor | None) -> Tensor:
        ctx.save_for_backward(*parameters)
        return found.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return None, *(None if x is None else zeros_like(x) for x in ctx.saved_tensors)


def _need_shape(x: Tensor, shape: tuple[int, ...], lead: str, *given: Tensor | None) -> None:
    """Refuse dimensions to normalise that are not the last of the input, and a weight or bias of others."""
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    for name, each in zip(("weight", "bias"), given, strict=False):
        if each is not None and tuple(each.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(each.shape)} and normalized_shape = {list(shape)}"
            )
    if tuple(x.shape)[max(x.ndim - len(shape), 0) :] != shape:
        expected = ", ".join(map(str, shape))
        refuse_by(
            "nn/last-dimensions-are-normalized",
            shape=list(shape),
            expected=f"[{lead}{expected}]",
            size=list(x.shape),
        )


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise the last dimensions to mean 0 and variance 1, then scale and shift."""
    need_kernel("LayerNormKernelImpl", array_of(input), "biu")
    shape = tuple(normalized_shape)
    _need_shape(input, shape, "*, ", weight, bias)
    _need_dtypes(input, weight, bias)
    found = _statistics(input, tuple(range(-len(shape), 0)), eps)
    # NB: without weight and bias, an inference tensor is alone, and so nothing is recorded.
    with inference_mode() if input.is_inference() else nullcontext():
        weight, bias = _given(input, weight, bias, shape)
    return input._layer_norm(weight, bias, dims=len(shape), eps=eps, **found)


def _tell_once(text: str) -> None:
    if STATE.warn_always or text not in STATE.warned:
        STATE.warned.add(text)
        hold_back(partial(warnings.warn, text, stacklevel=4))


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divide the last dimensions by the root of their mean square, then scale; half precision as float32."""
    shape = tuple(normalized_shape)
    _need_shape(input, shape, "*", weight)
    need_kernel("rms_norm", array_of(input), "biu")
    if weight is not None and weight.dtype != input.dtype:
        _tell_once(
            f"Mismatch dtype between input and weight: input dtype = {IN_C[input.dtype.name]}, weight "
            f"dtype = {IN_C[weight.dtype.name]}, Cannot dispatch to fused implementation."
        )
    x = input.float() if input.dtype in (float16, bfloat16) else input
    least = float(np.finfo(array_of(x).dtype).eps) if eps is None else eps
    out = x.mul(x.pow(2).mean(tuple(range(-len(shape), 0)), True).add_scalar(least).rsqrt())
    return (out if weight is None else out.mul(weight)).contiguous().to(input.dtype)


@keeping_format
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise channels over the batch, or with running estimates; training updates the estimates."""
    if training:
        _need_several(input.shape)
    sizes = tuple(input.shape)
    if not input.numel():
        out = input.clone() if weight is None else input.clone().mul(weight.select(0, 0))
        return out if bias is None else out.add(bias.select(0, 0))
    need_kernel("batch_norm", array_of(input), "biuc")
    channels = sizes[1]
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, given in named.items():
        if given is not None and given.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {given.numel()}")
    weight, bias = _given(input, weight, bias, (channels,))
    if not training and (running_mean is None or running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(f"{missing} must be defined in evaluation mode")
    _need_dtypes(input, *named.values())
    if not (training or running_mean is None or running_var is None) and by("nn/batch-norm-in-training"):
        empty = {name: input.detach().new_empty(0) for name in ("none", "neither")}
        return input._batch_norm_known(weight, bias, running_mean, running_var, eps=eps, **empty)
    if running_mean is not None and running_var is not None:
        if STATE.transforms and levels_of(input) - (levels_of(running_mean) & levels_of(running_var)):
            refuse_by("functional/vmap-statistics-are-batched")
        array = array_of(input)
        axes = (0, *range(2, array.ndim))
        _move(running_mean, array.mean(axes), momentum)
        _move(running_var, array.var(axes, ddof=1), momentum)
        found = _statistics(input, layers.channels(input), eps, (channels,))
        return input._batch_norm_moving(weight, bias, running_mean, running_var, eps=eps, **found)
    return input._batch_norm(
        weight, bias, eps=eps, **_statistics(input, layers.channels(input), eps, (channels,))
    )


def _move(estimate: Tensor, new: Any, momentum: float) -> None:
    """Move a running estimate; as in PyTorch, its version stays."""
    array = array_of(estimate)
    array[...] = array * (1 - momentum) + np.asarray(new, array.dtype) * momentum


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each sample's channels."""
    count, channels, *rest = input.shape
    if use_input_stats and math.prod(rest) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    scale, shift, mean, var = (
        None if x is None else x.repeat((count,)) for x in (weight, bias, running_mean, running_var)
    )
    x = input.contiguous().view((1, count * channels, *rest))
    out = batch_norm(x, mean, var, scale, shift, use_input_stats, momentum, eps)
    if use_input_stats and running_mean is not None and running_var is not None:
        for estimate, moved in ((running_mean, mean), (running_var, var)):
            assert moved is not None
            with no_grad():
                estimate.copy_(moved.view((count, channels)).mean(0))
    return out.view(tuple(input.shape))


def _need_several(sizes: Sequence[int]) -> None:
    """Refuse one value for each channel, which is no spread."""
    if math.prod((*sizes[:1], *sizes[2:])) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {sizes}")


@keeping_format
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise groups of each sample's channels."""
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    need_kernel("GroupNormKernelImpl", array_of(input), "biuc")
    channels = input.shape[1]
    _need_several([input.shape[0] * channels // num_groups, num_groups, *input.shape[2:]])
    if channels % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                f"{name} of shape {list(given.shape)} and input of shape {list(input.shape)}"
            )
    _need_dtypes(input, weight, bias)
    x = input.contiguous()
    found = _statistics(layers.in_groups(x, num_groups), (2,), eps, (x.shape[0], num_groups))
    if by("nn/group-norm-has-all-second-gradients"):
        with set_aside():
            found["rstd"] = _Deviation.apply(found["rstd"], weight, bias)
    return x._group_norm(*_given(x, weight, bias, (channels,)), groups=num_groups, eps=eps, **found)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide by what neighbouring channels hold."""
    if not input.numel():
        return input
    squares = input.mul(input)
    if input.ndim == 3:
        wide = squares.unsqueeze(1).constant_pad_nd((0, 0, size // 2, (size - 1) // 2), 0)
        mean = avg_pool2d(wide, (size, 1), 1).squeeze(1)
    else:
        count, channels, height, *_ = sizes = tuple(input.shape)
        wide = squares.view((count, 1, channels, height, -1))
        wide = wide.constant_pad_nd((0, 0, 0, 0, size // 2, (size - 1) // 2), 0)
        mean = avg_pool3d(wide, (size, 1, 1), 1).squeeze(1).view(sizes)
    return input.div(mean.mul(alpha).add(k).pow(beta))
