"""``torch.nn.functional``: the everyday layers and losses as functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_impl.base.rules import by, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, set_memory, storage_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace import composite
from reference_impl.namespace.install import FUNCTIONS
from reference_impl.namespace.random import source


# -- activations -----------------------------------------------------------------------------------
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(x, 0)``."""
    return input.relu_() if inplace else input.relu()


def _activation(name: str, settings: int) -> Callable[..., Tensor]:
    """The function of an op with so many settings, after which it may be asked to write its operand."""

    def activate(input: Tensor, *how: Any, inplace: bool = False, **more: Any) -> Tensor:
        how, inplace = how[:settings], inplace or any(how[settings:])
        if inplace and not hasattr(input, name + "_"):
            raise NotImplementedError(f"{name} is not done in place")
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
    """``x`` times the normal distribution function."""
    if approximate != "none":
        raise NotImplementedError("gelu is computed exactly only")
    return input.gelu()


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``x`` held between 0 and 6."""
    return hardtanh(input, 0, 6, inplace=inplace)


def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of the logistic function. NB: made of softplus, where PyTorch has a node of its own."""
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
    """``x`` over its norm along a dimension."""
    return input.div(input.norm(p, dim, True).clamp_min(eps).expand_as(input))


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension."""
    lengths = [x.norm(2, dim, True).clamp_min(eps) for x in (x1, x2)]
    return x1.div(lengths[0]).mul(x2.div(lengths[1])).sum(dim)


# -- layers ----------------------------------------------------------------------------------------
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x @ weight.T + bias``, on the last dimension."""
    if not input.ndim or not weight.ndim:
        refuse_by("nn/linear-takes-dimensions", input=input.ndim, weight=weight.ndim)
    if bias is None:
        return input.matmul(weight.t())
    if input.ndim == 2 and by("nn/linear-is-one-node"):
        return bias.addmm(input, weight.t())
    flat = bias.ndim == 1 or bias.squeeze().ndim == 1  # NB: a view, which a stale or versionless one refuses
    if input.ndim == 2 or not (input.is_contiguous() and flat and bias.is_contiguous()):
        return input.matmul(weight.t()).add_(bias)
    rows = input.reshape((math.prod(input.shape[:-1]), input.shape[-1]))
    made, shape = bias.addmm(rows, weight.t()), (*input.shape[:-1], weight.shape[0])
    return made._unsafe_view(shape) if by("nn/linear-is-no-view") else made.view(shape)


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
        """Each channel's sum of products with a kernel that moves over the input."""
        if input.ndim == ndim + 1:
            return convolve(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
        how = {
            "stride": _each(stride, ndim),
            "padding": _each(padding, ndim),
            "dilation": _each(dilation, ndim),
            "groups": groups,
        }
        return input._conv(weight, **how) if bias is None else input._conv_bias(weight, bias, **how)

    return convolve


conv1d = _convolution(1)
conv2d = _convolution(2)
conv3d = _convolution(3)


def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: int = 0) -> Tensor:
    """The largest element of each window. NB: of several nodes, where PyTorch has a node of its own."""
    return _windows(input, kernel_size, stride, padding, -math.inf).max(-1)[0]


def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: int = 0) -> Tensor:
    """The mean of each window. NB: of several nodes, where PyTorch has a node of its own."""
    return _windows(input, kernel_size, stride, padding, 0.0).mean(-1)


def _windows(x: Tensor, kernel_size: Any, stride: Any, padding: Any, fill: float) -> Tensor:
    """The elements of each window of the last two dimensions along a new last one."""
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
    """Elements added around the last dimensions."""
    if mode != "constant":
        raise NotImplementedError("padding is constant only")
    return input.constant_pad_nd(tuple(pad), 0 if value is None else value)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to zero with probability ``p``, the rest made larger; the tensor itself in evaluation."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not (training or not by("nn/dropout-in-training-only")):
        return input
    kept = source(None).random(input.shape) >= p
    scaled = np.asarray(kept / (1 - p) if p < 1 else kept * 0.0)
    noise = wrap_beside(input, scaled.astype(array_of(input).dtype))
    return input.mul_(noise) if inplace else input.mul(noise)


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """The rows of ``weight`` that the input's indices name."""
    return weight._embedding(input)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A row for each index, one there and zero elsewhere."""
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
    """The last dimensions with mean 0 and variance 1, then scaled and shifted."""
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
    """Channels with mean 0 and variance 1 over the batch, or by running estimates, which training updates."""
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
    """Each sample's channels with mean 0 and variance 1."""
    scale, shift = _per_channel(weight, input.ndim), _per_channel(bias, input.ndim)
    return _scaled(_standardised(input, tuple(range(2, input.ndim)), eps), scale, shift)


