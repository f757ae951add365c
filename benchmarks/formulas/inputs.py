"""Inputs: calls of every op, with operands whose values take the branches of its formulas.

Public ops are called as generated programs call them, on operands of several shapes and values: the usual
ones, and those that the op's declaration ``tries``. Internal ops are reached by the expressions of
``expressions.txt``, as users reach them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from conformance import adapters
from conformance.generate.guide.guide import range_of
from conformance.generate.ops.call_table import At
from conformance.generate.ops.recipe import Recipe
from conformance.program import Dtype
from specs import ops
from specs.op import Op

Shape = tuple[int, ...]
EXPRESSION = "expression"
"""The key of inputs that are expressions."""
EXPRESSIONS = Path(__file__).with_name("expressions.txt")
PLACES = "xyzw"
"""Names of the operands in an input's text."""

SHAPES: tuple[tuple[Shape, Shape], ...] = (
    ((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 3), (1, 1)), ((1, 1), (2, 3)),
    ((), ()), ((2,), ()), ((), (2,)), ((2, 1), (1, 3)), ((2, 3), (3, 2)), ((3, 2), (2,)), ((2,), (2, 3)),
    ((2, 2, 3), (2, 3, 2)), ((2, 2, 3), (3, 2)), ((1, 2, 3), (2, 3, 2)), ((2, 3, 2), (2,)), ((0,), (0,)),
    ((2, 0), (0, 2)), ((0, 3), (3,)), ((1,), (1,)), ((4,), (4,)), ((2, 2), (2, 2)), ((3, 1), (1,)),
    ((2, 2, 2), (2, 2, 2)),
)  # fmt: skip
"""Shapes of the first operand and of the others."""
MOST = 8
"""Calls of one spelling on operands of one shape, evenly taken from all that are valid."""

USUAL = (0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 0.25, 3.0, -2.0, 1.0, -0.75, 1.75)
VALUES: dict[str, tuple[tuple[float, ...], ...]] = {
    "usual": (USUAL, (*USUAL[5:], *USUAL[:5]), (*USUAL[3:], *USUAL[:3])),
    "ties": ((1.0, 2.0, -1.0, 2.0), (1.0, -2.0, -1.0, 2.0), (1.0, 2.0, 0.0, 2.0)),
    "a zero": ((2.0, 0.0, 3.0, -1.0, 5.0), (0.0, 1.5, -2.0, 0.5), (1.0, 0.0, 2.0)),
    "two zeros": ((0.0, 2.0, 0.0, 3.0, -1.0), (0.0, 3.0, 0.5, 0.0), (0.0, 0.0, 2.0)),
    "zeros": ((0.0,), (0.0,), (0.0,)),
    "ones": ((1.0,), (1.0,), (1.0,)),
    "positive": ((0.5, 1.25, 2.0, 0.75, 3.0), (1.5, 0.25, 3.0, 2.0), (2.5, 0.5, 1.0)),
    "zero to powers": ((0.0, 0.0, 0.0, 2.0, -1.0), (0.0, 1.0, 2.0, 0.0, -1.0), (0.0, 1.0)),
    "powers of zero": ((0.0, 1.0, 2.0, 0.0, -1.0), (0.0, 0.0, 0.0, 2.0, -1.0), (0.0, 1.0)),
    "whole": ((3.0, -2.0, 2.0, 1.0, -1.0), (2.0, 3.0, 1.0, 4.0), (1.0, 2.0, -3.0)),
}
"""Rows of values by the name that an op ``tries``: for the first operand, the second and the third."""
IMAGINARY = (0.25, -0.5, 1.5, 0.75, -1.0)


@dataclass(frozen=True)
class Input:
    """A call as text over ``x``, ``y`` and ``z``, and the values of those; ``key`` is the op's."""

    key: str
    text: str
    operands: tuple[Any, ...]  # arrays; those of floats and of complex numbers require grad
    dtype: str
    once: bool = False  # PyTorch or the reference cannot differentiate it twice
    release: str = ""  # of torch, that the reference models meanwhile, if not the newest

    def __str__(self) -> str:
        given = ", ".join(f"{n}={o.tolist()}" for n, o in zip(PLACES, self.operands, strict=False))
        return f"{self.key}: {self.text} on {self.dtype} {given}"


@cache
def values(name: str, at: int, shape: Shape, dtype: str) -> np.ndarray:
    """An operand: the row that is called so, of the ``at``-th operand. All calls share it."""
    rows = VALUES[name]
    flat = np.resize(np.array(rows[at % len(rows)]), shape)
    if dtype.startswith("complex"):
        twist = np.resize(np.roll(np.array(IMAGINARY), at), shape)
        flat = flat + 1j * np.where(flat == 0, 0, twist) if name != "usual" else flat + 1j * twist
    found = np.asarray(flat)
    found.flags.writeable = False
    return found


@cache
def _mask(shape: Shape) -> np.ndarray:
    return np.resize(np.array([True, False, False, True, True]), shape)


def _positions(shape: Shape) -> np.ndarray:
    return np.resize(np.array([0, 1, 1, 0]), shape).astype(np.int64)


@cache
def recipes() -> tuple[Recipe, ...]:
    """Every spelling of every op that programs call."""
    return tuple(range_of(adapters.load("reference").capabilities).rounding.recipes)


