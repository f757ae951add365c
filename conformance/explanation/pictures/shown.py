"""Values as pictures show them: short, with few digits."""

from __future__ import annotations

from typing import Any

from conformance.explanation.value import Change, ExecutedLine

WIDE, HIGH = 34, 4
"""The most characters and lines that a value takes."""


def shown(value: Any) -> str:
    """Return a value in few digits, as PyTorch would print it, without a limit of length."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        text = f"{value:.4g}"
        return text if set(text) & set(".en") else f"{text}.0"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(shown, value))}]"
    return printable(str(value))


def printable(text: str) -> str:
    """Return a text without the characters that no document may hold: they are shown as escapes."""
    return "".join(c if c.isprintable() else "\\n" if c == "\n" else f"\\u{ord(c):04x}" for c in text)


def cut(text: str, wide: int = WIDE) -> str:
    """Return a text with what is too long for a picture cut off."""
    return text if len(text) <= wide else f"{text[: wide - 1]}\u2026"


def in_rows(value: Any) -> list[str]:
    """Return a value row by row: a matrix has a line for each."""
    if isinstance(value, list) and value and isinstance(value[0], list) and len(shown(value)) > WIDE // 2:
        inner = [line for part in value for line in in_rows(part)]
        lines = [("[" if at == 0 else " ") + line for at, line in enumerate(inner)]
        lines[-1] += "]"
        if len(lines) > HIGH:
            lines = [*lines[: HIGH - 1], f" \u2026 {len(lines) - HIGH + 1} more rows"]
        return [cut(line) for line in lines]
    return [cut(shown(value))]


def contents(value: Any, shape: tuple[int, ...], dtype: str) -> list[str]:
    """Return a tensor's elements row by row, or its type and shape if it has many."""
    if value is None:
        return [f"{dtype} ({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"]
    return in_rows(value)


def short(name: str) -> str:
    """Return a node's name without its namespace."""
    return printable(name.rpartition("::")[2])


def change_shown(step: ExecutedLine, change: Change) -> list[str]:
    """Return the name, the fact, and its value before and after."""
    values = (_fact(step, change.fact, value) for value in (change.before, change.after))
    return [printable(change.name), change.fact, *values]


def _fact(step: ExecutedLine, fact: str, value: Any) -> str:
    if fact in ("base", "memory") and value is not None:
        return ", ".join(step.named(value)) or "an unnamed tensor"
    return cut(short(value) if fact == "grad_fn" and value else shown(value), 200)
