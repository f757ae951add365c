"""Times a check and its parts on one set of programs, against bare torch running the same.

CPU time of this process, best of several rounds in which all parts take turns, so that a ratio is of one run.
Bare torch is the program's own script, compiled beforehand, without runner or observation; the reference is
the same script on the reference. Programs that torch does not survive, and those that go otherwise when
nobody looks, are found beforehand, in processes of their own, and left out everywhere.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from types import CodeType
from typing import Any

from benchmarks.core import core
from conformance import adapters
from conformance.adapters.capabilities import Capabilities
from conformance.comparison.judge import judge
from conformance.execution.isolate import spare_collector, survive
from conformance.execution.run import Runner, run
from conformance.execution.trace import Refused, Trace, Unbound
from conformance.generate.guide.guide import DENSITY, Drawn, draw
from conformance.generate.state.choices import Prng
from conformance.grading.sources import programs_from
from conformance.program import Program
from conformance.program.printing import script

BARS = {
    "whole check, looking after each step": "<= 4.0",
    "whole check, as densely as drawn": "<= 3.3",
    "reference": "<= 0.75",
    "draw": "<= 0.5",
    "PRNG programs/s over Hypothesis's": ">= 5",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of CPU for all programs together, part by part, and rates."""

    programs: int
    left_out: int
    steps: int
    bare: float
    torch: float
    reference: float
    draw: float
    observation: float
    compare: float
    whole_each: float
    whole_drawn: float
    prng_rate: float
    hypothesis_rate: float

    def parts(self) -> dict[str, float]:
        """Where the time of a check goes when it looks after each step."""
        return {
            "bare torch": self.bare,
            "draw": self.draw,
            "reference": self.reference,
            "torch": self.torch,
            "observation, both sides": self.observation,
            "compare": self.compare,
            "whole check, looking after each step": self.whole_each,
            "whole check, as densely as drawn": self.whole_drawn,
        }

    def ratios(self) -> dict[str, float]:
        """What the bars speak of, each against bare torch but for the last."""
        return {
            "whole check, looking after each step": self.whole_each / self.bare,
            "whole check, as densely as drawn": self.whole_drawn / self.bare,
            "reference": self.reference / self.bare,
            "draw": self.draw / self.bare,
            "PRNG programs/s over Hypothesis's": self.prng_rate / self.hypothesis_rate,
        }


def measure(count: int, seed: int, rounds: int, *, of_core: bool = False) -> Cost:
    """Time every part on ``count`` programs of the generator's own mix, or of the core vocabulary alone."""
    reference, torch = adapters.load("reference"), adapters.load("torch")
    limits = core() if of_core else adapters.capabilities(reference)
    items = [(seed, number, limits) for number in range(count)]
    lives = survive(_lives, items)
    numbers = [item[1] for item, lived in zip(items, lives, strict=True) if lived is True]
    mix = _draw(seed, numbers, limits, reference)
    programs = [drawn.program for drawn in mix]
    codes = [_compiled(drawn, "torch") for drawn in mix]
    mirrored = [_compiled(drawn, "reference_impl") for drawn in mix]
    expected = [run(program, reference) for program in programs]
    actual = [run(program, torch) for program in programs]
    parts: dict[str, Callable[[], Any]] = {
        "bare": lambda: [exec(code, {}) for code in codes],
        "torch": lambda: [_execute(program, torch) for program in programs],
        "reference": lambda: [exec(code, {}) for code in mirrored],
        "reference, stepwise": lambda: [_execute(program, reference) for program in programs],
        "torch, looking": lambda: [run(program, torch) for program in programs],
        "reference, looking": lambda: [run(program, reference) for program in programs],
        "drawing": lambda: _draw(seed, numbers, limits, reference, "end"),
        "reference, drawn alike": lambda: [run(program, reference, "end") for program in programs],
        "compare": lambda: [judge(x, y, y) for x, y in zip(expected, actual, strict=True)],
        "whole, each": lambda: _check(seed, numbers, limits, reference, torch, "each"),
        "whole, drawn": lambda: _check(seed, numbers, limits, reference, torch, None),
        "prng": lambda: _drawn("prng", count, seed, limits),
        "hypothesis": lambda: _drawn("hypothesis", count, seed, limits),
    }
    best = dict.fromkeys(parts, float("inf"))
    gc.collect()
    spare_collector()  # as the processes of a campaign do
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(rounds):
            for name, part in parts.items():
                started = process_time()
                part()
                best[name] = min(best[name], process_time() - started)
    looking = (
        best["torch, looking"] - best["torch"] + best["reference, looking"] - best["reference, stepwise"]
    )
    return Cost(
        programs=len(mix),
        left_out=count - len(mix),
        steps=sum(map(len, programs)),
        bare=best["bare"],
        torch=best["torch"],
        reference=best["reference"],
        draw=best["drawing"] - best["reference, drawn alike"],
        observation=looking,
        compare=best["compare"],
        whole_each=best["whole, each"],
        whole_drawn=best["whole, drawn"],
        prng_rate=count / best["prng"],
        hypothesis_rate=count / best["hypothesis"],
    )


