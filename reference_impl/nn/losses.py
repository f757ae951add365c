"""The everyday losses as modules; what they compute is in ``functional``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.nn import functional
from reference_impl.nn.module import Module


class _Loss(Module):
    """A loss and how it is reduced; further settings are passed on by name."""

    function: Callable[..., Tensor]

    def __init__(
        self, size_average: Any = None, reduce: Any = None, reduction: str = "mean", **settings: Any
    ) -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _of_old(size_average, reduce)
        self.reduction, self.settings = reduction, settings

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return type(self).function(input, target, reduction=self.reduction, **self.settings)


def _of_old(size_average: Any, reduce: Any) -> str:
    """The reduction that the two old settings ask for."""
    averages, reduces = (True if old is None else old for old in (size_average, reduce))
    found = "mean" if averages and reduces else "sum" if reduces else "none"
    warnings.warn(f"size_average and reduce are old: use reduction={found!r}", UserWarning, stacklevel=4)
    return found


class MSELoss(_Loss):
    """The squares of differences."""

    function = staticmethod(functional.mse_loss)


class L1Loss(_Loss):
    """The sizes of differences."""

    function = staticmethod(functional.l1_loss)


class SmoothL1Loss(_Loss):
    """Squares of small differences, a line beyond."""

    function = staticmethod(functional.smooth_l1_loss)


class HuberLoss(_Loss):
    """Half the squares of small differences, a line beyond."""

    function = staticmethod(functional.huber_loss)


class BCEWithLogitsLoss(_Loss):
    """The loss of two classes, from scores."""

    function = staticmethod(functional.binary_cross_entropy_with_logits)


class BCELoss(_Loss):
    """The loss of two classes, from probabilities."""

    function = staticmethod(functional.binary_cross_entropy)


class _Classes(_Loss):
    """A loss of several classes that may count differently."""

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction, ignore_index=ignore_index)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return type(self).function(input, target, self.weight, reduction=self.reduction, **self.settings)


class NLLLoss(_Classes):
    """The loss of several classes, from log-probabilities."""

    function = staticmethod(functional.nll_loss)


class CrossEntropyLoss(_Classes):
    """The loss of several classes, from scores."""

    function = staticmethod(functional.cross_entropy)
