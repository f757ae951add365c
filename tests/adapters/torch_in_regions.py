"""PyTorch behind the plain contract, given the differentiable middle of each program at once."""

from __future__ import annotations

from typing import Any

import torch
from plain_torch import PlainTorch


class InRegions(PlainTorch):
    """Calls the function that a region prints."""

    name = "torch in regions"

    def run(self, session: None, region: Any, values: tuple[Any, ...]) -> Any:
        return region.function(torch)(*values)


adapter = InRegions()
