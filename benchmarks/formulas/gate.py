"""The gate: which mutants of formulas no input tells from the formulas."""

from __future__ import annotations

import builtins
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import reference_impl
from benchmarks.formulas.inputs import Input, inputs
from benchmarks.formulas.measure import RELATIVE, Values, measured, same
from benchmarks.formulas.mutants import Mutant, mutants, negated
from benchmarks.formulas.sources import Source, place_of, sources
from specs.active_rules import NEWEST, modelling

SURVIVORS = Path(__file__).with_name("survivors.toml")
EXACT_ENOUGH = ("float64", "complex128")
"""Dtypes in which mutants are looked for: errors of rounding are far below any change."""
ENOUGH = 400
"""Inputs that a mutant may pass before it counts as a survivor."""


@dataclass
class Measured:
    """An input, compiled, with what the reference makes of it, and the formulas' functions that it runs."""

    given: Input
    compiled: Any
    expected: Values
    ran: frozenset[tuple[str, Any]]


def survey(given: Iterable[Input]) -> list[Measured]:
    """Measure inputs on the reference, and note which functions of the formulas they run."""
    known = {(str(s.path), place_of(s.codes[n])) for s in sources() for n in s.live}
    files = {path for path, _ in known}
    found = []
    cache: dict[CodeType, Any] = {}
    for one in given:
        ran: set[Any] = set()

        def profile(frame: Any, event: str, arg: Any, ran: set[Any] = ran) -> None:
            code = frame.f_code
            if event == "call" and code.co_filename in files:
                key = cache.get(code)
                if key is None:
                    key = cache[code] = (code.co_filename, place_of(code))
                ran.add(key)

        compiled = compile(one.text, "<input>", "eval")
        sys.setprofile(profile)
        try:
            expected = measured(reference_impl, one, compiled)
        finally:
            sys.setprofile(None)
        found.append(Measured(one, compiled, expected, frozenset(ran & known)))
    return found


def disagreeing(namespace: Any, given: Iterable[Input]) -> Iterator[tuple[Input, Values, Values]]:
    """The inputs on which the reference and another namespace differ, with what each of them gives."""
    release = namespace.__version__.partition("+")[0]
    with modelling(release):
        for one in given:
            if one.release in ("", release):
                expected, actual = measured(namespace, one), measured(reference_impl, one)
                if not same(expected, actual, RELATIVE[one.dtype]):
                    yield one, expected, actual


@contextmanager
def running(source: Source, codes: list[CodeType]) -> Iterator[bool]:
    """Run the formulas of a file with other code; gives False if the code does not fit the functions."""
    changed = [(n, new) for n, (old, new) in enumerate(zip(source.codes, codes, strict=True)) if old != new]
    originals: list[tuple[FunctionType, CodeType]] = []
    vars(builtins)["__negated__"] = negated
    try:
        for number, code in changed:
            for function in source.live.get(number, ()):
                if code.co_freevars == function.__code__.co_freevars:
                    originals.append((function, function.__code__))
                    function.__code__ = code
        yield bool(originals)
    finally:
        for function, code in originals:
            function.__code__ = code
        vars(builtins).pop("__negated__", None)


def by_function(surveyed: list[Measured]) -> dict[Any, list[Measured]]:
    """The inputs that run each function, spread over the ops that reach it."""
    found: dict[Any, list[Measured]] = defaultdict(list)
    for one in surveyed:
        for place in one.ran:
            found[place].append(one)
    for place, listed in found.items():
        turns: dict[str, int] = defaultdict(int)
        rank = {}
        for one in listed:
            turns[one.given.key] += 1
            rank[id(one)] = turns[one.given.key]
        listed.sort(key=lambda one: (rank[id(one)] * 7919) % 1009)
        found[place] = listed
    return found


def killed(mutant: Mutant, reached: dict[Any, list[Measured]], most: int = ENOUGH) -> bool | None:
    """Tell whether an input notices the mutant; None if the change is none."""
    source = mutant.source
    undo = mutant.change()
    try:
        codes = source.compiled(source.tree)
    finally:
        undo()
    if len(codes) != len(source.codes):
        return None
    places = [place_of(old) for old, new in zip(source.codes, codes, strict=True) if old != new]
    tried = [one for place in places for one in reached.get((str(source.path), place), ())]
    with modelling(NEWEST), running(source, codes) as runs:
        if not runs:
            return None
        return any(_notices(one) for one in tried[:most])


def _notices(one: Measured) -> bool:
    return not same(
        one.expected, measured(reference_impl, one.given, one.compiled), RELATIVE[one.given.dtype]
    )


def every_mutant() -> list[Mutant]:
    """All mutants of all formulas."""
    return [mutant for source in sources() for mutant in mutants(source)]


def survivors_on_record() -> dict[str, str]:
    """The mutants that nobody can notice, each with its reason."""
    return dict(tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["equivalent"])


def surveyed_inputs(every: int = 1, dtypes: Iterable[str] = EXACT_ENOUGH) -> list[Measured]:
    """The inputs in the dtypes that mutants are looked for in, or one in so many of each op's."""
    given = [one for dtype in dtypes for at, one in enumerate(inputs(dtype)) if at % every == 0]
    with modelling(NEWEST):
        return survey(given)
