"""Differences that are by design: running what shows them, and telling them from all other findings.

Each example, and each program of an expectation, runs by itself, whatever the seed draws. How files of
expectations are read lives in ``expectations``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from conformance import adapters
from conformance.execution.isolate import ProcessesKilled
from conformance.generate.guide.guide import Drawn
from conformance.grading.campaign import Chunk, Sums
from conformance.grading.cases import broken_case, case_of, run_cases
from conformance.grading.causes import by_cause
from conformance.grading.chunks import Progress, each_alone
from conformance.grading.tally import Tally
from conformance.program.parsing import parse
from conformance.program.printing import to_text
from conformance.report.expectation import Example, Expectation, Expected, Unmet, causes_of
from conformance.report.value import Finding, Verdict, Witnessed

MOST_KINDS = 4
"""The differences of one program that are told apart, each behind those before it."""


@dataclass(frozen=True, slots=True)
class Alone(Chunk):
    """A program that is judged by itself."""

    text: str = ""
    density: str = "each"
    kind: str = "expectation"

    def named(self, number: int) -> str:
        return f"{self.kind} {self.first + 1}"


def judge_alone(chunk: Alone) -> Tally:
    """Judge one program, until no difference of it is left that those before do not explain."""
    adapters.allow(chunk.subject, chunk.timeout)
    sums = Sums(chunk)
    drawn = Drawn(parse(chunk.text), chunk.density, "exact")
    for _ in range(MOST_KINDS):
        before = _told_apart(sums.kinds.findings)
        sums.program(0, drawn)
        if sums.over or _told_apart(sums.kinds.findings).keys() == before.keys():
            break
    tally = sums.tally()
    return replace(tally, findings=tuple(_told_apart(tally.findings).values()))


def _told_apart(findings: Iterable[Finding]) -> dict[object, Finding]:
    """Return findings by what they show: one that nothing explains is found again in each round."""
    return {(found.script, found.line, found.name, found.fact): found for found in findings}


class Evidenced(NamedTuple):
    """The differences that an example, or the evidence of an entry, shows by itself; else the reason why it
    shows none. What became of an example besides stands in its tally.
    """

    findings: tuple[Finding, ...]
    why: str = ""
    tally: Tally = Tally()


Shown = Expectation | Example
Evidence = Mapping[Shown, Evidenced]
Show = Callable[[Sequence[Shown]], Evidence]


def show(
    given: Sequence[Shown], whole: Chunk, witnessed: Sequence[Witnessed], workers: int, tick: Progress
) -> Evidence:
    """Run examples, and the programs and cases of entries that name one, but for cases that have run."""
    listed = [entry for entry in given if isinstance(entry, Expectation)]
    examples: list[Shown] = [example for example in given if isinstance(example, Example)]
    programs: list[Shown] = [entry for entry in listed if entry.program]
    named = [*examples, *programs]
    chunks = [
        Alone(
            whole.subject, whole.against, whole.source, whole.seed, first, 1,
            timeout=whole.timeout, text=each.program, density=each.density, kind=kind,
        )
        for kind, group in (("example", examples), ("expectation", programs))
        for first, each in enumerate(group)
    ]  # fmt: skip
    found: dict[Shown, Evidenced] = {}
    done = 0
    for each, tally in zip(named, each_alone(chunks, workers, judge_alone), strict=True):
        besides = Tally(crashes=tally.crashes, broken=tally.broken) if isinstance(each, Example) else Tally()
        found[each] = Evidenced(tally.findings, _silent(tally), besides)
        tick("expectations", done := done + 1, len(named))
    results = {result.case: result for result in witnessed}
    of_cases = [entry for entry in listed if entry.case and not entry.program]
    left = [case_of(id) for id in dict.fromkeys(e.case for e in of_cases) if id not in results]
    results |= {new.case: new for new in run_cases(whole.subject, left, workers, timeout=whole.timeout)}
    side = adapters.load(whole.subject).name
    for entry in of_cases:
        result = results[entry.case]
        broken = (broken_case(result, side, Verdict.NONCONFORMANCE),) if result.broken else ()
        found[entry] = Evidenced(
            broken, f"its case is {result.status}" + (f": {result.why}" if result.why else "")
        )
    return found


def _silent(tally: Tally) -> str:
    """Return the reason why a program showed no difference."""
    if tally.broken:
        return tally.broken[0]
    if tally.crashes:
        return f"on its program {tally.crashes[0].side} crashed: {tally.crashes[0].error}"
    if tally.incomparable:
        return f"its program cannot be compared: {next(iter(tally.incomparable))}"
    return "its program differs in nothing"


class Settled(NamedTuple):
    """The findings that are left, not yet by their causes, those by design, and the expectations by whether
    they were met.
    """

    left: tuple[Finding, ...]
    by_design: tuple[Finding, ...]
    expected: tuple[Expected, ...]
    unmet: tuple[Unmet, ...]


def settle(
    entries: Sequence[Expectation],
    evidence: Evidence,
    findings: Iterable[Finding],
    over: bool,
    excused: Collection[Finding] = (),
) -> Settled:
    """Tell what is by design, and the ``excused``, from what is not. An entry without program or case is met
    by any finding of the run or of an example, and not judged where that is ``over`` before its time.
    """
    own = [finding for shown in evidence.values() for finding in shown.findings]
    listed = list(findings)
    new = [finding for finding in own if finding.where not in {each.where for each in listed}]
    everything = [*listed, *new]
    instead = superfluous(entries, evidence)
    by_design = [f for f in everything if f in excused or is_by_design(f, needed(entries, evidence))]
    # NB: the program of an entry shows again what the run has found, mostly.
    told = [f for f in by_design if f in listed or not any(e.matches(f) and _in(e, listed) for e in entries)]
    left = [finding for finding in everything if finding not in by_design]
    expected, unmet = [], []
    for entry in entries:
        shown = evidence.get(entry)
        if entry in instead:
            unmet.append(Unmet(entry, f"what shows it is by design without it: {instead[entry].label}"))
            continue
        matching = [finding for finding in everything if entry.matches(finding)]
        met = matching if shown is None else [f for f in shown.findings if entry.matches(f)]
        if met or entry.flaky:
            expected.append(_counted(entry, [f for f in matching if f in listed] or matching))
        elif shown is not None or not over:
            unmet.append(Unmet(entry, _why(shown, left)))
    return Settled(tuple(left), by_cause(told), tuple(expected), tuple(unmet))


def superfluous(entries: Sequence[Expectation], evidence: Evidence) -> dict[Expectation, Expectation]:
    """Return the entries that speak of nothing but what another does too, of all that examples and their own
    programs and cases show, each with that other; of two alike, the later. Whatever programs are drawn, these
    stay the same.
    """
    instead: dict[Expectation, Expectation] = {}
    shown = [finding for evidenced in evidence.values() for finding in evidenced.findings]
    for entry in reversed([entry for entry in entries if not entry.flaky]):
        others = [other for other in entries if other is not entry and other not in instead]
        met = [finding for finding in shown if entry.matches(finding)]
        if met and all(is_by_design(finding, others) for finding in met):
            instead[entry] = next(other for other in others if other.matches(met[0]))
    return instead


def needed(entries: Sequence[Expectation], evidence: Evidence) -> list[Expectation]:
    """Return the entries that are not superfluous."""
    instead = superfluous(entries, evidence)
    return [entry for entry in entries if entry not in instead]


def excused(entries: Sequence[Expectation], findings: Iterable[Finding], show: Show) -> frozenset[Finding]:
    """Return the findings whose program shows by itself nothing but what is by design: the programs that were
    drawn before it had it taken for something else.
    """
    left = (
        [f for f in findings if not (f.is_of_case or f.flaky or is_by_design(f, entries))] if entries else []
    )
    tried = {finding: _of_program(finding) for finding in left}
    shown = show(list(dict.fromkeys(tried.values())))
    own = {finding: shown[entry].findings for finding, entry in tried.items()}
    return frozenset(f for f, found in own.items() if found and all(is_by_design(o, entries) for o in found))


def is_by_design(finding: Finding, entries: Iterable[Expectation]) -> bool:
    """Tell whether one of the entries speaks of a finding."""
    return any(entry.matches(finding) for entry in entries)


def _in(entry: Expectation, findings: Iterable[Finding]) -> bool:
    return any(entry.matches(finding) for finding in findings)


def _counted(entry: Expectation, findings: Sequence[Finding]) -> Expected:
    cases = sum(finding.alike for finding in findings if finding.is_of_case)
    return Expected(entry, sum(finding.alike for finding in findings) - cases, cases)


def _why(shown: Evidenced | None, left: Sequence[Finding]) -> str:
    if shown is None:
        others = dict.fromkeys(cause for finding in left for cause in causes_of(finding)[:1])
        also = f"; what differs otherwise: {', '.join(list(others)[:3])}" if others else ""
        return f"nothing that ran differs so{also}"
    if shown.findings:
        return f"what shows it differs otherwise: {causes_of(shown.findings[0])[0]}"
    return shown.why


def proposed(findings: Sequence[Finding], show: Show) -> list[Expectation]:
    """Return an entry for each cause of the findings, with what shows it; its reason is to be filled in.

    A rule stands for all that it explains. A program is observed as it has to be, and left out where it
    shows nothing by itself.
    """
    entries: list[Expectation] = []
    of_programs = [finding for finding in findings if not finding.is_of_case and _blames_it(finding)]
    while left := [finding for finding in of_programs if not is_by_design(finding, entries)]:
        entries.append(_of_program(by_cause(left)[0]))
    of_cases = [finding for finding in findings if finding.is_of_case and _blames_it(finding)]
    of_cases = [finding for finding in of_cases if not is_by_design(finding, entries)]
    while of_cases:
        rules = [rule for finding in of_cases for rule in finding.explained_by]
        if rules:
            rule = max(rules, key=rules.count)
            of_rule = [finding for finding in of_cases if rule in finding.explained_by]
            entries.append(Expectation(rule=rule, case=of_rule[0].where.removeprefix("case ")))
        else:
            entries += [Expectation(case=finding.where.removeprefix("case ")) for finding in of_cases]
        of_cases = [finding for finding in of_cases if not is_by_design(finding, entries)]
    return _observed(list(dict.fromkeys(entries)), show)


def updated(
    entries: Sequence[Expectation], evidence: Evidence, tally: Tally, shows: Show
) -> tuple[tuple[Expectation, ...], Evidence]:
    """Return the entries that were met and are needed, and new ones for what is left, with their evidence.

    What a new entry is named by is by itself nothing that the others speak of: else it would not be needed.
    """
    settled = settle(entries, evidence, tally.findings, bool(tally.ended))
    kept = [entry for entry in entries if entry not in {unmet.entry for unmet in settled.unmet}]
    by_itself = excused(kept, settled.left, shows)
    left = [finding for finding in settled.left if finding not in by_itself]
    found: dict[Shown, Evidenced] = {}

    def showing(tried: Sequence[Shown]) -> Evidence:
        found.update(shows(tried))
        return found

    new = [entry for entry in proposed(left, showing) if entry not in kept]
    alone = [entry for entry in new if entry.program or entry.case]
    shown_else = excused((*kept, *alone), left, shows)
    still = [finding for finding in left if finding not in shown_else]
    new = [entry for entry in new if entry in alone or any(map(entry.matches, still))]
    found |= evidence
    showing([entry for entry in new if entry in alone and entry not in found])
    kept_or_new = {*kept, *new}
    known = {each: shown for each, shown in found.items() if isinstance(each, Example) or each in kept_or_new}
    return tuple(needed((*kept, *new), known)), known


def _blames_it(finding: Finding) -> bool:
    return finding.flaky or finding.blames is Verdict.NONCONFORMANCE


def _of_program(finding: Finding) -> Expectation:
    rule = finding.explained_by[0] if finding.explained_by else ""
    cause = "" if rule else causes_of(finding)[0]
    program = to_text(parse(finding.script)).strip()
    return Expectation(rule=rule, cause=cause, program=program, flaky=finding.flaky)


def _observed(entries: Sequence[Expectation], show: Show) -> list[Expectation]:
    """Return the entries, each observed at the first density at which its program shows what it is for. One
    that shows another cause by itself is followed by itself without a program, which may not be needed then.
    """
    settled: dict[int, Expectation] = {}
    otherwise: dict[int, Expectation] = {}
    for density in ("each", "end", "touched"):
        tried = {
            number: replace(entry, density=density)
            for number, entry in enumerate(entries)
            if entry.program and number not in settled
        }
        if not tried:
            break
        try:
            found = show(list(tried.values()))
        except ProcessesKilled:
            break
        for number, entry in tried.items():
            if any(map(entry.matches, found[entry].findings)):
                settled[number] = entry
            elif number not in otherwise and (instead := _as_shown(entry, found[entry].findings)):
                otherwise[number] = instead
    listed: dict[Expectation, None] = {}
    for number, entry in enumerate(entries):
        bare = replace(entry, program="")
        beside = [otherwise[number], bare] if number in otherwise else [bare]
        listed |= dict.fromkeys([settled[number]] if number in settled else beside)
    return list(listed)


def _as_shown(entry: Expectation, findings: Sequence[Finding]) -> Expectation | None:
    """Return the entry for the first difference that its program shows by itself, if it speaks of that."""
    if not findings:
        return None
    instead = replace(entry, rule="", cause=causes_of(findings[0])[0])
    return instead if instead.matches(findings[0]) else None
