"""PyTorch's own words at the refusals of cases, and whether an implementation that speaks them says the same.

``specs/torch_case_words.json`` has, for one release, the class and the first line of each exception that a
case's `refused` blocks meet, in their order. Made by ``python -m benchmarks.torch_words``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from specs.active_rules import torch_release

CASE_WORDS_FILE = Path(__file__).with_name("torch_case_words.json")
UNKNOWN = "..."
"""Stands in the words of an implementation for what it does not know."""
BY_PYTHON = frozenset({"op/arguments"})
"""Rules whose words are those of PyTorch's argument parser, which no rule knows."""

Says = Callable[[BaseException], str]
"""Gives an exception's text in PyTorch's words."""


@cache
def words_on_file() -> tuple[str, dict[str, list[str]]]:
    """Return the release of torch that said them, and the words by case."""
    form = json.loads(CASE_WORDS_FILE.read_text(encoding="utf-8"))
    return form["torch"], form["cases"]


def heard(error: BaseException, text: str) -> str:
    """Return the class and the first line of an exception, as they are on file."""
    kinds = [kind.__name__ for kind in type(error).__mro__ if not kind.__name__.startswith("Refus")]
    return f"{kinds[0]}: {' '.join(text.partition(chr(10))[0].split())}"


class Words:
    """The words of PyTorch at the refusals of a case, one after the other."""

    def __init__(self, case: str, says: Says) -> None:
        release, known = words_on_file()
        self._left: Iterator[str] = iter(known.get(case, ()) if torch_release() == release else ())
        self._says = says

    def differ(self, rule: str, error: BaseException) -> str:
        """Return how the words of a case's next refusal differ from PyTorch's, or nothing."""
        wanted = next(self._left, None)
        if not wanted or rule in BY_PYTHON:
            return ""
        said = heard(error, self._says(error))
        return "" if says_the_same(wanted, said) else f"expected the words {wanted!r}, got {said!r}"


def says_the_same(wanted: str, said: str) -> bool:
    """Tell whether words are PyTorch's, up to what they leave open."""
    return re.fullmatch(re.escape(said).replace(re.escape(UNKNOWN), ".*"), wanted) is not None


def write_words(torch: str, cases: dict[str, list[str]]) -> None:
    """Put on file what that release of PyTorch says."""
    form = {"torch": torch, "cases": cases}
    CASE_WORDS_FILE.write_text(json.dumps(form, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
