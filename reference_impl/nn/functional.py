"""``torch.nn.functional``: activations and layers as functions; the losses are in `loss_functions`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_impl.base.rules import by, refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace import composite
from reference_impl.namespace.install import FUNCTIONS
from reference_impl.namespace.random import source
from reference_impl.nn.loss_functions import (  # noqa: F401  PyTorch has them here
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(x, 0)``."""
    return input.relu_() if inplace else input.relu()


def _activation(name: str, settings: int) -> Callable[..., Tensor]:
    """Make the function of an op that takes ``settings`` positional settings and then ``inplace``."""

    def activate(input: Tensor, *how: Any, inplace: bool = False, **more: Any) -> Tensor:
        how, inplace = how[:settings], inplace or any(how[settings:])
        if inplace and not hasattr(input, name + "_"):
            raise NotImplementedError(f"{name} has no in-place form")
        return getattr(input, name + "_" if inplace else name)(*how, **more)

    activate.__name__ = name
    return activate


elu = _activation("elu", 1)
leaky_relu = _activation("leaky_relu", 1)
hardtanh = _activation("hardtanh", 2)
threshold = _activation("threshold", 2)
silu = _activation("silu", 0)
softplus = FUNCTIONS["softplus"]
sigmoid = FUNCTIONS["sigmoid"]
tanh = FUNCTIONS["tanh"]
softmax = composite.BOTH["softmax"]
log_softmax = composite.BOTH["log_softmax"]


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``x`` times the normal distribution function, exact form only."""
    if approximate != "none":
        raise NotImplementedError("gelu is implemented in its exact form only")
    return input.gelu()


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``x`` clamped to [0, 6]."""
    return hardtanh(input, 0, 6, inplace=inplace)


def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of the sigmoid.

    NB: composed of softplus; PyTorch records a node of its own.
    """
    return input.neg().softplus().neg()


def softmin(input: Tensor, dim: int) -> Tensor:
    """The softmax of ``-x``."""
    return softmax(input.neg(), dim)


def softsign(input: Tensor) -> Tensor:
    """``x / (1 + abs(x))``."""
    return input.div(input.abs().add(1))


def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``."""
    return input.sub(input.tanh())


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """``x`` divided by its norm along a dimension."""
    return input.div(input.norm(p, dim, True).clamp_min(eps).expand_as(input))


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine similarity of vectors along a dimension."""
    lengths = [x.norm(2, dim, True).clamp_min(eps) for x in (x1, x2)]
    return x1.div(lengths[0]).mul(x2.div(lengths[1])).sum(dim)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x @ weight.T + bias``, on the last dimension."""
    if not input.ndim or not weight.ndim:
        refuse_by("nn/linear-takes-dimensions", input=input.ndim, weight=weight.ndim)
    if bias is None:
        return input.matmul(weight.t())
    if input.ndim == 2 and by("nn/linear-is-one-node"):
        return bias.addmm(input, weight.t())
    flat = bias.ndim == 1 or bias.squeeze().ndim == 1  # a view, which a stale view refuses
    if input.ndim == 2 or not (input.is_contiguous() and flat and bias.is_contiguous()):
        return input.matmul(weight.t()).add_(bias)
    rows = input.reshape((math.prod(input.shape[:-1]), input.shape[-1]))
    out, shape = bias.addmm(rows, weight.t()), (*input.shape[:-1], weight.shape[0])
    return out._unsafe_view(shape) if by("nn/linear-is-no-view") else out.view(shape)


def _each(value: Any, count: int) -> tuple[int, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)


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
        if input.ndim == ndim + 1:
            return convolve(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
        how = {
            "stride": _each(stride, ndim),
            "padding": _each(padding, ndim),
            "dilation": _each(dilation, ndim),
            "groups": groups,
        }
        if bias is None:  # its place among the edges stays
            bias = wrap_beside(weight, np.zeros(weight.shape[0], array_of(weight).dtype))
        return input._conv_bias(weight, bias, **how)

    return convolve


conv1d = _convolution(1)
conv2d = _convolution(2)
conv3d = _convolution(3)


def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: int = 0) -> Tensor:
    """The maximum of each window over the last two dimensions.

    NB: several nodes; PyTorch records one.
    """
    return _windows(input, kernel_size, stride, padding, -math.inf).max(-1)[0]


