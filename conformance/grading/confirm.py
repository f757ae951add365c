"""Rules confirmed by programs: the reference without the rule would have been told apart from the subject.

A chunk confirms the rules that no case has held, on the first programs that reach them. Which programs those
are depends on no fact that is shown, so that hiding one never helps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conformance import adapters
from conformance.comparison.compare import Diverge, Divergence, compare
from conformance.comparison.refusals import as_claimed
from conformance.execution.run import run
from conformance.execution.trace import Refused, Trace
from conformance.grading.case_diagnosis import rules_of
from specs.active_rules import knocked_out
from specs.fact import GRAD_FACTS, POSITION, TOPOLOGY, UNSEEN

TRIES = 6
"""Programs of a chunk on which a rule is knocked out, at most."""

ENOUGH = 2
"""Programs of a chunk that confirm a rule."""


class Confirming:
    """The rules that are still to be confirmed, and what was found of them so far.

    ``confirmed`` are those that some program showed to hold, ``lacking`` the fact that another had needed.
    """

    def __init__(self, rules: Iterable[str], refusals: str = "rules") -> None:
        self._left, self._tried, self._refusals = set(rules), Counter[str](), refusals
        self.confirmed: Counter[str] = Counter()
        self.lacking: dict[str, str] = {}

    def program(self, reference: Trace, shown: Trace | None, last: int) -> None:
        """Knock the rules out that fire in a program, which the subject ``shown`` agreed with up to the step
        ``last``; None where it did not agree.
        """
        for rule in sorted(self._left & rules_of(reference, len(reference))):
            self._tried[rule] += 1
            if self._tried[rule] >= TRIES:
                self._left.discard(rule)
            if shown is not None:
                self._try(rule, reference, shown, last)

    def _try(self, rule: str, reference: Trace, shown: Trace, last: int) -> None:
        mutant = as_claimed(without(rule, reference), reference, self._refusals)
        needed = needed_to_tell(reference, mutant, shown, last)
        if needed is None:
            return
        if needed:
            self.lacking[rule] = needed
            self._left.discard(rule)
            return
        self.confirmed[rule] += 1
        if self.confirmed[rule] >= ENOUGH:
            self._left.discard(rule)


def without(rule: str, trace: Trace) -> Trace:
    """The reference's trace of the program of another, without a rule."""
    with knocked_out(rule):
        return run(trace.program, adapters.load("reference"), trace.density)


def needed_to_tell(reference: Trace, mutant: Trace, shown: Trace, last: int) -> str | None:
    """The fact that would tell a mutant from the reference and that is not shown; nothing where another that
    does is, None where nothing differs up to the step ``last``.
    """
    found = compare(reference, mutant)
    if not isinstance(found, Diverge) or found.first.step > last:
        return None
    told = [difference for difference in found.divergences if difference.step == found.first.step]
    if not isinstance(reference[found.first.step].outcome, Refused):
        # That a step was done says little: what it did is to be seen, if there is anything.
        later = [each for each in found.divergences if each.step <= last and each.fact != "outcome"]
        told = [each for each in later if each in told] or later or told
    if any(_is_shown(shown, difference) for difference in told):
        return ""
    return f"needs {told[0].name}.{told[0].fact}" if told[0].name else f"needs {told[0].fact}"


def _is_shown(trace: Trace, difference: Divergence) -> bool:
    """Tell whether a trace shows the fact that differs."""
    seen, name = trace[difference.step], difference.name
    fact, _, inner = difference.fact.partition(".")
    if fact == "warnings":
        return seen.warnings is not None
    if fact == "calls":
        return seen.calls is not None and not _hidden(seen.calls)
    if name is None:
        return True
    if fact == "bound":  # to what, its value tells
        return seen.facts.get(name, ("",))[0] is not UNSEEN
    if fact in TOPOLOGY:
        wired = (trace.topology or {}).get(name)
        return wired is not None and wired[TOPOLOGY.index(fact)] is not UNSEEN
    if name not in seen.facts:  # an answer over stdio leaves names out
        return False
    value = seen.facts[name][POSITION[fact]]
    if inner and isinstance(value, tuple) and len(value) == len(GRAD_FACTS):
        return value[GRAD_FACTS.index(inner)] is not UNSEEN
    return value is not UNSEEN


def _hidden(value: object) -> bool:
    """Tell whether anything of what functions were called with is not shown."""
    return value is UNSEEN or (isinstance(value, tuple) and any(map(_hidden, value)))
