"""The witness cases on one implementation: held, broken or unsupported, and how a broken one fails.

A torch-shaped implementation runs a case as it stands, any other runs the program that it parses to. What
cases are lives in ``specs.case``; what their results mean for the rules in ``rule_status``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, reduce
from typing import Any

from conformance import adapters
from conformance.adapters.capabilities import Capabilities
from conformance.adapters.errors import AdapterError
from conformance.adapters.remote import DiedOfCase, Raised, Remote
from conformance.comparison.refusals import as_claimed
from conformance.execution.case import CaseFinding, CaseProgram, check_case, parse_case
from conformance.execution.claims import lacking, lacking_after, lacks_device, lacks_of_text
from conformance.execution.flight_recorder import note
from conformance.execution.isolate import PRELOAD, TIMEOUT, Died, survive
from conformance.execution.run import run
from conformance.execution.trace import Trace
from conformance.grading.case_diagnosis import diagnosed, run_unless_alike, surprises, unshown
from conformance.program import DELETE, Program
from conformance.program.parsing import ProgramError, parse
from conformance.program.printing import script, statement
from conformance.report import findings, words
from conformance.report.value import (
    BROKEN,
    CASE_STATUSES,
    DIED,
    HELD,
    NOT_EXERCISED,
    UNSUPPORTED,
    Finding,
    Verdict,
    Witnessed,
)
from specs.case import Case, CaseResult, attributes_at, cases, run_case
from specs.fact import FACTS, POSITION, UNSEEN

PROBE = parse(
    """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.mul(3.0)
y.retain_grad()
z = y.sum()
z.backward()
"""
)
"""A program that shows every fact of those that show any."""


def run_cases(
    spec: str,
    chosen: Iterable[Case],
    workers: int,
    release: str = "",
    preload: Iterable[str] = PRELOAD,
    timeout: float = TIMEOUT,
) -> Iterator[Witnessed]:
    """Run the cases on the implementation that ``spec`` names, in processes that may die; the reference
    models that torch ``release``, or the one that is installed.
    """
    listed = list(chosen)
    jobs = [(spec, case.id, release, timeout) for case in listed]
    limit = adapters.patience(spec, timeout)
    results = survive(_witness, jobs, workers=workers, chunk=40, preload=preload, timeout=limit)
    for case, result in zip(listed, results, strict=True):
        if isinstance(result, Died):
            yield Witnessed(case.id, case.rules, BROKEN, DIED, result.how)
        else:
            yield result


def _witness(job: tuple[str, str, str, float]) -> Witnessed:
    spec, wanted, release, timeout = job
    adapters.allow(spec, timeout)
    adapter, reference = adapters.load(spec), adapters.load("reference")
    with reference.modelling(release or reference.torch):
        case = case_of(wanted)
        result = run_case_on(case, adapter)
        if result.broken:
            return _diagnosed(case, result, adapter)
        return result


def witness(spec: str, case: str) -> Witnessed:
    """Run a case on the implementation that ``spec`` names, here and now."""
    return _witness((spec, case, "", TIMEOUT))


def case_of(id: str) -> Case:
    """The case of that id; raises KeyError where there is none."""
    return _by_id()[id]


@cache
def _by_id() -> dict[str, Case]:
    return {case.id: case for case in cases()}


def _diagnosed(case: Case, broken: Witnessed, adapter: Any) -> Witnessed:
    """The result of a case that broke, with the rules that may explain it."""
    try:
        trace = run(parse_case(case).program, adapter)
    except Exception:
        trace = None

    as_it_stands = trace is None or runs_as_it_stands(adapter)
    return diagnosed(case, broken, trace, _as_it_stands if as_it_stands else _as_a_program)


def _as_it_stands(case: Case, line: str) -> Callable[[], str | None]:
    """Return a function that tells at which line the reference, as it is then, fails a case, if it is that
    ``line`` or one before.
    """

    def fails_at() -> str | None:
        reference = adapters.load("reference")
        result = run_case(case, reference.namespace, until=line, says=reference.says)
        return None if result.passed else result.source or ""

    return fails_at


def _as_a_program(case: Case, line: str) -> Callable[[], str | None]:
    """The same by the trace of a case's program."""
    parsed = parse_case(case)
    right = run(parsed.program, adapters.load("reference"))
    at = [index for index, step in enumerate(parsed.program) if statement(step) == line]
    at += [e.step for e in parsed.expectations if _line(parsed.program, e.start, e.step) == line]
    last = max(at, default=len(right))

    def fails_at() -> str | None:
        trace = run_unless_alike(right, last)
        found = None if trace is None else _broken(case, parsed, trace)
        return None if found is None else found.line

    return fails_at


