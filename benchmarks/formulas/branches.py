"""The branches of formulas: which of them no input takes."""

from __future__ import annotations

import ast
import builtins
import copy
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import reference_impl
from benchmarks.formulas.gate import EXACT_ENOUGH, SURVIVORS, running
from benchmarks.formulas.inputs import EXPRESSION, Input, inputs, recipes
from benchmarks.formulas.measure import measured
from benchmarks.formulas.sources import Source, sources
from specs.active_rules import NEWEST, modelling

WITHOUT = "by"
"""The function whose branches are those of a knocked-out rule, which mutants of rules show."""


@dataclass(frozen=True)
class Condition:
    """A condition in a formula, by its file, function and text."""

    family: str
    function: str
    text: str

    def __str__(self) -> str:
        return f"{self.family}:{self.function}: {self.text}"


class _Watched(ast.NodeTransformer):
    """Has every condition of a file's formulas reported."""

    def __init__(self, source: Source) -> None:
        self.found: list[Condition] = []
        self._source, self._lines, self._function = source, _lines(source), ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._function = node.name
        self.generic_visit(node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self._watch(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._watch(node)

    def _watch(self, node: ast.If | ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        test = node.test
        if test.lineno in self._lines and not _of_a_rule(test):
            condition = Condition(self._source.path.stem, self._function, " ".join(ast.unparse(test).split()))
            self.found.append(condition)
            told = [ast.Constant(str(condition)), test]
            node.test = ast.copy_location(ast.Call(ast.Name("__met__", ast.Load()), told, []), test)
        return node


def _of_a_rule(test: ast.expr) -> bool:
    """Tell whether a condition is no more than whether a rule is in force."""
    if isinstance(test, ast.UnaryOp):
        test = test.operand
    return isinstance(test, ast.Call) and getattr(test.func, "id", "") == WITHOUT


def _lines(source: Source) -> set[int]:
    """The lines of the functions that formulas are made of."""
    return {line for number in source.live for _, _, line in source.codes[number].co_lines() if line}


def interleaved() -> Iterator[Input]:
    """The inputs, expressions first, then a call of each op, the next of each, and so on."""
    by_op: dict[str, list[Input]] = defaultdict(list)
    for dtype in EXACT_ENOUGH:
        for one in inputs(dtype):
            if one.key == EXPRESSION:
                yield one
            else:
                by_op[one.key].append(one)
    for listed in by_op.values():
        listed[:] = [one for start in range(STRIDE) for one in listed[start::STRIDE]]
    for at in range(max(map(len, by_op.values()))):
        yield from (listed[at] for listed in by_op.values() if at < len(listed))


STRIDE = 17
"""Calls of an op that follow each other are so far apart in its list, and so differ in more than a number."""


def branches_not_taken(given: Callable[[], Iterator[Input]] = interleaved) -> list[str]:
    """The conditions in formulas that no input makes true, or none false, but for those on record."""
    met: dict[str, set[bool]] = {}

    def note(name: str, value: Any) -> Any:
        seen = met[name]
        if len(seen) < 2:
            seen.add(bool(value))
            if len(seen) == 2:
                left.discard(name)
        return value

    with ExitStack() as stack:
        recipes()  # which are made of what the reference is capable of, and that models the installed release
        stack.enter_context(modelling(NEWEST))
        for source in sources():
            watched = _Watched(source)
            tree = ast.fix_missing_locations(watched.visit(copy.deepcopy(source.tree)))
            stack.enter_context(running(source, source.compiled(tree)))
            met.update((str(condition), set()) for condition in watched.found)
        left = met.keys() - not_taken_on_record().keys()
        vars(builtins)["__met__"] = note
        stack.callback(vars(builtins).pop, "__met__")
        for one in given():
            measured(reference_impl, one)
            if not left:
                break
    return sorted(f"{name}: {'only ' + str(*met[name]) if met[name] else 'never met'}" for name in left)


def conditions() -> list[str]:
    """The conditions in formulas."""
    found = []
    for source in sources():
        watched = _Watched(source)
        watched.visit(copy.deepcopy(source.tree))
        found += map(str, watched.found)
    return found


def not_taken_on_record() -> dict[str, str]:
    """The conditions of which no input takes both branches, each with the reason."""
    return dict(tomllib.loads(SURVIVORS.read_text(encoding="utf-8")).get("not taken", {}))
