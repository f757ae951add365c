"""The lines of a script as HTML, with keywords, texts, numbers and comments set off."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence
from html import escape

_KINDS = {tokenize.STRING: "text", tokenize.NUMBER: "number", tokenize.COMMENT: "comment"}
_KINDS |= {
    kind: "text"
    for kind in (getattr(tokenize, f"FSTRING_{part}", None) for part in ("START", "MIDDLE", "END"))
    if kind is not None
}


def coloured(lines: Sequence[str]) -> list[str]:
    """Return each line as HTML; a script that is not Python is shown as it is."""
    spans: dict[int, list[tuple[int, int, str]]] = {}
    for line, start, end, kind in _spans(lines):
        spans.setdefault(line, []).append((start, end, kind))
    return [_line(text, spans.get(at, [])) for at, text in enumerate(lines, 1)]


def _line(text: str, spans: list[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for start, end, kind in spans:
        if start < at:
            continue
        parts += [escape(text[at:start]), f'<span class="{kind}">{escape(text[start:end])}</span>']
        at = end
    return "".join([*parts, escape(text[at:])])


def _spans(lines: Sequence[str]) -> Iterator[tuple[int, int, int, str]]:
    """Give the line, start, end and kind of what is set off."""
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            kind = _KINDS.get(token.type)
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                kind = "keyword"
            if kind is None:
                continue
            (first, start), (last, end) = token.start, token.end
            for line in range(first, min(last, len(lines)) + 1):
                whole = len(lines[line - 1])
                yield line, start if line == first else 0, end if line == last else whole, kind
    except (tokenize.TokenError, SyntaxError):
        return
