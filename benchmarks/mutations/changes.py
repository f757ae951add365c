"""The mutations of a file: small changes of its syntax tree that a maintainer might make by mistake.

A comparison, a sign, a condition or a constant is another one; a branch, a part of a condition, a keyword or
a whole statement is left out; a function returns nothing. Words of messages stay as they are, and so does
what runs or counts only without a rule, or only to say that one fired: mutants of rules stand for that.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType

from benchmarks.tree_changes import SIGNS, Change, children, other_expressions, replace, short

REFERENCE = Path(__file__).parents[2] / "reference_impl"

LEFT_ALONE = (ast.arg, ast.Import, ast.ImportFrom, ast.Assert, ast.JoinedStr)
"""Nodes in which nothing is changed."""
WORDED = frozenset({"refuse", "refuse_by", "warn", "warn_by"})
"""Functions whose arguments, but for the rule, are words of a message."""
FIELDS_LEFT_ALONE = frozenset({
    "annotation", "returns", "decorator_list", "bases", "type_params", "type",
})  # fmt: skip
"""Fields of nodes in which nothing is changed: they say types."""


@dataclass(frozen=True)
class ChangedModule:
    """A changed module: its name, its file, and its code as it is and as it is changed."""

    module: str
    path: Path
    was: CodeType
    now: CodeType

    @staticmethod
    def of(module: str, path: Path, tree: ast.Module) -> ChangedModule:
        was = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        return ChangedModule(module, path, was, compile(tree, str(path), "exec"))

    @property
    def functions(self) -> list[tuple[CodeType, CodeType]] | None:
        """The functions that differ, as they are and as they are changed; None if functions were added."""
        was, now = list(_codes(self.was)), list(_codes(self.now))
        if [code.co_qualname for code in was] != [code.co_qualname for code in now]:
            return None
        return [(old, new) for old, new in zip(was, now, strict=True) if old != new]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


@dataclass(frozen=True)
class Mutation:
    """A change of a file: the function that it is in, the line, and the words that say it."""

    path: Path
    function: str
    line: int
    words: str
    tree: ast.Module
    change: Change

    @property
    def module(self) -> str:
        """The name of the module that is changed."""
        return module_of(self.path)

    @property
    def id(self) -> str:
        """Its name, which tells what it changes and no line."""
        return f"{self.path.relative_to(REFERENCE).with_suffix('')}:{self.function}: {self.words}"

    def made(self) -> ChangedModule:
        """The changed module."""
        undo = self.change()
        try:
            return ChangedModule.of(self.module, self.path, self.tree)
        finally:
            undo()


def module_of(path: Path) -> str:
    """The name of a file's module."""
    parts = path.relative_to(REFERENCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def mutations(path: Path) -> list[Mutation]:
    """Every change of a file; those of the same words are counted."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    times: Counter[tuple[str, str]] = Counter()
    found = []
    for function, line, words, change in _below(tree, "", tree):
        times[function, words] += 1
        number = times[function, words]
        told = words if number == 1 else f"{words} ({number})"
        found.append(Mutation(path, function or "module", line, told, tree, change))
    return found


Found = tuple[str, int, str, Change]


def _below(parent: ast.AST, function: str, tree: ast.Module) -> Iterator[Found]:
    worded = isinstance(parent, ast.Call) and _name(parent) in WORDED
    refused: set[str] = set()  # fields in which a statement refuses; what follows runs only without the rule
    for field, at, node in children(parent):
        if field in refused:
            continue
        if _refuses(node):
            refused.add(field)
        if isinstance(node, LEFT_ALONE) or field in FIELDS_LEFT_ALONE or _is_text(node):
            continue
        if _without_a_rule(parent, field) or _only_marks(node) or (_is_settled(parent) and not _asks(node)):
            continue
        if worded and (field == "keywords" or at):
            continue
        inside = function
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside = f"{function}.{node.name}".lstrip(".")
        for words, other in _instead(node, field):
            yield function, getattr(node, "lineno", 0), words, replace(parent, field, at, other)
        if isinstance(node, ast.Call) and _name(node) not in WORDED:
            for number, keyword in enumerate(node.keywords):
                if _is_text(keyword):
                    continue
                rest = node.keywords[:number] + node.keywords[number + 1 :]
                without = ast.Call(node.func, node.args, rest)
                words = f"{short(node)} -> without {keyword.arg or '**'}"
                yield function, node.lineno, words, replace(parent, field, at, without)
        yield from _below(node, inside, tree)


def _name(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _refuses(node: ast.AST) -> bool:
    """Tell whether a statement refuses in any case."""
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _name(node.value) == "refuse_by"
    )


def _without_a_rule(parent: ast.AST, field: str) -> bool:
    """Tell whether a branch is taken only where a rule is knocked out."""
    if not isinstance(parent, ast.If | ast.IfExp):
        return False
    asked = parent.test.values if isinstance(parent.test, ast.BoolOp) else [parent.test]
    either = isinstance(parent.test, ast.BoolOp) and isinstance(parent.test.op, ast.Or)
    if field == "orelse":
        return any(map(_marks, asked)) and (either or len(asked) == 1)
    negated = [part.operand for part in asked if isinstance(part, ast.UnaryOp)]
    return field == "body" and any(map(_marks, negated)) and not either


def _is_settled(node: ast.AST) -> bool:
    """Tell whether a condition holds, or does not, whatever its other parts say, as long as no rule is
    knocked out.
    """
    match node:
        case ast.BoolOp(op=ast.Or()):
            return any(map(_marks, node.values))
        case ast.BoolOp(op=ast.And()):
            return any(_asks(part) and not _marks(part) for part in node.values)
    return False


def _asks(part: ast.AST) -> bool:
    """Tell whether part of a condition asks for rules alone."""
    asked = part.operand if isinstance(part, ast.UnaryOp) else part
    return isinstance(asked, ast.expr) and _marks(asked)


def _only_marks(node: ast.AST) -> bool:
    """Tell whether it is a condition, below which nothing is but marks of rules, on either side."""
    return isinstance(node, ast.If) and all(
        _only_marks(each) or (isinstance(each, ast.Expr) and _marks(each.value))
        for each in (*node.body, *node.orelse)
    )


def _marks(node: ast.expr) -> bool:
    """Tell whether it is nothing but marks of rules."""
    if isinstance(node, ast.Tuple):
        return all(map(_marks, node.elts))
    return isinstance(node, ast.Call) and _name(node) == "by"


def _is_text(node: ast.AST) -> bool:
    """Tell whether it is a docstring, a message, a list of names, a type, a check of lengths, or says that
    something is not modelled or that PyTorch leaves it open.
    """
    match node:
        case ast.Raise(exc=ast.Call(func=ast.Name(id=name))):
            return name in ("NotModelled", "Unspecified")
        case ast.Assign(value=ast.Constant(value=str() as text)):
            return " " in text
        case ast.Expr(value=value):
            return isinstance(value, ast.Constant)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name in ("__slots__", "__all__") or (
                name.isidentifier() and name[0].isupper() and _is_type(value)
            )
        case ast.keyword(arg="strict"):
            return True
    return False


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr))


def _instead(node: ast.AST, field: str) -> Iterator[tuple[str, ast.AST]]:
    """The nodes that may stand in a node's place, with words for each."""
    was = short(node)
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            yield f"if {short(test)} -> negated", ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.While(test=test, body=body, orelse=orelse):
            yield f"while {short(test)} -> never", ast.While(ast.Constant(False), body, orelse)
        case ast.Expr(value=value) if _marks(value):
            pass  # it tells that a rule fired, and does nothing
        case ast.Expr() | ast.Raise() | ast.Delete():
            yield f"{was} -> left out", ast.Pass()
        case ast.Assign(targets=targets, value=value) if not _none(value):
            yield f"{was} -> None", ast.Assign(targets, ast.Constant(None))
        case ast.AugAssign(target=target, op=sign, value=value) if type(sign) in SIGNS:
            yield f"{was} -> another sign", ast.AugAssign(target, SIGNS[type(sign)](), value)
        case ast.Return(value=ast.expr() as value) if not _none(value):
            yield f"{was} -> None", ast.Return(ast.Constant(None))
        case ast.Break():
            yield "break -> continue", ast.Continue()
        case ast.Continue():
            yield "continue -> break", ast.Break()
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield f"{was} -> branches swapped", ast.IfExp(test, orelse, body)
        case ast.expr():
            for words, other in other_expressions(node, partial(_may_go, node)):
                yield f"{was} -> {words}", other


def _none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _may_go(whole: ast.expr, part: ast.expr) -> bool:
    """Tell whether part of a condition may be left out: mutants of rules knock out those that ask for one."""
    return not _asks(part) and not _is_settled(whole)


def unchanged() -> ChangedModule:
    """The engine as it is."""
    path = REFERENCE / "core" / "engine.py"
    return ChangedModule.of(module_of(path), path, ast.parse(path.read_text(encoding="utf-8")))
