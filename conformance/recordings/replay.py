"""Grading against recordings: torch's recorded results take torch's place, so that none is needed.

It is judged as with torch at hand: where the reference does not do as recorded the suite is at fault, and
nobody else is blamed. The reference models the release that each recording is of. How recordings are made
lives in ``record``, their form in ``format``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance import adapters
from conformance.comparison.judge import Decision
from conformance.execution.case import parse_case
from conformance.execution.claims import lacks_device
from conformance.execution.isolate import Died, survive
from conformance.execution.trace import Trace
from conformance.generate.guide.guide import Drawn
from conformance.grading.arguments import check_arguments, check_paths
from conformance.grading.campaign import Chunk, Sums
from conformance.grading.cases import at_fault, broken_case, case_of, lacks, run_cases
from conformance.grading.check import (
    KNOWN_DIVERGENCE,
    despite_divergence,
    name_of,
    reported,
    versions_of,
)
from conformance.grading.chunks import Progress, in_chunks
from conformance.grading.participants import REFERENCE, AdapterBroke, Participants, preload_for
from conformance.grading.selection import ALL, select, select_for
from conformance.grading.tally import Tally
from conformance.program.parsing import ProgramError
from conformance.program.printing import to_text
from conformance.recordings.format import TORCH, Recording, Stale, digest, in_place, read_recording
from conformance.report import findings
from conformance.report.value import (
    BROKEN,
    DIED,
    HELD,
    NOT_EXERCISED,
    UNSUPPORTED,
    Finding,
    ReplayedRecording,
    Report,
    Subject,
    Verdict,
    Witnessed,
)
from specs.case import Case, cases
from specs.fact import POSITION

RECORDED = "recorded"
"""The name in a report of what takes torch's place."""

STALE = "stale"
"""The status of a case whose text has changed since; else it is held, broken or unsupported."""

_WORST = (UNSUPPORTED, HELD, NOT_EXERCISED, BROKEN)


