"""PyTorch's rarer conduct, one theme a file, hooked into the extension points of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.core.extension_points import fill
from reference_impl.fidelity import (
    batched,
    cross_device,
    device_races,
    grad_metadata,
    grad_stealing,
    grad_sum,
    inference_kernels,
    memory_overlap,
    out_argument,
    shown_apart,
    zero_tensor,
)
from specs.op import Op


@fill
def runner_for(op: Op, types: tuple[type, ...]) -> Callable[..., Any] | None:
    """Choose the function that runs an op on operands of these types; None leaves the choice to the core."""
    return (
        batched.runner_for(op, types)
        or zero_tensor.runner_for(op, types)
        or inference_kernels.runner_for(op)
        or shown_apart.runner_for(op)
    )


__all__ = [
    "batched", "cross_device", "device_races", "grad_metadata", "grad_stealing", "grad_sum",
    "inference_kernels", "memory_overlap", "out_argument", "shown_apart", "zero_tensor",
]  # fmt: skip
