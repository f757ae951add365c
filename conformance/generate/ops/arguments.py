"""Candidates for attribute values, by kind and shape, simplest first.

Kinds and their names come from ``specs/kind.py``. The combinations that an op accepts are found by running
its body (``shape_inference``), once for each shape, and cached by ``recipe``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice, permutations, product
from typing import Any

from conformance.program import Dtype

Shape = tuple[int, ...]

OMIT = object()
"""Stands for an attribute that keeps its default."""

SLICES = (slice(None), slice(1, None), slice(None, 1), slice(0, 2), slice(None, None, 2), slice(-1, None))


def _dims(shape: Shape) -> tuple[Any, ...]:
    n = len(shape)
    return (*range(n), *range(-1, -n - 1, -1), *((0, -1) if n == 0 else ()), n, -n - 1)


def _dim_lists(shape: Shape) -> tuple[Any, ...]:
    n = len(shape)
    pairs = [(a, b) for a in range(n) for b in range(n) if a < b]
    mixed = [(a, b - n) for a, b in pairs]
    return (*range(n), *pairs, *mixed, -1, (0,), tuple(range(n)), (0, 0), (n,))


def _positions(shape: Shape) -> tuple[Any, ...]:
    return (0, 1, -1, 2, -2, max(shape, default=1))


@cache
def factorings(size: int) -> tuple[Shape, ...]:
    """Shapes of up to three dimensions with ``size`` elements."""
    found: list[Shape] = [(size,)] + ([()] if size == 1 else [])
    for a in range(1, size + 1):
        if size % a == 0:
            found.append((a, size // a))
            found.extend(
                (a, b, size // a // b) for b in range(1, 3) if (size // a) % b == 0 and size // a > 1
            )
    return tuple(dict.fromkeys(found))


def _sizes(shape: Shape) -> tuple[Any, ...]:
    size = 1
    for extent in shape:
        size *= extent
    whole = factorings(size) if size else (shape, (0,))
    inferred = [(-1,)] + [
        tuple(-1 if at == k else e for at, e in enumerate(s)) for s in whole for k in range(len(s))
    ]
    broader = [(2, *shape), (1, *shape), (3, *shape), *(tuple(2 if e == 1 else e for e in shape),)]
    kept = [(2, *(-1 for _ in shape)), tuple(3 if e == 1 else -1 for e in shape)]
    wrong = [(size + 1,), (-1, -1), (-2,), (2, -1, 5)]
    return tuple(dict.fromkeys((*whole, *inferred, *broader, *kept, *wrong)))


@cache
def indices(shape: Shape) -> tuple[Any, ...]:
    """Indices into a tensor of that shape, and a few invalid ones."""
    if not shape:
        return (..., None, (None, ...), (), 0)
    n = shape[0]
    single: list[Any] = [0, -1, *range(1, n), ..., None, *SLICES, slice(0, 0)]
    firsts = [0, -1, slice(None), slice(1, None), slice(None, None, 2), None, ...]
    pairs = [
        (a, b) for a in firsts for b in (0, slice(None, 1), slice(1, None), None, ...) if (a, b) != (..., ...)
    ]
    lists = [[0], [0, -1], [True] + [False] * (n - 1), [[0, -1]]]
    more = [(..., 0), (slice(None), 0), (0, ..., 0), (None, 0), (0, None), (slice(None), None, 0)]
    wrong: list[Any] = [n, -n - 1, (0,) * (len(shape) + 1), [n], [True] * (n + 1), ([0, 0], [0, 0, 0])]
    return (*single, *pairs, *lists, *more, *wrong)


CANDIDATES: dict[str, Callable[[Shape], tuple[Any, ...]]] = {
    "dim": _dims,
    "new_dim": lambda shape: (*range(len(shape) + 1), -1, -len(shape) - 1, len(shape) + 1),
    "opt_dim": lambda shape: (OMIT, OMIT, *_dims(shape)),
    "dims": _dim_lists,
    "dim_list": lambda shape: (*(d if isinstance(d, tuple) else (d,) for d in _dim_lists(shape)), ()),
    "opt_dims": lambda shape: (OMIT, OMIT, OMIT, OMIT, *_dim_lists(shape)),
    "perm": lambda shape: (
        *islice(permutations(range(len(shape))), 6),
        tuple(range(-len(shape), 0)),
        tuple(range(-1, -len(shape) - 1, -1)),
        (0,) * len(shape),
        (0,),
    ),
    "shape": _sizes,
    "size": lambda shape: (shape, (2,), (2, 2), (3,), ()),
    "index": indices,
    "position": _positions,
    "opt_position": lambda shape: (OMIT, *_positions(shape)),
    "length": lambda shape: (1, 2, 3, 0, 9),
    "stride": lambda shape: (1, 2, 0),
    "count": lambda shape: (2, 1, 3, 0),
    "sections": lambda shape: (1, 2, 3, (1, 1), (1, 2), (2, 1), (1, 3), (2, 2), -1),
    "int_list": lambda shape: (1, 2, (1, 1)),
    "offset": lambda shape: (0, 1, -1, 2),
    "bool": lambda shape: (OMIT, OMIT, True),
    "scale": lambda shape: (OMIT, OMIT, OMIT, OMIT, OMIT, 2, -1, 0.5),
    "scalar": lambda shape: (1.0, 0.0, 2.0, -1.0, 3),
    "opt_number": lambda shape: (OMIT, 0.0, 1, -1.0, 2.0, -2),
    "dtype": lambda shape: (OMIT, Dtype("float64"), Dtype("float32")),
    "value": lambda shape: (1.0, 2.0),
}
"""Values to try for an attribute of each kind, given the shape of the first tensor operand; unfit ones
come last.
"""

DRAWN_NUMBERS = (2.0, 1.0, -1.0, 0.5, 3.0, 4.0, -2.0, 2, 3, -1, 0.25, 0.0, 10, 5.0, 1.5, -3.0, True, False)
"""Python numbers to calculate with."""
EXPONENTS = (2, 2.0, 3, 1, 0, 3.0, 1.0, True)
"""Python numbers to raise to the power of, if nothing may be rounded."""


def combinations(kinds: tuple[str, ...], shape: Shape, most: int = 60) -> list[tuple[Any, ...]]:
    """The product of the candidates of several attributes, thinned evenly beyond ``most``."""
    found = list(product(*(CANDIDATES[kind](shape) for kind in kinds)))
    return found[:: len(found) // most + 1]
