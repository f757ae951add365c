"""What may be drawn for an implementation: the recipes of the op table, sorted by what a step of that
kind is for.

How one recipe is drawn lives in ``maths``; how often each sort comes up in ``swarm``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from conformance.generate import maths, writes
from conformance.generate.plain import Plain, run
from conformance.generate.recipe import Recipe
from specs import ops
from specs.op import Op

COMMON = frozenset(
    [
        "add",
        "sub",
        "mul",
        "sum",
        "relu",
        "neg",
        "mean",
        "pow",
        "clone",
        "matmul",
        "where",
        "maximum",
        "mul_",
        "add_",
        "prod",
        "amax",
    ]
)
"""Ops that come up oftener: between them they save operands, results, both and nothing."""

FILLS = frozenset(["copy_", "zero_", "fill_", "setitem"])
OFTEN = 4


class Vocabulary:
    """The recipes drawn for one implementation, with or without ops that round."""

    def __init__(self, may: Callable[[str], bool], *, views: bool, inplace: bool, rounding: bool) -> None:
        ops.load()
        self.may = may
        plain = [r for r in _methods(ops.ALL) if rounding or r.exact]
        alias = [r for r in plain if r.view or _aliases(r)]
        for recipe in alias:
            recipe.view = True
        views_only = [r for r in alias if may(r.spelled)] if views else []
        self.views = _often(views_only, _view_weight)
        self.maths = _often([r for r in plain if r not in alias and may(r.spelled)], _common)
        for recipe in plain:
            if recipe.torch is not None and not may(recipe.torch):
                recipe.torch = None
        mutating = [r for r in _methods(ops.IN_PLACE) if inplace and (rounding or r.exact) and may(r.spelled)]
        self.writes = _often([r for r in mutating if r.op.name not in FILLS], _common)
        setitem = [
            Recipe(op, "__setitem__") for op in ops.IN_PLACE.get("setitem", ops.ALL.get("setitem", ()))
        ]
        fills = [r for r in mutating if r.op.name in FILLS and r.op.name != "setitem"]
        self.fills = tuple(r for r in (*fills, *setitem, *setitem, *setitem) if inplace and may(r.spelled))
        signs = [r for r in _operators() if (rounding or r.exact) and may(r.spelled)]
        self.operators = tuple(r for r in signs if not r.mutates)
        self.assigns = tuple(r for r in signs if inplace and r.mutates)
        self.edit = writes.write
        self.use = maths.maths
        sorts = {
            maths.maths: self.maths,
            maths.view: self.views,
            maths.operator: self.operators,
            writes.write: self.writes,
            writes.assign_operator: self.assigns,
            writes.fill: self.fills,
        }
        self.empty = frozenset(action for action, recipes in sorts.items() if not recipes)

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """Everything that can be drawn from the op table, each once."""
        every = (*self.maths, *self.views, *self.writes, *self.fills, *self.operators, *self.assigns)
        return tuple(dict.fromkeys(every))


def _methods(table: dict[str, list[Op]]) -> list[Recipe]:
    """A recipe for each public overload that takes a tensor and is called as a method."""
    found = []
    for name, overloads in table.items():
        for op in overloads:
            if op.internal or name == "setitem" or not _drawable(op):
                continue
            spelled = "__getitem__" if name == "getitem" else name
            found.append(Recipe(op, spelled))
    return [r for r in found if r.name not in ("rsub", "rtruediv", "rpow", "rmatmul")]


def _drawable(op: Op) -> bool:
    """Whether an op is a method of a tensor operand."""
    return any(o.kind.tensor and o.name == "x" for o in op.operands)


def _operators() -> Iterable[Recipe]:
    for spelled, name in ops.OPERATORS.items():
        if spelled in ("__getitem__", "__setitem__"):
            continue
        for op in ops.ALL.get(name, ops.IN_PLACE.get(name, ())):
            if not op.internal and _drawable(op):
                yield Recipe(op, spelled, reflected=spelled.startswith("__r"))


def _aliases(recipe: Recipe) -> bool:
    """Whether a composite looks at its operand's memory, found out by running it once."""
    if not recipe.op.composite or recipe.mutates or len(recipe.kinds) != 1:
        return False
    x = Plain(np.ones((2, 2)))
    for call in recipe.calls(((2, 2),)):
        out = run(recipe.op, (x,), dict(call.given))
        for one in out if isinstance(out, tuple | list) else (out,):
            if isinstance(one, Plain) and one is not x and np.shares_memory(one.array, x.array):
                return True
    return False


def _often(recipes: list[Recipe], weight: Callable[[Recipe], int]) -> tuple[Recipe, ...]:
    return tuple(recipe for recipe in recipes for _ in range(weight(recipe)))


def _common(recipe: Recipe) -> int:
    return OFTEN if recipe.op.name in COMMON else 1


def _view_weight(recipe: Recipe) -> int:
    return OFTEN if recipe.spelled in ("__getitem__", "view") else 2 if recipe.multi else 1


def allows(names: Any) -> Callable[[str], bool]:
    """Whether an operation is among those an implementation has; None means all."""
    return (lambda op: True) if names is None else names.__contains__
