"""Moving a program to a device: its steps, with each factory told to make its tensor there.

Both run in a campaign, for the same program ought to come to the same verdict in either place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.program.value import Device, Program, Step, refs

FACTORIES = frozenset(["torch.tensor", "torch.ones", "torch.zeros"])
"""Operations that make a tensor of what is none. NB: `torch.tensor` of a tensor stays where that is."""

MOVES = frozenset(["cuda", "cpu"])
ON_CUDA = ("device", Device("cuda"))


def relocate(program: Program) -> Program | None:
    """Return the program with all its leaves on the device; None if it names a device itself."""
    if speaks_of_devices(program):
        return None
    return Program(tuple([_there(step) for step in program]))


def speaks_of_devices(program: Program) -> bool:
    """Tell whether a program names a device itself."""
    return any(_says_where(step) for step in program)


def _there(step: Step) -> Step:
    if step.op in FACTORIES and not any(refs(step.args)):
        return step._replace(kwargs=(*step.kwargs, ON_CUDA))
    return step


def _says_where(step: Step) -> bool:
    given = (*step.args, *(value for _, value in step.kwargs))
    return step.op in MOVES or any(type(value) is Device for value in _all(given))


def _all(given: Any) -> Iterator[Any]:
    for value in given:
        if type(value) in (tuple, list):
            yield from _all(value)
        else:
            yield value
