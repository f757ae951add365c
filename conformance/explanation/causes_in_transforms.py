"""The causes of errors in functions that ``vmap`` and the transforms of ``torch.func`` call."""

from __future__ import annotations

import re

from conformance.explanation.history import made_at, names_held, state_of
from conformance.explanation.statements import statement_of
from conformance.explanation.value import Mishap, Story
from conformance.explanation.words import at, beginning

_TRANSFORM = re.compile(r"\b(vmap|grad|grad_and_value|vjp|jvp|jacrev|jacfwd|hessian|linearize)\b")


def transformed(found: Story, mishap: Mishap) -> tuple[list[int], str]:
    """Tell which line called the function whose call was refused."""
    called = _called(found, mishap)
    if not called or called == mishap.line:
        return [], ""
    mapped = "/vmap-" in (mishap.rule or "") and "setup_context" not in mishap.message
    how = "on all elements at once" if mapped else "to differentiate it"
    return [called], f"{beginning(at(found, called))} runs this function {how}."


def written_while_mapped(found: Story, mishap: Mishap) -> tuple[list[int], str]:
    """Tell which line made the tensor that is the same for all elements, and which one maps."""
    lines, text = transformed(found, mishap)
    state = state_of(found, mishap.tensor or 0)
    if state is None:
        return lines, text
    made = made_at(found, state).line
    name = next(iter(names_held(found, state.number)), "the tensor")
    return [made, *lines], f"{text} {beginning(at(found, made))} made {name}, one tensor for all.".strip()


def _called(found: Story, mishap: Mishap) -> int:
    """Return the innermost line that called a transformed function, or the one that called at all."""
    named = [line for line in mishap.calls if _TRANSFORM.search(statement_of(found, line))]
    return named[-1] if named else next(iter(mishap.calls), 0)
