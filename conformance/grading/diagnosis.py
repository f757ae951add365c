"""The rules behind a difference: those without which the reference does what the actual side did.

A rule is knocked out and the program run again on the reference: what changes is what the rule decides. Only
programs that differ are diagnosed. Whether a case convicts a rule is not asked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from conformance import adapters
from conformance.comparison.compare import Comparison, Diverge, Divergence, Incomparable, compare
from conformance.comparison.tolerance.op_effects import is_declared, shows, writes
from conformance.comparison.tolerance.perturb import perturbed, perturbed_references
from conformance.execution.run import Runner, run
from conformance.execution.trace import Refused, Trace
from conformance.grading.participants import REFERENCE
from conformance.program import Program, Step, binds
from specs.active_rules import knocked_out, recording
from specs.fact import TOPOLOGY
from specs.rule import RULES

FEW = 5
"""The most rules that a finding names without knowing that they explain it."""

Place = tuple[int, str | None, str]
"""The place of a difference: step, name and fact; of a grad's facts, the grad."""


def location(difference: Divergence) -> Place:
    """Return the place of a difference."""
    return difference.step, difference.name, difference.fact.partition(".")[0]


class Mutant(NamedTuple):
    """The reference's trace without some rules, another trace, and how that compares with it."""

    trace: Trace
    other: Trace
    comparison: Comparison

    @property
    def agrees_until(self) -> int:
        """The number of steps over which the two agree."""
        if isinstance(self.comparison, Diverge):
            return self.comparison.first.step
        if isinstance(self.comparison, Incomparable):
            return self.comparison.step
        return len(self.trace)

    def differing(self, step: int, wired: bool = False) -> list[Place]:
        """The places of the differences at a step: in facts, or in how all is ``wired`` in the end."""
        found = self.comparison.divergences if isinstance(self.comparison, Diverge) else ()
        return [location(each) for each in found if each.step == step and (each.fact in TOPOLOGY) is wired]

    def is_nearer_than(self, other: Mutant) -> bool:
        """Tell whether it agrees with the trace over more steps than another mutant; or over as many, and
        less differs at the next one, and no fact that did not. What hangs together counts last.
        """
        step = self.agrees_until
        if step != other.agrees_until:
            return step > other.agrees_until
        if not isinstance(self.comparison, Diverge):
            return isinstance(other.comparison, Diverge)
        facts, others = self.differing(step), other.differing(step)
        less = len(facts), len(self.differing(step, wired=True))
        return set(facts) <= set(others) and less < (len(others), len(other.differing(step, wired=True)))

    def apart(self, step: int) -> int:
        """The number of differences up to a step."""
        found = self.comparison.divergences if isinstance(self.comparison, Diverge) else ()
        return sum(each.step <= step for each in found)

    def agrees_past(self, first: Divergence) -> bool:
        """Tell whether the two agree as far as they can be compared, and past a difference."""
        return not isinstance(self.comparison, Diverge) and self.agrees_until > first.step

    def explains(self, first: Divergence) -> bool:
        """Tell whether the two agree up to a difference and there."""
        if not isinstance(self.comparison, Diverge) or self.agrees_until != first.step:
            return self.agrees_until > first.step
        places = set(map(location, self.comparison.divergences))
        return not places & {location(first), (first.step, None, "outcome")} and self._wires_alike(first)

    def shows(self, first: Divergence) -> bool:
        """Tell whether the two differ earlier, and not in what differs there; that is not so of a fact which
        was wrong before.
        """
        places = set(map(location, getattr(self.comparison, "divergences", ())))
        _, name, fact = location(first)
        if any(place[1:] == (name, fact) and place[0] < first.step for place in places) and name:
            return False
        return not places & {location(first), (first.step, None, "outcome")} and self._wires_alike(first)

    def _wires_alike(self, first: Divergence) -> bool:
        """Tell whether memory or history is alike where it differs: comparing leaves it out if more does."""
        return first.fact not in TOPOLOGY or wired(self.trace, first) == wired(self.other, first)


def run_without(program: Program, adapter: Any, density: str, off: Mapping[int, tuple[str, ...]]) -> Trace:
    """Run a program on the reference, at some steps without the rules named there."""
    runner = Runner(adapter, density)
    try:
        for index, step in enumerate(program.steps):
            with knocked_out(*off.get(index, ())):
                runner.step(step)
        with knocked_out(*off.get(len(program) - 1, ())):
            return runner.finish()
    finally:
        runner.close()