def inputs(dtype: str) -> Iterator[Input]:
    """The inputs of every op in that dtype."""
    for recipe in recipes():
        if not dtype.startswith("complex") or (recipe.op.complex and "c" not in recipe.refused):
            yield from of_recipe(recipe, dtype)
    if dtype in ("float32", "float64"):
        yield from of_expressions(dtype, "same graph", "same values", "branches of formulas")
        yield from of_expressions(dtype, "differentiated once", once=True)
        yield from of_expressions(dtype, "before 2.14", release="2.13.0")
    elif dtype.startswith("complex"):
        yield from of_expressions(dtype, "complex numbers")


def of_recipe(recipe: Recipe, dtype: str) -> Iterator[Input]:
    """Calls of one spelling, on operands of every shape and of the values that its op tries."""
    tensors = [at for at, kind in enumerate(recipe.kinds) if kind in ("tensor", "either")]
    seen = set()
    for (first, other), plain in product(SHAPES, (False, True)):
        shapes = tuple(_shape(recipe, at, first, other, plain) for at in range(len(recipe.kinds)))
        if shapes in seen:
            continue
        seen.add(shapes)
        table = recipe.table(shapes)
        found = (table.valid(at) for at in range(min(table.size, 400)))
        listed = list({repr(call): call for call in found if call is not None}.values())
        for call in listed[:: len(listed) // MOST + 1]:
            for name in ("usual", *recipe.op.tries):
                yield from _called(recipe, call, shapes, tensors, name, dtype)


def _shape(recipe: Recipe, at: int, first: Shape, other: Shape, plain: bool) -> Shape | None:
    kind = recipe.kinds[at]
    if (
        kind == "number"
        or (kind == "either" and at != recipe.first and plain)
        or (recipe.reflected and at != recipe.first)
    ):
        return None
    if kind == "indices" and recipe.op.operands[at].kind.vector:
        return (2,)
    return first if at == recipe.first else other


def _called(
    recipe: Recipe, call: Any, shapes: tuple[Any, ...], tensors: list[int], name: str, dtype: str
) -> Iterator[Input]:
    """The call with the numbers that stand in operands' places."""
    plain = [at for at, shape in enumerate(shapes) if shape is None]
    numbers = [(2.0, 0.5, 0, 1, -1, 3) for _ in plain]
    for given in product(*numbers):
        operands: list[Any] = []
        words: list[str] = []
        for at, shape in enumerate(shapes):
            if shape is None:
                words.append(repr(given[plain.index(at)]))
                continue
            words.append(PLACES[len(operands)])
            kind = recipe.kinds[at]
            if kind == "mask":
                operands.append(_mask(shape))
            elif kind == "indices":
                operands.append(_positions(shape))
            else:
                operands.append(values(name, tensors.index(at), shape, dtype))
        if not recipe.mutates or shapes[recipe.first] is not None:
            yield Input(recipe.op.key, _text(recipe, call, words), tuple(operands), dtype)


def _text(recipe: Recipe, call: Any, words: list[str]) -> str:
    """The call as an expression; what is written is a clone."""
    if recipe.mutates:
        words = [f"{w}.clone()" if at == recipe.first else w for at, w in enumerate(words)]
    if call.pattern is not None:
        args = [words[p] if isinstance(p, At) else _literal(p) for p in call.pattern]
    else:
        rest = [words[at] for at in recipe.others]
        args = [words[recipe.first], *rest] if recipe.first else list(words)
        args += [_literal(value) for value in call.tail]
    keywords = [f"{name}={_literal(value)}" for name, value in call.kwargs]
    if call.op.startswith("torch."):
        return f"{call.op}({', '.join(args + keywords)})"
    if call.op == "__setitem__":
        return f"put({', '.join(args + keywords)})"
    return f"{args[0]}.{call.op}({', '.join(args[1:] + keywords)})"


def _literal(value: Any) -> str:
    return f"torch.{value.name}" if isinstance(value, Dtype) else repr(value).replace("Ellipsis", "...")


def expressions(block: str) -> list[tuple[str, list[Shape]]]:
    """Expressions over x, y and z below a heading, and the shapes of those."""
    found, here = [], ""
    for line in EXPRESSIONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            here = line.strip("# ")
        elif line.strip() and here == block:
            text, *shapes = [part.strip() for part in line.split("|")]
            found.append((text, [tuple(int(n) for n in shape.split(",") if n) for shape in shapes]))
    return found


def of_expressions(dtype: str, *blocks: str, **facts: Any) -> Iterator[Input]:
    """The expressions below those headings, on three rows of values."""
    for text, shapes in (each for block in blocks for each in expressions(block)):
        for name in ("usual", "ties", "whole"):
            operands = tuple(values(name, at, shape, dtype) for at, shape in enumerate(shapes))
            yield Input(EXPRESSION, text, operands, dtype, **facts)


@cache
def every_op() -> tuple[Op, ...]:
    """Every op that is differentiable by formulas, in-place forms included."""
    ops.load()
    return tuple(
        op for table in (ops.ALL, ops.IN_PLACE) for all_ in table.values() for op in all_ if op.formulas
    )
