"""Outcomes and fact values in words, for reports and traces side by side. What they mean lives in
``conformance.trace``.
"""

from __future__ import annotations

from typing import Any

from conformance.trace import Crashed, Done, Outcome, Refused, Unbound, Unsupported
from specs.fact import UNSEEN


def outcome(found: Outcome) -> str:
    """An outcome in a word or a line; a refusal by its rule, since words are no semantics."""
    match found:
        case Done():
            return "done"
        case Refused(rule, _):
            return f"refused {rule}"
        case Unsupported(why):
            return f"unsupported: {why}"
        case Unbound():
            return "not run: a name is unbound"
        case Crashed(error):
            return f"crashed: {error}"


def value(found: Any) -> str:
    """A fact's value, or an outcome, as text."""
    if isinstance(found, Outcome):
        return outcome(found)
    if found is UNSEEN:
        return "unseen"
    if isinstance(found, tuple) and len(found) == 2 and found[0] == "refused":
        return f"refused {found[1]}"
    return str(tuple(found)) if isinstance(found, tuple) else str(found)
