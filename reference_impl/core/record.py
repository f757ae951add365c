"""Recording: the node of an op, with its formulas and the values that they need; which calls are recorded.

`apply` runs ops, and `saved` says what a saved tensor is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reference_impl.base.device import CPU, device, place_of
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.graph import NOWHERE, Edge, Node, RunningTask, gradient_edge, next_number
from reference_impl.core.promotion import preparer
from reference_impl.core.saved import SavedNumber, SavedVariable
from reference_impl.core.tensor import Tensor, wrap
from specs.op import Op
from specs.signature import picker


class Kernel:
    """An op as the machine runs it: its declaration, read once.

    ``edges`` are the operands with an edge, each with its bit in a mask of operands; the rest says which of a
    node's ``values`` hold what: the result, attributes, metadata, and (by the mask of operands whose edges
    lead somewhere) which operands are saved.
    """

    __slots__ = (
        "attributes",
        "boolean",
        "compute",
        "computes_first",
        "copies",
        "defaults",
        "edges",
        "formulas",
        "inputs",
        "metadata",
        "multi",
        "mutates",
        "needed",
        "op",
        "overwrites",
        "prepare",
        "real",
        "recordable",
        "result",
        "saved",
        "slots",
    )

    def __init__(self, op: Op) -> None:
        self.op = op
        self.defaults = op.defaults
        self.mutates = op.mutates
        self.multi = op.view == "multi"
        self.real = op.real
        self.recordable = DIFFERENTIABLE if op.complex_history else DIFFERENTIABLE.replace("c", "")
        self.overwrites = op.mutates and bool(op.overwrites)
        self.copies = op.overwrites == "copy"
        self.boolean = op.dtypes == "bool"
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
        # NB: in the order of torch's names, which decides what is refused first
        inputs = sorted(
            ((i, slot.operand) for i, slot in slots if slot.source == "operand"),
            key=lambda kept: op.torch_name(kept[1]),
        )
        outputs = [i for i, slot in slots if slot.source == "out"]
        self.slots = len(slots)
        self.result = outputs[0] if outputs else 0
        self.saved = (*(i for i, _ in inputs), *outputs)
        self.attributes = tuple((i, slot.name) for i, slot in slots if slot.source == "attribute")
        self.metadata = tuple(
            (i, METADATA[slot.source], slot.operand) for i, slot in slots if slot.source in METADATA
        )
        self.inputs = inputs
        self.needed = [
            [(i, at) for i, at in inputs if op.filled(mask)[i]] for mask in range(1 << len(op.operands))
        ]

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
        return result if STATE.perturb is None else STATE.perturb(self.op, result)

    def asks_for_result(self, at: int) -> bool:
        """Return True if the formula of the ``at``-th edge takes the op's result."""
        return bool(self.result) and self.result in list(self.op.formulas.values())[at].picks


