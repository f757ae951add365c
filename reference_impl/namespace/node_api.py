"""Saved values as attributes of nodes: ``grad_fn._saved_self`` and its like."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.core.record import OpNode
from reference_impl.core.saved import SavedNumber, SavedVariable
from reference_impl.core.tensor import wrap
from specs.op import Op
from specs.signature import Slot


def saved_attribute(self: OpNode, name: str) -> Any:
    """Look up ``_saved_NAME`` (the value, under torch's name) or ``_raw_saved_NAME`` (the snapshot of it)."""
    raw, _, of = name.partition("saved_")
    if raw in ("_", "_raw_"):
        for i, slot in enumerate(self.kernel.op.slots):
            if of == _name_of(self.kernel.op, slot):
                kept = self.values[i]
                if raw == "_raw_" or not isinstance(kept, (SavedVariable, SavedNumber)):
                    return kept
                value = kept.unpack(self)
                return wrap(np.asarray(value)) if isinstance(kept, SavedNumber) and kept.wrapped else value
    raise AttributeError(f"{type(self).__name__} {self.name()} has no attribute {name}")


def _name_of(op: Op, slot: Slot) -> str:
    """Torch's name of a value that a node keeps."""
    if slot.source == "operand":
        return op.torch_name(slot.operand)
    return "result" if slot.source == "out" else slot.name
