"""Real PyTorch behind the adapter contract; the only module of the package that imports torch."""

from __future__ import annotations

from typing import Any

from conformance.adapters.errors import AdapterError
from conformance.adapters.torch_shaped import TorchShaped
from specs.rule import version_key

OLDEST = "2.11"


class Torch(TorchShaped):
    """PyTorch as it is installed, on the CPU, one thread."""

    def __init__(self, namespace: Any) -> None:
        super().__init__(namespace, "torch", str(namespace.__version__))
        namespace.set_num_threads(1)
        namespace.set_warn_always(True)

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def versions(self) -> dict[str, str]:
        """What a report says about the torch it ran against."""
        return {"torch": self.version}


def load() -> Torch:
    """The installed torch; raises AdapterError where there is none or an old one."""
    try:
        import torch
    except ImportError as error:
        raise AdapterError(
            f"torch cannot be imported ({error})", "pip install torch, or choose reference"
        ) from None
    if version_key(torch.__version__) < version_key(OLDEST):
        raise AdapterError(f"torch {torch.__version__} is too old", f"install torch >= {OLDEST}")
    return Torch(torch)
