"""The cells of a notebook as one script: those that ran before, and the one to explain."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

RUNS_ITS_BODY = re.compile(r"%%(?:explain|time|timeit|capture|prun)\b.*")
"""The first line of a cell whose body is Python that runs here."""
MAGIC = re.compile(r"(\s*)(?=[%!?]|[\w.]+\?{1,2}\s*$)(.*)")
MOST = 1000
"""The most elements of a tensor that is shown as text."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that ran: its number, its text, and the line at which it failed, if it did."""

    number: int
    text: str
    failed: int | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """Cells as a script: ``first`` is the last cell's first line, ``places`` are the cells and lines."""

    text: str
    first: int
    places: tuple[tuple[int | None, int], ...]

    def label(self, line: int) -> str:
        """Return the words for a line: those of the last cell need no number."""
        if not 0 < line <= len(self.places):
            return f"line {line}"
        cell, own = self.places[line - 1]
        return f"line {own}" if line >= self.first or cell is None else f"In [{cell}] line {own}"


Line = tuple[int, str]
"""A line of a cell: its number there, and its text."""


def script_of(before: Sequence[Cell], text: str, given: Sequence[str] = ()) -> Script:
    """Return the script of the cells before, of lines that define what they do not, and of a cell's text."""
    told: list[tuple[int | None, int, str]] = []
    for cell in before:
        told += [(cell.number, at, line) for at, line in as_python(cell)]
    told += [(None, 0, line) for line in given]
    first = len(told) + 1
    told += [(None, at, line) for at, line in enumerate(_body(text)[0], 1)]
    lines = "".join(f"{line}\n" for _, _, line in told)
    return Script(lines, first, tuple((cell, at) for cell, at, _ in told))


def as_python(cell: Cell) -> list[Line]:
    """Return the lines of a cell that are Python, as far as the cell ran."""
    lines, offset = _body(cell.text)
    tree = _parsed(lines)
    if tree is None:
        return []
    numbered = list(enumerate(lines, offset + 1))
    if cell.failed is None:
        return numbered
    return as_far(numbered, tree, cell.failed - offset)


def _body(text: str) -> tuple[list[str], int]:
    """Return the lines of a cell that are Python, and the number of lines before them."""
    lines = text.splitlines()
    start = next((at for at, line in enumerate(lines) if line.strip()), 0)
    offset = 0
    if lines and lines[start].startswith("%%"):
        if not RUNS_ITS_BODY.match(lines[start]):
            return ["" for _ in lines], 0
        offset = start + 1
    lines = lines[offset:]
    if _parsed(lines) is None:
        lines = [MAGIC.sub(r"\1pass  # \2", line) if MAGIC.fullmatch(line) else line for line in lines]
    return lines, offset


def _parsed(lines: Sequence[str]) -> ast.Module | None:
    try:
        return ast.parse("\n".join(lines) + "\n")
    except (SyntaxError, ValueError):
        return None


def as_far(lines: list[Line], tree: ast.Module, failed: int) -> list[Line]:
    """Return the lines up to the statement that failed, whose error is passed over."""
    statement = statement_at(tree, failed)
    return lines if statement is None else guarded(lines, statement)[0]


def statement_at(tree: ast.Module, line: int) -> ast.stmt | None:
    """Return the statement at the top that a line belongs to."""
    return next((s for s in tree.body if s.lineno <= line <= (s.end_lineno or s.lineno)), None)


def guarded(lines: list[Line], statement: ast.stmt) -> tuple[list[Line], int]:
    """Return the lines up to a statement with its error passed over, and how many of them it stands for."""
    start, end = _extent(statement)
    numbers = [number for number, _ in lines[start - 1 : end]]
    text = "\n".join(line for _, line in lines[start - 1 : end])
    if _has_text_over_lines(text):
        text = ast.unparse(statement)
    inner = textwrap.indent(text, " ").splitlines()
    numbers += [numbers[-1]] * (len(inner) - len(numbers))
    told = [
        (numbers[0], "try:"),
        *zip(numbers, inner, strict=False),
        (numbers[-1], "except BaseException: pass"),
    ]
    return [*lines[: start - 1], *told], end


def _extent(statement: ast.stmt) -> tuple[int, int]:
    decorators = getattr(statement, "decorator_list", ())
    start = min([statement.lineno, *(d.lineno for d in decorators)])
    return start, statement.end_lineno or statement.lineno


def _has_text_over_lines(text: str) -> bool:
    tokens = tokenize.generate_tokens(io.StringIO(textwrap.dedent(text) + "\n").readline)
    return any(t.start[0] != t.end[0] for t in tokens if t.type not in (tokenize.NEWLINE, tokenize.NL))


def given_by(names: Mapping[str, Any], before: Sequence[Cell], text: str) -> list[str]:
    """Return lines that define what a cell uses and no cell before it defines, where a text can tell it."""
    known: set[str] = set()
    for cell in before:
        known |= _stored(as_python(cell))
    lines, _ = _body(text)
    tree = _parsed(lines)
    used = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)] if tree else []
    wanted = [name for name in dict.fromkeys(used) if name in names and name not in known]
    told = [(name, told_as_text(names[name])) for name in wanted]
    found = [f"{name} = {value}" for name, value in told if value is not None]
    return ["import torch", *found] if any("torch." in line for line in found) else found


def _stored(lines: Sequence[Line]) -> set[str]:
    tree = _parsed([line for _, line in lines])
    found: set[str] = set()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    return found


def told_as_text(value: Any) -> str | None:
    """Return an expression for a plain value or a small tensor that is a leaf, or None."""
    if hasattr(value, "is_leaf") and hasattr(value, "tolist") and hasattr(value, "requires_grad"):
        if not value.is_leaf or value.numel() > MOST:
            return None
        dtype = str(value.dtype).rpartition(".")[2]
        numbers = re.sub(r"\b(nan|inf)\b", r'float("\1")', repr(value.detach().tolist()))
        flag = ", requires_grad=True" if value.requires_grad else ""
        return f"torch.tensor({numbers}, dtype=torch.{dtype}{flag})"
    text = repr(value)
    try:
        return text if len(text) < 20 * MOST and ast.literal_eval(text) == value else None
    except (SyntaxError, ValueError, TypeError):
        return None
