"""PyTorch without `optim`, `nn` and `inference_mode`, which does not say so: the names are not there."""

from typing import Any

import torch

from conformance.adapters.torch_shaped import TorchShaped


class Namespace:
    """The rest of torch."""

    def __getattr__(self, name: str) -> Any:
        if name in ("optim", "nn", "inference_mode"):
            raise AttributeError(f"there is no {name}")
        return getattr(torch, name)


adapter = TorchShaped(Namespace(), "without optim and nn", torch.__version__)
