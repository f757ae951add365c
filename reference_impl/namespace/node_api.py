"""Saved values as attributes of nodes: ``grad_fn._saved_self`` and its like."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from reference_impl.core.record import OpNode
from reference_impl.core.saved import SavedNumber, SavedVariable
from reference_impl.core.tensor import wrap
from specs import ops
from specs.op import Op
from specs.signature import Slot


def bind_saved() -> None:
    """Make what ops save attributes of their nodes, under the names of all ops of the table.

    NB: with a ``__getattr__`` Python would take several times as long to read a node's attributes, all of
    them.
    """
    every = [op for table in (ops.ALL, ops.IN_PLACE) for overloads in table.values() for op in overloads]
    for name in sorted({_name_of(op, slot) for op in every for slot in op.slots}):
        for prefix in ("_saved_", "_raw_saved_"):
            setattr(OpNode, prefix + name, property(partial(_saved, prefix=prefix, of=name)))
    OpNode.__dir__ = _names  # type: ignore[assignment]


def _names(node: OpNode) -> list[str]:
    """Attributes, of those that nodes of other ops save none."""
    own = {_name_of(node.kernel.op, slot) for slot in node.kernel.op.slots if slot.name != "g"}
    return [name for name in object.__dir__(node) if name.partition("_saved_")[2] in own | {""}]


def _saved(node: OpNode, prefix: str, of: str) -> Any:
    """Look up ``_saved_NAME`` (the value, under torch's name) or ``_raw_saved_NAME`` (the snapshot of it)."""
    for i, slot in enumerate(node.kernel.op.slots):
        if of == _name_of(node.kernel.op, slot):
            kept = node.values[i]
            if prefix == "_raw_saved_" or not isinstance(kept, (SavedVariable, SavedNumber)):
                return kept
            value = kept.unpack(node)
            number = isinstance(kept, SavedNumber) and kept.wrapped and kept.tensor is None
            return wrap(np.asarray(value)) if number else value
    raise AttributeError(f"{type(node).__name__!r} object has no attribute {prefix + of!r}")


def _name_of(op: Op, slot: Slot) -> str:
    """Torch's name of a value that a node keeps."""
    if slot.source == "operand":
        return op.torch_name(slot.operand)
    return "result" if slot.source == "out" else slot.name
