"""Schedules made of others: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from reference_impl.optim.optimizer import Optimizer
from reference_impl.optim.scheduler import LRScheduler, set_rate
from reference_impl.optim.schedules import ReduceLROnPlateau


def _undo(schedulers: Sequence[Any]) -> None:
    """Take back the steps that schedules took when they were made."""
    for scheduler in schedulers:
        if hasattr(scheduler, "_schedulers"):
            _undo(scheduler._schedulers)
        else:
            scheduler.last_epoch -= 1


class _Combined(LRScheduler):
    """Schedules of one optimizer."""

    made = ""
    """The end of PyTorch's word for what is made of the schedules."""

    def take(self, optimizer: Optimizer | None, schedulers: Sequence[Any]) -> None:
        """Check and keep the schedules."""
        name = type(self).__name__
        if not schedulers:
            raise ValueError(f"{name} expects at least one scheduler{self.made}, but got no scheduler.")
        first = optimizer or schedulers[0].optimizer
        for at, scheduler in enumerate(schedulers):
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs "
                    f"to be specified when calling `step`, but got one at index {at} in the given schedulers "
                    "sequence."
                )
            if scheduler.optimizer is not first:
                raise ValueError(f"{name} expects all schedulers to belong to the same optimizer")
        self.optimizer, self._schedulers = first, schedulers

    def state_dict(self) -> dict[str, Any]:
        kept = {n: value for n, value in super().state_dict().items() if n != "_schedulers"}
        return kept | {"_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update({n: value for n, value in state_dict.items() if n != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(_Combined):
    """Schedules one after the other, each from its milestone on."""

    def __init__(
        self, optimizer: Optimizer, schedulers: list[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self.take(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number "
                f"of milestone points, but got number of schedulers {len(schedulers)} and the number of "
                f"milestones to be equal to {len(milestones)}"
            )
        self._milestones, self.last_epoch = milestones, last_epoch + 1
        for group in optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        _undo(schedulers)
        first = schedulers[bisect_right(milestones, 0)]
        first.begin()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch, of the schedule whose turn it is."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            scheduler.move(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combined):
    """Schedules that all take each step, one after the other."""

    made = " to be chained"

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        self.take(optimizer, schedulers)
        self._last_lr = schedulers[-1].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Let every schedule go on."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self.rates
