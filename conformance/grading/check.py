"""The one public call: check an implementation, get a report.

Here the work is handed out and put together. What a chunk of programs does lives in ``campaign``, cases in
``cases``, what both mean for a rule in ``rule_status``; printing is the command line's.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from conformance import adapters
from conformance.adapters.errors import AdapterError
from conformance.comparison.known_crashes import issue_of, words_of
from conformance.execution.isolate import MOST_DEATHS, PRELOAD, Died, ProcessesKilled, survive
from conformance.grading.campaign import SIZE, Chunk, judge_chunk
from conformance.grading.cases import broken_case, run_cases
from conformance.grading.causes import by_cause
from conformance.grading.deadly import shrink_deadly
from conformance.grading.isolated import run_isolated
from conformance.grading.participants import REFERENCE, TORCH
from conformance.grading.rule_status import rule_statuses, unconfirmed
from conformance.grading.selection import ALL, select_for
from conformance.grading.tally import Tally
from conformance.program.printing import to_text
from conformance.report.value import (
    BROKEN,
    CASE_STATUSES,
    NOT_EXERCISED,
    UNSUPPORTED,
    Crash,
    Finding,
    Report,
    Subject,
    Verdict,
    Witnessed,
)
from specs.case import cases as all_cases
from specs.fact import DENSITIES

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""

SOURCES = ("hypothesis", "prng")
KNOWN_DIVERGENCE = "torch is known to break its rule"
STALE_RECORD = (
    "this torch keeps the rule: the record that it breaks it (`departs` in specs/rules) is out of date"
)


def check(
    adapter: Any,
    *,
    against: str = TORCH,
    programs: int = 1000,
    seed: int = 0,
    source: str = "hypothesis",
    rules: str = ALL,
    fail_fast: bool = False,
    cases: bool = True,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Grade an implementation: the witness cases, then ``programs`` drawn ones; the same seed gives the same
    report.

    ``adapter`` is what ``adapters.load`` takes (``reference``, ``torch``, ``module:attribute``, a path), or a
    module that is an adapter: it is loaded by name in processes of their own, so that a crash is a result.
    ``rules`` narrows the cases to those of matching rules, and sets findings about others apart; without
    ``cases`` programs alone decide. Raises AdapterError where an adapter cannot be loaded, ValueError for an
    unknown ``against`` or ``source``, or if no rule matches.
    """
    spec = name_of(adapter)
    if against not in (TORCH, REFERENCE) or source not in SOURCES:
        raise ValueError(f"against {against!r} or source {source!r} is unknown")
    if spec == against:
        against = REFERENCE if spec == TORCH else TORCH
    started = time.perf_counter()
    workers = workers or os.cpu_count() or 1
    tick = progress or (lambda what, done, total: None)
    subject = adapters.load(spec)
    release = adapters.load(REFERENCE).torch
    chosen = select_for(rules, release)
    witnessed, tally = _cases(spec, against, chosen if cases else (), workers, tick)
    after_cases = time.perf_counter()
    if not (tally.broken or (fail_fast and tally.findings)):
        whole = Chunk(spec, against, source, seed, 0, programs, fail_fast)
        tally += in_chunks(replace(whole, unconfirmed=unconfirmed(chosen, witnessed)), workers, tick)
    return reported(
        subject,
        tally,
        witnessed,
        chosen,
        selection=rules,
        subject=Subject(subject.name, subject.version),
        against=against,
        seed=seed,
        source=source,
        device=_device(adapters.load(TORCH) if TORCH in (spec, against) else subject),
        versions=versions_of(spec, against),
        times={"cases": after_cases - started, "programs": time.perf_counter() - after_cases},
    )


