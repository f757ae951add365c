"""The losses of ``torch.nn.functional``.

Each takes ``reduction``: "none", "mean" or "sum"; ValueError for anything else.
"""

from __future__ import annotations

import numpy as np

from reference_impl.base.rules import by, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, set_memory, storage_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace import composite

log_softmax = composite.BOTH["log_softmax"]


def _check_reduction(reduction: str) -> str:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return "sum" if reduction == "mean" and not by("nn/loss-is-the-mean") else reduction


def _reduce(losses: Tensor, reduction: str) -> Tensor:
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


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Squared differences."""
    input, target = _broadcast(input, target)
    return _in_memory_of_each(input._mse_loss(target, _check_reduction(reduction)), input, reduction)


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, ...]:
    """Broadcast input and target; warn if they differ in shape."""
    if array_of(input).shape == array_of(target).shape:
        return input, target
    warn("nn/loss-size-warns")
    return composite.broadcast_tensors(input, target)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Absolute differences."""
    input, target = _broadcast(input, target)
    return _reduce(input.sub(target).abs(), reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half the square of differences below ``delta``, linear beyond.

    NB: several nodes; PyTorch records one.
    """
    input, target = _broadcast(input, target)
    distance = input.sub(target).abs()
    near = distance.detach().lt(delta)
    losses = distance.mul(distance).mul(0.5).where(near, distance.sub(0.5 * delta).mul(delta))
    return _reduce(losses, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """`huber_loss` over ``beta``.

    NB: several nodes; PyTorch records one.
    """
    if beta == 0:
        return l1_loss(input, target, reduction)
    return _in_memory_of_each(huber_loss(input, target, reduction, beta).div(beta), input, reduction)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood: minus the given log-probability of each target class.

    ``input`` is ``(N, C, ...)`` or ``(C,)``, ``target`` holds class indices.
    """
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
    """`nll_loss` of `log_softmax`; ``target`` holds class indices or class probabilities."""
    logs = log_softmax(input, 0 if input.ndim == 1 else 1)
    if not target.is_floating_point():
        return nll_loss(logs, target, weight, ignore_index, reduction)
    losses = logs.mul(target).sum(1).neg()
    return losses.mean() if reduction == "mean" else _reduce(losses, reduction)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Cross entropy of two classes, from probabilities.

    NB: several nodes; PyTorch records one.
    """
    yes, no = input.log().clamp_min(-100), input.neg().add(1).log().clamp_min(-100)
    losses = target.mul(yes).add(target.neg().add(1).mul(no)).neg()
    loss = _reduce(losses if weight is None else losses.mul(weight), reduction)
    return _in_memory_of_each(loss, losses, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """`binary_cross_entropy` of the sigmoid, in a form that does not overflow.

    NB: several nodes; PyTorch records one.
    """
    losses = input.sub(input.mul(target)).add(input.neg().softplus())
    return _reduce(losses if weight is None else losses.mul(weight), reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Kullback-Leibler divergence of targets from log-probabilities; ``reduction`` may be "batchmean" too.

    NB: other nodes; PyTorch computes ``xlogy(target, target) - target * input``.
    """
    losses = target.exp().mul(target.sub(input)) if log_target else target.mul(target.log().sub(input))
    return losses.sum().div(input.shape[0]) if reduction == "batchmean" else _reduce(losses, reduction)
