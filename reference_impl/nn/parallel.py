"""``torch.nn.DataParallel`` on one device: the module itself, one level down."""

from __future__ import annotations

from typing import Any

from reference_impl.nn.module import Module


class DataParallel(Module):
    """Call ``module``; there is no more than one device to spread the samples over."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module, self.dim = module, dim
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
