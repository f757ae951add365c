"""Outcomes, fact values and the parts of a report in words, for every form that people read.

The values stand in `conformance.execution.trace` and `conformance.report.value`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conformance.execution.trace import Crashed, Done, Outcome, Refused, Unbound, Unsupported
from conformance.report.value import (
    CASE_STATUSES,
    NOT_EXERCISED,
    Crash,
    Finding,
    ReplayedRecording,
    Report,
    Totals,
    Verdict,
)
from specs.fact import GRAD_FACTS, UNSEEN

VERDICTS = {
    Verdict.CONFORMS: "conforms",
    Verdict.NONCONFORMANCE: "does not conform",
    Verdict.BROKEN_ADAPTER: "broken adapter: it could not be graded",
    Verdict.BROKEN_SUITE: "broken suite: the reference and torch disagree, nobody else is blamed",
}
BLAMES = {
    Verdict.NONCONFORMANCE: "the implementation differs",
    Verdict.BROKEN_SUITE: "the suite is at fault",
    Verdict.BROKEN_ADAPTER: "the adapter is at fault",
}


_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """Return the text with escapes in the place of what would steer a terminal."""
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


def outcome(found: Outcome) -> str:
    """An outcome in a word or a line; a refusal by its rule, since words are no semantics."""
    match found:
        case Done():
            return "done"
        case Refused(rule, _):
            return f"refused {rule}"
        case Unsupported(why):
            return f"unsupported: {why}"
        case Unbound():
            return "not run: a name is unbound"
        case Crashed(error):
            return f"crashed: {error}"


def value(found: Any) -> str:
    """A fact's value, or an outcome, as text."""
    if isinstance(found, Outcome):
        return outcome(found)
    if found is UNSEEN:
        return "unseen"
    if isinstance(found, tuple) and len(found) == 2 and found[0] == "refused":
        return f"refused {found[1]}"
    if (
        isinstance(found, tuple)
        and len(found) == len(GRAD_FACTS)
        and (found[1] is UNSEEN or isinstance(found[1], tuple))
    ):
        shown = zip(GRAD_FACTS, found, strict=True)
        return f"a grad: {', '.join(f'{fact} {value(each)}' for fact, each in shown if each is not UNSEEN)}"
    return str(tuple(found)) if isinstance(found, tuple) else str(found)


def title(report: Report) -> str:
    """Return who was graded against whom, and by which rules if not by all."""
    selection = "" if report.selection == "*" else f", rules {report.selection}"
    return f"{report.subject.name} {report.subject.version} against {report.against}{selection}"


def verdict(report: Report) -> str:
    """Return the verdict in words."""
    name = report.subject.name
    if report.undecided and not report.totals.programs:
        return f"{name}: no program was run: {report.ended}"
    interrupted = f", as far as it was run: {report.ended}" if report.ended.from_outside else ""
    if report.nothing_exercised:
        return f"{name}: nothing was exercised: no case held, and no program told a rule apart{interrupted}"
    found = report.findings or report.unknown_crashes or report.broken_rules
    if report.elsewhere and not found and report.verdict is Verdict.NONCONFORMANCE:
        verdict = VERDICTS[Verdict.CONFORMS]
    else:
        verdict = VERDICTS[report.verdict]
    as_far = "" if report.selection == "*" else f" as far as {report.selection}"
    if report.expected and verdict == VERDICTS[Verdict.CONFORMS]:
        as_far += f" but for {counted(len(report.expected), 'expected difference')}"
    return f"{name} {verdict}{as_far}{interrupted}{_elsewhere(report)}"


def _elsewhere(report: Report) -> str:
    """Return how many programs and cases differ in what the selected rules do not speak of."""
    if not report.elsewhere:
        return ""
    verb = "differs" if sum(finding.alike for finding in report.elsewhere) == 1 else "differ"
    return f"; {programs_and_cases(report.elsewhere)} {verb} elsewhere"


