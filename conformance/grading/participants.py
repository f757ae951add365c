"""The implementations that take part in judging one subject, and the judgement of one program by them.

`comparison.judge` decides by traces; here they are taken, and divergences on record looked up. Many programs
are judged in `campaign`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from conformance import adapters
from conformance.adapters.capabilities import DEVICE_VARIABLE, Capabilities
from conformance.adapters.introduced import told_of
from conformance.comparison.compare import Incomparable
from conformance.comparison.judge import Decision, Judgement, judge
from conformance.comparison.known_divergences import KnownDivergence, known_divergence
from conformance.comparison.refusals import as_claimed
from conformance.comparison.tolerance.bounds import Perturbed
from conformance.comparison.tolerance.perturb import perturbed
from conformance.execution.flight_recorder import note
from conformance.execution.isolate import PRELOAD, WITHOUT_TORCH, Died, survive
from conformance.execution.run import run
from conformance.execution.trace import Crashed, Trace
from conformance.grading.cuda_kernels import as_the_cpu_says, left_to_kernels, run_beside
from conformance.program import Program
from conformance.program.printing import to_text
from specs.fact import TOPOLOGY

REFERENCE, TORCH = "reference", "torch"


class AdapterBroke(Exception):
    """The adapter raised where its contract says that it does not."""


class Judged(NamedTuple):
    """The judgement of a program, the reference's trace, the trace that settles what is right, and the
    subject's, or the one that the subject was compared with if it is the reference.
    """

    found: Judgement
    reference: Trace
    right: Trace
    other: Trace

    @property
    def differing(self) -> Trace:
        """The trace that gave the actual values of a difference: torch's where the suite is at fault."""
        return self.right if self.found.decision is Decision.SUITE else self.other


def preload_for(*sides: str) -> tuple[str, ...]:
    """Return the modules that grading processes find imported: torch only where it takes part itself."""
    return PRELOAD if TORCH in sides else WITHOUT_TORCH


def meet_torch() -> None:
    """Have another process, which is to be started anyway, say what torch can do: it takes long to import.

    NB: not where devices are asked for, since this process builds the stand-in for all. Raises AdapterError
    as `adapters.load` does.
    """
    if TORCH in sys.modules or os.environ.get(DEVICE_VARIABLE) != "cpu":
        return
    (told,) = survive(_told, [TORCH], preload=PRELOAD)
    if not isinstance(told, Died):
        adapters.introduce(TORCH, told)


def _told(spec: str) -> dict[str, Any]:
    return told_of(adapters.load(spec))


@dataclass(frozen=True, slots=True)
class Participants:
    """The subject and whom it is held against.

    A recorded trace of torch (of release ``torch``, on ``device``) takes torch's place for its own program;
    of any other program the reference alone is right.
    """

    subject: str
    against: str
    recorded: Trace | None = None
    torch: str = ""
    device: str = "cpu"

    @property
    def with_torch(self) -> bool:
        return TORCH in (self.subject, self.against)

    @property
    def capabilities(self) -> Capabilities:
        """The features that may be drawn: the subject's, and torch's if it takes part (the reference can do
        what torch can).
        """
        own = adapters.capabilities(adapters.load(self.subject))
        if not self.with_torch:
            return own
        torch = adapters.capabilities(adapters.load(TORCH))
        return torch if self.subject == REFERENCE else replace(own, features=own.features & torch.features)

    @property
    def torch_elsewhere(self) -> bool:
        """True where the subject is torch in a process of its own: a crash of torch is not its fault."""
        return getattr(adapters.load(self.subject), "serves", "") == TORCH

    def judged(self, program: Program, density: str, reference: Trace | None = None) -> Judged:
        """Run the program on all participants. A step that is left to the kernels of a device is judged by
        nobody: what is judged is the program without it, which is that of the traces.
        """
        judged = self._judged(program, density, reference)
        while self.recorded is None and (at := left_to_kernels(judged.found.comparison)) is not None:
            program = Program(program.steps[:at] + program.steps[at + 1 :])
            judged = self._judged(program, density, None)
        return judged

    def _judged(self, program: Program, density: str, reference: Trace | None) -> Judged:
        if reference is None:
            reference = run(program, adapters.load(REFERENCE), density)
        torch = None
        if self.recorded is not None:
            own = self.recorded.program == program and self.recorded.density == density
            torch = self._replayed(self.recorded, reference) if own else None
        elif self.with_torch:
            note(program, 0)
            torch = run_beside(reference, program, adapters.load(TORCH), density)
        actual = self._actual(program, density, reference, torch)
        right = torch or reference
        other = right if actual is reference else actual
        found = judged(reference, actual, torch, self.torch)
        first = found.first
        if first is not None and actual.observations[first.step].crash is not None and self.torch_elsewhere:
            found = replace(found, decision=Decision.CRASH)
        return Judged(found, reference, right, other)

    def _replayed(self, recorded: Trace, reference: Trace) -> Trace:
        return as_the_cpu_says(recorded, reference) if self.device == "cuda" else recorded

    def _actual(self, program: Program, density: str, reference: Trace, torch: Trace | None) -> Trace:
        if self.subject == REFERENCE:
            return reference
        if self.subject == TORCH and torch is not None and self.recorded is None:
            return torch
        note(program, 1)
        subject = adapters.load(self.subject)
        try:
            trace = run_beside(reference, program, subject, density)
            return as_claimed(trace, reference, adapters.capabilities(subject).refusals)
        except Exception as error:
            where = to_text(program).replace("\n", "; ")
            raise AdapterBroke(f"{type(error).__name__}: {error}, on: {where}") from error


