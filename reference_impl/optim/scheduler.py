"""The base of learning-rate schedules; the schedules are in ``lr_scheduler`` and ``schedules``."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterable
from functools import wraps
from types import FunctionType
from typing import Any

from reference_impl.base.rules import by
from reference_impl.core.tensor import Tensor
from reference_impl.optim.optimizer import Optimizer

_DEPRECATED = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from "
    "None, the closed form is used instead of the new chainable form, where available."
)
_BEFORE = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do "
    "this will result in PyTorch skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


_RESUMED = (
    "\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but haven't "
    "properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training run (not "
    "recommended)"
)


def kept_of_function(function: Any) -> dict[str, Any] | None:
    """Return the attributes of a callable object, which a state keeps; of a function nothing is kept."""
    return None if isinstance(function, FunctionType) else function.__dict__.copy()


def set_rate(group: dict[str, Any], rate: float) -> None:
    """Give a group of parameters its learning rate; one that is a tensor is filled."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(rate)
    elif by("optim/schedules-set-the-rate"):
        group["lr"] = rate


def need_optimizer(given: Any) -> None:
    """Refuse anything but an optimizer."""
    if not isinstance(given, Optimizer):
        raise TypeError(f"{type(given).__name__} is not an Optimizer")


class LRScheduler:
    """Base of schedules: `get_lr` gives the rates of the groups at ``last_epoch``."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        need_optimizer(optimizer)
        for at, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{at}] when resuming scheduler "
                    f"with last_epoch >= 0.{_RESUMED}"
                )
        self.optimizer = optimizer
        self.base_lrs = [own(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _count_steps(optimizer)
        self.begin()

    def begin(self) -> None:
        """Set the first rates."""
        self._step_count, self._is_initial, self._get_lr_called_within_step = 0, True, False
        self.step()
        self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[float]:
        """The rates that were set last."""
        return self._last_lr

    def get_lr(self) -> list[float]:
        """Compute the rates from those that are set."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or to the given one, and set its rates."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", True):
            warnings.warn(_BEFORE, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(_DEPRECATED, UserWarning, stacklevel=2)
        self.move(epoch)

    def move(self, epoch: int | None) -> None:
        """Set the rates of the next epoch, or of the given one in closed form where there is one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        rates = self.get_lr() if epoch is None or closed is None else closed()
        self.set_rates(rates)

    def set_rates(self, rates: Iterable[float]) -> None:
        """Set the rates of all groups."""
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, rate)
        self._last_lr = [own(group["lr"]) for group in self.optimizer.param_groups]

    @property
    def rates(self) -> list[float]:
        """The rates that are set."""
        return [group["lr"] for group in self.optimizer.param_groups]


def own(rate: Any) -> Any:
    """Return a rate, of one that is a tensor a copy."""
    return rate.clone() if isinstance(rate, Tensor) else rate


def _count_steps(optimizer: Optimizer) -> None:
    """Let the optimizer remember that it took a step."""
    if hasattr(optimizer, "_opt_called"):
        return
    optimizer._opt_called = False  # type: ignore[attr-defined]
    step, owner = type(optimizer).step, weakref.ref(optimizer)

    @wraps(step)
    def counted(*args: Any, **kwargs: Any) -> Any:
        found: Any = owner()
        found._opt_called = True
        return step(found, *args, **kwargs)

    optimizer.step = counted  # type: ignore[method-assign]
