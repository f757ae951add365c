"""The cost of a check and of its parts, in instructions or CPU seconds, here and in other checkouts.

All run the same programs. Bare torch is a program's own script, compiled beforehand, without runner or
observation; the bare reference is the same script on the reference. Programs that torch does not survive, and
those that turn out otherwise unobserved, are found beforehand, in processes of their own, and left out.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.core import core
from conformance import adapters
from conformance.cli.trouble import Trouble
from conformance.execution.isolate import survive
from conformance.execution.run import run
from conformance.execution.trace import Refused, Trace, Unbound
from conformance.grading.sources import programs_from
from conformance.program import Program
from conformance.program.parsing import parse
from conformance.program.printing import script

HERE = Path(__file__).parents[1]
LEGS = Path(__file__).with_name("legs.py")
BARE = {"torch": "torch", "reference": "reference_impl"}
CALLGRIND = ("valgrind", "--tool=callgrind", "--instr-atstart=no", "--combine-dumps=yes")
LEG = re.compile(r"^desc: Trigger: Client Request: ([^\n]+)$.*?^summary: (\d+)$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Cost:
    """The total cost of each leg in one unit, the number of steps of the programs, and the number of those
    that the checkout drew itself.
    """

    legs: dict[str, float]
    steps: int
    own_steps: int

    @property
    def bare(self) -> float:
        return self.legs["bare torch"]

    def parts(self) -> dict[str, float]:
        """The parts of a check that looks after each step; they add up to the whole."""
        legs = self.legs
        stepped = legs["torch, stepped"] + legs["reference, stepped"]
        return {
            "bare torch": self.bare,
            "reference, same scripts": legs["bare reference"],
            "runners, both sides": stepped - self.bare - legs["bare reference"],
            "observation, both sides": legs["torch, each"] + legs["reference, each"] - stepped,
            "draw": (legs["own, drawing"] - legs["own, running"]) * self.steps / self.own_steps,
            "compare": legs["compare, each"],
        }

    def rows(self) -> dict[str, float]:
        """The parts, the wholes, and torch as the runner runs it."""
        parts, legs = self.parts(), self.legs
        run_as_drawn = legs["torch, drawn"] + legs["reference, drawn"] + legs["compare, drawn"]
        return parts | {
            "whole check, each step": sum(parts.values()),
            "whole check, as drawn": parts["draw"] + run_as_drawn,
            "torch, step by step": legs["torch, stepped"],
        }


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs to measure, each with its number, its density and the scripts that it is."""

    numbers: list[int]
    programs: list[str]
    densities: list[str]
    torch: list[str]
    reference: list[str]
    seed: int
    whole: bool
    left_out: int
    length: int = 0


def programs(count: int, seed: int, whole: bool, checkout: Path = HERE, length: int = 0) -> Programs:
    """The programs that a checkout's generator draws, of its whole vocabulary or of the core alone, and of so
    many steps where a length is given.
    """
    drawn = json.loads(_legs(checkout, "draw", count, seed, int(whole), length))
    lived = [
        (number, *texts)
        for number, texts in enumerate(survive(_texts, drawn, chunk=10))
        if isinstance(texts, tuple)
    ]
    columns = map(list, zip(*lived, strict=True))
    left_out = count - len(lived)
    return Programs(*columns, seed=seed, whole=whole, length=length, left_out=left_out)  # type: ignore[arg-type]


def need_valgrind() -> None:
    """Raise Trouble where instructions cannot be counted."""
    if shutil.which("valgrind") is None or platform.machine() not in ("x86_64", "AMD64"):
        raise Trouble(
            "instructions are counted by valgrind on x86-64, which is not here",
            "install the package valgrind, or leave --instructions out to measure seconds",
        )


def instructions(given: Programs, checkout: Path = HERE) -> Cost:
    """Count what each leg executes, under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        under = (*CALLGRIND, f"--callgrind-out-file={out}")
        steps = json.loads(_legs(checkout, "count", given=given, under=under))
        legs = {name: float(count) for name, count in LEG.findall(out.read_text())}
    return Cost(legs, steps["steps"], steps["own steps"])


def seconds(given: Programs, checkout: Path = HERE, turn: int = 0) -> Cost:
    """Time each leg in one process. Each turn lays memory out in a way of its own."""
    legs = json.loads(_legs(checkout, "time", given=given, hash_seed=turn))
    return Cost(legs, legs.pop("steps"), legs.pop("own steps"))


def least(one: Cost, other: Cost) -> Cost:
    """The lesser of each leg: what else a machine does makes it slower, never faster."""
    return Cost({leg: min(x, other.legs[leg]) for leg, x in one.legs.items()}, one.steps, one.own_steps)


def rates(count: int, seed: int, whole: bool) -> dict[str, float]:
    """Programs drawn a second, by source."""
    limits, found = adapters.capabilities(adapters.load("reference")) if whole else core(), {}
    for source in ("prng", "hypothesis"):
        started = process_time()
        programs_from(source, seed, 0, count, limits, lambda number, drawn: None)
        found[source] = count / (process_time() - started)
    return found


def bare(program: Program, trace: Trace, module: str) -> str:
    """The program as a script on a torch-shaped module: refused steps in a ``try``, steps that were never run
    left out.
    """
    kept = [i for i, seen in enumerate(trace.observations) if not isinstance(seen.outcome, Unbound)]
    refused = [n for n, i in enumerate(kept) if isinstance(trace[i].outcome, Refused)]
    text = script(Program(tuple(program[i] for i in kept)), refused=refused)
    silent = text.replace("print(type(error).__name__, error)", "pass")
    return silent.replace("import torch", f"import {module} as torch", 1)


def _texts(item: tuple[str, str]) -> tuple[str, ...] | None:
    """A program, its density and its scripts, from a process that may die of running it; None where a script
    is refused a step that was not refused under observation.
    """
    text, density = item
    program, torch = parse(text), adapters.load("torch")
    trace = run(program, torch)
    for other in {density, "end"}:
        run(program, torch, other)
    scripts = [bare(program, trace, module) for module in BARE.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for one in scripts:
                exec(one, {})
        except Exception:
            return None
    return text, density, *scripts


def _legs(
    checkout: Path,
    *asked: object,
    given: Programs | None = None,
    under: tuple[str, ...] = (),
    hash_seed: int = 0,
) -> str:
    """Run ``legs.py`` in a checkout and return its output; raise Trouble if it fails."""
    environment = os.environ | {
        "PYTHONPATH": str(checkout.resolve()),
        "PYTHONSAFEPATH": "1",  # the checkout's packages, not what lies beside the script
        "PYTHONHASHSEED": str(hash_seed),
        "OMP_NUM_THREADS": "1",
        "AUTOGRAD_CONFORMANCE_DEVICE": "cpu",
    }
    command = [*under, sys.executable, str(LEGS), *map(str, asked)]
    text = "" if given is None else json.dumps(_as_json(given))
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=checkout, env=environment)
    if done.returncode:
        said = done.stderr.strip()
        raise Trouble(f"{checkout} cannot be measured: {said}", "is it a checkout of this project?")
    return done.stdout


def _as_json(given: Programs) -> dict[str, Any]:
    return {name: getattr(given, name) for name in Programs.__slots__}
