"""The one public call: check an implementation, get a report.

Here the work is handed out and put together. What a chunk of programs does lives in ``campaign``, cases in
``cases``, what both mean for a rule in ``rule_status``; printing is the command line's.
"""

from __future__ import annotations

import os
import platform
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from conformance import adapters
from conformance.adapters.errors import AdapterError
from conformance.adapters.interpreter import ISOLATED, named_in
from conformance.execution.interruption import interrupted
from conformance.execution.isolate import TIMEOUT, ProcessesKilled
from conformance.grading.arguments import check_arguments
from conformance.grading.by_design import Evidence, Settled, Show, excused, needed, settle, show, updated
from conformance.grading.campaign import Chunk
from conformance.grading.cases import broken_case, run_cases
from conformance.grading.causes import by_cause
from conformance.grading.chunks import Progress, in_chunks
from conformance.grading.expectations import Expectations, read_expectations
from conformance.grading.participants import REFERENCE, TORCH, preload_for
from conformance.grading.rule_status import unconfirmed
from conformance.grading.selection import ALL, select_for
from conformance.grading.standing import standing
from conformance.grading.tally import Tally
from conformance.report.expectation import Example, Expectation
from conformance.report.value import (
    BROKEN,
    CASE_STATUSES,
    NOT_EXERCISED,
    UNSUPPORTED,
    Ending,
    Finding,
    Report,
    Subject,
    Verdict,
    Witnessed,
)
from specs.case import Case
from specs.case import cases as all_cases

ENOUGH_DEATHS = 8
"""An implementation that dies in its first so many cases, and lives in none, is not asked for more."""

KNOWN_DIVERGENCE = "torch is known to break its rule"
PROGRAMS = 1000
"""The number of programs where nobody gives one."""
STALE_RECORD = (
    "this torch keeps the rule: the record that it breaks it (`departs` in specs/rules) is out of date"
)


def check(
    adapter: Any,
    *,
    against: str = TORCH,
    programs: int | None = None,
    seed: int = 0,
    source: str = "hypothesis",
    rules: str = ALL,
    fail_fast: bool = False,
    cases: bool = True,
    workers: int | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
    expect: str | Path | Expectations | Sequence[Expectation] = (),
    update: bool = False,
    python: str | Path | None = None,
    isolated: bool = False,
) -> Report:
    """Grade an implementation: the witness cases, then ``programs`` drawn ones; the same seed gives the same
    report.

    ``adapter`` is what ``adapters.load`` takes (``reference``, ``torch``, ``module:attribute``, a path), or a
    module that is an adapter: it is loaded by name in processes of their own, so that a crash is a result.
    ``rules`` narrows the cases to those of matching rules, and sets findings about others apart; without
    ``cases`` programs alone decide. A program or case that takes more than ``timeout`` seconds hangs.
    With ``isolated`` it runs in a process of its own even if it is built in, with ``python`` in one of that
    interpreter. ``expect`` are differences that are by design, or the path of their file, which may say how
    many programs are drawn by default: they fail nothing, unless they are gone. With ``update`` they are made
    to be what is found, under ``expected`` of the report.

    Raises TypeError or ValueError for a wrong argument (a file that holds no expectations too), or if no rule
    matches, before any process starts, and AdapterError where an adapter cannot be loaded.
    """
    if programs is not None:
        check_arguments(programs=programs)
    check_arguments(seed=seed, source=source, rules=rules, fail_fast=fail_fast)
    check_arguments(cases=cases, workers=workers, timeout=timeout, progress=progress, against=against)
    if against not in (TORCH, REFERENCE):
        raise ValueError(f"against {against!r:.80} is unknown: it is {TORCH}, {REFERENCE} or recorded")
    spec = named_in(name_of(adapter), None if python is None else str(python), isolated)
    expected = _expected(expect)
    if programs is None:
        programs = PROGRAMS if expected.programs is None else expected.programs
    if spec == against:
        against = REFERENCE if spec == TORCH else TORCH
    started = time.perf_counter()
    workers = workers or os.cpu_count() or 1
    tick = progress or (lambda what, done, total: None)
    subject = adapters.load(spec)
    release = adapters.load(REFERENCE).torch
    chosen = select_for(rules, release)
    witnessed, tally = _cases(spec, against, chosen if cases else (), workers, tick, timeout)
    after_cases = time.perf_counter()
    device = _device(adapters.load(TORCH) if TORCH in (spec.removeprefix(ISOLATED), against) else subject)
    entries = tuple(entry for entry in expected.entries if entry.applies(subject.version, device))
    whole = Chunk(spec, against, source, seed, 0, programs, fail_fast, timeout=timeout, expected=entries)
    shows = partial(show, whole=whole, witnessed=witnessed, workers=workers, tick=tick)
    evidence: Evidence = {}
    if not (tally.ended or tally.broken):
        tally, evidence = _with_evidence(tally, (*expected.examples, *entries), shows)
    if tally.ended or tally.broken or (fail_fast and not all(map(whole.excuses, tally.findings))):
        ended = tally.ended or (Ending.BROKEN if tally.broken else Ending.STOPPED)
        tally = replace(tally, unrun=programs, ended=ended)
    else:
        upcoming = replace(whole, unconfirmed=unconfirmed(chosen, witnessed))
        tally += in_chunks(upcoming, workers, tick, preload=preload_for(spec, against))
    by_themselves: Collection[Finding] = ()
    if not (tally.broken or tally.ended.from_outside):
        if update:
            entries, evidence = updated(entries, evidence, tally, shows)
        by_themselves = excused(needed(entries, evidence), tally.findings, shows)
    return reported(
        subject,
        tally,
        witnessed,
        chosen,
        settled=settle(entries, evidence, tally.findings, bool(tally.ended), by_themselves),
        selection=rules,
        subject=Subject(subject.name, subject.version),
        against=against,
        asked=programs,
        seed=seed,
        source=source,
        device=device,
        versions=versions_of(spec, against),
        times={"cases": after_cases - started, "programs": time.perf_counter() - after_cases},
    )


