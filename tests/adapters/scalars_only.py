"""PyTorch with scalars alone."""

from typing import Any

import torch
from plain_torch import PlainTorch

from conformance.adapters.capabilities import Capabilities
from conformance.program import Step


class ScalarsOnly(PlainTorch):
    """Lacks tensors of any dimension."""

    name = "scalars only"
    capabilities = Capabilities(shapes="scalar")

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        result = super().perform(session, step, operands)
        if isinstance(result, torch.Tensor) and result.dim():
            raise NotImplementedError("there are scalars alone")
        return result


adapter = ScalarsOnly()
