"""PyTorch with one dtype."""

from typing import Any

import torch
from plain_torch import PlainTorch

from conformance.adapters.capabilities import Capabilities
from conformance.program import Step


class Float32Only(PlainTorch):
    """Lacks every other dtype, in arguments and in results."""

    name = "float32 only"
    capabilities = Capabilities(dtypes=frozenset(["float32"]))

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        result = super().perform(session, step, operands)
        if isinstance(result, torch.Tensor) and result.dtype is not torch.float32:
            raise NotImplementedError(f"there is no {result.dtype}")
        return result

    def dtype(self, name: str) -> torch.dtype:
        if name != "float32":
            raise NotImplementedError(f"there is no {name}")
        return torch.float32


adapter = Float32Only()
