"""PyTorch that shows nothing but dtypes."""

from typing import Any

import torch
from plain_torch import READINGS, PlainTorch


class Blind(PlainTorch):
    """Hides every fact but one."""

    name = "blind"

    def facts(self, session: None, value: torch.Tensor) -> dict[str, Any]:
        return {"dtype": READINGS["dtype"](value)}


adapter = Blind()
