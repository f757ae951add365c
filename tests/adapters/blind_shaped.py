"""A torch-shaped adapter that hides by its own `facts`: the dtypes of tensors are all that it shows."""

from __future__ import annotations

from typing import Any

import torch

from conformance.adapters.torch_shaped import TorchShaped


class Blind(TorchShaped):
    """Torch that shows only dtypes."""

    def facts(self, session: None, value: Any) -> dict[str, Any]:
        """The dtype, and nothing else."""
        return {"dtype": super().facts(session, value)["dtype"]}


adapter = Blind(torch, "blind-shaped", torch.__version__)
