"""The input buffer: the gradients that have arrived for a node, one for each of its outputs."""

from __future__ import annotations

from reference_impl.base.rules import by
from reference_impl.core import extension_points
from reference_impl.core.tensor import Tensor

InputBuffer = list[Tensor | None]


def add(buffer: InputBuffer, nr: int, g: Tensor) -> None:
    """Add a gradient to what has arrived for output ``nr``."""
    if buffer[nr] is not None and by("grad/sums-paths"):
        extension_points.accumulate(buffer, nr, g)
    else:
        buffer[nr] = g