def grade_recorded(
    adapter: Any,
    *,
    recordings: Sequence[Path] | None = None,
    rules: str = ALL,
    fail_fast: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Grade an implementation by the cases and programs of ``recordings`` (those that come with the project).

    ``adapter`` and ``rules`` are as in ``grading.check``. Raises AdapterError where the adapter cannot be
    loaded, RecordingError or OSError where a file is no recording, TypeError or ValueError for an argument
    that is none, or if no rule matches.
    """
    check_arguments(rules=rules, fail_fast=fail_fast, workers=workers, progress=progress)
    paths = check_paths("recordings", in_place() if recordings is None else recordings)
    started = time.perf_counter()
    spec = name_of(adapter)
    subject, reference = adapters.load(spec), adapters.load(REFERENCE)
    workers = workers or os.cpu_count() or 1
    tick = progress or (lambda what, done, total: None)
    chosen = [rule.id for rule in select(rules)]
    tally, witnessed, replayed = Tally(), dict[str, Witnessed](), list[ReplayedRecording]()
    models: dict[str, dict[str, None]] = {subject.name: {}, reference.name: {}}
    baselines: dict[str, CaseBaseline] = {}
    for path in paths:
        recording = read_recording(path)
        release = recording.origin.release
        if release not in baselines:
            wanted = _wanted(paths, release, chosen)
            baselines[release] = CaseBaseline.of(spec, release, wanted, workers, tick)
            with reference.modelling(release):
                for side in (subject, reference):
                    models[side.name][side.version] = None
        of_cases = _cases(spec, path, baselines[release], workers, tick)
        tally += of_cases.tally
        for result in of_cases.results:
            before = witnessed.setdefault(result.case, result)
            witnessed[result.case] = max(before, result, key=lambda each: _WORST.index(each.status))
        over = tally.broken or (fail_fast and tally.findings)
        programs = Tally() if over else _programs(spec, path, fail_fast, workers, tick)
        tally += programs
        counts = of_cases.compared, programs.totals.programs, of_cases.stale + programs.stale
        replayed.append(_replayed(recording, *counts))
    modelled = {name: ", ".join(each) for name, each in models.items()}
    return reported(
        subject,
        tally,
        list(witnessed.values()),
        select_for(rules, *baselines),
        selection=rules,
        subject=Subject(subject.name, modelled[subject.name]),
        against=RECORDED,
        seed=0,
        source=RECORDED,
        device=", ".join(dict.fromkeys(each.device for each in replayed)),
        versions=versions_of(spec) | modelled,
        recordings=tuple(replayed),
        times={RECORDED: time.perf_counter() - started},
    )


def _wanted(paths: list[Path], release: str, rules: list[str]) -> list[Case]:
    """Return the cases of the rules that recordings of that release hold."""
    recordings = (read_recording(path) for path in paths)
    on_record = {id for each in recordings if each.origin.release == release for id in each.cases}
    return [case for case in cases() if case.id in on_record and set(rules) & set(case.rules)]


def _replayed(recording: Recording, cases: int, programs: int, stale: int) -> ReplayedRecording:
    """Return a recording's entry in the report."""
    made = recording.origin
    counts = cases, programs, stale
    return ReplayedRecording(recording.name, made.torch, made.device, made.device_name, made.driver, *counts)


# cases


@dataclass(frozen=True)
class CaseBaseline:
    """The results of cases as they stand, on the reference that models a release and on the
    implementation.
    """

    cases: tuple[Case, ...]
    reference: dict[str, Witnessed]
    subject: dict[str, Witnessed]

    @staticmethod
    def of(spec: str, release: str, wanted: Iterable[Case], workers: int, tick: Progress) -> CaseBaseline:
        chosen = tuple(case for case in wanted if case.holds_for(release))
        sides = dict.fromkeys((REFERENCE, spec))
        found: dict[str, dict[str, Witnessed]] = {side: {} for side in sides}
        for side in sides:
            for done, result in enumerate(run_cases(side, chosen, workers, release, preload_for(spec)), 1):
                found[side][result.case] = result
                tick(f"cases on {side}", done, len(chosen))
        return CaseBaseline(chosen, found[REFERENCE], found[spec])


@dataclass
class CaseResults:
    """The results of the cases of one recording; cases that blame the suite are among the findings alone."""

    results: list[Witnessed] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    compared: int = 0
    stale: int = 0


def _cases(spec: str, path: Path, baselines: CaseBaseline, workers: int, tick: Progress) -> CaseResults:
    """The cases of a recording: what torch made of them, and the implementation, as they stand and by their
    traces.
    """
    recording, found = read_recording(path), CaseResults()
    known = {case.id for case in cases()}
    found.stale = sum(id not in known for id in recording.cases)
    chosen = [case for case in baselines.cases if case.id in recording.cases]
    jobs = [(spec, str(path), case.id) for case in chosen]
    traces = survive(_traced, jobs, workers=workers, chunk=40, preload=preload_for(spec))
    side = adapters.load(spec).name
    own_findings: list[Finding] = []
    for done, (case, traced) in enumerate(zip(chosen, traces, strict=True), 1):
        tick(f"cases of {recording.name}", done, len(chosen))
        if isinstance(traced, Died):
            traced = Witnessed(case.id, case.rules, BROKEN, DIED, traced.how), None
        by_trace, difference = traced
        if by_trace.status == STALE:
            found.stale += 1
            continue
        found.compared += 1
        suite, own = _as_it_stands(spec, case, recording, baselines)
        if difference is not None:
            (suite if difference.blames is Verdict.BROKEN_SUITE else own_findings).append(difference)
        if suite:
            own_findings += suite
            continue
        if own.adapter or by_trace.adapter:
            found.tally += Tally(broken=(f"case {case.id}: {own.adapter or by_trace.adapter}",))
        elif difference is None and (own.broken or by_trace.broken):
            blames = Verdict.BROKEN_SUITE if spec == REFERENCE else Verdict.NONCONFORMANCE
            own_findings.append(broken_case(own if own.broken else by_trace, side, blames))
        found.results.append(max(own, by_trace, key=lambda each: _WORST.index(each.status)))
    found.tally += Tally(findings=tuple(own_findings))
    return found


def _as_it_stands(
    spec: str, case: Case, recording: Recording, baselines: CaseBaseline
) -> tuple[list[Finding], Witnessed]:
    """The findings of a case as it stands that blame the suite, and what it is on the implementation."""
    form, own = recording.cases[case.id], baselines.subject[case.id]
    torch = Witnessed(case.id, case.rules, form["status"], form.get("line", ""), form.get("why", ""))
    if case.departed_by(recording.origin.torch):
        torch = despite_divergence(torch, TORCH)
        own = own if spec == REFERENCE else despite_divergence(own, RECORDED)
    judges = {TORCH: torch, REFERENCE: baselines.reference[case.id]}
    suite = [
        broken_case(result, side, Verdict.BROKEN_SUITE) for side, result in judges.items() if result.broken
    ]
    return suite, own


def _traced(job: tuple[str, str, str]) -> tuple[Witnessed, Finding | None]:
    """Return the result of a case's recorded trace for an implementation, and the difference, if any."""
    spec, path, id = job
    recording, case = read_recording(Path(path)), case_of(id)
    form = recording.cases[id]
    result = Witnessed(id, case.rules, UNSUPPORTED)
    if "script" not in form:
        return (result if form["of"] == digest(case) else replace(result, status=STALE)), None
    try:
        trace = recording.trace(form)
        if to_text(parse_case(case).program) != form["script"]:
            raise Stale
    except (ProgramError, Stale):
        return replace(result, status=STALE), None
    _, reference = adapters.load(spec), adapters.load(REFERENCE)
    with reference.modelling(recording.origin.release):
        lacking = lacking_for(spec, trace)
        if lacking:
            return replace(result, why=lacking), None
        try:
            found, _, right, _ = participants_for(spec, recording, trace).judged(trace.program, trace.density)
        except AdapterBroke as broke:
            return at_fault(case, str(broke)), None
        if found.first is None or found.decision is Decision.KNOWN:
            held = found.decision is Decision.AGREE
            why = (
                KNOWN_DIVERGENCE if found.decision is Decision.KNOWN else getattr(found.comparison, "why", "")
            )
            return replace(result, status=HELD if held else UNSUPPORTED, why=why), None
        difference = findings.of_judgement(
            f"case {id} of {recording.name}", trace.program, found, right.refused
        )
    difference = replace(difference, because=tuple(dict.fromkeys((*difference.because, *case.rules))))
    if found.decision is Decision.CRASH:  # of the reference: what crashed torch is not on record
        difference = replace(difference, blames=Verdict.BROKEN_SUITE)
    return replace(result, status=BROKEN), difference


# programs


@dataclass(frozen=True, slots=True)
class Stretch(Chunk):
    """So many programs of a recording, from the ``first`` of its lines on."""

    recording: Path = Path()

    def named(self, number: int) -> str:
        return f"program {number} of {self.recording.stem}"


class _Replays(Sums):
    """The counts of a stretch in progress."""

    def __init__(self, stretch: Stretch) -> None:
        super().__init__(stretch)
        self.twice = False  # what is on record is on record where it ran
        self.recording, self.stale = read_recording(stretch.recording), 0

    def all(self) -> Tally:
        """Hold each program's trace against the implementation."""
        forms = list(self.recording.programs.items())
        for number, form in forms[self.chunk.first : self.chunk.first + self.chunk.count]:
            try:
                trace = self.recording.trace(form)
            except Stale:
                self.stale += 1
                continue
            lacking = lacking_for(self.chunk.subject, trace)
            if lacking:
                self.counts.update(programs=1, incomparable=1)
                self.incomparable[lacking] += 1
                continue
            self.participants = participants_for(self.chunk.subject, self.recording, trace)
            self.program(number, Drawn(trace.program, trace.density, ""))
        return replace(self.tally(), stale=self.stale)


def _programs(spec: str, path: Path, fail_fast: bool, workers: int, tick: Progress) -> Tally:
    """The programs of a recording, in stretches that processes work through."""
    recording = read_recording(path)
    whole = Stretch(spec, RECORDED, RECORDED, 0, 0, len(recording.programs), fail_fast, recording=path)

    def named(what: str, done: int, total: int) -> None:
        tick(f"{what} of {recording.name}", done, total)

    return in_chunks(whole, workers, named, _work, preload_for(spec))


def _work(stretch: Any) -> Tally:
    """Work through a stretch, in any process."""
    adapters.load(stretch.subject)
    replays = _Replays(stretch)
    with adapters.load(REFERENCE).modelling(replays.recording.origin.release):
        return replays.all()


def participants_for(spec: str, recording: Recording, trace: Trace) -> Participants:
    """Return who judges the program of a recorded trace."""
    return Participants(spec, RECORDED, trace, recording.origin.torch, recording.origin.device)


def lacking_for(spec: str, trace: Trace) -> str:
    """Return what a trace shows that an implementation lacks by its capabilities; the reference has
    everything.
    """
    if spec == REFERENCE:
        return ""
    limits = adapters.capabilities(adapters.load(spec))
    if not limits.limited:
        return lacks_device(limits, trace.program)
    shown = (facts for seen in trace.observations for facts in seen.facts.values() if len(facts) > 1)
    foreign = {facts[POSITION["dtype"]] for facts in shown} - limits.dtypes
    return lacks(limits, trace.program) or (f"needs {min(foreign, key=str)}" if foreign else "")
