"""``torch.nn.functional``: layers as functions; activations, losses, norms, windows and attention come from
modules beside it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.base.modes import no_grad
from reference_impl.base.not_modelled import refuse_unless_default
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.fidelity.batched import drawn_anew, levels_of
from reference_impl.namespace.missing import loading
from reference_impl.namespace.quantiles import pdist  # noqa: F401
from reference_impl.namespace.random import source
from reference_impl.namespace.tensor_arguments import tell_of_tensors
from reference_impl.nn.activation_functions import (  # noqa: F401  PyTorch has them here
    celu,
    celu_,
    check_linear,
    elu,
    elu_,
    gelu,
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    log_softmax,
    logsigmoid,
    mish,
    need_probability,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    threshold_,
)
from reference_impl.nn.attention_functions import scaled_dot_product_attention  # noqa: F401
from reference_impl.nn.convolution_functions import (  # noqa: F401
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from reference_impl.nn.embedding_bags import embedding_bag  # noqa: F401
from reference_impl.nn.fractional_pools import (  # noqa: F401
    adaptive_max_pool3d,
    fractional_max_pool2d,
    fractional_max_pool3d,
)
from reference_impl.nn.image_functions import (  # noqa: F401
    affine_grid,
    channel_shuffle,
    grid_sample,
    interpolate,
    pixel_shuffle,
    pixel_unshuffle,
    upsample,
)
from reference_impl.nn.loss_functions import (  # noqa: F401
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
from reference_impl.nn.margin_losses import (  # noqa: F401
    ctc_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
)
from reference_impl.nn.norm_functions import (  # noqa: F401
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from reference_impl.nn.older_functions import upsample_bilinear, upsample_nearest  # noqa: F401
from reference_impl.nn.pair_losses import (  # noqa: F401
    cosine_embedding_loss,
    cosine_similarity,
    gaussian_nll_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    pairwise_distance,
    poisson_nll_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from reference_impl.nn.unpooling import (  # noqa: F401
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from reference_impl.nn.window_functions import (  # noqa: F401
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    fold,
    for_each,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    pad,
    unfold,
)
from specs.dtype_names import SCALARS
from specs.errors import need_kernel, need_late_kernel


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """``x`` divided by its norm along a dimension."""
    return input.div(input.norm(p, dim, True).clamp_min(eps).expand_as(input))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x @ weight.T + bias``, on the last dimension."""
    check_linear(input, weight)
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


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability ``p`` and scale the rest; in evaluation return the tensor itself."""
    return _dropped(input, p, training, inplace, tuple(input.shape))


def _dropped(x: Tensor, p: float, training: bool, inplace: bool, shape: tuple[int, ...]) -> Tensor:
    need_probability(p)
    if p == 0 or not (training or not by("nn/dropout-in-training-only")):
        return x
    if p == 1 and not x.is_floating_point():
        none = wrap_beside(x, np.zeros((), bool))
        return x.mul_(none) if inplace else x.mul(none)
    _need_noise(x)
    noise = drop_noise(x, p, shape)
    return x.mul_(noise) if inplace else x.mul(noise)


def _need_noise(x: Tensor) -> None:
    """Refuse a dtype in which there are no factors of a dropout."""
    if not x.is_floating_point() and not x.is_complex():
        name = SCALARS[x.dtype.name]
        raise RuntimeError(f"result type Float can't be cast to the desired output type {name}")
    need_late_kernel("op/kernels-that-came-late", "bernoulli_scalar_cpu_", array_of(x), "c")


def drop_noise(x: Tensor, p: float, shape: tuple[int, ...]) -> Tensor:
    """Draw the factors of a dropout: 0 with probability ``p``, else what keeps the mean."""
    if p == 1:
        return wrap_beside(x, np.zeros(shape, array_of(x).dtype))
    return _scaled(x, p, shape)


@drawn_anew
def _scaled(x: Tensor, p: float, shape: tuple[int, ...]) -> Tensor:
    scaled = np.asarray((source(None).random(shape) >= p) / (1 - p))
    return wrap_beside(x, scaled.astype(array_of(x).dtype))


def feature_dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels with probability ``p`` and scale the rest."""
    return _dropped(input, p, training, inplace, (*input.shape[:2], *(1,) * (input.ndim - 2)))


