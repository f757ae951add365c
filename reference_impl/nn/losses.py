"""Losses as modules; the computations are in `loss_functions`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.nn import functional
from reference_impl.nn.loss_functions import reduction_of_old
from reference_impl.nn.module import Module
from reference_impl.nn.own_names import in_force, under_own_name


class _Loss(Module):
    """A loss with a reduction; further settings are passed on by name."""

    function: Callable[..., Tensor]

    def __init__(
        self, size_average: Any = None, reduce: Any = None, reduction: str = "mean", **settings: Any
    ) -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = reduction_of_old(size_average, reduce)
        known = _defaults(type(self).function)
        if unknown := [name for name in settings if name not in known and name != "distance_function"]:
            kind = type(self).__name__
            raise TypeError(f"{kind}.__init__() got an unexpected keyword argument {unknown[0]!r}")
        settings = known | settings
        self.reduction, self._passed_on = reduction, tuple(settings)
        self.__dict__.update(settings)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings beside the reduction, as they are by now."""
        return {name: self.__dict__[name] for name in self._passed_on}

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return in_force(type(self).function)(input, target, reduction=self.reduction, **self.settings)


@cache
def _defaults(function: Callable[..., Tensor]) -> dict[str, Any]:
    """The settings of a loss that have defaults, but for weights and reductions."""
    given = inspect.signature(function).parameters.values()
    return {
        each.name: each.default
        for each in given
        if each.default is not each.empty and each.name not in _APART
    }


_APART = frozenset({"size_average", "reduce", "reduction", "weight", "pos_weight", "distance_function"})


class _Classes(_Loss):
    """A loss of several classes, with optional class weights."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
        **settings: Any,
    ) -> None:
        super().__init__(size_average, reduce, reduction, ignore_index=ignore_index, **settings)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        how = {"reduction": self.reduction, **self.settings}
        return in_force(type(self).function)(input, target, self.weight, **how)


def _loss(name: str, base: type[_Loss], function: Callable[..., Tensor]) -> type[_Loss]:
    """Make the module of a function."""
    about = {"function": staticmethod(function), "__doc__": function.__doc__, "__module__": __name__}
    made = type(name, (base,), about)
    under_own_name(made, "forward")
    return made


MSELoss = _loss("MSELoss", _Loss, functional.mse_loss)
L1Loss = _loss("L1Loss", _Loss, functional.l1_loss)
NLLLoss = _loss("NLLLoss", _Classes, functional.nll_loss)
CrossEntropyLoss = _loss("CrossEntropyLoss", _Classes, functional.cross_entropy)
SoftMarginLoss = _loss("SoftMarginLoss", _Loss, functional.soft_margin_loss)


class _Weighted(_Loss):
    """A loss with an optional weight of each element."""

    weight: Tensor | None
    names: tuple[str, ...] = ("weight",)

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        **weights: Tensor | None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        for name in self.names:
            self.register_buffer(name, weight if name == "weight" else weights.pop(name, None))
        if weights:
            raise TypeError(f"{type(self).__name__} has no argument {next(iter(weights))!r}")

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        weights = {name: getattr(self, name) for name in self.names}
        return in_force(type(self).function)(input, target, reduction=self.reduction, **weights)


BCELoss = _loss("BCELoss", _Weighted, functional.binary_cross_entropy)
BCEWithLogitsLoss = _loss("BCEWithLogitsLoss", _Weighted, functional.binary_cross_entropy_with_logits)
BCEWithLogitsLoss.names = ("weight", "pos_weight")  # type: ignore[attr-defined]


class _Several(_Loss):
    """A loss of several inputs."""

    def __init__(self, *given: Any, **named: Any) -> None:
        settings = dict(zip(self.order, given, strict=False)) | named
        old = (settings.pop("size_average", None), settings.pop("reduce", None))
        super().__init__(*old, settings.pop("reduction", "mean"), **settings)

    order: tuple[str, ...] = ("margin", "size_average", "reduce", "reduction")

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        how = {"reduction": self.reduction, **self.settings}
        return in_force(type(self).function)(*inputs, **named, **how)


SmoothL1Loss = _loss("SmoothL1Loss", _Several, functional.smooth_l1_loss)
SmoothL1Loss.order = ("size_average", "reduce", "reduction", "beta")  # type: ignore[attr-defined]
HuberLoss = _loss("HuberLoss", _Several, functional.huber_loss)
HuberLoss.order = ("reduction", "delta")  # type: ignore[attr-defined]
KLDivLoss = _loss("KLDivLoss", _Several, functional.kl_div)
KLDivLoss.order = ("size_average", "reduce", "reduction", "log_target")  # type: ignore[attr-defined]
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", _Several, functional.hinge_embedding_loss)
MarginRankingLoss = _loss("MarginRankingLoss", _Several, functional.margin_ranking_loss)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", _Several, functional.cosine_embedding_loss)
TripletMarginLoss = _loss("TripletMarginLoss", _Several, functional.triplet_margin_loss)
TripletMarginLoss.order = (  # type: ignore[attr-defined]
    "margin", "p", "eps", "swap", "size_average", "reduce", "reduction",
)  # fmt: skip
PoissonNLLLoss = _loss("PoissonNLLLoss", _Several, functional.poisson_nll_loss)
PoissonNLLLoss.order = (  # type: ignore[attr-defined]
    "log_input", "full", "size_average", "eps", "reduce", "reduction",
)  # fmt: skip
GaussianNLLLoss = _loss("GaussianNLLLoss", _Several, functional.gaussian_nll_loss)
GaussianNLLLoss.order = ()  # type: ignore[attr-defined]


class _Margins(_Loss):
    """A loss with class weights, and settings before them."""

    order: tuple[str, ...] = ()

    def __init__(self, *given: Any, **named: Any) -> None:
        names = (*self.order, "weight", "size_average", "reduce", "reduction")
        settings = dict(zip(names, given, strict=False)) | named
        weight = settings.pop("weight", None)
        old = (settings.pop("size_average", None), settings.pop("reduce", None))
        super().__init__(*old, settings.pop("reduction", "mean"), **settings)
        self.register_buffer("weight", weight)

    weight: Tensor | None

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        how = {"weight": self.weight, "reduction": self.reduction, **self.settings}
        return in_force(type(self).function)(input, target, **how)


MultiMarginLoss = _loss("MultiMarginLoss", _Margins, functional.multi_margin_loss)
MultiMarginLoss.order = ("p", "margin")  # type: ignore[attr-defined]
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", _Margins, functional.multilabel_soft_margin_loss)
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", _Loss, functional.multilabel_margin_loss)
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss", _Several, functional.triplet_margin_with_distance_loss
)
TripletMarginWithDistanceLoss.order = ()  # type: ignore[attr-defined]


class CTCLoss(_Loss):
    """`functional.ctc_loss` as a module."""

    function = staticmethod(functional.ctc_loss)

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(None, None, reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(  # type: ignore[override]  # as PyTorch's has it
        self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any
    ) -> Tensor:
        how = (self.blank, self.reduction, self.zero_infinity)
        return in_force(type(self).function)(log_probs, targets, input_lengths, target_lengths, *how)
