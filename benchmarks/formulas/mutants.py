"""Mutants of formulas: small changes of a function's syntax tree, one at a time.

A change is undone after it was used, so that a file's tree is parsed once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.formulas.sources import Source
from benchmarks.tree_changes import Change, children, other_expressions, replace, short

SWAPPED = {
    "add": "sub", "sub": "add", "mul": "div", "div": "mul", "lt": "le", "le": "lt", "gt": "ge", "ge": "gt",
    "eq": "ne", "ne": "eq", "sin": "cos", "cos": "sin", "add_scalar": "sub_scalar",
    "sub_scalar": "add_scalar", "mul_scalar": "div_scalar", "div_scalar": "mul_scalar",
    "new_zeros": "new_ones", "new_ones": "new_zeros", "real": "imag", "imag": "real",
}  # fmt: skip
"""Methods that are put in place of each other."""
DROPPED = frozenset({
    "neg", "mul", "div", "add", "sub", "mul_scalar", "div_scalar", "add_scalar", "sub_scalar", "masked_fill",
    "conj", "flip", "t", "transpose", "sgn", "abs", "mul_", "add_", "neg_", "sum", "cumsum", "_logical_and",
    "to",
})  # fmt: skip
"""Methods that are left out: what they are asked of is kept."""
TURNED = frozenset({"sub", "div", "mm", "bmm", "dot", "pow", "rsub"})
"""Methods whose two tensors change places."""


@dataclass(frozen=True)
class Mutant:
    """A change of a formula: the file, the line, and the words that say it."""

    source: Source
    line: int
    function: str
    was: str
    now: str
    change: Change
    end: int

    @property
    def id(self) -> str:
        """Name it by what it changes, not by its line."""
        return f"{self.source.path.stem}:{self.function}: {self.was} -> {self.now}"


def mutants(source: Source) -> Iterator[Mutant]:
    """Every change of the formulas of a file."""
    places = {source.codes[number].co_firstlineno for number in source.live}
    for node, function in _functions_of(source.tree, ""):
        if node.lineno in places or any(d.lineno in places for d in getattr(node, "decorator_list", ())):
            yield from _of_function(source, node, function)


def _functions_of(node: ast.AST, name: str) -> Iterator[tuple[ast.Lambda | ast.FunctionDef, str]]:
    """The outermost functions of a file that hold formulas, and what they are called or belong to."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef():
                yield child, child.name
            case ast.Lambda():
                yield child, name
            case ast.Call(func=ast.Attribute(value=owner, attr="wrt"), keywords=keywords):
                for keyword in keywords:
                    if keyword.arg:
                        yield from _functions_of(keyword, f"{ast.unparse(owner)} wrt {keyword.arg}")
            case _:
                yield from _functions_of(child, name)


def _of_function(source: Source, function: ast.Lambda | ast.FunctionDef, name: str) -> Iterator[Mutant]:
    def made(node: ast.AST, now: str, change: Change) -> Mutant:
        line = getattr(node, "lineno", function.lineno)
        end = function.end_lineno or function.lineno
        return Mutant(source, line, name, short(node), now, change, end)

    if isinstance(function, ast.Lambda):
        yield made(function.body, "negated", replace(function, "body", None, _negated(function.body)))
    for parent in ast.walk(function):
        for field, at, node in children(parent):
            if isinstance(node, ast.arguments | ast.arg):
                continue
            if isinstance(parent, ast.Return) and isinstance(node, ast.expr) and not _none(node):
                yield made(node, "negated", replace(parent, field, at, _negated(node)))
            if isinstance(node, ast.expr) and not _in_annotation(parent, field):
                for now, other in _instead(node):
                    yield made(node, now, replace(parent, field, at, other))
            if isinstance(node, ast.If):
                flipped = ast.UnaryOp(ast.Not(), node.test)
                yield made(node.test, "negated", replace(node, "test", None, flipped))


def _in_annotation(parent: ast.AST, field: str) -> bool:
    return field in ("annotation", "returns", "decorator_list", "defaults", "kw_defaults") or isinstance(
        parent, ast.Expr
    )


def _none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _negated(node: ast.expr) -> ast.expr:
    """``minus(node)``, which is put into the module for the time being."""
    return ast.Call(ast.Name("__negated__", ast.Load()), [node], [])


def negated(value: object) -> object:
    """The negative of what a formula gives: a tensor, several, a number, or nothing."""
    if isinstance(value, tuple):
        return tuple(negated(each) for each in value)
    if value is None or isinstance(value, bool):
        return value
    return -value  # type: ignore[operator]


def _instead(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Expressions that may stand in the place of one, with words for each."""
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "branches swapped", ast.IfExp(test, orelse, body)
            yield "first branch alone", body
            yield "second branch alone", orelse
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args, keywords=keywords):
            if method in SWAPPED:
                other = SWAPPED[method]
                yield other, ast.Call(ast.Attribute(owner, other, ast.Load()), args, keywords)
            if method in DROPPED:
                yield "dropped", owner
            if method in ("mul", "mm", "bmm") and len(args) == 1:
                yield "its argument alone", args[0]
            if method in TURNED and len(args) == 1 and not isinstance(args[0], ast.Constant):
                yield "operands swapped", ast.Call(ast.Attribute(args[0], method, ast.Load()), [owner], [])
        case ast.Call(func=ast.Name(id="conj"), args=[inner]):
            yield "not conjugated", inner
        case ast.Call(func=ast.Name(id="times" | "minus"), args=[first, second]):
            yield "first argument alone", first
            yield "second argument alone", second
        case _:
            yield from other_expressions(node)
