"""``torch.optim.lr_scheduler``: learning rates that change with the steps.

Schedules of one formula are here; those that look at a metric or change the momentum too are in
``schedules``.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from reference_impl.namespace.missing import loading
from reference_impl.optim.combined import ChainedScheduler, SequentialLR
from reference_impl.optim.optimizer import Optimizer
from reference_impl.optim.scheduler import LRScheduler, kept_of_function
from reference_impl.optim.schedules import (
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
    ReduceLROnPlateau,
)

_LRScheduler = LRScheduler


def _without_functions(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != "lr_lambdas"}


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch, one for each group or one for all."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        groups = optimizer.param_groups
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * len(groups)
        elif len(lr_lambda) != len(groups):
            raise ValueError(f"Expected {len(groups)} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas: list[Callable[[int], float]] = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        return _without_functions(super().state_dict()) | {
            "lr_lambdas": [*map(kept_of_function, self.lr_lambdas)]
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(_without_functions(state_dict))
        for function, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=False):
            if kept is not None:
                function.__dict__.update(kept)

    def get_lr(self) -> list[float]:
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(LambdaLR):
    """The rate times a function of the epoch, at each epoch."""

    def get_lr(self) -> list[float]:
        if self._is_initial:
            return self.rates
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, self.rates, strict=True)]


class StepLR(LRScheduler):
    """The rate times ``gamma`` every ``step_size`` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        falls = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma if falls else rate for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times ``gamma`` at each milestone."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        times = self.milestones[self.last_epoch]
        return [rate * self.gamma**times if times else rate for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """A share of the rate for ``total_iters`` epochs, then all of it."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self.rates]
        return [
            rate * (1 / self.factor) if self.last_epoch == self.total_iters else rate for rate in self.rates
        ]

    def _get_closed_form_lr(self) -> list[float]:
        share = self.factor if self.last_epoch < self.total_iters else 1
        return [base * share for base in self.base_lrs]


class LinearLR(LRScheduler):
    """A share of the rate that changes linearly over ``total_iters`` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self.rates]
        if self.last_epoch > self.total_iters:
            return self.rates
        grown = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * grown
        return [rate * (1 + grown / before) for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        passed = min(self.total_iters, self.last_epoch) / self.total_iters
        share = self.start_factor + (self.end_factor - self.start_factor) * passed
        return [base * share for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rate times ``gamma`` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return self.rates if self._is_initial else [rate * self.gamma for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """A polynomial that falls to zero over ``total_iters`` epochs."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        n, most = self.last_epoch, self.total_iters
        if self._is_initial or n > most:
            return self.rates
        return [rate * ((1 - n / most) / (1 - (n - 1) / most)) ** self.power for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        passed = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (1 - passed) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to ``eta_min`` over ``T_max`` epochs, of Loshchilov and Hutter."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        n, most = self.last_epoch, self.T_max
        if self._is_initial:
            return self.rates
        if self._step_count == 1 and n > 0:
            return self._get_closed_form_lr()
        if (n - 1 - most) % (2 * most) == 0:
            rise = (1 - math.cos(math.pi / most)) / 2
            pairs = zip(self.base_lrs, self.rates, strict=True)
            return [rate + (base - self.eta_min) * rise for base, rate in pairs]
        share = (1 + math.cos(math.pi * n / most)) / (1 + math.cos(math.pi * (n - 1) / most))
        return [share * (rate - self.eta_min) + self.eta_min for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR",
    "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR",
    "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


__getattr__ = loading(__name__)