def counted(count: int, what: str, plural: str = "s") -> str:
    """Return a count with its noun."""
    return f"{count:,} {what}{'' if count == 1 else plural}"


def programs_and_cases(findings: Sequence[Finding]) -> str:
    """Return how many programs and how many cases findings stand for."""
    cases = sum(finding.alike for finding in findings if finding.is_of_case)
    programs = sum(finding.alike for finding in findings) - cases
    both = [counted(n, what) for n, what in ((programs, "program"), (cases, "case")) if n]
    return " and ".join(both)


def counts(report: Report) -> dict[str, str]:
    """Return how much the verdict rests on, and what took part, by a label each."""
    t = report.totals
    share = f"{t.error_steps / t.steps:.1%}" if t.steps else "none"
    known = f"{counted(t.known, 'known divergence')}, " if t.known else ""
    again = f", and {t.placed:,} of them again" if t.placed else ""
    statuses = [status for status in CASE_STATUSES if status != NOT_EXERCISED or report.cases.get(status)]
    rows = {
        "cases": ", ".join(f"{report.cases.get(status, 0)} {status}" for status in statuses),
        "programs": f"{t.programs:,}{again}: {t.agree:,} agree, {t.diverge:,} diverge, {known}"
        f"{t.incomparable:,} incomparable, {crash_count(t.crashed, report.crashes)}",
        **({"again": _again(t)} if t.placed else {}),
        **({"findings": finding_counts(report.told)} if report.findings else {}),
        **({"by design": _expectations(report)} if report.expected or report.unmet else {}),
        **({"alike": _cut_short(t)} if t.stepped_over or t.left_off else {}),
        "steps": f"{t.steps:,}, of them refused {share}",
        "facts": f"{t.compared:,} compared, {t.unseen:,} unseen",
        **(
            {"recorded": "; ".join(map(recording_line, report.recordings))}
            if report.recordings
            else {"seed": f"{report.seed}, source {report.source}, device {report.device}"}
        ),
        "versions": versions_line(report.versions),
    }
    if report.times:
        rows["times"] = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in report.times.items())
    return rows


def _expectations(report: Report) -> str:
    """Return how many expectations were met, what they stand for, and how many were not."""
    shown = programs_and_cases(report.by_design) or "nothing"
    return f"{counted(len(report.expected), 'expectation')} met ({shown}), {len(report.unmet):,} not"


def _again(t: Totals) -> str:
    """Return the results of the programs that ran twice."""
    return (
        "with everything on the device: "
        f"the same verdict for {t.placed - t.otherwise:,}, another for {t.otherwise:,}"
    )


def _cut_short(t: Totals) -> str:
    """Return how many programs show what an earlier one showed."""
    return (
        f"{counted(t.stepped_over, 'program')} with the cause of an earlier finding and nothing else, "
        f"{t.left_off:,} not compared past it"
    )


def finding_counts(findings: Sequence[Finding]) -> str:
    """Return how many findings there are, by programs and by cases."""
    of_cases = [finding for finding in findings if finding.is_of_case]
    programs = programs_and_cases([finding for finding in findings if not finding.is_of_case])
    by_programs = f"{len(findings) - len(of_cases):,} by programs ({programs})" if programs else ""
    cases = programs_and_cases(of_cases) if any(finding.alike > 1 for finding in of_cases) else ""
    by_cases = f"{len(of_cases):,} by cases" + (f" ({cases})" if cases else "") if of_cases else ""
    return ", ".join(filter(None, (by_programs, by_cases)))


def by_design(report: Report) -> list[str]:
    """Return the expectations that were met, with their reasons and how much of the run they stand for."""
    told = []
    for met in report.expected:
        both = [counted(n, what) for n, what in ((met.programs, "program"), (met.cases, "case")) if n]
        entry = met.entry
        link = f" ({entry.link})" if entry.link else ""
        shown = " and ".join(both) or "no program of this run"
        told.append(f"{entry.label}: {entry.reason or 'no reason yet'}{link}: {shown}")
    return told