def reported(
    adapter: Any,
    tally: Tally,
    witnessed: Sequence[Witnessed],
    rules: Sequence[str],
    selection: str,
    **fields: Any,
) -> Report:
    """Return the report of what was found about an adapter, with the status of each of the rules that the
    glob ``selection`` selects. Findings about other rules are set apart; ``fields`` are the rest of it.
    """
    by_rule = {rule: [result for result in witnessed if rule in result.rules] for rule in rules}
    tally = replace(tally, findings=by_cause(tally.findings))
    statuses = rule_statuses(rules, tally, by_rule, limited=adapters.capabilities(adapter).limited)
    findings = ordered_findings(tally)
    elsewhere = () if selection == ALL else tuple(f for f in findings if not set(f.concerns) & set(rules))
    return Report(
        totals=tally.totals,
        cases={status: sum(w.status == status for w in witnessed) for status in CASE_STATUSES},
        rules=statuses,
        findings=tuple(finding for finding in findings if finding not in elsewhere),
        elsewhere=elsewhere,
        selection=selection,
        crashes=tally.crashes,
        incomparable=tally.incomparable,
        known=tally.known,
        broken=tally.broken,
        unrun=tally.unrun,
        **fields,
    )


def _device(side: Any) -> str:
    """Return what stood for `cuda` on that side, or why nothing did."""
    device, lacking = getattr(side, "device", "cpu"), getattr(side, "lacking", "")
    return f"{device} ({lacking})" if lacking else device


def ordered_findings(tally: Tally) -> tuple[Finding, ...]:
    """Return the findings, those that blame the suite first."""
    return tuple(sorted(tally.findings, key=lambda finding: -finding.blames))


def name_of(adapter: Any) -> str:
    """The name under which other processes can load an adapter; raises AdapterError where it has none."""
    if isinstance(adapter, str):
        return adapter
    for name in adapters.BUILT_IN:
        if type(adapter).__module__ == f"conformance.adapters.{name}":
            return name
    path = getattr(adapter, "__file__", None)
    if path is not None:
        return str(path)
    raise AdapterError(
        f"{adapter!r} cannot be loaded by name in another process",
        "pass 'module:attribute' or the path of a file",
    )


def versions_of(*specs: str) -> dict[str, str]:
    """Of everything that a report may depend on, what version took part."""
    found = {"python": platform.python_version()}
    for package in ("autograd-conformance", "numpy", "hypothesis"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    for spec in dict.fromkeys((REFERENCE, *specs)):
        adapter = adapters.load(spec)
        found[adapter.name] = adapter.version
    return found


def _cases(
    spec: str, against: str, rules: Iterable[str], workers: int, tick: Progress
) -> tuple[list[Witnessed], Tally]:
    """The cases of the rules on the implementation, and what they found.

    A case that fails on the reference or on torch blames the suite, and is no evidence against anybody else.
    Where torch is on record as departing from a case's rule, it must fail on torch, and nobody is blamed for
    doing as torch does. A case that they cannot run here, for want of a device, does not count as exercised
    by the implementation that passes it.
    """
    wanted = set(rules)
    release = adapters.load(REFERENCE).torch
    chosen = [case for case in all_cases() if wanted & set(case.rules) and case.holds_for(release)]
    judges = [side for side in dict.fromkeys((REFERENCE, against)) if side != spec]
    total = len(chosen) * (1 + len(judges))
    done = 0

    version = adapters.load(TORCH).version if TORCH in (spec, against) else release
    departed = {case.id for case in chosen if case.departed_by(version)}

    def run(side: str) -> list[Witnessed]:
        nonlocal done
        results = []
        for result in run_cases(side, chosen, workers):
            results.append(despite_divergence(result, side) if result.case in departed else result)
            done += 1
            tick("cases", done, total)
        return results

    judged = [(side, result) for side in judges for result in run(side)]
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
        for result in run(spec)
        if result.case not in stale
    ]
    blames = Verdict.BROKEN_SUITE if spec in (REFERENCE, TORCH) else Verdict.NONCONFORMANCE
    raised = tuple(f"case {result.case}: {result.adapter}" for result in results if result.adapter)
    side = adapters.load(spec).name
    found = (broken_case(result, side, blames) for result in results if result.broken and not result.adapter)
    return results, Tally(findings=(*stale.values(), *found), broken=raised[:1])


