"""The kinds of difference that a chunk has met: one finding each, and the programs that show nothing else.

A difference that the reference shows without a rule has that rule for its cause. Later programs are compared
with the reference without the causes known so far: where they agree they are stepped over, and what differs
still is a kind of its own. How a program is reduced lives in ``reduction``, the search for rules in
``diagnosis``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from conformance import adapters
from conformance.comparison.compare import Diverge, Divergence
from conformance.comparison.judge import Decision, Judgement
from conformance.generate.guide.guide import Drawn
from conformance.grading.causes import sign_of
from conformance.grading.diagnosis import diagnose, fired_until, follow, location, mutant_of
from conformance.grading.participants import REFERENCE, Judged, Participants, same_defect
from conformance.grading.reduction import Differing, Judge, Reducer
from conformance.program import Program
from conformance.report import findings
from conformance.report.value import Finding, Verdict
from specs.rule import RULES

CHECKS = 600
"""The programs that a chunk may try in order to reduce others."""

ALIKE = 4
"""The programs of a chunk that are reduced although no rule explains them and they begin alike."""

NOT_WITH_LESS = "no program that is shorter shows it"
USED_UP = f"{CHECKS} smaller programs were tried for other findings of its chunk"

DIFFERENT = (Decision.NONCONFORMANCE, Decision.SUITE)
"""The decisions that make a finding."""


@dataclass(slots=True)
class Kind:
    """One kind of difference; by its ``sign`` programs are told that no known rule explains."""

    decision: Decision
    finding: Finding
    sign: object = None

    @property
    def rules(self) -> tuple[str, ...]:
        return self.finding.explained_by

    def count(self, still: Iterable[str] | None = None) -> None:
        """Count one more program, which of the rules only some explain."""
        found = self.finding
        rules = found.explained_by if still is None else tuple(still)
        because = tuple(dict.fromkeys((*found.refusal_missed, *rules, *found.because)))
        self.finding = replace(found, alike=found.alike + 1, explained_by=rules, because=because)


class Kinds:
    """The kinds of a chunk in progress; ``counts`` are of the programs that are like an earlier one."""

    def __init__(self, kills: Callable[[Program], bool], fired: Mapping[str, int]) -> None:
        self.counts: Counter[str] = Counter()
        self._kinds: list[Kind] = []
        self._fired = fired
        self._reducer = Reducer(kills, CHECKS)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(kind.finding for kind in self._kinds)

    def add(self, where: str, drawn: Drawn, found: Judgement, participants: Participants) -> None:
        """Take in a program that differs: step over it, count it with its kind, or make a finding of it."""
        judge: Judge = participants.judged
        seen = Differing(drawn.density, judge(drawn.program, drawn.density))
        if not same_defect(found, seen.judged.found, drawn.program, drawn.program):
            self._kinds.append(Kind(found.decision, _flaky(where, seen, found)))
            return
        seen = self._reducer.looked_at(seen, judge)
        causes = self._known(seen.judged)
        if causes is None:
            return
        if causes:
            behind = partial(judged_behind, causes, participants)
            left = behind(seen.program, seen.density)
            if left.found.first is not None:
                judge, seen = behind, seen._replace(judged=left)
            elif (kind := next((k for k in self._kinds if set(causes) & set(k.rules)), None)) is not None:
                self._step_over(kind)  # together they explain all of it
                return
            else:
                causes = ()
        as_drawn = findings.of_judgement(where, seen.program, seen.judged.found, ())
        sign = sign_of(replace(as_drawn, not_reduced=USED_UP))
        like = [kind for kind in self._kinds if kind.sign == sign]
        if len(like) >= ALIKE or (like and self._reducer.checks <= 0):
            self._like(like[0])
            return
        finding = self._finding(where, seen, judge, causes, participants)
        unexplained = not finding.explained_by or finding.not_reduced
        self._kinds.append(Kind(found.decision, finding, sign if unexplained and not finding.flaky else None))

    def alone(self, where: str, drawn: Drawn, found: Judgement, participants: Participants) -> Finding:
        """Make a finding of a program that differs, whatever others showed."""
        judge = participants.judged
        seen = Differing(drawn.density, judge(drawn.program, drawn.density))
        if not same_defect(found, seen.judged.found, drawn.program, drawn.program):
            return _flaky(where, seen, found)
        return self._finding(where, seen, judge, (), participants)

    def _like(self, kind: Kind) -> None:
        """Count a program with a kind that its first difference is like; it is not compared any further."""
        kind.count()
        self.counts["left_off"] += 1

    def _known(self, judged: Judged) -> tuple[str, ...] | None:
        """Return the known causes that explain the first difference; None where they explain all of it, and
        the program is counted.
        """
        first, other = judged.found.first, judged.differing
        assert first is not None
        fired = fired_until(judged.reference, len(judged.reference))
        kinds = [k for k in self._kinds if k.decision is judged.found.decision and fired.keys() & k.rules]
        for kind in kinds:
            alone = [r for r in kind.rules if r in fired and mutant_of(other, r).agrees_past(first)]
            if alone:
                self._step_over(kind, alone)
                return None
        departed = departures(judged) if judged.found.decided_by[0] == judged.reference.adapter else ()
        rules = dict.fromkeys((*departed, *(r for kind in kinds for r in kind.rules if r in fired)))
        if not rules:
            return ()
        mutant, off = follow(other, rules)
        causes = tuple(dict.fromkeys(rule for rules in off.values() for rule in rules))
        if mutant.agrees_past(first):
            kind_of = next((kind for kind in kinds if set(causes) & set(kind.rules)), None)
            if kind_of is None:  # what torch departs from explains no part of a program
                return ()
            self._step_over(kind_of)
            return None
        return causes

    def _step_over(self, kind: Kind, rules: Iterable[str] | None = None) -> None:
        """Count a program that shows nothing but known causes."""
        kind.count(rules)
        self.counts["stepped_over"] += 1

    def _finding(
        self, where: str, seen: Differing, judge: Judge, causes: tuple[str, ...], participants: Participants
    ) -> Finding:
        """Reduce a program and tell the rules behind its difference; ``judge`` does without the causes."""
        tried = self._reducer.checks > 0
        small = self._reducer.reduced(seen, judge) if tried else seen
        if small is None:
            return _flaky(where, seen, seen.judged.found)
        judged, truth = small.judged, participants.judged(small.program, small.density)
        if same_difference(judged.found.first, truth.found.first):
            judged, causes = truth, ()
        found = judged.found
        if found.first is None:  # another run, another result
            return _flaky(where, seen, seen.judged.found)
        off = follow(judged.differing, causes)[1] if causes else {}
        drawn = None if causes else seen.judged.differing
        diagnosis = diagnose(judged.reference, judged.differing, found.first, self._fired, drawn, off)
        because = diagnosis.because if diagnosis.explained_by else (*causes, *diagnosis.because)
        because = tuple(dict.fromkeys(because))
        finding = findings.of_judgement(
            where, small.program, replace(found, because=because), truth.right.refused
        )
        if causes:
            finding = findings.without_causes(finding, causes)
        not_reduced = "" if small is not seen else NOT_WITH_LESS if tried else USED_UP
        return replace(finding, explained_by=diagnosis.explained_by, not_reduced=not_reduced)


def departures(judged: Judged) -> tuple[str, ...]:
    """Return the rules that fired and that torch is on record as breaking, which others may break with it."""
    release = adapters.load(REFERENCE).torch
    fired = fired_until(judged.reference, len(judged.reference))
    return tuple(rule for rule in sorted(fired) if RULES[rule].departed_by(release))


def judged_behind(
    causes: tuple[str, ...], participants: Participants, program: Program, density: str
) -> Judged:
    """Judge a program by the reference without known causes where they explain what the implementation
    does.
    """
    judged = participants.judged(program, density)
    found, other = judged.found, judged.differing
    if found.decision not in DIFFERENT:
        return judged
    mutant, _ = follow(other, causes)
    right = other if found.decision is Decision.SUITE else mutant.trace
    decision = found.decision if isinstance(mutant.comparison, Diverge) else Decision.AGREE
    return Judged(replace(found, decision=decision, comparison=mutant.comparison), mutant.trace, right, other)


def same_difference(one: Divergence | None, other: Divergence | None) -> bool:
    """Tell whether two differences are at one place and of the same values."""
    if one is None or other is None:
        return False
    return (location(one), one.expected, one.actual) == (location(other), other.expected, other.actual)


def _flaky(where: str, seen: Differing, found: Judgement) -> Finding:
    """Make the finding of a program whose repetition did not differ in the same way."""
    finding = findings.of_judgement(where, seen.program, found, seen.judged.right.refused)
    return replace(finding, blames=Verdict.CONFORMS, flaky=True)