def unmet_by_label(report: Report) -> list[tuple[str, str]]:
    """Return the expectations that were not met, each with why."""
    return [(unmet.entry.label, f"expected, and not found: {unmet.why}") for unmet in report.unmet]


def unmet(report: Report) -> list[str]:
    """Return the expectations that were not met, a line each."""
    return [f"{unmet.entry.label}: {unmet.why}" for unmet in report.unmet]


def recording_line(used: ReplayedRecording) -> str:
    """A recording that took torch's place: where it comes from, and how much of it was used."""
    device = ", ".join(filter(None, (used.device, used.device_name, used.driver and f"driver {used.driver}")))
    stale = f", {used.stale:,} of another text: record again" if used.stale else ""
    return f"torch {used.torch} ({device}): {used.cases:,} cases, {used.programs:,} programs{stale}"


def versions_line(found: Mapping[str, str]) -> str:
    """Return the versions that took part."""
    return ", ".join(f"{name} {version}" for name, version in found.items())


def crash_count(count: int, crashes: Iterable[Crash]) -> str:
    """Return how many programs crashed, and how many of those crashes are on record."""
    known = sum(crash.alike for crash in crashes if crash.known)
    return f"{count:,} crashed" + (f" ({known:,} known)" if known else "")


def known_divergences(report: Report) -> list[str]:
    """Return the known divergences: each rule that torch broke, and in how many programs."""
    return [f"torch breaks {rule} in {counted(n, 'program')}" for rule, n in report.known.items()]


def known_crashes(report: Report) -> list[str]:
    """Return the known crashes: what each side died of, and the issue."""
    known = (crash for crash in report.crashes if crash.known)
    return [f"{crash.side} crashed: {death(crash)}: {crash.known}" for crash in known]


_WITHOUT_A_RULE = {"value": "what the operation computes, which no rule of autograd decides"}


def divergence(finding: Finding) -> list[tuple[str, str]]:
    """Return where a divergence shows, expected and actual value, and the rules behind it, by a
    label each.
    """
    expected, actual = finding.sides
    rows = [
        ("at", finding.line),
        ("fact", fact(finding)),
        (expected, finding.expected),
        (actual, finding.actual),
        ("because", ", ".join(finding.because) or _WITHOUT_A_RULE.get(finding.fact, "no rule fired there")),
    ]
    if finding.explained_by:
        alone = "it" if len(finding.explained_by) == 1 else "each of them"
        rows.append(
            ("explained", f"the reference without {alone} does the same: {', '.join(finding.explained_by)}")
        )
    if finding.downstream:
        rows.append(("downstream", f"{finding.downstream} later differences follow from it"))
    if finding.alike > 1:
        rows.append(("alike", f"{programs_and_cases([finding])} differ in this way"))
    if finding.not_reduced:
        rows.append(("not reduced", finding.not_reduced))
    return rows


def fact(finding: Finding) -> str:
    """Return the fact that differs, with the name that it is of."""
    return f"{finding.name}.{finding.fact}" if finding.name else finding.fact


def heading(found: Finding | Crash) -> str:
    """The program, and who is to blame or what crashed."""
    if isinstance(found, Crash):
        return f"{found.where}: {found.side} crashed"
    return f"{found.where}: {'flaky: a repetition differed' if found.flaky else BLAMES.get(found.blames, '')}"


def death(crash: Crash) -> str:
    """Return the error of a crash, in how many programs it struck, and why its program is long, if it is."""
    alike = f" ({crash.alike} programs)" if crash.alike > 1 else ""
    return crash.error + alike + (f"; not reduced: {crash.not_reduced}" if crash.not_reduced else "")


def on_record(crash: Crash) -> str:
    """Return whether a crash is on record, in words."""
    return f"known: {crash.known}" if crash.known else "not on record"


def unknown_first(crashes: Iterable[Crash]) -> list[Crash]:
    """The crashes, those that are not on record first."""
    return sorted(crashes, key=lambda crash: crash.known is not None)
