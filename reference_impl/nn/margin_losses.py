"""Losses of margins between classes, and the loss of sequences, of ``torch.nn.functional``."""

from __future__ import annotations

import math
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of
from reference_impl.core.saved import standing_in
from reference_impl.core.tensor import Tensor
from reference_impl.nn.activation_functions import logsigmoid
from reference_impl.nn.loss_functions import Old, chosen_reduction, reduce_losses
from specs.dtype_names import SCALARS
from specs.errors import need_kernel


def known_reduction(size_average: Old, reduce: Old, reduction: str) -> str:
    """Return the reduction that all three arguments ask for, if it is one."""
    chosen = chosen_reduction(size_average, reduce, reduction)
    if chosen not in ("none", "mean", "sum"):
        raise ValueError(f"{chosen} is not a valid value for reduction")
    return chosen


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: Old = None, reduce: Old = None, reduction: str = "mean"
) -> Tensor:
    """``log(1 + exp(-target * input))``."""
    reduction = known_reduction(size_average, reduce, reduction)
    if target.requires_grad and STATE.enabled:
        refuse_by("nn/class-weights-are-constant", function="soft_margin_loss", argument="target")
    if input.dtype is target.dtype is dtypes.bool_:
        refuse_by("op/bool-arithmetic", name="neg")
    whole = not (input.is_floating_point() or input.is_complex())
    if whole or (target.is_complex() and not input.is_complex()):
        one, other = ("Float" if whole else SCALARS[target.dtype.name]), SCALARS[input.dtype.name]
        raise RuntimeError(f"result type {one} can't be cast to the desired output type {other}")
    return input._soft_margin(target, reduction=reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: Old = None,
    reduce: Old = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the classes of ``max(0, margin - x[target] + x) ** p``."""
    reduction = known_reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    count = input.shape[0] if input.ndim > 1 else 1
    if input.ndim > 2:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
    if target.numel() != count:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples "
            f"(batch size). Expected target size [{count}], but got {list(target.shape)}. Input has shape "
            f"{list(input.shape)}."
        )
    if weight is None:
        weight = standing_in(input.detach().new_ones(tuple(input.shape[-1:]) or (1,)))
    elif weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    elif weight.numel() != (classes := input.shape[-1] if input.ndim else 1):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    if target.dtype is not dtypes.int64:
        raise RuntimeError(f"expected scalar type Long but found {SCALARS[target.dtype.name]}")
    return input._multi_margin(target, weight, p=p, margin=margin, reduction=reduction)


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: Old = None, reduce: Old = None, reduction: str = "mean"
) -> Tensor:
    """The shortfalls of the classes before the first -1 of a row against all other classes."""
    reduction = known_reduction(size_average, reduce, reduction)
    return input._multilabel_margin(target, input._multilabel_targets(target), reduction=reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Old = None,
    reduce: Old = None,
    reduction: str = "mean",
) -> Tensor:
    """The cross entropy of two classes for each class, from logarithms of odds, averaged over the classes."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    need_kernel("log_sigmoid", array_of(input), "biu")
    against = target.neg().add(1).mul(logsigmoid(input.neg()))
    losses = target.mul(logsigmoid(input)).add(against).neg()
    losses = losses if weight is None else losses.mul(weight)
    return reduce_losses(losses.sum(-1).div(input.shape[-1]), reduction)


def _lengths(given: Any) -> tuple[int, ...]:
    numbers = given.tolist() if isinstance(given, Tensor) else given
    return tuple(numbers) if isinstance(numbers, (list, tuple)) else (numbers,)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-probability of target sequences, of ``(T, N, C)`` or ``(T, C)`` log-probabilities."""
    reduction = known_reduction(None, None, reduction)
    batched = log_probs.ndim == 3
    logs = log_probs if batched else log_probs.unsqueeze(1)
    lengths, counts = _lengths(input_lengths), _lengths(target_lengths)
    _need_lengths(logs, targets, lengths, counts, blank)
    how = {"lengths": lengths, "counts": counts, "blank": blank, "finite": zero_infinity}
    losses = logs._ctc(targets.long(), **how)
    if zero_infinity:
        losses = losses.new_zeros(()).where(losses.eq(math.inf), losses)
    if reduction == "mean":
        return losses.div(losses.new_tensor(counts).clamp_min(1)).mean()
    if reduction == "sum":
        return losses.sum()
    return losses if batched else losses.squeeze(0)


def _need_lengths(
    logs: Tensor, targets: Tensor, lengths: tuple[int, ...], counts: tuple[int, ...], blank: int
) -> None:
    """Refuse lengths that do not fit, in PyTorch's words."""
    most, batch, classes = logs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    if len(lengths) != batch:
        raise RuntimeError("input_lengths must be of size batch_size")
    if len(counts) != batch:
        raise RuntimeError("target_lengths must be of size batch_size")
    if max(lengths) > most:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {most}, but got value {max(lengths)} (while "
            "checking arguments for ctc_loss_cpu)"
        )
    have = array_of(targets).shape[-1]
    first = sum(counts) if targets.ndim == 1 else batch
    if targets.shape[0] != first:
        raise RuntimeError(
            f"Expected tensor to have size {first} at dimension 0, but got size {targets.shape[0]} for "
            "argument #2 'targets' (while checking arguments for ctc_loss_cpu)"
        )
    if targets.ndim == 2 and max(counts) > have:
        raise RuntimeError(
            f"Expected tensor to have size at least {max(counts)} at dimension 1, but got size {have} for "
            "argument #2 'targets' (while checking arguments for ctc_loss_cpu)"
        )
