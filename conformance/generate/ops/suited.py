"""Shapes of operands that an op accepts, for steps that make the operands of a call themselves."""

from __future__ import annotations

from functools import lru_cache

from conformance.generate.ops.recipe import Recipe

SHAPES: tuple[tuple[int, ...], ...] = ((2,), (2, 2), (), (3,), (1, 2), (2, 2, 2), (4,), (2, 1), (2, 1, 1))
"""Shapes of a first operand: few, since each costs new tables, and small, so that sums stay exact."""


@lru_cache(maxsize=4096)
def suited(
    recipe: Recipe, numbers: tuple[int, ...], scalars: bool
) -> tuple[tuple[tuple[int, ...] | None, ...], ...]:
    """Return shapes that one of the simplest calls accepts; None stands for a number, at these positions.

    ``scalars``: there are no shapes but that of a single element.
    """
    found: list[tuple[tuple[int, ...] | None, ...]] = []
    for first in ((),) if scalars else SHAPES:
        for other in dict.fromkeys((first, first[-1:], first[::-1], first + first[-1:], ())):
            shapes = tuple(
                None if at in numbers else first if at == recipe.first else _shape(recipe, at, other)
                for at in range(len(recipe.kinds))
            )
            if shapes not in found and recipe.fits_shapes(shapes):
                found.append(shapes)
    return tuple(found)


def _shape(recipe: Recipe, at: int, other: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an operand besides the first."""
    operands = recipe.op.operands  # an assigned value is none of them
    return (2,) if at < len(operands) and operands[at].kind.vector else other