class OpNode(Node):
    """The history an op records: its formulas, and what they need."""

    __slots__ = ("kernel", "source", "values")

    def __init__(self, kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
        # What Node.__init__ does, written out: this is the one place where it costs.
        self.metadata = []
        self.retained = self.hooks = None
        self.kernel = kernel
        # First of all: asking for an edge can give a stale view a new history, which then counts as younger.
        self.sequence_nr = next_number()
        edges: list[Edge] = []
        reached = 0
        for i, bit in kernel.edges:
            edge = gradient_edge(operands[i]) if isinstance(operands[i], Tensor) else NOWHERE
            edges.append(edge)
            if edge[0] is not None:
                reached |= bit
        self.edges = tuple(edges)
        if STATE.anomaly is not None:
            STATE.anomaly.made(self)
        values: list[Any] = [None] * kernel.slots
        self.values = values
        for i, name in kernel.attributes:
            values[i] = attributes[name]
        for i, of, at in kernel.metadata:
            values[i] = of(operands[at])
        if kernel.copies:
            self.source = place_of(operands[1])
        if kernel.inputs:
            self._save(operands, reached)

    def _save(self, operands: tuple[Any, ...], reached: int) -> None:
        """Save the operands that formulas of ``reached`` edges need.

        An operand may require grad and reach nothing: a view made under ``no_grad``.
        """
        kernel = self.kernel
        needed = kernel.needed[reached]
        if len(needed) < len(kernel.inputs) and not by("save/only-what-a-formula-needs"):
            needed = kernel.inputs
        for i, at in needed:
            operand = operands[at]
            if not isinstance(operand, Tensor):
                if kernel.op.operands[at].kind.name == "indices":
                    # A list of positions becomes a tensor.
                    positions = np.asarray(operand) if operand else np.empty(0, np.int64)
                    self.values[i] = SavedVariable(wrap(positions))
                    continue
                self.values[i] = SavedNumber(operand, kernel.op.operands[at].kind.name != "number")
            elif kernel.mutates and not at and by("save/in-place-saves-the-original"):
                self.values[i] = SavedVariable(operand.clone())  # recorded: it has a history too
            else:
                self.values[i] = SavedVariable(operand)

    def name(self) -> str:
        return self.kernel.op.node

    @property
    def mixes_elements(self) -> bool:  # type: ignore[override]
        return self.kernel.op.mixes_elements

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        kernel = self.kernel
        values = self.values.copy()
        unsaved = False
        for i in kernel.saved:
            if values[i] is not None:
                values[i] = values[i].unpack(self)
            elif i == kernel.result:
                unsaved = True
        out: list[Tensor | None] = [None] * len(self.edges)
        values[0] = given = _undefined_passed_on(grads) if kernel.multi else grads[0]
        if given is None:
            return out
        wanted = kernel.op.joint and any(task.should_compute_output(self, at) for at in range(len(out)))
        for fn, pick, at in kernel.formulas:
            target, nr = self.edges[at]
            if wanted or (target is not None and (task.exec_info is None or task.runs(target))):
                if unsaved and self.kernel.asks_for_result(at):
                    refuse_by("saved_hooks/failed-pack-saves-nothing")
                out[at] = fn(*pick(values))
                if kernel.real and target is not None:
                    out[at] = real_part(out[at], target.metadata[nr][1])
                    if kernel.copies and at:
                        out[at] = _cast_back(out[at], target.metadata[nr], self.source)
        if kernel.overwrites and not by("write/cuts-what-it-overwrites"):
            out[0] = grads[0]
        return out

    def release_variables(self) -> None:
        for i in self.kernel.saved:
            if self.values[i] is not None:
                self.values[i].free()

    def save_output(self, tensor: Tensor, written_view: bool = False) -> None:
        """Keep the op's result, if a formula asks for it."""
        slot = self.kernel.result
        if slot:
            if by("save/output-is-saved"):
                self.values[slot] = SavedVariable(tensor, is_output=True, written_view=written_view)
            else:
                self.values[slot] = SavedVariable(wrap(tensor._array.copy()))


def _undefined_passed_on(grads: list[Tensor | None]) -> Any:
    """The gradients of several results, None where nothing arrived; None if nothing arrived at all."""
    given = [g for g in grads if g is not None]
    if not given:
        return None
    if len(given) < len(grads) and not by("backward/undefined-passes-on"):
        return (given[0],) * len(grads)
    return tuple(grads)


def _cast_back(g: Tensor | None, metadata: Any, place: device) -> Tensor | None:
    """The gradient of what was copied from that device, in its dtype and there, before what broadcasting
    added is summed.
    """
    dtype = getattr(metadata[1], "of", metadata[1])
    if g is None or dtype.kind not in DIFFERENTIABLE:
        return g
    if STATE.devices and place_of(g) is not place:
        return g.copy_to(dtype, place)
    return g if g._array.dtype == dtype else g.cast(dtype)


def real_part(g: Tensor | None, dtype: Any) -> Tensor | None:
    """Return the gradient of an operand of that dtype: for a real one the real part, as a view."""
    if g is None or g._array.dtype.kind != "c" or dtype.kind == "c":
        return g
    return g.view_as_real().select(-1, 0)


METADATA: dict[str, Callable[[Any], Any]] = {
    "shape": lambda x: x._array.shape if isinstance(x, Tensor) else (),
    "dtype": lambda x: x._array.dtype if isinstance(x, Tensor) else None,
    "strides": lambda x: x.stride(),
    "offset": lambda x: x.storage_offset(),
    "place": lambda x: place_of(x) if isinstance(x, Tensor) else CPU,
}


def all_inference(kernel: Kernel, operands: tuple[Any, ...]) -> bool:
    """Return True if no operand is a normal tensor or a number that PyTorch wraps into one."""
    return all(
        x._inference if isinstance(x, Tensor) else operand.kind.name == "number"
        for x, operand in zip(operands, kernel.op.operands, strict=True)
    )