def follow(other: Trace, rules: Iterable[str]) -> tuple[Mutant, dict[int, tuple[str, ...]]]:
    """Run the program of a trace on the reference, without a rule wherever it takes that to do as the other
    side did: at the step that differs, or up to there. Also return the rules left out, by step.

    What differs still is therefore wrong by what went before on the other side, too.
    """
    rules, off = tuple(rules), dict[int, tuple[str, ...]]()
    best = _following(other, off)
    while isinstance(best.comparison, Diverge):
        step = best.agrees_until
        at_once = ({step: (*off.get(step, ()), rule)} for rule in rules)
        until_then = ({at: (*off.get(at, ()), rule) for at in range(step + 1)} for rule in rules)
        for more in (*at_once, *until_then):
            mutant = _following(other, off | more)
            if mutant.is_nearer_than(best):
                best, off = mutant, off | more
                break
        else:
            break
    return best, off


def _following(other: Trace, off: Mapping[int, tuple[str, ...]]) -> Mutant:
    program, density = other.program, other.density

    def moved() -> tuple[Trace, ...]:
        return tuple(run_without(program, each, density, off) for each in perturbed_references())

    trace = run_without(program, adapters.load(REFERENCE), density, off)
    return Mutant(trace, other, compare(trace, other, perturbed=moved))


def mutant_of(other: Trace, *rules: str) -> Mutant:
    """Run the program of a trace on the reference without the rules, and compare."""
    program, density = other.program, other.density
    with knocked_out(*rules):
        trace = run(program, adapters.load(REFERENCE), density)
        return Mutant(trace, other, compare(trace, other, perturbed=partial(perturbed, program, density)))


def wired(trace: Trace, at: Divergence) -> Any:
    """The memory or history of a name in the end of a trace."""
    return (trace.topology or {}).get(at.name or "", (None,) * len(TOPOLOGY))[TOPOLOGY.index(at.fact)]


class Diagnosis(NamedTuple):
    """The rules behind a difference: those that explain it exactly, and these and others, the likeliest
    first. One may come before all that explain it: the rule of a refusal that was not met.
    """

    explained_by: tuple[str, ...]
    because: tuple[str, ...]


def fired_until(trace: Trace, step: int) -> Counter[str]:
    """The rules that fired in a trace up to a step, each with the number of steps."""
    seen = (observed for observed in trace.observations[: step + 1])
    return Counter(rule for each in seen for rule in {*each.fired, *(each.warnings or ())} if rule in RULES)


def marked_at(trace: Trace, step: int) -> dict[str, int]:
    """The rules that are marked at a step of the reference's trace, in order: what a call decides itself is
    marked before what calls within it decide.
    """
    marked: list[str] = []
    runner = Runner(adapters.load(REFERENCE), trace.density)
    try:
        for each in trace.program.steps[:step]:
            runner.step(each)
        with recording(marked.append):
            runner.step(trace.program[step])
    finally:
        runner.close()
    return {rule: at for at, rule in enumerate(dict.fromkeys(marked))}


