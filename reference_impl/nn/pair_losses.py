"""Distances, and the losses of pairs, triplets and distributions, of ``torch.nn.functional``."""

from __future__ import annotations

import math
from typing import Any

from reference_impl.base.modes import no_grad
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.composite import broadcast_tensors
from reference_impl.namespace.non_differentiable import result_type
from reference_impl.nn.loss_functions import chosen_reduction, reduce_losses
from specs.dtype_names import SCALARS


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine similarity of vectors along a dimension."""
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    common = result_type(x1, x2)
    if not common.is_floating_point:
        got = SCALARS[common.name]
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {got}")
    x1, x2 = (x if x.is_floating_point() else x.to(common) for x in (x1, x2))
    if tuple(x1.shape) != tuple(x2.shape):
        shape = tuple(broadcast_tensors(x1.detach(), x2.detach())[0].shape)
        x1, x2 = x1.expand(shape), x2.expand(shape)
    lengths = [x.norm(2, dim, True).clone() for x in (x1, x2)]
    with no_grad():
        for length in lengths:
            length.clamp_min_(eps)
    return x1.div(lengths[0]).mul(x2.div(lengths[1])).sum(dim)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of the differences of rows."""
    return x1.sub(x2).add_scalar(eps).norm_of_rows(p, -1, keepdim)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """The distance to the positive minus that to the negative, plus a margin, where that is positive."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    _need_margin(margin)
    _need_one_rank(anchor, positive, negative)
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return reduce_losses(near.add_scalar(margin).sub(far).clamp_min(0), reduction)


def _need_margin(margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def _need_one_rank(anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """The amount by which one input is not above the other by a margin."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return reduce_losses(
        target.neg().mul(input1.sub(input2)).add_scalar(float(margin)).clamp_min(0), reduction
    )


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """The input where the target is 1, the distance below a margin where it is -1."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    zeros = input.detach().zeros_like()
    margin = margin if input.is_floating_point() or input.is_complex() else int(margin)
    missing = input.new_full((), margin).sub(input).clamp_min(0).where(target.ne(1), zeros)
    return reduce_losses(missing.add(input.where(target.ne(-1), zeros)), reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """One minus the similarity of like pairs, the similarity above a margin of others."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with "
            f"sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    lengths = [x.mul(x).sum(-1).add_scalar(1e-12) for x in (input1, input2)]
    cosine = input1.mul(input2).sum(-1).div(lengths[0].mul(lengths[1]).sqrt())
    zeros = cosine.detach().mul(0)
    like = cosine.new_full((), 1).sub(cosine).where(target.eq(1), zeros)
    return reduce_losses(
        like.add(cosine.sub_scalar(margin).clamp_min(0).where(target.eq(-1), zeros)), reduction
    )


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own."""
    _need_margin(margin)
    _need_one_rank(anchor, positive, negative)
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduce_losses(near.add(margin).sub(far).clamp_min(0), reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood of counts."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    rate, log = (input.exp(), input) if log_input else (input, input.add(eps).log())
    losses = rate.sub(target.mul(log))
    if full:
        stirling = target.mul(target.log()).sub(target).add(target.mul(2 * math.pi).log().mul(0.5))
        losses = losses.add(stirling.masked_fill(target.le(1), 0))
    return reduce_losses(losses, reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Negative log-likelihood of a normal distribution; small variances are held at ``eps``."""
    held = var if isinstance(var, Tensor) else input.new_full(tuple(input.shape), var)
    if bool(held.detach().lt(0).any()):
        raise ValueError("var has negative entry/entries")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    held = _one_for_each(held, tuple(input.shape)).clone()
    with no_grad():
        held.clamp_(min=eps)
    losses = held.log().add(input.sub(target).pow(2).div(held)).mul(0.5)
    return reduce_losses(losses.add(0.5 * math.log(2 * math.pi)) if full else losses, reduction)


def _one_for_each(var: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The variances beside an input of that shape, where one dimension may share them."""
    given = tuple(var.shape)
    if given == shape:
        return var
    if given == shape[:-1]:
        return var.unsqueeze(-1)
    # PyTorch adds up the sizes of the dimensions that share, which is right for one of them alone.
    if len(given) != len(shape) or sum(n for size, n in zip(shape, given, strict=True) if size != n) != 1:
        raise ValueError("var is of incorrect size")
    return var
