"""The negative log likelihood, of rows of scores and of images of them.

Generated programs do not call these (``internal``): they are compared with torch call by call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from specs.demands import one_dtype
from specs.errors import refuse, unspecified_unless
from specs.kind import Dim, Indices, Reduction, Tensor
from specs.op import Op, op


def _classes_of(x: np.ndarray) -> int:
    return x.shape[0 if x.ndim == 1 else 1]


def _classes(target: np.ndarray, ignore: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The samples that are not ignored, and the class of each; of one that is ignored, the first."""
    kept = target != ignore
    wrong = kept & ~_exist(target, count)
    if wrong.any():
        refuse("nn/target-is-a-class", got=target[wrong].flat[0])
    return kept, np.where(kept, target, 0)


def _exist(target: np.ndarray, count: int) -> np.ndarray:
    return (target >= 0) & (target < count)


@op(internal=True, dtypes="keep", wide=True)
def _nll_count(x: Tensor, target: Indices, *, ignore: Dim, reduction: Reduction) -> Any:
    """The number of samples that are not ignored, which the gradient divides by; zero if it does not."""
    return np.asarray(np.sum(target != ignore) if reduction != "none" else 0, x.dtype)


@op(internal=True, dtypes="keep", wide=True)
def _nll_total(x: Tensor, target: Indices, weight: Tensor, *, ignore: Dim, reduction: Reduction) -> Any:
    """Their weights added up, in the place of that. The loss refuses what is no class, once it saved."""
    kept = (target != ignore) & _exist(target, _classes_of(x))
    return np.sum(weight[target[kept]]) if reduction != "none" else np.zeros((), x.dtype)


def _losses(x: np.ndarray, target: np.ndarray, weight: Any, ignore: int, reduction: str) -> Any:
    if x.ndim == 1:
        losses = _losses(x[None], target.reshape(1), weight, ignore, reduction)
        return losses.reshape(()) if reduction == "none" else losses
    kept, at = _classes(target, ignore, x.shape[1])
    counts = np.where(kept, weight[at], 0).astype(x.dtype)
    losses = np.where(kept, -np.take_along_axis(x, np.expand_dims(at, 1), 1)[:, 0] * counts, 0)
    if reduction == "none":
        return losses.astype(x.dtype)
    return np.sum(losses) / np.sum(counts) if reduction == "mean" else np.sum(losses)


def _unfit(why: str, **facts: Any) -> NoReturn:
    refuse("nn/targets-go-with-scores", why=why, **facts)


def _need_rows(logs: np.ndarray, target: np.ndarray) -> None:
    """Refuse targets that do not go with the scores any more, since data was assigned to either."""
    if target.ndim > 1:
        _unfit("0D or 1D target tensor expected, multi-target not supported")
    if logs.ndim == 2 and not target.ndim:
        refuse("op/dim-range", low=0, high=-1, dim=0, case="scalar")
    if target.ndim and len(logs) != len(target):
        _unfit(f"size mismatch (got input: {list(logs.shape)}, target: {list(target.shape)})")
    if target.dtype not in (np.int64, np.uint8):
        refuse("op/one-dtype", name="nll_loss", case=None, x=np.dtype(np.int64), y=target.dtype)


def _need_images(logs: np.ndarray, target: np.ndarray) -> None:
    """The same for images."""
    if target.ndim != 3:
        want = "only batches of spatial targets supported (3D tensors)"
        _unfit(f"{want} but got targets of dimension: {target.ndim}")
    if target.dtype not in (np.int64, np.uint8):
        _unfit("expected target dtype to be Long or Byte", case="dtype", got=target.dtype)
    if target.shape != (len(logs), *logs.shape[2:]):
        _unfit(f"size mismatch (got input: {list(logs.shape)} , target: {list(target.shape)}")


def _loss_gradient(
    dy: Any, logs: np.ndarray, target: np.ndarray, weight: Any, total: Any, ignore: int, reduction: str
) -> np.ndarray:
    (_need_rows if logs.ndim < 3 else _need_images)(logs, target)
    if logs.ndim == 1:
        # NB: PyTorch takes as many targets as there are classes for those of a batch, and reads the first.
        row = target.reshape(-1)[:1]
        return _loss_gradient(np.reshape(dy, (-1,)), logs[None], row, weight, total, ignore, reduction)[0]
    if reduction == "none":
        fit = (target == ignore) | _exist(target, logs.shape[1])
        # NB: PyTorch writes to whatever lies behind the gradient: pytorch/pytorch#194802.
        unspecified_unless(bool(fit.all()), "the gradient of losses whose targets are no classes by now")
    kept, at = _classes(target, ignore, logs.shape[1])
    share = -(dy / total if reduction == "mean" else dy) * weight[at]
    out = np.zeros_like(logs, order="C")
    np.put_along_axis(out, np.expand_dims(at, 1), np.expand_dims(np.where(kept, share, 0), 1), 1)
    return out


