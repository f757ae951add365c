"""Expectations: differences that are by design, each with its reason.

How they are read and written, and held against what a check finds, lives in ``conformance.grading``.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.report.finding import Finding, Verdict
from specs.rule import within

NO_RULE = "-"
"""The place of the deciding rule in a cause where no rule explains a difference."""


ANY = "*"
"""The place of any rule, or any operation, in the cause of an entry that says which operations it needs."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A difference that is by design: of all that ``rule`` explains, of one ``cause`` or of one ``case``. It
    ``needs`` operations, with commas: of programs without one of them it does not speak. The name of a method
    stands for the function of that name, too.

    What shows it is its ``program``, observed at ``density``, else its case, else any program, example or
    case of the run. It applies to a ``version`` (bounds such as ``>=1.0,<2``; none: all) and a ``device``.
    What is ``flaky`` need not show each time.
    """

    rule: str = ""
    cause: str = ""
    case: str = ""
    needs: str = ""
    program: str = ""
    density: str = "each"
    reason: str = ""
    link: str = ""
    version: str = ""
    device: str = ""
    flaky: bool = False

    @property
    def label(self) -> str:
        """The entry in a few words."""
        if self.rule or self.cause:
            beside = f" with {self.needs}" if self.needs else ""
            return (f"rule {self.rule}" if self.rule else f"cause {self.cause}") + beside
        return f"case {self.case}"

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that it needs."""
        return tuple(op.strip() for op in self.needs.split(",") if op.strip())

    def applies(self, version: str, device: str) -> bool:
        """Tell whether it speaks of that version of the implementation, on that device."""
        here = device.partition(" ")[0].rstrip(",")
        return (not self.version or within(version, self.version)) and self.device in ("", here)

    def matches(self, finding: Finding) -> bool:
        """Tell whether a finding is what it speaks of; what blames the suite is nobody's design."""
        if finding.blames is Verdict.BROKEN_SUITE or (finding.flaky and not self.flaky):
            return False
        called = {*finding.ops, *(op.removeprefix("torch.") for op in finding.ops)}
        if not called.issuperset(self.operations):
            return False
        if self.rule:
            named = finding.because if finding.is_of_case else ()
            return self.rule in (finding.explained_by or named)
        if self.cause:
            return not finding.is_of_case and any(map(self._is_cause, causes_of(finding)))
        return finding.where == f"case {self.case}"

    def _is_cause(self, cause: str) -> bool:
        """Tell whether it names that cause; ANY stands for whatever rule or operation it has."""
        mine, theirs = self.cause.split(), cause.split()
        return len(mine) == len(theirs) and all(a in (b, ANY) for a, b in zip(mine, theirs, strict=True))


@dataclass(frozen=True, slots=True)
class Example:
    """A program that is run by itself, whatever the seed draws, observed at ``density``."""

    program: str
    density: str = "each"


@dataclass(frozen=True, slots=True)
class Expected:
    """An expectation that was met, and the number of programs and cases that showed it."""

    entry: Expectation
    programs: int = 0
    cases: int = 0


@dataclass(frozen=True, slots=True)
class Unmet:
    """An expectation that was not met, and why."""

    entry: Expectation
    why: str


def causes_of(finding: Finding) -> list[str]:
    """Return the causes by which a finding may go, its own first: its fact and operation with each rule that
    explains it or decides the fact. NB: the order of those that decide it varies with what was drawn.
    """
    rules = tuple(dict.fromkeys((*finding.explained_by, *finding.because))) or (NO_RULE,)
    op = finding.ops[-1] if finding.ops else ""
    return [f"{finding.fact} by {rule} after {op}" for rule in rules]