def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: int = 0) -> Tensor:
    """The mean of each window over the last two dimensions.

    NB: several nodes; PyTorch records one.
    """
    return _windows(input, kernel_size, stride, padding, 0.0).mean(-1)


def _windows(x: Tensor, kernel_size: Any, stride: Any, padding: Any, fill: float) -> Tensor:
    """The elements of each window over the last two dimensions, along a new last dimension."""
    (kh, kw), (ph, pw) = _each(kernel_size, 2), _each(padding, 2)
    sh, sw = (kh, kw) if stride is None else _each(stride, 2)
    x = x if not (ph or pw) else x.constant_pad_nd((pw, pw, ph, ph), fill)
    *batch, height, width = x.shape
    rows = np.arange(0, height - kh + 1, sh)[:, None, None, None] + np.arange(kh)[:, None]
    columns = np.arange(0, width - kw + 1, sw)[:, None, None] + np.arange(kw)
    at = rows * width + columns
    picked = x.flatten(-2).index_select(-1, wrap_beside(x, at.reshape(-1)))
    return picked.view((*batch, at.shape[0], at.shape[1], kh * kw))


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad the last dimensions with a constant; ``pad`` holds pairs, last dimension first."""
    if mode != "constant":
        raise NotImplementedError("only constant padding is implemented")
    return input.constant_pad_nd(tuple(pad), 0 if value is None else value)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability ``p`` and scale the rest; in evaluation return the tensor itself."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not (training or not by("nn/dropout-in-training-only")):
        return input
    kept = source(None).random(input.shape) >= p
    scaled = np.asarray(kept / (1 - p) if p < 1 else kept * 0.0)
    noise = wrap_beside(input, scaled.astype(array_of(input).dtype))
    return input.mul_(noise) if inplace else input.mul(noise)


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """Look up rows of ``weight`` by index."""
    return weight._embedding(input)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """One-hot encode class indices along a new last dimension."""
    indices = array_of(tensor)
    count = int(indices.max()) + 1 if num_classes < 0 else num_classes
    return wrap_beside(tensor, np.eye(count, dtype=np.int64)[indices])


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise the last dimensions to mean 0 and variance 1, then scale and shift."""
    dims = tuple(range(-len(normalized_shape), 0))
    return _scaled(_standardised(input, dims, eps), weight, bias)


def _standardised(x: Tensor, dims: tuple[int, ...], eps: float) -> Tensor:
    return x.sub(x.mean(dims, True)).mul(x.var(dims, correction=0, keepdim=True).add(eps).rsqrt())


def _scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    x = x if weight is None else x.mul(weight)
    return x if bias is None else x.add(bias)


def _per_channel(x: Tensor | None, ndim: int) -> Tensor | None:
    return None if x is None else x.view((-1,) + (1,) * (ndim - 2))


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
    dims = (0, *range(2, input.ndim))
    weight, bias = _per_channel(weight, input.ndim), _per_channel(bias, input.ndim)
    if not (training or running_mean is None or running_var is None) and by("nn/batch-norm-in-training"):
        mean, var = _per_channel(running_mean, input.ndim), _per_channel(running_var, input.ndim)
        assert mean is not None
        assert var is not None
        return _scaled(input.sub(mean).mul(var.add(eps).rsqrt()), weight, bias)
    if running_mean is not None and running_var is not None:
        seen = input.detach()
        running_mean.mul_(1 - momentum).add_(seen.mean(dims), alpha=momentum)
        running_var.mul_(1 - momentum).add_(seen.var(dims), alpha=momentum)
    return _scaled(_standardised(input, dims, eps), weight, bias)


def instance_norm(
    input: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise each sample's channels."""
    scale, shift = _per_channel(weight, input.ndim), _per_channel(bias, input.ndim)
    return _scaled(_standardised(input, tuple(range(2, input.ndim)), eps), scale, shift)