def reported(
    adapter: Any,
    tally: Tally,
    witnessed: Sequence[Witnessed],
    rules: Sequence[str],
    selection: str,
    settled: Settled | None = None,
    **fields: Any,
) -> Report:
    """Return the report of what was found about an adapter, with the status of each of the rules that the
    glob ``selection`` selects. Findings about other rules are set apart, and so is what is ``settled`` to be
    by design; ``fields`` are the rest of it.
    """
    settled = settled or settle((), {}, tally.findings, over=True)
    limited = adapters.capabilities(adapter).limited
    statuses = standing(rules, tally, settled, witnessed, limited)
    findings = ordered_findings(replace(tally, findings=by_cause(settled.left)))
    elsewhere = () if selection == ALL else tuple(f for f in findings if not set(f.concerns) & set(rules))
    return Report(
        totals=tally.totals,
        cases={status: sum(w.status == status for w in witnessed) for status in CASE_STATUSES},
        rules=statuses,
        findings=tuple(finding for finding in findings if finding not in elsewhere),
        elsewhere=elsewhere,
        by_design=settled.by_design,
        expected=settled.expected,
        unmet=settled.unmet,
        selection=selection,
        crashes=tally.crashes,
        incomparable=tally.incomparable,
        known=tally.known,
        broken=tally.broken,
        unrun=tally.unrun,
        ended=tally.ended,
        **fields,
    )


def _expected(given: str | Path | Expectations | Sequence[Expectation]) -> Expectations:
    if isinstance(given, Expectations):
        return given
    return read_expectations(Path(given)) if isinstance(given, str | Path) else Expectations(tuple(given))


def _with_evidence(
    tally: Tally, entries: Sequence[Expectation | Example], shows: Show
) -> tuple[Tally, Evidence]:
    """Return what the entries show by themselves, and the tally with what became of examples; it ends where
    processes go on dying.
    """
    try:
        evidence = shows(entries)
        return sum((shown.tally for shown in evidence.values()), tally), evidence
    except ProcessesKilled:
        return replace(tally, ended=Ending.KILLED), {}
    except KeyboardInterrupt:
        interrupted()
        return replace(tally, ended=Ending.INTERRUPTED), {}


def _device(side: Any) -> str:
    """Return what stood for `cuda` on that side, or why nothing did."""
    device, lacking = getattr(side, "device", "cpu"), getattr(side, "lacking", "")
    without = ", ".join(getattr(side, "without", ()))
    return f"{device} ({lacking})" if lacking else device + (f", without {without}" if without else "")


def ordered_findings(tally: Tally) -> tuple[Finding, ...]:
    """Return the findings, those that blame the suite first, then cases, then what most programs show, and of
    equals what a rule explains.
    """
    found = sorted(tally.findings, key=lambda each: (not each.is_of_case, -each.alike, not each.explained_by))
    return tuple(sorted(found, key=lambda finding: -finding.blames))


