"""Runs the legs of a check in the checkout it is started in, counted or timed; ``benchmarks.cost`` starts it.

It is a script, ``legs.py draw COUNT SEED WHOLE STEPS`` or ``legs.py time`` or ``legs.py count``, and imports
what any release since the first with ``benchmarks.core`` has, each name from the modules it has lived in.
A leg is work on all programs: a part of a check or several together. ``benchmarks.cost`` takes them apart.
"""

from __future__ import annotations

import gc
import json
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

Leg = Callable[[], object]


def found(name: str, *modules: str) -> Any:
    """The attribute of the first of these modules that exists."""
    for module in modules:
        try:
            return getattr(import_module(module), name)
        except ModuleNotFoundError:
            continue
    raise ImportError(f"no {name} in any of {modules}")


adapters = import_module("conformance.adapters")
core = found("core", "benchmarks.core")
judge = found("judge", "conformance.comparison.judge", "conformance.judge")
Runner = found("Runner", "conformance.execution.run", "conformance.run")
run = found("run", "conformance.execution.run", "conformance.run")
draw = found("draw", "conformance.generate.guide.guide", "conformance.generate.guide")
DENSITY = found("DENSITY", "conformance.generate.guide.guide", "conformance.generate.guide")
Prng = found("Prng", "conformance.generate.state.choices", "conformance.generate.choices")
parse = found("parse", "conformance.program.parsing", "conformance.parse")
to_text = found("to_text", "conformance.program.printing", "conformance.text")

sys.path.append(str(Path(__file__).parent))  # the last place: all else comes from the checkout
counted = import_module("callgrind").counted

LENGTHS = vars(import_module(draw.__module__))
"""The names of the module that says how long programs are."""

REFERENCE, TORCH = adapters.load("reference"), adapters.load("torch")


def drawn(numbers: list[int], seed: int, whole: bool, density: str | None = None) -> list[Any]:
    """The programs of those numbers, which are the same at every density."""
    programs = []
    limits = adapters.capabilities(REFERENCE) if whole else core()
    for number in numbers:
        choices = Prng(seed, number)
        if density is not None:
            choices.pick(DENSITY)
        programs.append(draw(choices, REFERENCE, limits, density))
    return programs


def lengthen(steps: int) -> None:
    """Let programs end after so many steps, or where the generator says if there are none."""
    if steps:
        LENGTHS["_LONGER"] = (1,) * steps  # one length of one is longer, up to there


def stepped(program: Any, adapter: Any) -> None:
    """Run the steps on an adapter, unobserved."""
    with Runner(adapter, "end") as runner:
        for step in program:
            runner.step(step)


def legs(given: dict[str, Any]) -> dict[str, Leg]:
    """Each leg by its name; what is drawn is drawn anew, by this checkout's generator."""
    lengthen(given["length"])
    pick = given["numbers"], given["seed"], given["whole"]
    programs = [parse(text) for text in given["programs"]]
    beside = list(zip(programs, given["densities"], strict=True))
    own = [one.program for one in drawn(*pick, "each")]
    torch = [compile(text, "torch", "exec") for text in given["torch"]]
    reference = [compile(text, "reference", "exec") for text in given["reference"]]

    def both(look: list[tuple[Any, str]]) -> list[tuple[Any, Any]]:
        return [(run(program, REFERENCE, density), run(program, TORCH, density)) for program, density in look]

    after_each, as_drawn = both([(program, "each") for program in programs]), both(beside)
    return {
        "bare torch": lambda: [exec(code, {}) for code in torch],
        "bare reference": lambda: [exec(code, {}) for code in reference],
        "torch, stepped": lambda: [stepped(program, TORCH) for program in programs],
        "reference, stepped": lambda: [stepped(program, REFERENCE) for program in programs],
        "torch, each": lambda: [run(program, TORCH, "each") for program in programs],
        "reference, each": lambda: [run(program, REFERENCE, "each") for program in programs],
        "compare, each": lambda: [judge(x, y, y) for x, y in after_each],
        "torch, drawn": lambda: [run(program, TORCH, density) for program, density in beside],
        "reference, drawn": lambda: [run(program, REFERENCE, density) for program, density in beside],
        "compare, drawn": lambda: [judge(x, y, y) for x, y in as_drawn],
        "own, drawing": lambda: drawn(*pick, "each"),
        "own, running": lambda: [run(program, REFERENCE, "each") for program in own],
    } | {"own steps": lambda: sum(map(len, own)), "steps": lambda: sum(map(len, programs))}


def timed(work: dict[str, Leg], rounds: int = 3) -> dict[str, float]:
    """The least seconds that each leg took in so many rounds, in which all legs take turns."""
    least = dict.fromkeys(work, float("inf"))
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)  # as in the processes of a campaign
    for _ in range(rounds):
        for name, leg in work.items():
            started = process_time()
            leg()
            least[name] = min(least[name], process_time() - started)
    return least


def main(what: str, *numbers: str) -> None:
    """Draw programs, or run the legs on those that are given."""
    if what == "draw":
        count, seed, whole, length = map(int, numbers)
        lengthen(length)
        programs = drawn(list(range(count)), seed, bool(whole))
        print(json.dumps([(to_text(one.program), one.density) for one in programs]))
        return
    work = legs(json.load(sys.stdin))
    steps = {name: work.pop(name)() for name in ("own steps", "steps")}
    if what == "time":
        print(json.dumps(timed(work) | steps))
    else:
        counted(work)
        print(json.dumps(steps))


if __name__ == "__main__":
    if not Path(adapters.__file__).is_relative_to(Path.cwd()):
        sys.exit(
            f"{adapters.__file__} would be measured"
        )  # what is installed stands in for what is not there
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(*sys.argv[1:])
