"""The functions that formulas are made of, found in the op families' sources.

A formula is a function given to ``wrt``; what it calls by name in its own module belongs to it. Bodies of ops
do not: they compute values, which other tests compare.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from benchmarks.formulas.inputs import every_op
from specs import ops

Place = tuple[int, tuple[Any, ...]]


def place_of(code: CodeType) -> Place:
    """Identify a function of a file by the place where it stands."""
    return code.co_firstlineno, tuple(code.co_positions())[:6]


@dataclass
class Source:
    """A family's file: its tree, its code objects in the order of the file, and which functions run them."""

    module: ModuleType
    path: Path
    tree: ast.Module
    codes: list[CodeType]
    live: dict[int, list[FunctionType]] = field(default_factory=dict)

    def compiled(self, tree: ast.Module) -> list[CodeType]:
        """The code objects of a changed tree."""
        return list(_codes(compile(tree, str(self.path), "exec")))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """All code objects inside another, outermost first."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


@cache
def sources() -> tuple[Source, ...]:
    """The op families with formulas."""
    functions = _functions()
    found = []
    for family in (*ops.FAMILIES, "helpers"):
        module = importlib.import_module(f"specs.ops.{family}")
        path = Path(str(module.__file__))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        source = Source(module, path, tree, list(_codes(compile(tree, str(path), "exec"))))
        at = {place_of(code): number for number, code in enumerate(source.codes)}
        for function in functions:
            if function.__code__.co_filename == str(path) and place_of(function.__code__) in at:
                source.live.setdefault(at[place_of(function.__code__)], []).append(function)
        if source.live:
            found.append(source)
    return tuple(found)


def _functions() -> list[FunctionType]:
    """Every formula, and the functions that one calls by name, its own closures included."""
    left: list[Any] = [formula.fn for op in every_op() for formula in op.formulas.values()]
    bodies = {id(op.body) for op in every_op()}
    found: dict[int, FunctionType] = {}
    while left:
        function = left.pop()
        if not isinstance(function, FunctionType) or id(function) in found or id(function) in bodies:
            continue
        if not function.__module__.startswith("specs.ops"):
            continue
        found[id(function)] = function
        names = set(_names(function.__code__))
        left += [value for name, value in function.__globals__.items() if name in names]
        left += [cell.cell_contents for cell in function.__closure__ or ()]
    return list(found.values())


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)
