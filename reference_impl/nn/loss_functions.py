"""The losses of ``torch.nn.functional``.

Each takes ``reduction``: "none", "mean" or "sum"; ValueError for anything else. Those of pairs are in
``pair_losses``.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from reference_impl.base.rules import by, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, set_memory, storage_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace import composite
from specs.dtype_names import SCALARS
from specs.errors import need_kernel
from specs.ops.nll import call_nll_loss

log_softmax = composite.BOTH["log_softmax"]
Old = bool | None
"""The two arguments that ``reduction`` replaced."""


def reduction_of_old(size_average: Old, reduce: Old) -> str:
    """Return the reduction that the two deprecated arguments ask for, with a warning."""
    averages, reduces = (True if old is None else old for old in (size_average, reduce))
    reduction = "mean" if averages and reduces else "sum" if reduces else "none"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction={reduction!r} instead.",
        UserWarning,
        stacklevel=4,
    )
    return reduction


def chosen_reduction(size_average: Old, reduce: Old, reduction: str) -> str:
    """Return the reduction that all three arguments ask for."""
    return reduction if size_average is None and reduce is None else reduction_of_old(size_average, reduce)


def _check_reduction(reduction: str) -> str:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return "sum" if reduction == "mean" and not by("nn/loss-is-the-mean") else reduction


def reduce_losses(losses: Tensor, reduction: str) -> Tensor:
    """Reduce the losses of all elements."""
    reduction = _check_reduction(reduction)
    return losses if reduction == "none" else getattr(losses, reduction)()


def _in_memory_of_each(loss: Tensor, of: Tensor, reduction: str) -> Tensor:
    """Put a reduced loss into memory for as many elements as ``of`` has, as PyTorch's kernels do.

    The rest of that memory is unspecified.
    """
    count = array_of(of).size
    reduced = reduction != "none" and count > 1 and type(loss) is Tensor
    if reduced and by("nn/reduced-loss-memory"):
        memory = np.zeros(count, array_of(loss).dtype)
        memory[0] = array_of(loss)
        set_memory(loss, memory[:1].reshape(()), storage_of(wrap_beside(loss, memory)))
    return loss


def _constant(function: str, **weights: Tensor | None) -> None:
    """Refuse weights that require grad: there is no gradient for them."""
    for argument, weight in weights.items():
        if weight is not None and weight.requires_grad and STATE.enabled:
            refuse_by("nn/class-weights-are-constant", function=function, argument=argument)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Old = None,
    reduce: Old = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    input, target = _broadcast(input, target)
    if weight is not None:
        return _weighted(input.sub(target).pow(2), weight, reduction)
    return _in_memory_of_each(input._mse_loss(target, _check_reduction(reduction)), input, reduction)


def _weighted(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Weigh the loss of each element; the mean is by weight."""
    if weight.shape != losses.shape:
        raise ValueError("Weights and input must have the same size.")
    losses = losses.mul(weight)
    return losses.sum().div(weight.sum()) if reduction == "mean" else reduce_losses(losses, reduction)


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, ...]:
    """Broadcast input and target; warn if they differ in shape."""
    shape, other = array_of(input).shape, array_of(target).shape
    if shape == other:
        return input, target
    warn("nn/loss-size-warns", input=list(shape), target=list(other))
    return composite.broadcast_tensors(input, target)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Old = None,
    reduce: Old = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute differences."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    input, target = _broadcast(input, target)
    losses = input.sub(target).abs()
    return reduce_losses(losses, reduction) if weight is None else _weighted(losses, weight, reduction)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Half the square of differences below ``delta``, linear beyond."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    input, target = _broadcast(input, target)
    if weight is not None:
        if weight.shape != input.shape:
            raise ValueError("Weights and input must have the same size.")
        return reduce_losses(input._huber(target, "none", delta).mul(weight), reduction)
    loss = input._huber(target, _check_reduction(reduction), delta)
    return _in_memory_of_each(loss, input, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Old = None,
    reduce: Old = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """`huber_loss` over ``beta``."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    input, target = _broadcast(input, target)
    loss = input._smooth_l1(target, _check_reduction(reduction), beta)
    return _in_memory_of_each(loss, input, reduction)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Old = None,
    ignore_index: int = -100,
    reduce: Old = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood: minus the given log-probability of each target class.

    ``input`` is ``(N, C, ...)`` or ``(C,)``, ``target`` holds class indices.
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    _constant("nll_loss_forward", weight=weight)
    if input.ndim == 1:
        if target.ndim == 1 and target.numel() != 1:
            raise ValueError(
                f"For 1D input, 1D target must have size 1, but got target size: {target.numel()}"
            )
    elif not input.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    else:
        targets = target.shape[0] if target.ndim else 0
        if input.shape[0] != targets:
            refuse_by("nn/a-target-for-each-input", inputs=input.shape[0], targets=targets)
    classes = input.shape[min(input.ndim - 1, 1)]
    if weight is not None and weight.numel() != classes:
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight.shape)}"
        )
    if input.ndim > 2 and tuple(target.shape) != (input.shape[0], *input.shape[2:]):
        raise RuntimeError(
            f"Expected target size {[input.shape[0], *input.shape[2:]]}, got {list(target.shape)}"
        )
    if input.ndim < 3 and target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dtype.name not in ("int64", "uint8"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {SCALARS[target.dtype.name]}")
    if weight is not None and weight.dtype != input.dtype:
        want, got = (SCALARS[x.dtype.name] for x in (input, weight))
        raise RuntimeError(f"expected scalar type {want} but found {got}")
    loss = partial(call_nll_loss, weight=weight, ignore=ignore_index, reduction=_check_reduction(reduction))
    if input.ndim in (1, 2, 4):
        return loss(input, target, of="2d" if input.ndim == 4 else "")
    # NB: PyTorch takes whatever else for an image of one row.
    image, classes_of = input.reshape((*input.shape[:2], 1, -1)), target.reshape((target.shape[0], 1, -1))
    made = loss(image, classes_of, of="2d")
    return made.view((input.shape[0], *input.shape[2:])) if reduction == "none" else made


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Old = None,
    ignore_index: int = -100,
    reduce: Old = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of `log_softmax`; ``target`` holds class indices or class probabilities."""
    reduction = _check_reduction(chosen_reduction(size_average, reduce, reduction))
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    axis = 0 if input.ndim == 1 else 1
    probabilities = array_of(target).shape == array_of(input).shape and input.ndim
    if probabilities and not target.is_floating_point():
        name = SCALARS[target.dtype.name]
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {name}")
    logs = log_softmax(input, axis)
    if probabilities:
        return _of_probabilities(logs, target, weight, reduction, label_smoothing)
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return loss
    smooth = _of_all_classes(logs, target, weight, ignore_index, reduction, axis)
    return loss.mul_scalar(1 - label_smoothing).add(smooth.mul_scalar(label_smoothing / input.shape[axis]))


def _over_classes(weight: Tensor, logs: Tensor) -> Tensor:
    return weight if logs.ndim == 1 else weight.view((1, -1) + (1,) * (logs.ndim - 2))


def _of_probabilities(
    logs: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    axis = 0 if logs.ndim == 1 else 1
    classes = logs.shape[axis]
    if smoothing:
        target = target.mul(1 - smoothing).add(smoothing / classes)
    found = logs.mul(target) if weight is None else logs.mul(target).mul(_over_classes(weight, logs))
    if reduction == "none":
        return found.sum(axis).neg()
    return found.sum().neg().div_scalar(logs.numel() / classes) if reduction == "mean" else found.sum().neg()


def _of_all_classes(
    logs: Tensor, target: Tensor, weight: Tensor | None, ignore: int, reduction: str, axis: int
) -> Tensor:
    """The losses of all classes together, for label smoothing."""
    weighted = logs if weight is None else logs.mul(_over_classes(weight, logs))
    ignored = target.eq(ignore)
    losses = weighted.sum(axis).neg().masked_fill(ignored, 0)
    if reduction != "mean":
        return reduce_losses(losses, reduction)
    if weight is None:
        return losses.sum().div(ignored.logical_not().sum())
    counts = weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0)  # type: ignore[index]
    return losses.sum().div(counts.sum())


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Old = None,
    reduce: Old = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of two classes, from probabilities."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if array_of(input).shape != array_of(target).shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    reduction = _check_reduction(reduction)
    if weight is None:
        loss = input._bce(target, reduction)
    else:
        _constant("binary_cross_entropy", weight=weight)
        loss = input._weighted_bce(target, weight.expand(target.shape), reduction)
    return _in_memory_of_each(loss, input, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Old = None,
    reduce: Old = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of the sigmoid, in a form that does not overflow."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if array_of(input).shape != array_of(target).shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    need_kernel("log_sigmoid", array_of(input), "biu")
    if target.dtype.numpy.kind in "biu":
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {SCALARS[target.dtype.name]}"
        )
    _constant("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    reduction = _check_reduction(reduction)
    if pos_weight is None:
        if weight is None:
            return input._bce_logits(target, reduction)
        return input._weighted_bce_logits(target, weight, reduction)
    if weight is None:
        return input._positive_bce_logits(target, pos_weight, reduction)
    return input._twice_weighted_bce_logits(target, pos_weight, weight, reduction)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Old = None,
    reduce: Old = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Kullback-Leibler divergence of targets from log-probabilities; ``reduction`` may be "batchmean" too."""
    if array_of(input).dtype.kind in "biu" or array_of(target).dtype.kind in "biu":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    chosen = chosen_reduction(size_average, reduce, reduction)
    if log_target:
        losses = target.exp().mul(target.sub(input))
    else:
        losses = target.xlogy(target).sub(target.mul(input))
    loss = losses.sum() if chosen == "batchmean" else reduce_losses(losses, chosen)
    return loss.div(input.shape[0]) if reduction == "batchmean" and input.ndim else loss
