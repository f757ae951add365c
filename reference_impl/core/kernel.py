"""The kernel of an op: its declaration, read once for the machine; which calls are recorded.

`record` makes the node of a recorded call, and `apply` runs kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reference_impl.base.device import CPU, place_of
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.promotion import preparer
from reference_impl.base.rules import by
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor
from specs.op import Op
from specs.signature import picker

METADATA: dict[str, Callable[[Any], Any]] = {
    "shape": lambda x: x._array.shape if isinstance(x, Tensor) else (),
    "dtype": lambda x: x._array.dtype if isinstance(x, Tensor) else None,
    "strides": lambda x: x.stride(),
    "offset": lambda x: x.storage_offset(),
    "place": lambda x: place_of(x) if isinstance(x, Tensor) else CPU,
}


class Kernel:
    """An op as the machine runs it: its declaration, read once.

    ``edges`` are the operands with an edge, each with its bit in a mask of operands; the rest says which of a
    node's ``values`` hold what: the result, attributes, metadata, and (by the mask of operands whose edges
    lead somewhere) which operands are saved.
    """

    __slots__ = (
        "attributes",
        "beyond_programs",
        "boolean",
        "compute",
        "computes_first",
        "copies",
        "defaults",
        "edges",
        "formulas",
        "inputs",
        "joins",
        "metadata",
        "multi",
        "mutates",
        "needed",
        "node_type",
        "numbered",
        "op",
        "overwrites",
        "prepare",
        "real",
        "recordable",
        "result",
        "saved",
        "slots",
        "statistics",
    )

    def __init__(self, op: Op) -> None:
        self.op = op
        self.node_type: Any = None  # known when the first node is made
        self.numbered = op.node != "torch::autograd::NotImplemented"  # which comes before all others
        self.defaults = op.defaults
        self.mutates = op.mutates
        self.multi = op.view == "multi"
        self.real = op.real
        self.recordable = DIFFERENTIABLE if op.complex_history else DIFFERENTIABLE.replace("c", "")
        self.overwrites = op.mutates and bool(op.overwrites)
        self.copies = op.overwrites == "copy"
        self.boolean = op.dtypes == "bool"
        self.joins = len(op.operands) > 1 and op.dtypes not in ("keep", "same", "accumulate")
        self.beyond_programs = op.internal
        self.prepare = preparer(op)
        self.compute = op.compute
        self.computes_first = op.memory in ("value", "constant") or len(op.operands) == 1
        self.edges = tuple((i, 1 << i) for i in op.edges)
        self._read_slots(op)

    def _read_slots(self, op: Op) -> None:
        """Read the meaning of a node's values, and which of them each formula takes."""
        # NB: PyTorch's generated nodes compute gradients in the alphabetical order of its names for the
        # operands, and look at what they saved in it.
        formulas = [(f.fn, picker(f.picks), at) for at, f in enumerate(op.formulas.values())]
        self.formulas = tuple(sorted(formulas, key=lambda formula: op.torch_name(op.edges[formula[2]])))
        slots = list(enumerate(op.slots))
        outputs = [i for i, slot in slots if slot.name in ("out", op.second_result)]
        # NB: in the order of torch's names, which decides what is refused first
        inputs = sorted(
            ((i, slot.operand) for i, slot in slots if slot.source == "operand" and i not in outputs),
            key=lambda kept: op.torch_name(kept[1]),
        )
        self.slots = len(slots)
        self.result = outputs[0] if outputs else 0
        kinds = {attribute.name: attribute.kind.name for attribute in op.attributes}
        self.statistics = tuple(i for i, slot in slots if kinds.get(slot.name) == "statistic")
        self.saved = (*(i for i, _ in inputs), *self.statistics, *outputs)
        self.attributes = tuple((i, slot.name) for i, slot in slots if slot.source == "attribute")
        self.metadata = tuple(
            (i, METADATA[slot.source], slot.operand) for i, slot in slots if slot.source in METADATA
        )
        self.inputs = inputs
        masks = range(1 << len(op.operands)) if inputs else ()
        self.needed = [[(i, at) for i, at in inputs if op.filled(mask)[i]] for mask in masks]

    def recorded_mask(self, operands: tuple[Any, ...]) -> int:
        """The operands that require grad, as a bit mask; 0 if the op is not to be recorded."""
        mask = plain = 0
        inference = False
        for i, bit in self.edges:
            x = operands[i]
            if not isinstance(x, Tensor):
                continue
            if x._node is not None or x._requires_grad or (x._view is not None and x.requires_grad):
                mask |= bit
                inference |= x._inference
            else:
                plain |= bit
        if not mask:
            by("leaf/no-history-without-requires-grad")
            return 0
        by("leaf/op-result-is-no-leaf")
        if plain:
            by("requires_grad/any-input")
        if STATE.inference and by("inference/records-nothing"):
            return 0
        if inference and all_inference(self, operands) and by("inference/alone-records-nothing"):
            return 0
        return mask

    def run(self, arrays: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
        """Compute the op, for a write."""
        result = self.compute(arrays, attributes)
        return result if STATE.perturb is None else STATE.perturb(self.op, result, arrays)

    def asks_for_result(self, at: int) -> bool:
        """Return True if the formula of the ``at``-th edge takes the op's result, which there is."""
        return self.result in list(self.op.formulas.values())[at].picks


def all_inference(kernel: Kernel, operands: tuple[Any, ...]) -> bool:
    """Return True if no operand is a normal tensor or a number that PyTorch wraps into one."""
    return all(
        x._inference if isinstance(x, Tensor) else operand.kind.name == "number"
        for x, operand in zip(operands, kernel.op.operands, strict=True)
    )
