"""Errors of Python's own about None, where the None is a grad that was not filled."""

from __future__ import annotations

import re

from conformance.explanation.history import last_with
from conformance.explanation.value import Mishap, Story
from conformance.explanation.why_grad import grad_answer

_GRAD = re.compile(r"([A-Za-z_][\w.]*(?:\[[^\[\]]*\])?(?:\.\w+)*?)\.grad\b")


def missing_grad(found: Story, mishap: Mishap) -> tuple[str, str, int] | None:
    """Return why the grad that a failing line reads is None, the cure, and the tensor; None where the line
    reads no such grad.
    """
    if mishap.rule not in (None, "op/arguments") or "NoneType" not in mishap.message:
        return None
    if not 0 < mishap.line <= len(found.source):
        return None
    for match in _GRAD.finditer(found.source[mishap.line - 1]):
        name = match[1].replace('"', "'")
        step = last_with(found, name)
        if step is None:
            continue
        state = step.tensors[step.names[name]]
        if state.grad is None:
            # Its first name that it still has: that of a loop says little.
            all_names = (n for s in found.steps for n in s.named(state.number))
            name = next((n for n in all_names if n in step.names), name)
            told, _, cure = grad_answer(found, name, state, step).partition("Cure: ")
            return told.strip(), cure.strip(), state.number
    return None
