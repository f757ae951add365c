"""Programs for each op: operands of every dtype at every place, and a backward through the result.

What is drawn at random comes from ``conformance.generate`` instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from conformance.adapters import load
from conformance.comparison.compare import Agree, compare
from conformance.comparison.known_crashes import issue_of, words_of
from conformance.execution.run import run
from conformance.execution.trace import Unsupported
from conformance.generate.guide.guide import range_of
from conformance.generate.ops.call_table import At
from conformance.generate.ops.recipe import Recipe
from conformance.generate.state.tensor_info import kind_of
from conformance.program import REST, Dtype, Program, Ref, Step
from conformance.program.printing import to_text
from reference_impl.base.dtypes import ALL

TORCH, REFERENCE = load("torch"), load("reference")
RECIPES = range_of(REFERENCE.capabilities).rounding.recipes

VALUES: dict[str, list[Any]] = {
    "bool": [True, False, True, True],
    "int64": [2, 1, 0, 3],
    "float32": [1.0, -2.0, 4.0, 0.5],
    "float64": [2.0, 1.0, -0.5, 4.0],
    "complex128": [1 + 1j, -2 + 0j, 2j, 2 - 2j],
    "float16": [1.0, -2.0, 4.0, 0.5],
    "bfloat16": [1.0, -2.0, 4.0, 0.5],
    "complex64": [1 + 1j, -2 + 0j, 2j, 2 - 2j],
}
DTYPES = [known.name for known in ALL]
TOGETHER = (
    ("bool", "int64", "float32", "float64", "complex128"),
    ("float16", "complex64", "float32"),
    ("bfloat16", "float16", "complex64", "float32", "int64", "bool"),
)
"""Dtypes that meet each other."""
NUMBERS = (True, 2, 0.5)
SHAPES = (((2,), (2,)), ((), (2,)), ((2, 2), (2, 2)), ((0,), (0,)))


def literal(dtype: str, shape: tuple[int, ...], at: int) -> Any:
    """Nested lists of that shape, the values begun at a place."""
    values = VALUES[dtype]
    if not shape:
        return values[at % len(values)]
    return [literal(dtype, shape[1:], at + n * (shape[1] if shape[1:] else 1)) for n in range(shape[0])]


def choices(recipe: Recipe, shapes: tuple[Any, Any], dtypes: tuple[str, ...]) -> list[list[Any]]:
    """The choices for each place: numbers, and ``(dtype, shape)`` for tensors."""
    every = [name for name in dtypes if kind_of(name) in "fib" + recipe.dtypes + recipe.refused]
    found: list[list[Any]] = []
    for at, kind in enumerate(recipe.kinds):
        shape = shapes[0] if at == recipe.first else shapes[1]
        tensors = [(dtype, shape) for dtype in {"mask": ["bool"], "indices": ["int64"]}.get(kind, every)]
        if kind == "number" or (recipe.reflected and kind == "either" and at != recipe.first):
            found.append(list(NUMBERS))
        else:
            found.append([*tensors, *(NUMBERS if kind == "either" and at != recipe.first else ())])
    return found


def programs(recipe: Recipe, together: Iterable[tuple[str, ...]] = TOGETHER) -> Iterator[Program]:
    """The op on each choice of operands, floats requiring grad, and a backward through what it gives."""
    for shapes, dtypes in product(SHAPES, together):
        for operands in product(*choices(recipe, shapes, dtypes)):
            given = tuple([o[1] if isinstance(o, tuple) else None for o in operands])
            table = recipe.table(given)
            call = table.valid(0) or table.invalid(0)
            if call is not None:
                yield program(recipe, operands, call)


def program(recipe: Recipe, operands: tuple[Any, ...], call: Any) -> Program:
    steps, words = [], []
    for at, operand in enumerate(operands):
        if not isinstance(operand, tuple):
            words.append(operand)
            continue
        (dtype, shape), name = operand, "abc"[at]
        flag = (("requires_grad", True),) if kind_of(dtype) in "fc" else ()
        keywords = (("dtype", Dtype(dtype)), *flag)
        steps.append(Step("torch.tensor", (literal(dtype, shape, at),), keywords, (name,)))
        if recipe.mutates and at == recipe.first and flag:
            steps.append(Step("clone", (Ref(name),), (), (name,)))
        words.append(Ref(name))
    if call.pattern is not None:
        args = tuple([words[part] if isinstance(part, At) else part for part in call.pattern])
    else:
        args = (words[recipe.first], *[words[at] for at in recipe.others], *call.tail)
        args = args if recipe.first else (*words, *call.tail)
    result = words[recipe.first].name if recipe.mutates else "r"
    out = ("r", REST) if recipe.multi else () if recipe.mutates and not recipe.rebinds else (result,)
    steps.append(Step(call.op, args, call.kwargs, out))
    steps.append(Step("sum", (Ref(result),), (), ("s",)))
    steps.append(Step("backward", (Ref("s"),), (), ()))
    return Program(tuple(steps))


def differs(one: Program) -> bool:
    """True if torch and the reference differ, other than by a crash on record."""
    trace = run(one, TORCH)
    crash = next((seen.crash for seen in trace.observations if seen.crash is not None), None)
    if crash is not None and issue_of(words_of(one), "torch", TORCH.version, crash):
        return False
    ours = run(one, REFERENCE)
    if any(type(seen.outcome) is Unsupported for seen in ours.observations):
        # numpy has no complex numbers of half precision, which is all that may be lacking.
        text = to_text(one)
        return not ("torch.float16" in text and "complex64" in text)
    return not isinstance(compare(trace, ours), Agree)