def _drawn(source: str, count: int, seed: int, limits: Capabilities) -> list[tuple[int, Drawn]]:
    """Programs as a campaign draws them."""
    taken: list[tuple[int, Drawn]] = []
    programs_from(source, seed, 0, count, limits, lambda number, drawn: taken.append((number, drawn)))
    return taken


def _draw(
    seed: int, numbers: list[int], limits: Capabilities, oracle: Any, density: str | None = None
) -> list[Drawn]:
    choices = Prng()
    return [_one(choices, seed, number, limits, oracle, density) for number in numbers]


def _one(
    choices: Prng, seed: int, number: int, limits: Capabilities, oracle: Any, density: str | None
) -> Drawn:
    """The program of that number, which is the same at every density."""
    choices.restart(seed, number)
    if density is not None:
        choices.pick(DENSITY)
    return draw(choices, oracle, limits, density)


def _lives(item: tuple[int, int, Capabilities]) -> bool:
    """Do with torch, in a process that may die of it, what will be timed; False where the bare script is
    refused a step that was not refused with somebody looking.
    """
    seed, number, limits = item
    reference, torch = adapters.load("reference"), adapters.load("torch")
    drawn = draw(Prng(seed, number), reference, limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for module in ("torch", "reference_impl"):
                exec(_compiled(drawn, module), {})
        except Exception:
            return False
        _execute(drawn.program, torch)
        for density in ("each", drawn.density):
            run(drawn.program, torch, density)
    return True


def _check(
    seed: int, numbers: list[int], limits: Capabilities, reference: Any, torch: Any, density: str | None
) -> None:
    """What a campaign does with each program that agrees."""
    choices = Prng()
    for number in numbers:
        drawn = _one(choices, seed, number, limits, reference, density)
        assert drawn.trace is not None
        actual = run(drawn.program, torch, drawn.density)
        judge(drawn.trace, actual, actual)


def _execute(program: Program, adapter: Any) -> None:
    """The steps on an adapter, unobserved."""
    with Runner(adapter, "end") as runner:
        for step in program:
            runner.step(step)


def bare(program: Program, trace: Trace, module: str) -> str:
    """The program as a script on a torch-shaped module: refused steps in a ``try``, steps that were never run
    left out.
    """
    kept = [i for i, seen in enumerate(trace.observations) if not isinstance(seen.outcome, Unbound)]
    refused = [n for n, i in enumerate(kept) if isinstance(trace[i].outcome, Refused)]
    text = script(Program(tuple(program[i] for i in kept)), refused=refused)
    silent = text.replace("print(type(error).__name__, error)", "pass")
    return silent.replace("import torch", f"import {module} as torch", 1)


def _compiled(drawn: Drawn, module: str) -> CodeType:
    assert isinstance(drawn.trace, Trace)
    return compile(bare(drawn.program, drawn.trace, module), "program", "exec")
