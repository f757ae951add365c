"""Programs run in regions: an adapter with `run` is given a program's differentiable middle at once, as a
function of its inputs, and is observed at the function's end.

Compilers and slow implementations need that: step by step they see graphs of one operation. Steps within
show nothing; `comparison.refusals` holds them against those of a step by step run.

An error belongs to the region, of which nothing is left then. Where errors are judged step by step the
program is run again, and the steps that fail alone are regions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from textwrap import indent
from typing import Any

from conformance.execution.runner import Runner
from conformance.execution.trace import DONE, Crashed, Observation, Outcome, Refused, Trace
from conformance.program import GRAD_MODES, OPAQUE, Program, Step, binds, reads
from conformance.program.printing import to_text
from specs import ops
from specs.fact import POSITION, UNSEEN

_VERSION = POSITION["version"]
_UNSEEN: dict[str, tuple[Any, ...]] = {}
_BY_STEP = ("rules", "some")
"""The ways to judge refusals in which each step has its own."""


def _nothing() -> None: ...


@dataclass(frozen=True, slots=True)
class Region:
    """The differentiable middle of a program: a function of its ``inputs`` that returns its ``outputs``."""

    program: Program
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def text(self) -> str:
        """The function as Python, named ``f``; it calls PyTorch's namespace ``torch``."""
        _, body = to_text(self.program).split("import torch\n\n", 1)
        results = ", ".join(self.outputs)
        returned = f"return {results}," if len(self.outputs) == 1 else f"return {results or '()'}"
        return f"def f({', '.join(self.inputs)}):\n{indent(body, '    ')}    {returned}\n"

    def function(self, namespace: Any) -> Callable[..., tuple[Any, ...]]:
        """Return the function over a namespace that is shaped like torch; each call makes a new one."""
        space: dict[str, Any] = {"torch": namespace}
        exec(compile(self.text, "<region>", "exec"), space)
        function: Callable[..., tuple[Any, ...]] = space["f"]
        return function


def in_regions(program: Program, alone: Collection[int] = ()) -> Iterator[Region | Step]:
    """Give the steps of a program in their order, those of its differentiable middles together, but for the
    numbers ``alone``, which are regions of their own.
    """
    held: list[Step] = []
    for at, step in enumerate(program.steps):
        if belongs(step) and at not in alone:
            held.append(step)
            continue
        if held:
            yield region_of(held)
            held = []
        yield region_of([step]) if belongs(step) else step
    if held:
        yield region_of(held)


def region_of(steps: list[Step]) -> Region:
    """Return the region of these steps: what it takes from before is an input, what it binds an output."""
    inputs: dict[str, None] = {}
    outputs: dict[str, None] = {}
    for step in steps:
        inputs |= dict.fromkeys(name for name in reads(step) if name not in outputs)
        outputs |= dict.fromkeys(binds(step))
    return Region(Program(tuple(steps)), tuple(inputs), tuple(outputs))


def belongs(step: Step) -> bool:
    """Tell whether a step may be in the middle of a function: it computes tensors of tensors, or writes."""
    return _computes(step.op) and bool(reads(step)) and all(mode in GRAD_MODES[:4] for mode in step.mode)


@cache
def _computes(op: str) -> bool:
    ops.load()
    name = op.removeprefix("torch.")
    return op not in OPAQUE and (name in ops.ALL or name in ops.IN_PLACE or op in ops.OPERATORS)