# -- losses ----------------------------------------------------------------------------------------
def _known(reduction: str) -> str:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return "sum" if reduction == "mean" and not by("nn/loss-is-the-mean") else reduction


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    reduction = _known(reduction)
    return losses if reduction == "none" else getattr(losses, reduction)()


def _into_the_first(loss: Tensor, of: Tensor, reduction: str) -> Tensor:
    """A loss of these elements as PyTorch makes some: in memory for that of each, to which they are reduced.

    NB: what lies behind the loss in it PyTorch leaves open.
    """
    count = array_of(of).size
    reduced = reduction != "none" and count > 1 and type(loss) is Tensor
    if reduced and by("nn/reduced-loss-memory"):
        memory = np.zeros(count, array_of(loss).dtype)
        memory[0] = array_of(loss)
        set_memory(loss, memory[:1].reshape(()), storage_of(wrap_beside(loss, memory)))
    return loss


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The squares of differences."""
    input, target = _together(input, target)
    return _into_the_first(input._mse_loss(target, _known(reduction)), input, reduction)


def _together(input: Tensor, target: Tensor) -> tuple[Tensor, ...]:
    """What is compared, broadcast if need be."""
    if array_of(input).shape == array_of(target).shape:
        return input, target
    warn("nn/loss-size-warns")
    return composite.broadcast_tensors(input, target)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The sizes of differences."""
    input, target = _together(input, target)
    return _reduced(input.sub(target).abs(), reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half the squares of small differences, a line beyond. NB: of several nodes."""
    input, target = _together(input, target)
    apart = input.sub(target).abs()
    near = apart.detach().lt(delta)
    losses = apart.mul(apart).mul(0.5).where(near, apart.sub(0.5 * delta).mul(delta))
    return _reduced(losses, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """The same over ``beta``. NB: of several nodes."""
    if beta == 0:
        return l1_loss(input, target, reduction)
    return _into_the_first(huber_loss(input, target, reduction, beta).div(beta), input, reduction)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probabilities of the classes."""
    if weight is not None and weight.requires_grad and STATE.enabled:
        refuse_by("nn/class-weights-are-constant")
    counts = None if weight is None else tuple(weight.tolist())
    if input.ndim == 1:
        input, target = input.unsqueeze(0), target.unsqueeze(0)
    return input._nll_loss(target, weight=counts, ignore=ignore_index, reduction=reduction)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """`nll_loss` of the `log_softmax`; of probabilities for classes, their products with it."""
    logs = log_softmax(input, 0 if input.ndim == 1 else 1)
    if not target.is_floating_point():
        return nll_loss(logs, target, weight, ignore_index, reduction)
    losses = logs.mul(target).sum(1).neg()
    return losses.mean() if reduction == "mean" else _reduced(losses, reduction)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Minus the log-probabilities of two classes. NB: of several nodes."""
    yes, no = input.log().clamp_min(-100), input.neg().add(1).log().clamp_min(-100)
    losses = target.mul(yes).add(target.neg().add(1).mul(no)).neg()
    loss = _reduced(losses if weight is None else losses.mul(weight), reduction)
    return _into_the_first(loss, losses, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """`binary_cross_entropy` of the sigmoid, without overflow on the way. NB: of several nodes."""
    losses = input.sub(input.mul(target)).add(input.neg().softplus())
    return _reduced(losses if weight is None else losses.mul(weight), reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """How far log-probabilities are from target probabilities. NB: of several nodes."""
    losses = target.exp().mul(target.sub(input)) if log_target else target.mul(target.log().sub(input))
    return losses.sum().div(input.shape[0]) if reduction == "batchmean" else _reduced(losses, reduction)
