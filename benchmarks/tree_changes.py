"""Small changes of a syntax tree, one at a time, each of which can be undone."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

Change = Callable[[], Callable[[], None]]
"""Makes a change and gives what undoes it."""

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SIGNS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Mod: ast.Add,
}  # fmt: skip


def _any_part(part: ast.expr) -> bool:
    return True


def other_expressions(
    node: ast.AST, may_go: Callable[[ast.expr], bool] = _any_part
) -> Iterator[tuple[str, ast.expr]]:
    """Expressions that may stand in the place of a comparison, a condition, a sign or a constant, with words
    for each. Parts of a condition are left out that ``may_go``.
    """
    match node:
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in COMPARED:
            yield "compared otherwise", ast.Compare(left, [COMPARED[type(sign)]()], [right])
        case ast.BoolOp(op=sign, values=values):
            yield "and/or", ast.BoolOp(ast.Or() if isinstance(sign, ast.And) else ast.And(), values)
            for at in range(len(values)):
                if may_go(values[at]):
                    rest = values[:at] + values[at + 1 :]
                    yield f"without part {at + 1}", rest[0] if len(rest) == 1 else ast.BoolOp(sign, rest)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in SIGNS:
            yield "another sign", ast.BinOp(left, SIGNS[type(sign)](), right)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield "without sign", operand
        case ast.Constant(value=bool() as value):
            yield str(not value), ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield str(value + 1), ast.Constant(value + 1)


def short(node: ast.AST) -> str:
    """The source of a node in a line, cut in its middle if it is long."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else f"{text[:50]}...{text[-17:]}"


def children(parent: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    """The nodes right below another, each with its field and its number in that."""
    for field, value in ast.iter_fields(parent):
        if isinstance(value, ast.AST):
            yield field, None, value
        elif isinstance(value, list):
            yield from ((field, at, each) for at, each in enumerate(value) if isinstance(each, ast.AST))


def replace(parent: ast.AST, field: str, at: int | None, other: ast.AST) -> Change:
    """The change that puts another node in the place of one."""

    def change() -> Callable[[], None]:
        was = getattr(parent, field) if at is None else getattr(parent, field)[at]
        # A copy: what is taken from the tree must keep its place in it when the change is undone.
        made = ast.fix_missing_locations(ast.copy_location(copy.deepcopy(other), was))
        put(parent, field, at, made)
        return lambda: put(parent, field, at, was)

    return change


def put(parent: ast.AST, field: str, at: int | None, node: ast.AST) -> None:
    if at is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[at] = node
