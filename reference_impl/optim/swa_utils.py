"""``torch.optim.swa_utils``: averages of models, and the schedule that goes with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import tensor
from reference_impl.namespace.missing import loading
from reference_impl.nn.module import Module
from reference_impl.nn.modules import batchnorm
from reference_impl.optim.optimizer import Optimizer
from reference_impl.optim.scheduler import LRScheduler
from reference_impl.optim.schedules import for_each_group

Average = Callable[[Tensor, Tensor, Any], Tensor]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Make the function of an exponential moving average."""
    if not 0 <= decay <= 1:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    @no_grad()
    def average(mean: Tensor, current: Tensor, count: Any) -> Tensor:
        return mean.mul(decay).add(current.mul(1 - decay))

    return average


def get_swa_avg_fn() -> Average:
    """Make the function of a plain average."""

    @no_grad()
    def average(mean: Tensor, current: Tensor, count: Any) -> Tensor:
        return mean.add(current.sub(mean).div(count + 1))

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """Make the function that moves several exponential averages in place."""
    one = get_ema_avg_fn(decay)
    return lambda means, currents, count: _each(one, means, currents, count)


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """Make the function that moves several plain averages in place."""
    one = get_swa_avg_fn()
    return lambda means, currents, count: _each(one, means, currents, count)


@no_grad()
def _each(one: Average, means: Iterable[Tensor], currents: Iterable[Tensor], count: Any) -> None:
    for mean, current in zip(means, currents, strict=True):
        mean.copy_(one(mean, current, count))


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those that `update_parameters` saw."""

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model) if by("optim/averages-are-their-own") else model
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _state_of(self, module: Module) -> list[Tensor]:
        buffers = module.buffers() if self.use_buffers else ()
        return [x.detach() for x in itertools.chain(module.parameters(), buffers)]

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of a model into the average."""
        means, currents = self._state_of(self.module), self._state_of(model)
        if int(self.n_averaged) == 0:
            for mean, current in zip(means, currents, strict=True):
                mean.copy_(current)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(means, currents, self.n_averaged)
        else:
            _each(self.avg_fn or get_swa_avg_fn(), means, currents, self.n_averaged)
        if not self.use_buffers:
            for mean, current in zip(self.module.buffers(), model.buffers(), strict=True):
                mean.detach().copy_(current.detach())
        self.n_averaged.add_(1)


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running estimates of a model's batch norms anew, over what a loader gives."""
    norms = [m for m in model.modules() if isinstance(m, batchnorm._BatchNorm)]
    momenta = {m: m.momentum for m in norms if m.running_mean is not None}
    for module in momenta:
        module.reset_running_stats()
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for given in loader:
        input = given[0] if isinstance(given, (list, tuple)) else given
        model(input if device is None else input.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """The rate moves to ``swa_lr`` within ``anneal_epochs`` and stays there."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(
            for_each_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True
        ):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _moved(self, share: float) -> float:
        return share if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * share)) / 2

    def get_lr(self) -> list[float]:
        n = max(1, self._step_count - 1) if self.anneal_epochs == 0 else self._step_count - 1
        whole = max(1, self.anneal_epochs)
        before, now = (self._moved(max(0.0, min(1.0, t / whole))) for t in (n - 1, n))
        rates = []
        for group in self.optimizer.param_groups:
            last = group["swa_lr"]
            start = last if before == 1 else (group["lr"] - before * last) / (1 - before)
            rates.append(last * now + start * (1 - now))
        return rates


__getattr__ = loading(__name__)
