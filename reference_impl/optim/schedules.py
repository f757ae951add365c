"""Schedules that look at a metric, restart, or change the momentum with the rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from reference_impl.optim.optimizer import Optimizer
from reference_impl.optim.scheduler import LRScheduler, kept_of_function, need_optimizer, own, set_rate


def for_each_group(name: str, optimizer: Optimizer, given: Any) -> list[Any]:
    """Return one value for each group: those given, or the one that was given for all."""
    count = len(optimizer.param_groups)
    if not isinstance(given, (list, tuple)):
        return [own(given) for _ in range(count)]
    if len(given) != count:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. "
                         f"{name} has {len(given)} values, param_groups has {count}.")  # fmt: skip
    return [own(value) for value in given]


class ReduceLROnPlateau(LRScheduler):
    """The rate times ``factor`` once a metric has not improved for more than ``patience`` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        need_optimizer(optimizer)
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        if isinstance(min_lr, (list, tuple)) and len(min_lr) != len(optimizer.param_groups):
            raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}")
        # In PyTorch's order, in which a state is printed.
        self.factor, self.optimizer = factor, optimizer
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = for_each_group("min_lrs", optimizer, min_lr)
        self.patience, self.cooldown, self.eps, self.last_epoch = patience, cooldown, eps, 0
        self._last_lr = self.rates
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self._reset()

    def _reset(self) -> None:
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def step(self, metrics: Any, epoch: Any = None) -> None:  # type: ignore[override]
        """Take the metric of an epoch, and lower the rates if it is stuck."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self.rates

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param "
                    "group being added to the optimizer. Please modify the `min_lrs` field to match the "
                    "length of the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_rate(group, new)

    @property
    def in_cooldown(self) -> bool:
        """Tell whether epochs are not counted after a reduction."""
        return self.cooldown_counter > 0

    def _is_better(self, value: float, best: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            bound = best * (1 + sign * self.threshold)
        else:
            bound = best + sign * self.threshold
        return value < bound if self.mode == "min" else value > bound


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing that starts again after ``T_0`` epochs, then after ``T_mult`` times as many."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Go on to the next epoch, or to the given one, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self.set_rates(self.get_lr())

    def _go_to(self, epoch: float) -> None:
        if epoch < self.T_0 or self.T_mult == 1:
            self.T_cur = epoch % self.T_0
            self.T_i = self.T_0 if epoch < self.T_0 else self.T_i
            return
        n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
        self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
        self.T_i = self.T_0 * self.T_mult**n


_PHASE = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
"""The names in a state of the parts of a phase of `OneCycleLR`."""


def _cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) / 2 * (1 + math.cos(math.pi * share))


def _line(start: float, end: float, share: float) -> float:
    return (end - start) * share + start


class _WithMomentum(LRScheduler):
    """A schedule that moves the momentum, or the first beta, against the rate."""

    def take_momentum(self, optimizer: Optimizer, base: Any, most: Any, last_epoch: int) -> tuple[Any, Any]:
        """Remember the bounds of the momentum in each group, set it to the upper, and return them."""
        if not {"momentum", "betas"} & optimizer.defaults.keys():
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        lows, highs = (
            for_each_group(name, optimizer, given)
            for name, given in (("base_momentum", base), ("max_momentum", most))
        )
        for low, high, group in zip(lows, highs, optimizer.param_groups, strict=True):
            if last_epoch == -1:
                self.set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return lows, highs

    def set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        """Set the momentum of a group, or its first beta."""
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class OneCycleLR(_WithMomentum):
    """Up to ``max_lr`` and down to almost nothing in ``total_steps`` (Smith and Topin 2018)."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        need_optimizer(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._schedule_phases = self._planned(pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        for high, group in zip(
            for_each_group("max_lr", optimizer, max_lr), optimizer.param_groups, strict=True
        ):
            if last_epoch == -1:
                group["initial_lr"], group["max_lr"] = high / div_factor, high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.take_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _planned(self, share: float, three: bool) -> list[dict[str, Any]]:
        """The phases: their last step, the rates and the momentums between which they go."""
        up = (share * self.total_steps - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        last = self.total_steps - 1
        down = (2 * share * self.total_steps - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")
        rest = (last, "initial_lr", "min_lr", "max_momentum", "max_momentum")
        at_once = (last, "max_lr", "min_lr", "base_momentum", "max_momentum")
        phases = (up, down, rest) if three else (up, at_once)
        return [dict(zip(_PHASE, phase, strict=True)) for phase in phases]

    def get_lr(self) -> list[float]:
        n = self.last_epoch
        if n > self.total_steps:
            raise ValueError(
                f"Tried to step {n} times. The specified number of total steps is {self.total_steps}"
            )
        start: float = 0
        phases = (phase.values() for phase in self._schedule_phases)
        end, low, high, from_momentum, to_momentum = next(phases)
        for phase in phases:
            if n > end:
                start, (end, low, high, from_momentum, to_momentum) = end, phase
        anneal = _cosine if self._anneal_func_type == "cos" else _line
        share, rates = (n - start) / (end - start), []
        for group in self.optimizer.param_groups:
            rates.append(anneal(group[low], group[high], share))
            if self.cycle_momentum:
                self.set_momentum(group, anneal(group[from_momentum], group[to_momentum], share))
        return rates


def _total(total: Any, epochs: Any, each: Any) -> int:
    if total is not None:
        if total <= 0 or not isinstance(total, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total}")
        return total
    if epochs is None or each is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, count in (("epochs", epochs), ("steps_per_epoch", each)):
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {count}")
    return epochs * each


class CyclicLR(_WithMomentum):
    """Up and down between two rates, again and again (Smith 2017)."""

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        need_optimizer(optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        for low, group in zip(
            for_each_group("base_lr", optimizer, base_lr), optimizer.param_groups, strict=True
        ):
            if last_epoch == -1:
                set_rate(group, low)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma = mode, gamma
        self.scale_mode = scale_mode if scale_fn else "iterations" if mode == "exp_range" else "cycle"
        self._scale_fn_custom = scale_fn
        self._scale = (
            scale_fn
            or {
                "triangular": lambda n: 1.0,
                "triangular2": lambda n: 1 / 2.0 ** (n - 1),
                "exp_range": lambda n: self.gamma**n,
            }[mode]
        )
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            bounds = self.take_momentum(optimizer, base_momentum, max_momentum, last_epoch)
            self.base_momentums, self.max_momentums = bounds
        super().__init__(optimizer, last_epoch)
        self.base_lrs = for_each_group("base_lr", optimizer, base_lr)

    def state_dict(self) -> dict[str, Any]:
        kept = {name: value for name, value in super().state_dict().items() if not name.startswith("_scale")}
        custom = self._scale_fn_custom
        return kept | {"_scale_fn_custom": None if custom is None else kept_of_function(custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        kept = state_dict.pop("_scale_fn_custom")  # PyTorch takes it out of what it is given, too
        super().load_state_dict(state_dict)
        if kept is not None:
            self._scale_fn_custom.__dict__.update(kept)

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self._scale(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            moved = [high - (high - low) * share * scale for low, high in bounds]
            for group, momentum in zip(self.optimizer.param_groups, moved, strict=True):
                self.set_momentum(group, momentum)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * share * scale for low, high in pairs]
