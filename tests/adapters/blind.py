"""Torch with almost everything hidden: the dtypes of tensors are all that it shows.

``adapter`` tells of no refusal either; ``blind:refusing`` names the rules of refusals.
"""

from __future__ import annotations

from typing import Any

import torch

from conformance.adapters.capabilities import Capabilities
from conformance.adapters.torch import Torch


class Blind:
    """The plain contract around torch, without what it shows."""

    name, version = "blind", "0"

    def __init__(self, refusals: str) -> None:
        self._torch = Torch(torch, "cpu", "devices were not asked for")
        self.capabilities = Capabilities(refusals=refusals)
        for each in ("start", "stop", "perform", "mode", "dtype"):
            setattr(self, each, getattr(self._torch, each))

    def facts(self, session: Any, value: Any) -> dict[str, Any]:
        """The dtype, and nothing else."""
        return {"dtype": self._torch.facts(session, value)["dtype"]}

    def refusal(self, error: BaseException) -> str | None:
        """The rule of a refusal; nothing of it is judged where refusals are not claimed."""
        return self._torch.refusal(error)


adapter = Blind("none")
refusing = Blind("rules")