def despite_divergence(result: Witnessed, side: str) -> Witnessed:
    """Return the result of a case of a rule that torch is on record as breaking."""
    if side == TORCH and result.held:
        return replace(result, status=BROKEN, why=STALE_RECORD)
    if side != REFERENCE and result.broken:
        return replace(result, status=UNSUPPORTED, why=KNOWN_DIVERGENCE)
    return result


Work = Callable[[Chunk], Tally]
"""Worker function for one chunk; must be picklable by name."""


def in_chunks(
    whole: Chunk,
    workers: int,
    tick: Progress,
    work: Work = judge_chunk,
    preload: Iterable[str] = PRELOAD,
) -> Tally:
    """All programs, in chunks that processes work through; their sum, in the order of the programs. Ctrl-C
    ends it, and what was found until then stands.
    """
    chunks = [
        replace(whole, first=first, count=min(SIZE, whole.count - first))
        for first in range(0, whole.count, SIZE)
    ]
    total, tally = whole.count, Tally()
    results = survive(work, chunks, workers=workers, chunk=1, preload=preload, alike=1)
    done = 0
    try:
        for chunk, result in zip(chunks, results, strict=True):
            tally += _surviving(chunk, result, work)
            done = chunk.first + chunk.count
            tick("programs", done, total)
            if tally.broken or (
                whole.fail_fast and (tally.findings or any(c.known is None for c in tally.crashes))
            ):
                break
    except KeyboardInterrupt:
        tally = replace(tally, unrun=total - done)
    return tally


def _surviving(chunk: Chunk, result: Tally | Died, work: Work) -> Tally:
    """The tally of a chunk; where a program killed its process, the chunk is worked through again without
    it.

    A death that is not seen again came from outside, and costs nothing but time.
    """
    crashes = Tally()
    unconfirmed: list[Died] = []
    while isinstance(result, Died):
        if result.program is None or to_text(result.program) in chunk.skip:
            crashes += Tally(
                broken=(f"programs {chunk.first} to {chunk.first + chunk.count - 1}: {result.how}",)
            )
            return crashes
        side = TORCH if result.step == 0 else chunk.subject
        death = _death_again(result, side)
        unconfirmed.append(result)
        if (
            death is not None or unconfirmed.count(result) > 1
        ):  # the second time it is what ran before it, too
            crashes += _crash(chunk, result, side, death)
            chunk = replace(chunk, skip=chunk.skip | {to_text(result.program)})
        elif len(unconfirmed) >= MOST_DEATHS:
            raise ProcessesKilled(f"processes keep ending ({result.how}), each at something else")
        (result,) = survive(work, [chunk], chunk=1, alike=1)
    return result + crashes


def _death_again(died: Died, side: str) -> tuple[str, int] | None:
    """Return the density and the step at which the program kills a process again, or None if it does not.

    A program that dies unobserved may live when it is observed.
    """
    assert died.program is not None
    for density in DENSITIES:
        for index, seen in enumerate(run_isolated(died.program, side, density).observations):
            # An error that no rule words may come before; it does not kill.
            if seen.crash == died.how:
                return density, index
    return None


def _crash(chunk: Chunk, died: Died, side: str, again: tuple[str, int] | None) -> Tally:
    """Return the tally of a program that killed its process, reduced where it does so ``again``: whether that
    is on record.
    """
    assert died.program is not None
    program = died.program
    if again is not None:
        program = shrink_deadly(program, side, again[0], (died.how, again[1]))
    known = issue_of(words_of(program), side, adapters.load(side).version, died.how)
    blames = Verdict.BROKEN_SUITE if side in (TORCH, REFERENCE) else Verdict.NONCONFORMANCE
    where = f"programs {chunk.first} to {chunk.first + chunk.count - 1}"
    not_reduced = "" if again is not None else "by itself it does not kill a process"
    crash = Crash(where, side, blames, died.how, to_text(program), known, not_reduced=not_reduced)
    return Tally(crashes=(crash,))  # NB: it is counted where the chunk is worked through again
