"""Vocabularies: the recipes of ops that an implementation supports, sorted by the kind of step.

A recipe is drawn by ``steps/call_op``; the weights of the kinds are in ``swarm``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from conformance.generate.ops.recipe import Recipe
from conformance.program import Ref
from specs import ops
from specs.op import Op


class Vocabulary:
    """The recipes for one implementation, with or without ops that round, each repeated by its weight."""

    def __init__(self, recipes: Recipes, *, views: bool, writes: bool, rounding: bool) -> None:
        methods = [r for r in recipes.methods if rounding or r.exact]
        self.views = _often([r for r in methods if r.view and views])
        self.functional = _often([r for r in methods if not r.view and not r.mutates])
        self.on_complex = tuple(r for r in methods if _has_factor(r) and "c" in r.dtypes)
        self.reshapes = tuple(r for r in self.views if r.copies_strided)
        self.strided = tuple(r for r in self.views if r.rearranges)
        mutating = [r for r in methods if r.mutates and writes]
        self.inplace = _often([r for r in mutating if not r.op.overwrites])
        self.fills = _often([r for r in mutating if r.op.overwrites])
        signs = [r for r in recipes.operators if rounding or r.exact]
        self.operators = tuple(r for r in signs if not r.mutates)
        self.inplace_operators = tuple(r for r in signs if writes and r.mutates)
        self.all_recipes = self.recipes
        self.differentiable = _by_op([r for r in self.all_recipes if r.op.differentiable])
        self.number_first = recipes.number_first
        self.empty = frozenset(name for name, found in vars(self).items() if not found)

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """All recipes, each once."""
        every = (
            *self.functional,
            *self.views,
            *self.inplace,
            *self.fills,
            *self.operators,
            *self.inplace_operators,
        )
        return tuple(dict.fromkeys(every))


class NumberFirst(NamedTuple):
    """A function that takes a number before its tensor, and how its result grows."""

    spelled: str
    op: Op


class Recipes:
    """The recipes that an implementation supports: methods and operators."""

    def __init__(self, supports: Callable[[str], bool]) -> None:
        ops.load()
        methods = [*_named(ops.ALL), *_named(ops.IN_PLACE)]
        self.methods = [Recipe(op, name, supports=supports) for op, name in methods if supports(name)]
        self.operators = [
            Recipe(op, sign, reflected=sign.startswith("__r"), supports=supports)
            for sign, op in _operators()
            if supports(sign)
        ]
        self.number_first = tuple(
            NumberFirst(f"torch.{op.name}", op)
            for op in dict.fromkeys(op for overloads in ops.ALL.values() for op in overloads)
            if op.operands
            and op.operands[0].kind.name == "wrapped"
            and supports(f"torch.{op.name}")
            and op.fits((float, Ref), {}, Ref)  # others of the name need keywords
        )


def _named(table: dict[str, list[Op]]) -> Iterator[tuple[Op, str]]:
    """Public overloads that are called as methods of a tensor, with their spelling."""
    for name, overloads in table.items():
        for op in overloads:
            spelled = f"__{name}__" if _indexes(op) else name
            if not op.internal and _drawable(op) and name not in ops.REFLECTED_ONLY:
                yield op, spelled


def _drawable(op: Op) -> bool:
    """True if an op is a method of a tensor operand."""
    return any(o.kind.tensor and o.name == "x" for o in op.operands)


def _operators() -> Iterator[tuple[str, Op]]:
    for sign, name in ops.OPERATORS.items():
        for op in ops.ALL.get(name, ops.IN_PLACE.get(name, ())):
            if sign not in ("__getitem__", "__setitem__") and not op.internal and _drawable(op):
                yield sign, op


def _has_factor(recipe: Recipe) -> bool:
    """True if the gradient of a function has a factor, which is conjugated if it is complex."""
    plain = recipe.op.grows in ("keeps", "adds", "totals") and recipe.exact_on_complex
    return not (recipe.view or recipe.mutates or plain)


def _by_op(recipes: list[Recipe]) -> tuple[tuple[Recipe, ...], ...]:
    """The recipes of each op, so that an op with several spellings is not drawn more often than another.

    A composite may call any of several ops, and what takes an index calls many: they are drawn more often.
    """
    found: dict[str, list[Recipe]] = {}
    for recipe in recipes:
        found.setdefault(recipe.op.key, []).append(recipe)
    return tuple(tuple(one) for one in found.values() for _ in range(_share(one[0].op)))


def _share(op: Op) -> int:
    return 8 if _indexes(op) else 2 if op.composite else 1


def _indexes(op: Op) -> bool:
    return any(a.kind.name == "index" for a in op.attributes)


def _often(recipes: list[Recipe]) -> tuple[Recipe, ...]:
    """Repeat each recipe by the weight of its op."""
    return tuple(recipe for recipe in recipes for _ in range(_weight(recipe.op)))


def _weight(op: Op) -> int:
    return op.often[0] if isinstance(op.often, tuple) else op.often


def allows(names: Any) -> Callable[[str], bool]:
    """Return a test for the operations that an implementation has; None means all."""
    return (lambda op: True) if names is None else names.__contains__
