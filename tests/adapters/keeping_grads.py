"""PyTorch that keeps the grads of all results, by design: one difference that nearly all programs show."""

from typing import Any

import torch

from conformance.adapters.torch_shaped import TorchShaped
from conformance.program import Step


class KeepingGrads(TorchShaped):
    """Retains the grads of all that a step returns."""

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        result = super().perform(session, step, operands)
        for each in result if isinstance(result, tuple | list) else (result,):
            if isinstance(each, torch.Tensor) and each.grad_fn is not None:
                each.retain_grad()
        return result


adapter = KeepingGrads(torch, "keeping grads", torch.__version__)
