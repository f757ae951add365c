"""Gradients that are zero: the node that let only zeros through, and why."""

from __future__ import annotations

from typing import Any

from conformance.explanation.value import ExecutedLine, GraphNode, Story, TensorState

FLAT = {
    "RoundBackward0": "round", "FloorBackward0": "floor", "CeilBackward0": "ceil", "TruncBackward0": "trunc",
    "SignBackward0": "sign",
}  # fmt: skip
"""The ops that are flat between their steps, by their nodes: their gradient is zero everywhere."""
DRAWN = {
    "NormalBackward1": "normal", "NormalBackward2": "normal", "NormalBackward3": "normal",
    "BernoulliBackward0": "bernoulli",
}  # fmt: skip
"""The functions that draw from a distribution, by their nodes: no gradient passes through the drawing."""
LET_THROUGH = {
    "ClampBackward1": "its input lay nowhere within the bounds.",
    "EmbeddingBackward0": "all that was looked up is the row of padding_idx, which gets no gradient.",
    "MaskedFillBackward0": "its mask fills every element to which a gradient came.",
    "ReluBackward0": "its input was nowhere positive. Cure: leaky_relu(), or other values to begin with.",
}
"""Reasons why nodes give no gradient for the operands that they had, and what to do."""


def is_set(value: Any) -> bool:
    """Tell whether a value has an element that is not zero, or is too large to be told."""
    return any(map(is_set, value)) if isinstance(value, list) else bool(value)


def zero(found: Story, state: TensorState, step: ExecutedLine) -> str:
    """Name the node on the way of a gradient that lets only zeros through, and what to do."""
    if state.grad_value is None:
        return ""
    for node in (step.nodes[run.node] for run in step.ran if run.node in step.nodes):
        line = _line_of(found, node)
        if op := FLAT.get(node.name):
            return (
                f"{op}() of line {line} is flat between its steps, so its gradient is zero everywhere. Cure: "
                f"leave it out of the loss, or pass the gradient by it: x + ({op}(x) - x).detach()."
            )
        if op := DRAWN.get(node.name):
            instead = "mean + std * torch.randn_like(std), as rsample() does"
            if op == "bernoulli":
                instead = "a relaxation, or the score function: log_prob(sample) * reward"
            return (
                f"{op}() of line {line} drew numbers, and no gradient passes through that: it is zero. "
                f"Cure: {instead}."
            )
    stopped = _where_zeros_begin(step, state.number)
    if stopped is None:
        return ""
    why = LET_THROUGH.get(
        stopped.name, "its derivative was, for instance because the other operand was zero."
    )
    return f"{stopped.name} of line {_line_of(found, stopped)} let only zeros through: {why}"


def _line_of(found: Story, node: GraphNode) -> int:
    return next((step.line for step in found.steps if step.number == node.made), 0)


def _where_zeros_begin(step: ExecutedLine, leaf: int) -> GraphNode | None:
    """Return the node on the way to a leaf to which more than zeros came, and from which zeros went."""
    grads = {run.node: run.grads for run in step.ran if run.node in step.nodes}
    todo = [number for number in grads if step.nodes[number].variable == leaf]
    for number in todo:
        for before, values in grads.items():
            if before in todo or not any(target == number for target, _ in step.nodes[before].edges):
                continue
            if any(map(is_set, values)):
                return step.nodes[before]
            if None not in values:
                todo.append(before)
    return None
