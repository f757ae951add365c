"""The statements of a script: a line that is part of a longer statement, with all of its text."""

from __future__ import annotations

import ast
from functools import lru_cache

from conformance.explanation.value import Story


def statement_of(found: Story, line: int) -> str:
    """Return the statement that a line is part of, on one line; of a block, its head alone."""
    first, last = _spans(found.source).get(line, (line, line))
    return " ".join(found.text_of(at) for at in range(first, last + 1))


@lru_cache(maxsize=8)
def _spans(source: tuple[str, ...]) -> dict[int, tuple[int, int]]:
    """Return the first and last line of the statement that each line belongs to."""
    spans: dict[int, tuple[int, int]] = {}
    try:
        tree = ast.parse("\n".join(source))
    except SyntaxError:
        return spans
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            inner = [part.lineno for part in getattr(node, "body", ()) if isinstance(part, ast.stmt)]
            last = max(node.lineno, min(inner) - 1) if inner else node.end_lineno or node.lineno
            spans.update(dict.fromkeys(range(node.lineno, last + 1), (node.lineno, last)))
    return spans
