"""The crashes on record (``specs/known.toml``), and matching a crash against them.

A run counts and reports them in `conformance.grading`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import specs
from conformance.program import Program
from specs.rule import within
from specs.tables import table

REGISTRY = Path(specs.__file__).parent / "known.toml"


@dataclass(frozen=True, slots=True)
class KnownCrash:
    """One crash on record: the issue, the side and versions it strikes, and how to tell it."""

    issue: str
    side: str
    torch: str
    error: str
    what: str
    steps: tuple[str, ...]
    program: str

    def speaks_of(self, version: str) -> bool:
        """Tell whether that release of torch is in the record's range."""
        return within(version, self.torch)

    def tells(self, words: Iterable[str], error: str) -> bool:
        """Tell whether a program of these words (``words_of``), whose last step died with ``error``, matches
        this record.
        """
        *before, at = words
        *patterns, last = self.steps
        if re.search(self.error, error) is None or re.fullmatch(last, at) is None:
            return False
        rest = iter(before)
        return all(any(re.fullmatch(pattern, word) for word in rest) for pattern in patterns)


def _registry() -> dict[str, Any]:
    return table(REGISTRY)


@dataclass(frozen=True, slots=True)
class DeadlyScript:
    """A script on record that torch does not survive, in what no program can say."""

    torch: str
    error: str
    what: str
    script: str


@cache
def scripts() -> tuple[DeadlyScript, ...]:
    """Every such script on record."""
    return tuple(DeadlyScript(**entry) for entry in _registry().get("script", ()))


@cache
def records() -> tuple[KnownCrash, ...]:
    """Every crash on record."""
    entries = _registry().get("crash", ())
    return tuple(KnownCrash(**entry | {"steps": tuple(entry["steps"])}) for entry in entries)


def words_of(program: Program) -> tuple[str, ...]:
    """Return a program's operations in order, each after its modes, as records spell them."""
    return tuple(word for step in program for word in (*step.mode, step.op))


def issue_of(words: Iterable[str], side: str, version: str, error: str) -> str | None:
    """The issue that a crash of ``side`` is recorded under, or None.

    The words are those of the reduced program, up to the step that crashes: a longer one matches much that it
    did not die of.
    """
    told = tuple(words)
    return next(
        (k.issue for k in records() if k.side == side and k.speaks_of(version) and k.tells(told, error)), None
    )


def issue_within(words: Iterable[str], side: str, version: str, error: str) -> str | None:
    """The issue of a recorded crash that a program of these words comes by and may die of later, or None.

    What uses freed memory may kill later than where it does so, or now and then.
    """
    told = tuple(words)
    issues = (issue_of(told[:length], side, version, error) for length in range(1, len(told) + 1))
    return next(filter(None, issues), None)
