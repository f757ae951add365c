"""The ``vmap`` staticmethod of a custom function: its own rule for all elements of a map at once.

A map calls its function for each element. The first call that comes to such a rule has the others come as
far, each from the start and without a trace; then all their arguments are there, and the rule is called once.
Each call takes its own part of what that gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from reference_impl.base.rules import Unspecified
from reference_impl.base.session import STATE
from reference_impl.base.transforms import Mapping, mappings
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import levels_of, marked
from reference_impl.namespace import composite

TWO_RETURNS = (
    "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
    "compatible with the output. "
)


class VmapInfo(NamedTuple):
    """The facts of a map that its rules are told."""

    batch_size: int
    randomness: str


class Reached(BaseException):
    """Ends a call that was made to learn the arguments it comes to a rule with."""

    def __init__(self, args: tuple[Any, ...]) -> None:
        super().__init__()
        self.arguments = args


def map_over(args: tuple[Any, ...]) -> Mapping | None:
    """Return the innermost map in which one of the arguments stands for many."""
    levels = levels_of(args)
    return next((level for level in reversed(mappings()) if level in levels), None)


def is_innermost(level: Mapping) -> bool:
    """Say if no derivative is taken within the map: then the rule's results are those of the call."""
    return STATE.transforms[-1] is level or all(
        isinstance(each, Mapping) for each in STATE.transforms[STATE.transforms.index(level) :]
    )


def call_by_rule(function: Any, level: Mapping, args: tuple[Any, ...]) -> Any:
    """Return the part of the present element in what the function's own rule gives for all."""
    number = level.asked
    level.asked += 1
    if level.sought == number:
        raise Reached(args)
    if number == len(level.ruled):
        level.ruled.append(_by_rule(function, level, args, number))
    return level.ruled[number].part(level)


class _Ruled:
    """The result of a rule, for all elements, and the dimension of each part that they are along."""

    def __init__(self, output: Any, dims: Any) -> None:
        self.output = output
        several = isinstance(output, (tuple, list))
        count = len(output) if several else 1
        self.dims = tuple(dims) if isinstance(dims, (tuple, list)) else (dims,) * count
        if len(self.dims) != count:
            raise RuntimeError(
                "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
                f"tuple. Expected out_dims={dims} to be compatible with the structure of `output`."
            )

    def part(self, level: Mapping) -> Any:
        if not isinstance(self.output, (tuple, list)):
            return _part(self.output, self.dims[0], level)
        return type(self.output)(_part(x, d, level) for x, d in zip(self.output, self.dims, strict=True))


def _part(x: Any, dim: int | None, level: Mapping) -> Any:
    if not isinstance(x, Tensor) or dim is None:
        return x
    one = x.select(dim, level.at) if level.size else x.sum(dim)
    return marked(one, levels_of(x) | {level})


def _by_rule(function: Any, level: Mapping, args: tuple[Any, ...], number: int) -> _Ruled:
    rows = [args, *(_arguments(level, at, number) for at in range(1, level.size))]
    with _lowered(level):
        given = [_of_all(column, level) for column in zip(*rows, strict=True)]
        wholes, dims = zip(*given, strict=True)
        info = VmapInfo(level.size, level.randomness)
        result = function.vmap(info, dims, *wholes)
    if not isinstance(result, tuple):
        raise RuntimeError(f"{TWO_RETURNS}Got a {type(result)} instead")
    if len(result) != 2:
        raise RuntimeError(f"{TWO_RETURNS}Got {len(result)} returns instead")
    return _Ruled(*result)


def _arguments(level: Mapping, at: int, number: int) -> tuple[Any, ...]:
    """Return the arguments with which the call for an element comes to its rule of that number."""
    try:
        level.probe(at, number)
    except Reached as reached:
        return reached.arguments
    raise Unspecified("a map whose calls do not come to the same functions")


def _of_all(column: tuple[Any, ...], level: Mapping) -> tuple[Any, int | None]:
    """Return an argument of all calls together, and the dimension that they are along."""
    first = column[0]
    if not isinstance(first, Tensor) or level not in _maps(first):
        return first, None
    for element, whole, dim in level.elements:
        if element is first:
            return whole, dim
    stacked = composite.stack(column, 0)
    return (stacked if level.size else stacked.narrow(0, 0, 0)), 0


def _maps(x: Tensor) -> Any:
    return getattr(x, "_maps", None) or ()


@contextmanager
def _lowered(level: Mapping) -> Iterator[None]:
    """Leave the map, and what is within it, for the block."""
    running = STATE.transforms[:]
    del STATE.transforms[running.index(level) :]
    try:
        yield
    finally:
        STATE.transforms[:] = running
