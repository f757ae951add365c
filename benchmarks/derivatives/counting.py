"""Counting the derivatives that the reference evaluates, by op and by the dtype of the operand.

The first derivative of an op is computed where its node runs in a backward. The second one is computed where
a later backward runs what the node's formulas recorded under ``create_graph``, or the node that a gradient
which they handed on comes from. Nodes that formulas record are no first derivatives of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from reference_impl.base.session import STATE
from reference_impl.core.record import OpNode
from reference_impl.core.saved import SavedVariable

Cell = tuple[str, str, int]
"""The key of an op, the name of a dtype, and 1 or 2 for the derivative."""


@dataclass(eq=False)
class Evaluated:
    """One evaluation of a node under ``create_graph``: the op, its operands' dtypes, and if what it recorded
    was differentiated.
    """

    key: str
    dtypes: frozenset[str]
    differentiated: bool = False


@dataclass
class _Origin:
    """The origin of a node: the evaluations that it is part of, and if a formula recorded it."""

    by_formula: bool = False
    parts: list[Evaluated] = field(default_factory=list)


@contextmanager
def counting(counts: Counter[Cell]) -> Iterator[None]:
    """Count the derivatives that are evaluated within."""
    init, apply, unpack = OpNode.__init__, OpNode.apply, SavedVariable.unpack
    origins: WeakKeyDictionary[OpNode, _Origin] = WeakKeyDictionary()
    running: list[list[OpNode] | None] = []  # what the formulas that run recorded; None: code of the program

    def recorded(node: OpNode, *args: Any) -> None:
        init(node, *args)
        if running and (made := running[-1]) is not None:
            origins[node] = _Origin(by_formula=True)
            made.append(node)

    def unpacked(saved: SavedVariable, *args: Any, **named: Any) -> Any:
        running.append(None)
        try:
            return unpack(saved, *args, **named)
        finally:
            running.pop()

    def applied(node: OpNode, grads: Any, task: Any) -> Any:
        origin = origins.get(node)
        for part in origin.parts if origin else ():
            if not part.differentiated:
                part.differentiated = True
                counts.update((part.key, dtype, 2) for dtype in part.dtypes)
        made: list[OpNode] = []
        running.append(made)
        try:
            out = apply(node, grads, task)
        finally:
            running.pop()
        if origin is None or not origin.by_formula:
            dtypes = _dtypes(node, out)
            counts.update((node.kernel.op.key, dtype, 1) for dtype in dtypes)
            if STATE.enabled:
                part = Evaluated(node.kernel.op.key, dtypes)
                handed_on = (g._node for g in out if g is not None)
                for each in {*made, *filter(None, handed_on)}:
                    origins.setdefault(each, _Origin()).parts.append(part)
        return out

    OpNode.__init__, OpNode.apply, SavedVariable.unpack = recorded, applied, unpacked  # type: ignore[method-assign]
    try:
        yield
    finally:
        OpNode.__init__, OpNode.apply, SavedVariable.unpack = init, apply, unpack  # type: ignore[method-assign]


def _dtypes(node: OpNode, out: list[Any]) -> frozenset[str]:
    """The dtypes of the operands that the node gave a gradient."""
    found = set()
    for (target, at), g in zip(node.edges, out, strict=True):
        if g is not None and target is not None:
            dtype = target.input_metadata[at][1]
            found.add(getattr(dtype, "of", dtype).name)
    return frozenset(found)