def judged(reference: Trace, actual: Trace, torch: Trace | None, release: str = "") -> Judgement:
    """Judge three traces of one program, and look up whether torch's divergence is on record, or that of a
    subject that does as torch does.

    ``release`` is torch's, the installed one by default.
    """
    program, density = reference.program, reference.density
    off = partial(perturbed, program, density)
    found = judge(reference, actual, torch, off)

    def again() -> Trace:
        return run(program, adapters.load(REFERENCE), density)

    if torch is None and found.decision is Decision.NONCONFORMANCE:
        known = known_divergence(reference, actual, release or adapters.load(REFERENCE).torch, again, off)
        if known is None:
            return found
        alike = judge(known.trace, actual, perturbed=known.perturbed)
        return replace(alike, decision=Decision.KNOWN, because=known.rules)
    if found.decision is not Decision.SUITE or torch is None:
        return found
    known = known_divergence(reference, torch, release or adapters.load(TORCH).version, again, off)
    return found if known is None else _despite(found, known, reference, actual, torch, off)


def _despite(
    difference: Judgement,
    known: KnownDivergence,
    reference: Trace,
    actual: Trace,
    torch: Trace,
    off: Perturbed,
) -> Judgement:
    """Judge where torch's divergence is on record: a subject may do as torch does or as the rule says."""
    if actual is reference or actual is torch:
        found = judge(known.trace, torch, torch, known.perturbed)
        if found.decision is Decision.CRASH:
            return found
        left, first = found.comparison, difference.first
        if isinstance(left, Incomparable) and first is not None and left.step == first.step:
            return found  # what torch did cannot be told from what is unspecified there
        alike = judge(known.trace, torch, perturbed=known.perturbed)
        return replace(alike, decision=Decision.KNOWN, because=known.rules)
    found = judge(known.trace, actual, torch, known.perturbed)
    nonconforming = found.decision is Decision.NONCONFORMANCE
    return judge(reference, actual, perturbed=off) if nonconforming else found


def same_defect(
    found: Judgement, again: Judgement, program: Program, other: Program, anywhere: bool = False
) -> bool:
    """Tell whether two judgements show the same defect: one decision, one fact, after one operation or
    ``anywhere``. Topology shows in the end alone, so that its operation tells nothing.
    """
    x, y = found.first, again.first
    if found.decision is not again.decision or x is None or y is None:
        return False
    return (
        (x.fact, type(x.expected), type(x.actual)) == (y.fact, type(y.expected), type(y.actual))
        and isinstance(x.actual, Crashed) is isinstance(y.actual, Crashed)
        and (anywhere or x.fact in TOPOLOGY or program[x.step].op == other[y.step].op)
    )
