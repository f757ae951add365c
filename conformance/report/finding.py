"""Findings of a check: differences and crashes, each with a program that shows it, and who is to blame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum


class Verdict(IntEnum):
    """The verdict of a check; the number is the exit code of the command."""

    CONFORMS = 0
    NONCONFORMANCE = 1
    BAD_USAGE = 2
    BROKEN_ADAPTER = 3
    BROKEN_SUITE = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """A program or case on which two sides differ: its first divergence, reduced, with what is behind it.

    ``where`` names the program (``case leaf/...`` or ``program 17``); ``script`` runs by itself under torch;
    ``sides`` are who gave the expected and the actual value; ``blames`` is who is at fault, nobody
    (``CONFORMS``) when a repetition differed (``flaky``); ``ops`` are the operations left in the reduced
    program, by which findings are told apart.

    ``explained_by`` are the rules without which the reference does exactly what the actual side did;
    ``because`` begins with them. ``not_reduced`` is the reason why the program stands as it was drawn.
    """

    where: str
    blames: Verdict
    line: str
    name: str
    fact: str
    expected: str
    actual: str
    because: tuple[str, ...]
    downstream: int
    script: str
    sides: tuple[str, str]
    ops: tuple[str, ...] = ()
    alike: int = 1
    flaky: bool = False
    explained_by: tuple[str, ...] = ()
    not_reduced: str = ""

    @property
    def is_of_case(self) -> bool:
        """True if a case found it, not a generated program."""
        return self.where.startswith("case ")

    @property
    def refusal_missed(self) -> tuple[str, ...]:
        """The rule of a refusal that was not met, where others explain more of what was done instead."""
        first = self.because[:1]
        return first if self.explained_by and first[0] not in self.explained_by else ()

    @property
    def concerns(self) -> tuple[str, ...]:
        """The rules that it speaks of: those that explain it, else all behind the expected value."""
        return self.refusal_missed + self.explained_by or self.because

    @property
    def bucket(self) -> tuple[object, ...]:
        """The properties that two findings share when they are likely the same defect."""
        ops = () if self.not_reduced else self.ops
        return self.blames, self.flaky, self.fact, self.because, self.explained_by, ops


def crashes_told_once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings with those cases as one in which the same side raised the same error: it has little
    to do with what each of them is about. The shortest counts the others.
    """
    told: dict[object, Finding] = {}
    for finding in findings:
        crashed = finding.is_of_case and finding.actual.startswith("crashed: ")
        key: object = (finding.blames, finding.sides, finding.actual) if crashed else len(told)
        first = told.get(key)
        if first is None:
            told[key] = finding
            continue
        shortest = min(first, finding, key=lambda one: len(one.script.splitlines()))
        told[key] = replace(shortest, alike=first.alike + finding.alike)
    return tuple(told.values())


@dataclass(frozen=True, slots=True)
class Crash:
    """A program on which ``side`` died or raised what no rule words; ``known`` links the issue, if one is on
    record. ``not_reduced`` is the reason why the program is only cut where it crashed.
    """

    where: str
    side: str
    blames: Verdict
    error: str
    script: str
    known: str | None = None
    alike: int = 1
    not_reduced: str = ""

    @property
    def bucket(self) -> tuple[object, ...]:
        """The properties that two crashes share when they are likely the same defect."""
        return self.side, self.error, self.known