class RegionRunner(Runner):
    """A runner that performs regions at once."""

    def __init__(self, adapter: Any, density: str = "each") -> None:
        super().__init__(adapter, density)
        self._regions: list[tuple[int, int]] = []
        self._written: set[str] = set()

    def region(self, region: Region) -> None:
        """Perform a region: step by step where an input is not bound to a tensor."""
        *inner, last = region.program.steps
        values = [self.env.get(name) for name in region.inputs]
        if None in map(self._tensors.get, region.inputs) or any(value is None for value in values):
            for step in region.program.steps:
                self.step(step)
            return
        self._touched.clear()
        self._regions.append((len(self.steps), len(self.steps) + len(region.program)))
        for step in inner:
            self._scope.after(step)
            self.steps.append(step)
            self.observations.append(Observation(DONE, _UNSEEN, None))
        outcome = self._modes.switch((), self._recorded) if self._modes.open else None
        outcome = outcome or self._at_once(region, tuple(values))
        if self._warned is not None:
            self._warned(self.session)  # what a region warns of is not the next step's
        self._touched.clear()
        # What a refused step would have bound may go by the name still of another tensor.
        named = (*reads(last), *(binds(last) if outcome is DONE else ()))
        self._touched.update((name, self.env[name]) for name in named if name in self.env)
        facts: dict[str, tuple[Any, ...]] = {}
        if self.density != "end":
            grads, everything = self._scope.after(last)
            self._seen_all = everything and grads
            facts = self.look(grads, None if everything else self._touched)
        self.steps.append(last)
        self.observations.append(Observation(outcome, facts, None))

    def _at_once(self, region: Region, values: tuple[Any, ...]) -> Outcome:
        try:
            results = self.adapter.run(self.session, region, values)
        except Exception as error:
            return self._failed(error)
        if not isinstance(results, (tuple, list)) or len(results) != len(region.outputs):
            said = f"{len(results)} values" if isinstance(results, (tuple, list)) else type(results).__name__
            raise TypeError(f"run() gave {said} for the {len(region.outputs)} names {region.outputs}")
        outcome = self._bind(region.outputs, tuple(results), False) if results else DONE
        self._mark_chance(region)
        if any(self._scope.reach_of(step.op)[1] for step in region.program):
            self._written |= set(region.outputs)  # no one saw how often since they got their names
        else:
            self._written -= set(region.outputs)
        return outcome

    def _mark_chance(self, region: Region) -> None:
        """Note the outputs of which chance decides how often they were written."""
        modules = self._modules()
        for step in region.program:
            if self._chance.decides(step.op, reads(step), self._since):
                inference = self._chance.detaches_inference(step.op, reads(step), self._since)
                for name in binds(step):
                    self._chance.note(name, inference)
            modules += binds(step) if step.op in OPAQUE else ()
            self._chance.hand_on(step.op, step.args, self._since, modules, self._tensors)
        for name in self._chance & self._tensors.keys() & set(region.outputs):
            self._since[name] = self._shown.counted(self._tensors[name])

    def look(self, grads: bool = True, touched: dict[str, Any] | None = None) -> dict[str, tuple[Any, ...]]:
        facts = super().look(grads, touched)
        for name in self._written & facts.keys():
            if len(seen := facts[name]) > 1:
                facts[name] = (*seen[:_VERSION], UNSEEN, *seen[_VERSION + 1 :])
        return facts

    def finish(self) -> Trace:
        trace = super().finish()
        return trace.in_regions(tuple(self._regions)) if self._regions else trace

    @property
    def failed(self) -> frozenset[int]:
        """The last steps of the regions that failed."""
        ends = (stop - 1 for _, stop in self._regions)
        return frozenset(at for at in ends if isinstance(self.observations[at].outcome, Refused | Crashed))


def trace_of(
    program: Program,
    adapter: Any,
    density: str,
    begin: Callable[[], object] | None = None,
    again: Callable[[], object] = _nothing,
) -> Trace:
    """Run a program from a clean start, by regions if the adapter has `run`. ``begin`` is called before each
    step, ``again`` where it is run anew.
    """
    if not callable(getattr(adapter, "run", None)):
        with Runner(adapter, density) as runner:
            for step in program.steps:
                if begin is not None:
                    begin()
                runner.step(step)
            return runner.finish()
    begin = begin or _nothing
    trace, failed = _by_regions(program, adapter, density, begin, ())
    if failed and getattr(getattr(adapter, "capabilities", None), "refusals", "rules") in _BY_STEP:
        again()
        _, alone = _by_regions(program, adapter, density, begin, range(len(program)))
        again()
        trace, _ = _by_regions(program, adapter, density, begin, alone)
    return trace


def _by_regions(
    program: Program, adapter: Any, density: str, begin: Callable[[], object], alone: Collection[int]
) -> tuple[Trace, frozenset[int]]:
    """Run a program by regions; the trace, and the last steps of those that failed."""
    runner = RegionRunner(adapter, density)
    with runner:
        for part in in_regions(program, alone):
            for _ in [part] if isinstance(part, Step) else part.program.steps:
                begin()
            if isinstance(part, Region):
                runner.region(part)
            else:
                runner.step(part)
        failed = runner.failed
        return runner.finish(), failed