def name_of(adapter: Any) -> str:
    """The name under which other processes can load an adapter; raises AdapterError where it has none."""
    if isinstance(adapter, str):
        return adapter
    if isinstance(adapter, Path):
        if adapter.suffix != ".py":
            raise AdapterError(f"{adapter} is no Python file", "the path of a file.py that holds an adapter")
        return str(adapter)
    for name in adapters.BUILT_IN:
        if type(adapter).__module__ == f"conformance.adapters.{name}":
            return name
    path = getattr(adapter, "__file__", None)
    if isinstance(path, str):
        return path
    raise AdapterError(
        f"{adapter!r:.80} cannot be loaded by name in another process",
        "pass 'module:attribute' or the path of a file",
    )


def versions_of(*specs: str) -> dict[str, str]:
    """Of everything that a report may depend on, what version took part."""
    found = {"python": platform.python_version(), **installed("autograd-conformance", "numpy", "hypothesis")}
    for spec in dict.fromkeys((REFERENCE, *specs)):
        adapter = adapters.load(spec)
        found[adapter.name] = adapter.version
    return found


def installed(*packages: str) -> dict[str, str]:
    """The versions of packages, which are not imported."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _cases(
    spec: str, against: str, rules: Iterable[str], workers: int, tick: Progress, timeout: float = TIMEOUT
) -> tuple[list[Witnessed], Tally]:
    """The cases of the rules on the implementation, and what they found.

    What it can run is run on the reference and on torch, too: a case that fails there blames the suite, and
    is no evidence against anybody else. Where torch is on record as departing from a case's rule, it must
    fail on torch, and nobody is blamed for doing as torch does. A case that they cannot run here, for want of
    a device, does not count as exercised by the implementation that passes it. What all have run before
    Ctrl-C stands.
    """
    wanted = set(rules)
    release = adapters.load(REFERENCE).torch
    chosen = [case for case in all_cases() if wanted & set(case.rules) and case.holds_for(release)]
    judges = [side for side in dict.fromkeys((REFERENCE, against)) if side != spec]
    done, ended, ran = 0, Ending.NONE, set[str]()

    version = adapters.load(TORCH).version if TORCH in (spec, against) else release
    departed = {case.id for case in chosen if case.departed_by(version)}

    preload = preload_for(spec, against)

    def run(side: str, upcoming: Sequence[Case], total: int) -> list[Witnessed]:
        nonlocal done, ended
        results: list[Witnessed] = []
        try:
            for result in run_cases(side, upcoming, workers, preload=preload, timeout=timeout):
                if side == spec and not result.unsupported:
                    ran.add(result.case)
                results.append(despite_divergence(result, side) if result.case in departed else result)
                done += 1
                tick("cases", done, total)
                if side == spec and (result.adapter or dies_in_every(results)):
                    break
        except KeyboardInterrupt:
            interrupted()
            ended = Ending.INTERRUPTED
        except ProcessesKilled:
            ended = Ending.KILLED
        return results

    tried = run(spec, chosen, len(chosen) * (1 + len(judges)))
    also = [case for case in chosen if case.id in ran]
    total = done + len(also) * len(judges)
    judged = [(side, each) for side in judges for each in run(side, () if ended else also, total)]
    judgements = Counter(result.case for _, result in judged)
    stale = {
        result.case: broken_case(result, side, Verdict.BROKEN_SUITE)
        for side, result in judged
        if result.broken
    }
    beyond = {
        result.case: replace(result, status=NOT_EXERCISED)
        for _, result in judged
        if result.unsupported and result.case not in departed
    }
    results = [
        beyond.get(result.case, result) if result.held else result
        for result in tried
        if result.case not in stale and judgements[result.case] == len(judges) * (result.case in ran)
    ]
    blames = Verdict.BROKEN_SUITE if spec in (REFERENCE, TORCH) else Verdict.NONCONFORMANCE
    raised = tuple(f"case {result.case}: {result.adapter}" for result in results if result.adapter)
    if dies_in_every(results):
        raised += (f"it dies in every case: {results[-1].why}",)
    side = adapters.load(spec).name
    found = (broken_case(result, side, blames) for result in results if result.broken)
    return results, Tally(findings=(*stale.values(), *found), broken=raised[:1], ended=ended)


def dies_in_every(results: Sequence[Witnessed]) -> bool:
    """Tell whether an implementation has died in each case that it could run, and in enough of them."""
    lives = any(not (result.died or result.unsupported) for result in results)
    return not lives and sum(result.died for result in results) >= ENOUGH_DEATHS


def despite_divergence(result: Witnessed, side: str) -> Witnessed:
    """Return the result of a case of a rule that torch is on record as breaking."""
    if side == TORCH and result.held:
        return replace(result, status=BROKEN, why=STALE_RECORD)
    if side != REFERENCE and result.broken:
        return replace(result, status=UNSUPPORTED, why=KNOWN_DIVERGENCE)
    return result
