"""The base of optimizers that change one parameter at a time, and the checks of their settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import Any

from reference_impl.base.dtypes import default, float32, float64
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import tensor
from reference_impl.optim.optimizer import Optimizer, Update
from reference_impl.optim.settings import check_fused, check_path, check_rate


def require(held: bool, text: str) -> None:
    """Raise ValueError with the text where a setting is out of its range."""
    if not held:
        raise ValueError(text)


def check_betas(betas: tuple[float, float]) -> None:
    """Raise ValueError where a running mean would forget everything, or nothing."""
    for at in (0, 1):
        require(0.0 <= betas[at] < 1.0, f"Invalid beta parameter at index {at}: {betas[at]}")


def counter(begin: float = 0.0) -> Tensor:
    """Make a count of steps, or a running product, as the state keeps it: a tensor on the CPU."""
    return tensor(begin, dtype=float64 if default() is float64 else float32, device="cpu")


def _parts(value: Any) -> Any:
    return value.view_as_real() if isinstance(value, Tensor) and value.is_complex() else value


def in_both_parts(x: Tensor, value: float) -> float | complex:
    """Return what a state begins with, in the imaginary part too where there is one."""
    return complex(value, value) if x.is_complex() else value


class PerParameter(Optimizer):
    """An optimizer that changes one parameter at a time; subclasses say how, in ``one``."""

    count = 0
    """The number of the present step of a parameter."""
    captured = "params and state_steps"
    """The things that must be on a device for its steps to be captured there, as PyTorch words them."""
    capturing_devices = 5
    """The number of devices that may capture, of those that PyTorch lists."""

    def __init__(self, params: Iterable[Any], settings: dict[str, Any], how: dict[str, Any]) -> None:
        check_path(type(self), how)
        check_rate(settings["lr"])
        decay = settings.get("weight_decay", 0)
        require(decay >= 0, f"Invalid weight_decay value: {decay}")
        super().__init__(params, settings | how)
        check_fused(how)

    def change(self, updates: list[Update], group: dict[str, Any]) -> None:
        steps = [self._step(update, group) for update in updates]
        if self.together:
            for _ in zip_longest(*steps):  # each part for all
                pass
        else:
            for _ in chain(*steps):
                pass

    def _step(self, update: Update, group: dict[str, Any]) -> Iterator[None]:
        """Change one parameter, in parts that PyTorch does for all at once where it steps them together."""
        x, g, state = update
        if not state:
            self._begin_state(state, x, group)
        state["step"] = state["step"] + 1 if type(state["step"]) is int else state["step"].add_(1)
        g = g.neg() if group["maximize"] else g
        if group.get("decoupled_weight_decay") and group["weight_decay"]:
            x.mul_(1 - group["lr"] * group["weight_decay"])
        elif group.get("weight_decay"):
            g = g.add(x, alpha=group["weight_decay"])
        yield
        if by("optim/updates-by-its-algorithm"):
            self.check(g, state)
            yield
            self.count = int(state["step"])
            if x.is_complex():  # both parts are stepped, like two numbers
                x, g = x.view_as_real(), g.view_as_real()
                state = {name: _parts(kept) for name, kept in state.items()}
            self.one(x, g, state, group)

    def _begin_state(self, state: dict[str, Any], x: Tensor, group: dict[str, Any]) -> None:
        state |= {"step": counter()} | self.begun(x, group)

    def prepare(self, updates: list[Update], group: dict[str, Any]) -> None:
        if not (group.get("capturable") or group["differentiable"]):
            return
        for x, _, state in updates:
            if not state:
                self._begin_state(state, x, group)
        if not (group.get("capturable") and updates):
            return
        if not all(x.is_cpu for x, _, _ in updates):
            raise NotModelled(f"torch.optim.{type(self).__name__}(capturable=True)")
        devices = ["cuda", "xpu", "hpu", "privateuseone", "xla"][: self.capturing_devices]
        raise AssertionError(f"If capturable=True, {self.captured} must be on supported devices: {devices}.")

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Make the state of a parameter that has none."""
        raise NotImplementedError

    def check(self, g: Tensor, state: dict[str, Any]) -> None:
        """Refuse a gradient that the algorithm cannot take."""

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change one parameter and what the state holds, in place."""
        raise NotImplementedError
