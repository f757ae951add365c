"""Gradients that are infinite or NaN: the node that made them so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from conformance.explanation.history import names_held, sources
from conformance.explanation.statements import statement_of
from conformance.explanation.value import ExecutedLine, GraphNode, NodeRun, Story
from conformance.explanation.words import at


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
        if since := _nan_since(found, step, node):
            name, at_line = since
            cure = (
                _AWAY["Exp"] if "exp(" in statement_of(found, at_line) else "look at what that line computes"
            )
            text = (
                f"{node.name} of line {line} passed it on: {name} is NaN already, since {at(found, at_line)}."
            )
            return f"{text} Cure: {cure}."
        told = f"{node.name} of line {line} made it so: the gradient that came to it was finite."
        return f"{told} Cure: {away_from(step, node)}"
    return ""


_AWAY = {
    "Sqrt": "the derivative of sqrt() is infinite at 0: take torch.sqrt(x + eps)",
    "Log": "the derivative of log() is infinite at 0: take torch.log(x + eps), or x.clamp(min=eps)",
    "Div": "add to what it divides by: x / (y + eps)",
    "Pow": "the derivative of a power below 1 is infinite at 0: take (x + eps) ** p",
    "Exp": "exp() overflows: subtract the largest element first, as softmax() and logsumexp() do",
    "Acos": "the derivative of acos() is infinite at -1 and 1: take x.clamp(-1 + eps, 1 - eps)",
    "Asin": "the derivative of asin() is infinite at -1 and 1: take x.clamp(-1 + eps, 1 - eps)",
}
_AS_ONE = {
    "Softmax": "log_softmax()",
    "Sigmoid": "logsigmoid(), or binary_cross_entropy_with_logits() for a loss",
}
"""The functions that compute the logarithm of another in one, by its node."""
_SELECTS = ("WhereBackward0", "MaskedFillBackward0", "SWhereBackward0")


def away_from(step: ExecutedLine, node: GraphNode) -> str:
    """Return what to do where a node makes numbers that are not finite."""
    kind = node.name.partition("Backward")[0]
    below = [step.nodes[n].name.partition("Backward")[0] for n, _ in node.edges if n and n in step.nodes]
    if kind == "Log" and (whole := next((_AS_ONE[b] for b in below if b in _AS_ONE), "")):
        return f"the result of {below[0].lower()}() reached 0, whose logarithm is infinite: take {whole}."
    general = (
        "keep its operand away from where its derivative is infinite or undefined, for instance with x + eps "
        "or x.clamp(min=eps)"
    )
    if not any(r.node in step.nodes and step.nodes[r.node].name in _SELECTS for r in _before(step, node)):
        return f"{_AWAY.get(kind, general)}."
    return (
        "give it an operand that is safe where its result is not selected: torch.where(condition, x, 1.0) "
        "before it. torch.where() after it alone does not help, for 0 * inf is NaN."
    )


def _nan_since(found: Story, step: ExecutedLine, node: GraphNode) -> tuple[str, int] | None:
    """Return what a node's operand was computed from and is NaN already, and the line that made it so."""
    for operand in node.saved:
        leads = {operand.tensor, *sources(found, operand.tensor)}
        for before in found.steps:
            for number, state in before.tensors.items():
                if number in leads and _has_nan(state.value) and (known := names_held(found, number)):
                    return known[0], before.line
    return None


def _has_nan(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_nan, value))
    return value == "nan" or value != value


def _before(step: ExecutedLine, node: GraphNode) -> Iterator[NodeRun]:
    """Give the runs of the nodes from which gradients came to one."""
    leading = {node.number}
    for run in reversed(step.ran):
        passed = step.nodes.get(run.node)
        if passed is not None and leading & {target for target, _ in passed.edges}:
            leading.add(run.node)
            yield run
