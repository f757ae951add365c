"""Gradients that are infinite or NaN: the node that made them so."""

from __future__ import annotations

import math
from typing import Any

from conformance.explanation.value import ExecutedLine, Story


def is_finite(value: Any) -> bool:
    """Tell whether all numbers of a value are finite, as far as it is told."""
    if isinstance(value, (list, tuple)):
        return all(map(is_finite, value))
    if isinstance(value, str):  # as JSON has no such numbers
        return value.lstrip("-") not in ("inf", "nan")
    return not isinstance(value, float) or math.isfinite(value)


def not_finite(found: Story, step: ExecutedLine) -> str:
    """Name the node to which finite gradients came, and from which others went on, and what to do."""
    odd = {run.node for run in step.ran if not is_finite(run.grads)}
    for run in step.ran:
        node = step.nodes.get(run.node)
        if node is None or run.node in odd or not odd & {target for target, _ in node.edges}:
            continue
        line = next((s.line for s in found.steps if s.number == node.made), 0)
        return (
            f"{node.name} of line {line} made it so: the gradient that came to it was finite. Cure: keep its "
            "operand away from where its derivative is infinite or undefined, for instance with x + eps or "
            "x.clamp(min=eps); torch.where() after it does not help, for 0 * inf is NaN."
        )
    return ""