def call_nll_loss(x: Any, target: Any, weight: Any, ignore: int, reduction: str, of: str = "") -> Any:
    """Call the op ``of`` rows or of images, with the total of the weights, which PyTorch saves besides."""
    how = {"ignore": ignore, "reduction": reduction}
    if weight is None:
        return getattr(x, f"_nll_loss{of}")(target, x._nll_count(target, **how), **how)
    return getattr(x, f"_weighted_nll_loss{of}")(target, weight, x._nll_total(target, weight, **how), **how)


def _named(name: str, node: str, kernel: str, **facts: Any) -> Callable[[Callable[..., Any]], Op]:
    def declare(body: Callable[..., Any]) -> Op:
        body.__name__ = name
        return op(internal=True, node=node, dtypes="keep", wide=True, lacks="biuc", kernel=kernel, **facts)(
            body
        )

    return declare


def _family(of: str, node: str, kernel: str) -> tuple[Op, Op, Op, Op]:
    """Declare the loss ``of`` rows or images, with and without a weight for each class, and its gradient."""

    @_named(f"_nll_loss{of}", f"{node}Backward0", kernel, second_result="total")
    def plain(x: Tensor, target: Indices, total: Tensor, *, ignore: Dim, reduction: Reduction) -> Any:
        """Minus the log-probability that each sample gives its class, which stands in dimension 1."""
        return _losses(x, target, np.ones(_classes_of(x)), ignore, reduction)

    @_named(f"_weighted_nll_loss{of}", f"{node}Backward0", kernel, second_result="total")
    def weighted(
        x: Tensor, target: Indices, weight: Tensor, total: Tensor, *, ignore: Dim, reduction: Reduction
    ) -> Any:
        """The same with a weight for each class."""
        return _losses(x, target, weight, ignore, reduction)

    @_named(f"_nll_loss{of}_backward", f"{node}BackwardBackward0", kernel)
    def plain_backward(
        dy: Tensor, logs: Tensor, target: Indices, total: Tensor, *, ignore: Dim, reduction: Reduction
    ) -> Any:
        """The gradient of such a loss."""
        return _loss_gradient(
            dy, logs, target, np.ones(_classes_of(logs), logs.dtype), total, ignore, reduction
        )

    @_named(f"_weighted_nll_loss{of}_backward", f"{node}BackwardBackward0", kernel)
    def weighted_backward(
        dy: Tensor,
        logs: Tensor,
        target: Indices,
        weight: Tensor,
        total: Tensor,
        *,
        ignore: Dim,
        reduction: Reduction,
    ) -> Any:
        """The same with a weight for each class."""
        return _loss_gradient(dy, logs, target, weight, total, ignore, reduction)

    plain.wrt(
        x=one_dtype("x", "g")(
            lambda g, x, target, total, ignore, reduction: getattr(g, f"_nll_loss{of}_backward")(
                x, target, total, ignore=ignore, reduction=reduction
            )
        )
    )
    weighted.wrt(
        x=one_dtype("x", "g", "weight")(
            lambda g, x, target, weight, total, ignore, reduction: getattr(
                g, f"_weighted_nll_loss{of}_backward"
            )(x, target, weight, total, ignore=ignore, reduction=reduction)
        )
    )
    plain_backward.wrt(
        dy=lambda g, target, ignore, reduction: call_nll_loss(g, target, None, ignore, reduction, of),
        logs=lambda g: g.zeros_like(),
    )
    weighted_backward.wrt(
        dy=lambda g, target, weight, ignore, reduction: call_nll_loss(
            g, target, weight, ignore, reduction, of
        ),
        logs=lambda g: g.zeros_like(),
    )
    return plain, weighted, plain_backward, weighted_backward


_rows, _weighted_rows, _rows_backward, _weighted_rows_backward = _family("", "NllLoss", "nll_loss_out_frame")
_images, _weighted_images, _images_backward, _weighted_images_backward = _family(
    "2d", "NllLoss2D", "nll_loss2d_forward_out_frame"
)