@cache
def runs_as_it_stands(adapter: Any) -> bool:
    """Tell whether cases run on the implementation as they stand: it is shaped like torch, and shows every
    fact as torch does, step by step.
    """
    if isinstance(adapter, Remote):
        return adapter.stands()
    needed = getattr(adapter, "namespace", None), getattr(adapter, "observe", None)
    at_once = callable(getattr(adapter, "run", None))
    if None in needed or at_once or set(FACTS) - set(adapters.capabilities(adapter).facts):
        return False
    trace = run(PROBE, adapter)
    shown = [facts for seen in trace.observations for facts in seen.facts.values()]
    grads = [facts[POSITION["grad"]] for facts in shown if isinstance(facts[POSITION["grad"]], tuple)]
    columns = (*zip(*shown, strict=False), *zip(*grads, strict=False))
    return bool(grads) and all(any(value is not UNSEEN for value in column) for column in columns)


def run_case_on(case: Case, adapter: Any) -> Witnessed:
    """Run one case, here and now."""
    if runs_as_it_stands(adapter):
        if isinstance(adapter, Remote):
            return _witnessed_there(case, adapter)
        limits = adapters.capabilities(adapter)
        beyond = adapter.beyond(case) if hasattr(adapter, "beyond") else ""
        beyond = beyond or (lacks_of_case(limits, case) if limits.limited else "")
        if beyond:
            return Witnessed(case.id, case.rules, UNSUPPORTED, why=beyond)
        cuda = getattr(adapter, "stands_for_cuda", "cuda")
        by_any = limits.refusals == "some"
        # The words of other implementations are their own; the reference alone claims to speak PyTorch's.
        says = getattr(adapter, "says", None) if adapter.name == "reference" else None
        result = run_case(case, adapter.namespace, cuda=cuda, any_refusal=by_any, says=says)
        if result.passed:
            return Witnessed(case.id, case.rules, HELD)
        if absent := _absent(adapter, result):
            return Witnessed(case.id, case.rules, UNSUPPORTED, why=absent)
        return Witnessed(case.id, case.rules, BROKEN, result.source or "", result.why or "")
    try:
        parsed = parse_case(case)
    except ProgramError as error:
        return Witnessed(
            case.id, case.rules, UNSUPPORTED, why=f"needs a torch-shaped implementation: {error}"
        )
    lacking = lacks(adapters.capabilities(adapter), parsed.program)
    if lacking:
        return Witnessed(case.id, case.rules, UNSUPPORTED, why=lacking)
    note(parsed.program)
    try:
        trace = run(parsed.program, adapter)
        right = run(parsed.program, adapters.load("reference"))
        trace = as_claimed(trace, right, adapters.capabilities(adapter).refusals)
    except Exception as error:
        return at_fault(case, f"{type(error).__name__}: {error}")
    return judge_parsed(case, parsed, trace, adapters.capabilities(adapter).refusals)


def _witnessed_there(case: Case, adapter: Remote) -> Witnessed:
    """Run one case as it stands, where the implementation lives."""
    try:
        found = adapter.witness(case.id)
        status, line, why = found["status"], str(found["line"]), str(found["why"])
    except DiedOfCase as crash:
        return Witnessed(case.id, case.rules, BROKEN, DIED, str(crash))
    except (AdapterError, Raised, KeyError) as error:
        return at_fault(case, f"{type(error).__name__}: {error}")
    if status not in CASE_STATUSES:
        return at_fault(case, "a case came to nothing that there is")
    return Witnessed(case.id, case.rules, status, line, why)


def at_fault(case: Case, fault: str) -> Witnessed:
    """The result of a case in which the adapter broke its contract: that says nothing about any rule."""
    return Witnessed(case.id, case.rules, NOT_EXERCISED, why="the adapter is at fault", adapter=fault)


def lacks(limits: Capabilities, program: Program) -> str:
    """Return what a program needs that an implementation lacks by its capabilities, or nothing; shapes,
    dtypes and refusals are the reference's.
    """
    if not limits.limited:
        return lacks_device(limits, program)
    missing = next(filter(None, (lacking(limits, step) for step in program)), "")
    if missing or lacks_device(limits, program):
        return missing or lacks_device(limits, program)
    seen = run(program, adapters.load("reference")).observations
    found = (lacking_after(limits, step, each) for step, each in zip(program, seen, strict=True))
    return next(filter(None, found), "")