def diagnose(
    reference: Trace,
    other: Trace,
    first: Divergence,
    fired: Mapping[str, int],
    drawn: Trace | None = None,
    off: Mapping[int, tuple[str, ...]] | None = None,
) -> Diagnosis:
    """Find the rules behind the first difference of another trace from the reference's; rules that have
    ``fired`` least often so far are likelier.

    ``drawn`` is the other side's trace of the program before it was reduced: of the rules that explain the
    difference those come first that explain most of it. One may explain it that holds elsewhere in the
    program, if none does that is left out throughout. Of others, those come first that the step applies by
    what it is built of, as a module's hooks; then those without which least else differs, but for those that
    change nothing which is wrong. Without ``off`` rules the reference was run.
    """
    grades: dict[str, int] = {}
    apart: dict[str, int] = {}
    wrong = {location(first), *Mutant(reference, other, compare(reference, other)).differing(first.step)}
    for rule in sorted(fired_until(reference, first.step)):
        mutant = _also_without(rule, other, off)
        grade = _grade(reference, mutant, first, wrong)
        if grade is not None:
            grades[rule], apart[rule] = grade, mutant.apart(first.step)
    if min(grades.values(), default=_FACT_ALONE) > _SAME_FACT:
        for rule, mutant in _broken_there(reference, other, first, off or {}):
            grades[rule], apart[rule] = _SAME_STEP, mutant.apart(first.step)
    exact = [rule for rule, grade in grades.items() if grade <= _SAME_STEP]
    exact = exact or [rule for rule, grade in grades.items() if grade == _SAME_FACT]
    instead_of, instead = (
        (x.rule,) if isinstance(x, Refused) else () for x in (first.expected, first.actual)
    )

    fact = first.fact.partition(".")[0]
    marks = marked_at(reference, first.step)

    def telling(rule: str) -> tuple[object, ...]:
        decides = RULES[rule].decides
        return fact not in decides, fired.get(rule, 0), marks.get(rule, len(marks)), len(decides), rule

    def likelihood(rule: str) -> tuple[object, ...]:
        until = 0
        if drawn is not None and rule in exact and len(exact) > 1:
            until = mutant_of(drawn, rule).agrees_until
        near = (grades[rule] == _BESIDE, apart[rule])
        known = grades[rule] if rule in exact else len(_GRADES)
        return known, -until, rule not in instead_of + instead, near, grades[rule], telling(rule)

    if not exact and _is_what_the_op_computes(reference.program[first.step], first):
        own = [rule for rule in marks if rule.startswith("op/") and "value" in RULES[rule].decides]
        return Diagnosis((), tuple(sorted(own, key=telling)[:FEW]))
    ordered = sorted(grades, key=likelihood)
    explained = tuple(rule for rule in ordered if rule in exact)
    near = [rule for rule in ordered if grades[rule] <= _BESIDE]
    here = sorted(reference[first.step].fired, key=telling) if not [*near, *instead_of] else []
    own_steps = () if is_declared(reference.program[first.step].op) else marks
    built = [rule for rule in own_steps if fact in RULES[rule].decides and not RULES[rule].in_programs]
    rest = (*instead_of, *built, *near, *here, *instead, *ordered)
    stopped = () if instead else instead_of
    missed = tuple(r for r in stopped if r not in explained and grades.get(r, _FROM_EARLIER_ON) <= _BESIDE)
    leading = (*missed, *explained)
    others = [rule for rule in dict.fromkeys(rest) if rule not in leading]
    return Diagnosis(explained, (*leading, *others[:FEW]))


def _also_without(rule: str, other: Trace, off: Mapping[int, tuple[str, ...]] | None) -> Mutant:
    if not off:
        return mutant_of(other, rule)
    return _following(other, {step: (*off.get(step, ()), rule) for step in range(len(other.program))})


def _broken_there(
    reference: Trace, other: Trace, first: Divergence, off: Mapping[int, tuple[str, ...]]
) -> Iterator[tuple[str, Mutant]]:
    """Yield the rules without which, at the step of a difference alone, the reference does the same there."""
    for rule in sorted(reference[first.step].fired & RULES.keys()):
        mutant = _following(other, {**off, first.step: (*off.get(first.step, ()), rule)})
        if mutant.agrees_until > first.step:
            yield rule, mutant


def _is_what_the_op_computes(step: Step, first: Divergence) -> bool:
    """Tell whether a value is wrong that an op computes anew: rules about the op alone decide it."""
    computes = is_declared(step.op) and not writes(step.op) and shows(step) == "never"
    return computes and first.fact == "value" and first.name in binds(step)


_GRADES = range(7)
_SAME_TO_THE_END, _SAME_STEP, _SAME_FACT, _FACT_ALONE, _AT_THAT_STEP, _BESIDE, _FROM_EARLIER_ON = _GRADES


def _grade(reference: Trace, mutant: Mutant, first: Divergence, wrong: Collection[Place]) -> int | None:
    """Return how nearly a mutant does what the other side did at its first difference from the reference: all
    of it, that fact alone, or something else at a place that is ``wrong`` there or beside it; None if it
    changes neither that nor anything first there.
    """
    if mutant.agrees_past(first):
        return _SAME_TO_THE_END
    if mutant.explains(first):
        return _SAME_STEP if mutant.agrees_until > first.step else _SAME_FACT
    changed = compare(reference, mutant.trace)
    if not isinstance(changed, Diverge):
        return None
    places = set(map(location, changed.divergences))
    if first.fact in TOPOLOGY and wired(reference, first) != wired(mutant.trace, first):
        places.add(location(first))
    if location(first) in places and mutant.shows(first):
        return _FACT_ALONE
    at = changed.first
    if at.step == first.step and (at.fact == first.fact) >= (at.fact == "outcome"):
        return _BESIDE if places.isdisjoint(wrong) else _AT_THAT_STEP
    return _FROM_EARLIER_ON if location(first) in places else None
