"""Torch's word on a derivative that no program computed: why there is none, or that it has it."""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

import reference_impl
from benchmarks.derivatives.counting import Cell, counting
from benchmarks.formulas.inputs import Input, every_op, of_expressions, of_recipe, recipes
from benchmarks.formulas.measure import leaves, measured, put, upstream

TRIED = 8
"""Inputs by which torch is asked about an op."""
HAS = "torch has it"
UNKNOWN = "no input computes it"
OTHER_OPS = "in that dtype other ops compute it"
OTHER_NODES = "torch has it, by other nodes than the reference, which programs would show"


@cache
def _inputs() -> dict[tuple[str, int], list[Input]]:
    """Inputs by the ops whose first and second derivatives they compute on the reference."""
    found: dict[tuple[str, int], list[Input]] = defaultdict(list)
    blocks = "same graph", "same values", "branches of formulas", "complex numbers"
    called = chain.from_iterable(of_recipe(recipe, "float64") for recipe in recipes())
    for given in chain(
        (each for at, each in enumerate(called) if at % 5 == 0),
        of_expressions("float64", *blocks[:3]),
        of_expressions("float64", "differentiated once", once=True),
        of_expressions("complex128", blocks[3]),
    ):
        if all(operand.size for operand in given.operands):
            counts: Counter[Cell] = Counter()
            with counting(counts):
                measured(reference_impl, given)
            for key, order in {(key, order) for key, _, order in counts}:
                found[key, order].append(given)
    return found


def why_empty(torch: Any, cell: Cell) -> str:
    """Say why no program computed that derivative: in torch's words, or that it has it, or is unknown."""
    key, _, order = cell
    listed = _inputs().get((key, order)) or _inputs().get((key, 1), [])
    listed = [given for given in listed if given.key == key] or listed
    words = [_asked(torch, given, cell) for given in listed[:: len(listed) // TRIED + 1]]
    for word in (HAS, OTHER_NODES):
        if word in words:
            return word
    return Counter(words).most_common(1)[0][0] if words else UNKNOWN


def _asked(torch: Any, given: Input, cell: Cell) -> str:
    """Torch's word on one input in another dtype."""
    key, dtype, order = cell
    node = next(op.node for op in every_op() if op.key == key)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return next(_words(torch, _in_dtype(given, dtype), order, node), HAS)
    except Exception as error:
        return f"{type(error).__name__}: {_shortened(str(error))}"


def _words(torch: Any, given: Input, order: int, node: str) -> Iterator[str]:
    """Yield what stands in the way of the derivative of that order, of an op with such a node; nothing if
    torch has it.
    """
    operands = leaves(torch, given)
    wanted = [x for x in operands if x.requires_grad]
    env = {"torch": torch, "F": torch.nn.functional, "put": put} | dict(zip("xyzw", operands, strict=False))
    result = eval(given.text, env)
    outs = result if isinstance(result, tuple | list) else (result,)
    tracked = [out for out in outs if getattr(out, "requires_grad", False)]
    if not tracked:
        yield "the result has no history"
        return
    if not any(_is_on(each, node, getattr(torch, given.dtype)) for each in _graph(tracked)):
        yield OTHER_OPS
    gs = [upstream(torch, out, at).requires_grad_() for at, out in enumerate(tracked)]
    first = torch.autograd.grad(tracked, wanted, gs, create_graph=order == 2, allow_unused=True)
    if all(g is None for g in first):
        yield "the gradient is undefined"
    recorded = [g for g in first if g is not None and g.requires_grad]
    if order == 2 and not recorded:
        yield "the gradient has no history"
    elif order == 2:
        if torch is not reference_impl and _nodes(first) != _recorded_here(given):
            yield OTHER_NODES
        vs = [upstream(torch, g, at + 1) for at, g in enumerate(recorded)]
        second = torch.autograd.grad(recorded, [*gs, *wanted], vs, allow_unused=True)
        if all(g is None for g in second):
            yield "the second gradient is undefined"


def _recorded_here(given: Input) -> Counter[str]:
    """The nodes of the gradients that the reference computes on an input."""
    operands = leaves(reference_impl, given)
    env = {"torch": reference_impl, "F": reference_impl.nn.functional, "put": put}
    result = eval(given.text, env | dict(zip("xyzw", operands, strict=False)))
    outs = result if isinstance(result, tuple | list) else (result,)
    tracked = [out for out in outs if getattr(out, "requires_grad", False)]
    gs = [upstream(reference_impl, out, at).requires_grad_() for at, out in enumerate(tracked)]
    wanted = [x for x in operands if x.requires_grad]
    grad = reference_impl.autograd.grad
    return _nodes(grad(tracked, wanted, gs, create_graph=True, allow_unused=True))


def _nodes(tensors: Iterable[Any]) -> Counter[str]:
    """The names of the nodes that tensors were computed by, each as often as there are such nodes."""
    return Counter(node.name().rpartition(":")[2] for node in _graph(tensors))


def _graph(tensors: Iterable[Any]) -> set[Any]:
    """The nodes that tensors were computed by."""
    found: set[Any] = set()
    ahead = [x.grad_fn for x in tensors if x is not None]
    while ahead:
        node = ahead.pop()
        if node is not None and node not in found:
            found.add(node)
            ahead += [other for other, _ in node.next_functions]
    return found


def _is_on(node: Any, name: str, dtype: Any) -> bool:
    """Tell whether it is a node of that name which gives an operand of that dtype a gradient."""
    ahead = [other._input_metadata[at].dtype for other, at in node.next_functions if other is not None]
    return node.name().rpartition(":")[2] == name.rpartition(":")[2] and dtype in ahead


def _in_dtype(given: Input, dtype: str) -> Input:
    """The input in another dtype: real numbers become complex ones, and the other way round."""

    def cast(operand: np.ndarray) -> np.ndarray:
        if operand.dtype.kind not in "fc":
            return operand
        return operand + 0.5j if dtype.startswith("complex") else operand.real

    return replace(given, dtype=dtype, operands=tuple(map(cast, given.operands)))


def _shortened(text: str) -> str:
    """The first line of a message, without names of dtypes in particular."""
    line = text.strip().splitlines()[0]
    return re.sub(r"(not implemented for) '\w+'", r"\1 that dtype", line)[:90]
