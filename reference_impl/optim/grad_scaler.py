"""``torch.amp``: scaling of losses and gradients."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from reference_impl.base.dtypes import float16, float32
from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import cuda
from reference_impl.namespace.factories import tensor
from reference_impl.optim.autocast import (  # noqa: F401  as in PyTorch
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from reference_impl.optim.optimizer import Optimizer

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"


class GradScaler:
    """Scales losses so that small gradients of half precision stay; steps with infinite ones are left out."""

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and device == "cuda" and not cuda.is_available():
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2
            )
            enabled = False
        if enabled and growth_factor <= 1:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._enabled, self._device = enabled, device
        self._scale, self._growth_tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._stages: dict[int, str] = {}
        self._infinite: dict[int, bool] = {}
        self._has_scaled = False

    def get_growth_factor(self) -> float:
        """The factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Have the scale grow by another factor."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Have the scale shrink by another factor."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of steps in a row that have the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Have the scale grow after another number of steps."""
        self._growth_interval = new_interval

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or all in a list or tuple, by the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            self._has_scaled = True
            scale: Any = tensor(self._scale, dtype=float32, device=outputs.device)
            return outputs * scale
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        kind = type(outputs) if isinstance(outputs, (list, tuple)) else list
        return kind(self.scale(each) for each in outputs)

    @no_grad()
    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, in place."""
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), READY)
        if stage is UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if stage is STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._need_scale("unscale_")
        grads = [x.grad for group in optimizer.param_groups for x in group["params"] if x.grad is not None]
        if any(g.dtype == float16 for g in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        if grads:
            self._infinite[id(optimizer)] = any(not np.isfinite(array_of(g)).all() for g in grads)
            divide_silently(grads, self._scale)
        self._stages[id(optimizer)] = UNSCALED

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Let the optimizer take its step, unless a gradient is infinite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        stage = self._stages.get(id(optimizer), READY)
        if stage is STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        self._need_scale("step")
        if stage is READY:
            self.unscale_(optimizer)
        if id(optimizer) not in self._infinite:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        self._stages[id(optimizer)] = STEPPED
        if self._infinite[id(optimizer)] and by("optim/scaler-leaves-infinite-steps-out"):
            return None
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Lower the scale after an infinite gradient, raise it after many steps without."""
        if not self._enabled:
            return
        self._need_scale("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if not self._infinite:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._growth_tracker = 0 if any(self._infinite.values()) else self._growth_tracker + 1
            if any(self._infinite.values()):
                self._scale *= self._backoff_factor
            elif self._growth_tracker == self._growth_interval:
                self._scale, self._growth_tracker = self._scale * self._growth_factor, 0
        self._stages, self._infinite = {}, {}

    def _need_scale(self, name: str) -> None:
        """Refuse what divides by the scale before anything was multiplied by it."""
        if not self._has_scaled:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )

    def get_scale(self) -> float:
        """Return the scale."""
        return self._scale if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Tell whether anything is scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return scale and settings."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned; one that is disabled has nothing to restore."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of "
                "GradScaler."
            )
        for name, value in state_dict.items():
            setattr(self, name if name.startswith("_") else f"_{name}", value)


def divide_silently(grads: list[Tensor], scale: float) -> None:
    """Divide gradients in place; NB: PyTorch counts no write here."""
    for array in map(array_of, grads):
        array *= array.dtype.type(1.0 / scale)


class _CudaGradScaler(GradScaler):
    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _deprecated("GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


class _cuda_autocast(autocast):
    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _deprecated("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cuda', args...)` "
        "instead.",
        FutureWarning,
        stacklevel=3,
    )


FOR_CUDA = SimpleNamespace(__name__="torch.cuda", GradScaler=_CudaGradScaler, autocast=_cuda_autocast)
"""The names of ``torch.cuda.amp``."""
