"""Losses as modules; the computations are in `loss_functions`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.nn import functional
from reference_impl.nn.module import Module


class _Loss(Module):
    """A loss with a reduction; further settings are passed on by name."""

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
    """The reduction that the two deprecated settings ask for."""
    averages, reduces = (True if old is None else old for old in (size_average, reduce))
    reduction = "mean" if averages and reduces else "sum" if reduces else "none"
    warnings.warn(f"size_average and reduce are old: use reduction={reduction!r}", UserWarning, stacklevel=4)
    return reduction


class _Classes(_Loss):
    """A loss of several classes, with optional class weights."""

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction, ignore_index=ignore_index)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return type(self).function(input, target, self.weight, reduction=self.reduction, **self.settings)


def _loss(name: str, base: type[_Loss], function: Callable[..., Tensor]) -> type[_Loss]:
    """Make the module of a function."""
    about = {"function": staticmethod(function), "__doc__": function.__doc__, "__module__": __name__}
    return type(name, (base,), about)


MSELoss = _loss("MSELoss", _Loss, functional.mse_loss)
L1Loss = _loss("L1Loss", _Loss, functional.l1_loss)
SmoothL1Loss = _loss("SmoothL1Loss", _Loss, functional.smooth_l1_loss)
HuberLoss = _loss("HuberLoss", _Loss, functional.huber_loss)
BCEWithLogitsLoss = _loss("BCEWithLogitsLoss", _Loss, functional.binary_cross_entropy_with_logits)
BCELoss = _loss("BCELoss", _Loss, functional.binary_cross_entropy)
NLLLoss = _loss("NLLLoss", _Classes, functional.nll_loss)
CrossEntropyLoss = _loss("CrossEntropyLoss", _Classes, functional.cross_entropy)
