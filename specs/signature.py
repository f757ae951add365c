"""The parts of an op's signature: operands, attributes, and what its formulas ask for.

The op itself is in ``specs/op.py``, the words of annotations in ``specs/kind.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from specs.kind import Kind

METADATA = ("shape", "dtype", "strides", "offset", "place")
TORCH_NAMES = {"x": "self", "y": "other"}
"""Torch's usual names for the operands that are called ``x`` and ``y`` here."""
KEYWORDS = {"input": "self", "axis": "dim", "keepdims": "keepdim"}
"""Names of parameters as the namespace's functions, or numpy's users, have them, and the methods' names."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A parameter that may take part in the graph: a tensor, or a Python number in a tensor's place."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Attribute:
    """A plain value that says how to compute: never differentiated, always kept."""

    name: str
    kind: Kind
    default: Any = inspect.Parameter.empty

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Slot:
    """One value that a node keeps for its formulas."""

    source: str  # "g", "out", "operand", "attribute", or one of METADATA
    name: str
    operand: int = -1  # only meaningful for "operand" and METADATA


@dataclass(frozen=True, slots=True)
class Formula:
    """The gradient of one operand: ``fn(*[values[i] for i in picks])``, ``values`` being in slot order."""

    fn: Callable[..., Any]
    operand: int
    params: tuple[str, ...]
    picks: tuple[int, ...]


def slot_for(key: str, param: str, index: Mapping[str, int], attributes: Collection[str]) -> Slot:
    """The slot that a formula's parameter stands for; ``index`` numbers the operands of the op ``key``."""
    if param in index:
        return Slot("operand", param, index[param])
    if param in attributes:
        return Slot("attribute", param)
    if param == "out":
        return Slot("out", param)
    operand, _, what = param.rpartition("_")
    if operand in index and what in METADATA:
        return Slot(what, param, index[operand])
    raise TypeError(f"a formula of {key} asks for {param!r}, which is no operand, attribute or metadata")


def picker(places: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Make the function that takes the items at these places out of a sequence."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


def misfit(names: Sequence[str], operands: Sequence[Any]) -> dict[str, int]:
    """The first clash of operands in the order in which PyTorch expands them: a mask of that name first."""
    shapes = [np.shape(value) for value in operands]
    if "mask" in names:
        shapes.insert(0, shapes.pop(names.index("mask")))
    return clash(*shapes)


def clash(a: tuple[int, ...] = (), b: tuple[int, ...] = (), *more: tuple[int, ...]) -> dict[str, int]:
    """The first dimension, from the right, in which shapes do not broadcast: both sizes and its number."""
    for at, (m, n) in enumerate(zip(reversed(a), reversed(b), strict=False), 1):
        if m != n and 1 not in (m, n):
            return {"a": m, "b": n, "dim": max(len(a), len(b)) - at}
    return clash(np.broadcast_shapes(a, b), *more) if more else {}
