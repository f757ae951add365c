"""Rarer names of PyTorch's: in-place forms, old names, and what asks for an accelerator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from reference_impl.base import device as devices
from reference_impl.base import dtypes
from reference_impl.base.modes import no_grad
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import cuda, factories


def _written(name: str) -> Any:
    """Make the in-place form of a method whose result has no gradient.

    NB: PyTorch takes it of leaves, too, and leaves the history as it was.
    """

    def write(self: Tensor, *args: Any, **named: Any) -> Tensor:
        with no_grad():
            return self.copy_(getattr(self, name)(*args, **named))

    write.__name__ = f"{name}_"
    return write


def square_(self: Tensor) -> Tensor:
    """Square in place."""
    return self.pow_(2)


def diagflat(x: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on a diagonal."""
    return x.contiguous().view((-1,)).diag(offset)


def scalar_tensor(s: Any, **how: Any) -> Tensor:
    """A tensor without dimensions."""
    return factories.full((), s, **({"dtype": dtypes.default()} | how))


def set_default_device(device: Any) -> None:
    """Set the device on which factories make tensors; None stands for the CPU."""
    STATE.default_devices[:1] = [] if device is None else [devices.device(device)]


def get_default_device() -> Any:
    """Return the device on which factories make tensors, with its number."""
    return devices.default_place()


def get_float32_matmul_precision() -> str:
    """Return "highest": products are not rounded."""
    return "highest"


accelerator = SimpleNamespace(
    is_available=lambda: cuda.is_available(),
    device_count=lambda: cuda.device_count(),
    current_accelerator=lambda *_, **__: devices.device("cuda") if cuda.is_available() else None,
    synchronize=lambda *_: None,
)
"""The accelerator, which is a virtual CUDA device."""

version = SimpleNamespace(cuda=None, hip=None, xpu=None, debug=False, git_version="", __version__="2.13.0")
"""The facts of the build."""

_NAMES = ("logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or",
          "bitwise_xor", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift")  # fmt: skip
METHODS: dict[str, Any] = {f"{name}_": _written(name) for name in _NAMES} | {"square_": square_}
"""Methods by name."""

BOTH: dict[str, Any] = {"diagflat": diagflat}
"""Functions that are methods too, by name."""

FUNCTIONS: dict[str, Any] = {
    "accelerator": accelerator, "get_default_device": get_default_device,
    "get_float32_matmul_precision": get_float32_matmul_precision,
    "scalar_tensor": scalar_tensor, "set_default_device": set_default_device, "version": version,
}  # fmt: skip
"""Names of the namespace that are not methods."""
