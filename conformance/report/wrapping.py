"""Scripts within a width: long lines are broken where Python allows it, so that what is shown still runs."""

from __future__ import annotations

import io
import textwrap
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

INDENT = "    "
BOOLEAN = ("and", "or")
TRIPLE = ('"""', "'''")


def runnable(script: str, width: int) -> str:
    """Return a script whose lines are at most ``width`` wide, as far as they can be broken.

    Calls and lists break after commas and openings, conditions before `and` and `or`, comments and docstrings
    at blanks. It does the same, docstrings aside. A script that is no Python stays as it is.
    """
    if all(len(line) <= width for line in script.splitlines()):
        return script
    lines = [line if len(line) <= width else _bracketed(line) for line in script.splitlines()]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline))
    except (tokenize.TokenError, SyntaxError):
        return script
    breaks, comments, prose = _breaks(tokens), _comments(tokens), _prose(tokens)
    wrapped: list[str] = []
    for number, line in enumerate(lines, 1):
        if len(line) <= width:
            wrapped.append(line)
        elif number in prose:
            wrapped += _wrap(line, width, "")
        elif number in comments:
            wrapped += _wrap(_indent(line) + line[comments[number] :], width, "# ")
            if code := line[: comments[number]].rstrip():
                wrapped += _broken(code, breaks[number], width)
        else:
            wrapped += _broken(line, breaks[number], width)
    return "\n".join(wrapped) + "\n"


def _bracketed(line: str) -> str:
    """Put what a line returns in brackets, within which it may be broken."""
    indent, keyword, values = line.partition("return ")
    if indent.strip() or not keyword or values.endswith(("(", "[", "{", ",")):
        return line
    return f"{indent}return ({values})"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _wrap(line: str, width: int, prefix: str) -> list[str]:
    """Break prose at blanks; further lines are indented as the first."""
    indent = _indent(line)
    return textwrap.wrap(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + prefix,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _broken(line: str, breaks: Mapping[int, str], width: int) -> list[str]:
    """Break a line of code at the last of its ``breaks`` that fits, and what is left likewise; each break has
    the text that ends its line.
    """
    indent = _indent(line) + INDENT
    wrapped, start, room = [], 0, width
    for here, further in pairwise([*breaks, len(line)]):
        if further - start + len(breaks.get(further, "")) > room and here > start:
            wrapped.append(line[start:here].strip() + breaks[here])
            start, room = here, width - len(indent)
    first, *others = [*wrapped, line[start:].strip()]
    return [_indent(line) + first, *(indent + part for part in others)]


def _breaks(tokens: Iterable[tokenize.TokenInfo]) -> Mapping[int, dict[int, str]]:
    """Return the columns, by line, at which code may be broken, each with the text to end its line with."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    depth = 0
    for token in tokens:
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string in "([{," and depth:
                found[token.end[0]][token.end[1]] = ""
        elif token.string in (*BOOLEAN, "for") and (depth or token.string in BOOLEAN):
            found[token.start[0]][token.start[1]] = "" if depth else " \\"
    return found


def _comments(tokens: Iterable[tokenize.TokenInfo]) -> Mapping[int, int]:
    """Return the column at which the comment of a line begins."""
    return {token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT}


def _prose(tokens: Iterable[tokenize.TokenInfo]) -> set[int]:
    """Return the lines of docstrings, or of other strings in triple quotes."""
    strings = [token for token in tokens if token.type == tokenize.STRING and token.string.endswith(TRIPLE)]
    return {line for token in strings for line in range(token.start[0], token.end[0] + 1)}
