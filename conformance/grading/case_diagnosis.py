"""The mutants of the reference as witnesses in a case: the assertions that show its rules, and the rules that
explain how it broke.

The reference without a rule fails exactly where the rule decides. Running cases on implementations lives in
``cases``, what their results mean for a rule in ``rule_status``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from conformance import adapters
from conformance.comparison.compare import Agree, Diverge, Divergence, compare
from conformance.comparison.refusals import as_claimed
from conformance.execution.case import CaseFinding, CaseProgram, check_case, parse_case
from conformance.execution.run import Runner, run
from conformance.execution.trace import Crashed, Observation, Refused, Trace, Unsupported
from conformance.program.printing import statement
from conformance.report.value import BROKEN, Witnessed
from specs.active_rules import knocked_out
from specs.case import Case, run_case


class Witness(NamedTuple):
    """The loss of a case without a rule.

    The numbers of its expectations that fail, the steps whose results differ, the steps after those, and the
    text of the assertion that fails.
    """

    expectations: tuple[int, ...]
    steps: tuple[int, ...]
    after: tuple[int, ...]
    assertion: str


def surprises(parsed: CaseProgram, trace: Trace) -> list[int]:
    """The steps that fail though no expectation says so, up to the first that is unsupported."""
    allowed = {
        step for e in parsed.expectations if e.fact == "outcome" for step in range(e.start, e.step + 1)
    }
    supported = takewhile(lambda seen: not isinstance(seen.outcome, Unsupported), trace.observations)
    return [
        index
        for index, seen in enumerate(supported)
        if isinstance(seen.outcome, Refused | Crashed) and index not in allowed
    ]


def unshown(case: Case, trace: Trace, refusals: str) -> tuple[tuple[str, str], ...]:
    """The rules of a case that a trace of it does not show to hold, each with the fact or assertion that is
    lacking; ``refusals`` as the implementation claims them.
    """
    found = check_case(parse_case(case), trace)
    release = adapters.load("reference").torch
    said = ((rule, _lacking(_witness(case, rule, release, refusals), trace, found)) for rule in case.rules)
    return tuple((rule, why) for rule, why in said if why is not None)


def _lacking(witness: Witness, trace: Trace, found: tuple[CaseFinding, ...]) -> str | None:
    if not (witness.expectations or witness.steps):
        return witness.assertion and f"needs {witness.assertion}"
    for index in witness.expectations:
        if found[index].status == "unseen":
            return _needs(found[index])
    for step in witness.steps:
        if any(isinstance(seen.outcome, Unsupported) for seen in trace.observations[: step + 1]):
            return f"needs {statement(trace.program[step])}"
    # That a step was done says little: what it did is to be seen, if the case asks for it.
    if witness.after and all(found[index].status == "unseen" for index in witness.after):
        return _needs(found[witness.after[0]])
    return None


def _needs(unseen: CaseFinding) -> str:
    name, fact = unseen.expectation.name, unseen.expectation.fact
    return f"needs {name}.{fact}" if name else f"needs {fact}"


@cache
def _witness(case: Case, rule: str, release: str, refusals: str) -> Witness:
    """Return what fails of a case without the rule, up to the first step that fails unexpectedly."""
    parsed, reference = parse_case(case), adapters.load("reference")
    right = run(parsed.program, reference)
    with knocked_out(rule):
        trace = as_claimed(run(parsed.program, reference), right, refusals)
        as_it_stands = run_case(case, reference.namespace)
    steps = surprises(parsed, trace)[:1]
    found = check_case(parsed, trace)
    broken = [index for index, each in enumerate(found) if each.status == BROKEN]
    before = [index for index in broken if not steps or found[index].expectation.step < steps[0]]
    after = tuple(index for index in broken if index not in before)
    return Witness(tuple(before), tuple(steps), after, (as_it_stands.source or "").removeprefix("assert "))


def diagnosed(
    case: Case,
    broken: Witnessed,
    trace: Trace | None,
    again: Callable[[Case, str], Callable[[], str | None]],
) -> Witnessed:
    """The result of a case that broke, with the rules that may explain it: those without which the reference
    does the same, by ``trace``, the implementation's of the case as a program, and those without which it
    fails at the same line when it runs the case ``again``.
    """
    reference = adapters.load("reference")
    fired = sorted(_fired(case, reference.torch).union(case.rules))
    exact, *beside = (() if trace is None else _by_trace(trace, case, fired)) or ((),)
    alike: list[str] = []
    if not exact:
        fails_at = again(case, broken.line)
        for rule in fired:
            with knocked_out(rule):
                if fails_at() == broken.line:
                    alike.append(rule)
    return replace(broken, explained_by=exact, beside=tuple(beside), alike=tuple(alike), fired=tuple(fired))


def _by_trace(trace: Trace, case: Case, rules: Iterable[str]) -> list[tuple[str, ...]]:
    """The rules without which the reference does what the trace shows, at least at its first difference; then
    those that explain what else differs at that step, if these do not.
    """
    explained: list[tuple[str, ...]] = []
    off: tuple[str, ...] = ()
    step = None
    while True:
        right = _without(trace, off)
        found = compare(right, trace)
        if not isinstance(found, Diverge) or step not in (None, found.first.step):
            return explained
        step = found.first.step
        candidates = sorted(rules_of(right, step).union(rules).difference(off))
        options = _doing_the_same(trace, right, found.first, candidates, off)
        if not options:
            return explained
        explained.append(options)
        off = (*off, min(options, key=lambda rule: rule not in case.rules))


def _without(trace: Trace, off: tuple[str, ...]) -> Trace:
    with knocked_out(*off):
        return run(trace.program, adapters.load("reference"), trace.density)


def _doing_the_same(
    trace: Trace, right: Trace, first: Divergence, rules: Iterable[str], off: tuple[str, ...]
) -> tuple[str, ...]:
    """The rules without which, too, the reference does all that the trace shows, or else its first difference
    from the ``right`` one.
    """
    wholly, partly = [], []
    for rule in rules:
        with knocked_out(*off, rule):
            mutant = run_unless_alike(right, first.step)
        if mutant is None:
            continue
        if isinstance(compare(mutant, trace), Agree):
            wholly.append(rule)
            continue
        wrong = compare(right, mutant)
        if isinstance(wrong, Diverge) and _seen(wrong.first) == _seen(first):
            partly.append(rule)
    return tuple(wholly or partly)


def run_unless_alike(right: Trace, last: int) -> Trace | None:
    """Run a program on the reference as it is now, unless its steps up to the ``last`` show just what they
    show in the ``right`` trace: then it is not run to its end, and None is returned.
    """
    alike = True
    with Runner(adapters.load("reference"), right.density) as runner:
        for index, step in enumerate(right.program):
            seen = runner.step(step)
            alike = alike and _shows(seen) == _shows(right[index])
            if alike and last <= index < len(right) - 1:  # the last step of all shows more when it is over
                return None
        return runner.finish()


def _shows(seen: Observation) -> tuple[object, ...]:
    return seen.outcome, seen.warnings, seen.calls, seen.facts


def _seen(difference: Divergence) -> tuple[object, ...]:
    return difference.step, difference.name, difference.fact, difference.actual


def rules_of(trace: Trace, last: int) -> set[str]:
    """The rules that fired, refused or warned in a trace of the reference up to the ``last`` step."""
    found: set[str] = set()
    for seen in trace.observations[: last + 1]:
        found.update(seen.fired, seen.warnings or ())
        if isinstance(seen.outcome, Refused):
            found.add(seen.outcome.rule)
    return found


@cache
def _fired(case: Case, release: str) -> frozenset[str]:
    """The rules that fire in the reference when the case runs as it stands."""
    reference = adapters.load("reference")
    reference.fired(None)
    run_case(case, reference.namespace)
    return frozenset(reference.fired(None))
