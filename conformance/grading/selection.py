"""The rules that a glob selects; one that selects none is an error that names the nearest."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase

from specs.rule import RULES, Rule

ALL = "*"
"""The glob that selects every rule."""


class NothingSelected(ValueError):
    """A glob that selects no rule: the problem, and a hint."""

    def __init__(self, problem: str, hint: str) -> None:
        self.problem, self.hint = problem, hint
        super().__init__(f"{problem} (hint: {hint})")


def select(glob: str) -> list[Rule]:
    """Return the rules that a glob selects, in the order of the chapters; raises NothingSelected."""
    found = [rule for rule in RULES.values() if fnmatchcase(rule.id, glob)]
    if not found:
        raise NothingSelected(f"no rule matches {glob!r}", _hint(glob))
    return found


def select_for(glob: str, *releases: str) -> list[str]:
    """Return the ids of the rules that a glob selects and that hold for one of the torch releases."""
    found = [rule.id for rule in select(glob) if any(map(rule.holds_for, releases))]
    if not found:
        raise NothingSelected(f"no rule that matches {glob!r} holds for torch {', '.join(releases)}", _LISTS)
    return found


_LISTS = "`autograd-conformance rules` lists them; a glob such as 'view/*' works"


def _hint(glob: str) -> str:
    """Name the chapters or rules that are spelt most like the glob."""
    chapters = dict.fromkeys(f"{rule.chapter}/*" for rule in RULES.values())
    like_a_chapter = glob if "/" in glob else f"{glob}/*"
    near = get_close_matches(like_a_chapter, [*chapters, *RULES], n=1)
    return f"did you mean {near[0]!r}?" if near else _LISTS