dropout2d = feature_dropout


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of samples, or of one sample, with probability ``p`` and scale the rest."""
    need_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input.")
    return _of_samples(3, input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of samples, or of one sample, with probability ``p`` and scale the rest."""
    need_probability(p)
    return _of_samples(5, input, p, training, inplace)


def _of_samples(ndim: int, x: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if x.ndim == ndim:
        return feature_dropout(x, p, training, inplace)
    out = feature_dropout(x.unsqueeze_(0) if inplace else x.unsqueeze(0), p, training, inplace)
    return out.squeeze_(0) if inplace else out.squeeze(0)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Set elements to the least value of SELU with probability ``p``; mean and variance stay."""
    need_probability(p)
    if p == 0 or not training:
        return input
    if p == 1:
        nothing = wrap_beside(input, np.zeros((), array_of(input).dtype))
        return input.mul_(nothing) if inplace else input.mul(nothing)
    _need_noise(input)
    noise, shift = _alpha_noise(input, p)
    return input.mul_(noise).add_(shift) if inplace else input.mul(noise).add(shift)


@drawn_anew
def _alpha_noise(x: Tensor, p: float) -> tuple[Tensor, Tensor]:
    least, dtype = -1.7580993408473766, array_of(x).dtype
    kept = (source(None).random(x.shape) >= p).astype(dtype)
    a = 1 / math.sqrt((1 - p) * (1 + p * least**2))
    shift = (1 - kept) * a * least - a * least * p
    return wrap_beside(x, kept * dtype.type(a)), wrap_beside(x, shift.astype(dtype))


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: Any = None,
    *how: Any,
    **more: Any,
) -> Tensor:
    """Look up rows of ``weight`` by index; the row ``padding_idx`` gets no gradient."""
    named = dict(zip(("norm_type", "scale_grad_by_freq", "sparse"), how, strict=False))
    given = named | more
    norm_type = given.pop("norm_type", 2.0)
    by_frequency = given.pop("scale_grad_by_freq", False)
    refuse_unless_default("nn.functional.embedding", given, sparse=False)
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if max_norm is not None:
        _hold_rows(weight, input, max_norm, norm_type)
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError("Padding_idx must be within num_embeddings")
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    return weight._embedding(input, padding=padding_idx, by_frequency=bool(by_frequency))


def _hold_rows(weight: Tensor, index: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are looked up, in place, so that none has a larger norm."""
    rows = np.unique(array_of(index))
    held = array_of(weight).copy()
    lengths = np.linalg.norm(held[rows], norm_type, -1, keepdims=True)
    scales = np.where(lengths > max_norm, max_norm / (lengths + 1e-7), 1)
    held[rows] = (held[rows] * scales).astype(held.dtype)
    with no_grad():
        weight.copy_(wrap_beside(weight, held))


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """One-hot encode class indices along a new last dimension."""
    indices = array_of(tensor)
    if indices.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if indices.size and indices.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes >= 0 and indices.size and indices.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    if num_classes < 0 and levels_of(tensor):
        refuse_by(
            "functional/vmap-shapes-are-fixed",
            why="When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes "
            "argument.",
        )
    if not indices.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    count = int(indices.max()) + 1 if num_classes < 0 else num_classes
    zeros = tensor.new_empty((*tensor.shape, count)).fill_(0)
    return zeros.scatter_(-1, tensor.unsqueeze(-1), 1)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A bilinear form of the last dimensions for each output."""
    for d, (m, n) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=False)):
        if m != n:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {d}: got {m} and {n}")
    need_kernel("bmm", array_of(input1), "b")
    rows = [x.reshape((-1, x.shape[-1])) for x in (input1, input2)]
    out = rows[0]._trilinear(weight, rows[1], wide1=(1, 3), wide2=(0,), wide3=(1, 2), summed=(2, 3))
    out = out.reshape((*input1.shape[:-1], weight.shape[0]))
    return out if bias is None else out.add(bias)


tell_of_tensors(globals(), "reference_impl.nn")
__getattr__ = loading(__name__)