def lacks_of_case(limits: Capabilities, case: Case) -> str:
    """Return what a case needs that an implementation lacks by its capabilities, or nothing; of one that is
    no program, as far as its text tells.
    """
    try:
        return lacks(limits, parse_case(case).program)
    except ProgramError:
        return lacks_of_text(limits, case.text)


def _absent(adapter: Any, result: CaseResult) -> str:
    """Return what the namespace lacks, if that is why a case failed; else nothing."""
    errors = [error for error in (result.error, getattr(result.error, "__cause__", None)) if error]
    if getattr(adapter, "whole", True):
        return ""
    found = next((error for error in errors if adapter.lacks(error)), None)
    if found is not None:
        return f"{adapter.name} lacks it: {found}"
    if not any(isinstance(error, AttributeError | TypeError) for error in errors) or result.line is None:
        return ""
    right = adapters.load("reference").namespace
    for owner, *path in attributes_at(result.case, result.line):
        last = path[-1] if path else owner
        if owner == "torch":
            if _callable_at(right, path) is not _callable_at(adapter.namespace, path):
                return f"{adapter.name} has no torch.{'.'.join(path)}"
        elif hasattr(right.Tensor, last) and not hasattr(adapter.namespace.Tensor, last):
            return f"{adapter.name} has no Tensor.{last}"
    return ""


def _callable_at(namespace: Any, path: Iterable[str]) -> bool | None:
    """Tell whether what is at a path can be called; None where there is nothing."""
    found = reduce(lambda owner, word: getattr(owner, word, None), path, namespace)
    return None if found is None else callable(found)


def judge_parsed(case: Case, parsed: CaseProgram, trace: Trace, refusals: str = "rules") -> Witnessed:
    """A parsed case by its trace: broken at the first surprise, held if anything at all could be checked;
    then its rules are held as far as what witnesses them was seen.
    """
    broken = _broken(case, parsed, trace)
    if broken is not None:
        return broken
    absent = unshown(case, trace, refusals)
    held = any(finding.status == HELD for finding in check_case(parsed, trace))
    why = "" if held else next((why for _, why in absent if why), "")
    return Witnessed(case.id, case.rules, HELD if held else UNSUPPORTED, why=why, lacking=absent)


def _broken(case: Case, parsed: CaseProgram, trace: Trace) -> Witnessed | None:
    """Return the result of a parsed case at its first surprise, or None if there is none."""
    broken = next((finding for finding in check_case(parsed, trace) if finding.status == BROKEN), None)
    surprise = next(iter(surprises(parsed, trace)), None)
    if surprise is not None and (broken is None or surprise <= broken.expectation.step):
        outcome = words.outcome(trace[surprise].outcome)
        return Witnessed(case.id, case.rules, BROKEN, statement(parsed.program[surprise]), outcome)
    if broken is None:
        return None
    line = _line(parsed.program, broken.expectation.start, broken.expectation.step)
    return Witnessed(case.id, case.rules, BROKEN, line, _told(broken))


def _line(program: Program, start: int, step: int) -> str:
    """Return the statement that an expectation of these steps is about: the last that deletes nothing."""
    steps = program.steps[start : step + 1]
    return statement(next((each for each in reversed(steps) if each.op != DELETE), program[step]))


def _told(broken: CaseFinding) -> str:
    """Return expected and actual in a line."""
    expected, actual = broken.expectation, broken.actual
    if expected.fact == "outcome":
        seen = ", ".join(map(words.outcome, actual)) or "no refusal"
        return f"expected a refusal by {expected.value}, got {seen}"
    if expected.fact == "warnings":
        return f"expected a warning by {expected.value}, got {', '.join(actual) or 'none'}"
    return (
        f"expected {expected.name}.{expected.fact} {words.value(expected.value)}, got {words.value(actual)}"
    )


def broken_case(result: Witnessed, side: str, blames: Verdict) -> Finding:
    """Make the finding of a case that broke on a side."""
    case = case_of(result.case)
    return findings.of_case(case, result, side, blames, _script(case))


def _script(case: Case) -> str:
    """The case as a script that runs by itself under torch."""
    try:
        parsed = parse_case(case)
    except ProgramError:
        return case.script
    return script(parsed.program, refused=run(parsed.program, adapters.load("reference")).refused)
