"""Recording: the node of an op, with its formulas and the values that they need.

`kernel` says which calls are recorded, `apply` runs ops, and `saved` says what a saved tensor is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from reference_impl.base.device import device, place_of
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.graph import LAST, NOWHERE, Edge, Node, RunningTask, gradient_edge, next_number
from reference_impl.core.kernel import Kernel
from reference_impl.core.saved import SavedNumber, SavedVariable
from reference_impl.core.tensor import Tensor, wrap


class OpNode(Node):
    """The history an op records: its formulas, and what they need."""

    __slots__ = ("kernel", "source", "values")

    def __init__(self, kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
        # What Node.__init__ does, written out: this is the one place where it costs.
        self.input_metadata = []
        self.retained = self.hooks = None
        self.kernel = kernel
        # First of all: asking for an edge can give a stale view a new history, which then counts as younger.
        self.sequence_nr = next_number() if kernel.numbered else LAST
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
        for i in kernel.statistics:
            self.values[i] = SavedVariable(self.values[i])

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
        if given is None or (kernel.beyond_programs and not by("op/derivatives-beyond-programs")):
            return out
        wanted = kernel.op.joint and any(task.should_compute_output(self, at) for at in range(len(out)))
        for fn, pick, at in kernel.formulas:
            target, nr = self.edges[at]
            if wanted or (target is not None and (task.exec_info is None or task.runs(target))):
                if unsaved and self.kernel.asks_for_result(at):
                    refuse_by("saved_hooks/failed-pack-saves-nothing")
                g = fn(*pick(values))
                if kernel.real and target is not None:
                    g = real_part(g, target.input_metadata[nr][1])
                    if kernel.copies and at:
                        g = _cast_back(g, target.input_metadata[nr], self.source)
                out[at] = g
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


class NodeOfTwoResults(OpNode):
    """The history of an op of which one result is an operand here, computed before."""

    __slots__ = ()

    def _save(self, operands: tuple[Any, ...], reached: int) -> None:
        super()._save(operands, reached)
        kernel = self.kernel
        self.values[kernel.result] = operands[kernel.op.names.index(kernel.op.second_result)]

    def save_output(self, tensor: Tensor, written_view: bool = False) -> None:
        slot = self.kernel.result
        self.values[slot] = SavedVariable(self.values[slot])


def node_type(kernel: Kernel) -> type[OpNode]:
    """Return the class of an op's nodes, which scripts read the name of."""
    kernel.node_type = _type_named(kernel.op.node, NodeOfTwoResults if kernel.op.second_result else OpNode)
    return kernel.node_type


@cache
def _type_named(name: str, base: type[OpNode]) -> type[OpNode]:
    return type(name.rpartition(":")[2], (base,), {"__slots__": (), "__module__": "builtins"})


def _undefined_passed_on(grads: list[Tensor | None]) -> Any:
    """The gradients of several results, None where nothing arrived; None if nothing arrived at all."""
    given = [g for g in grads if g is not None]
    if not given:
        return None
    if len(given) < len(grads) and not by("backward/undefined-passes-on"):
        return (given[0],) * len(grads)
    return tuple(grads)


def _cast_back(g: Tensor, metadata: Any, place: device) -> Tensor:
    """The gradient of what was copied from that device, in its dtype and there, before what broadcasting
    added is summed.
    """
    dtype = getattr(metadata[1], "of", metadata[1])
    if dtype.kind not in DIFFERENTIABLE:
        return g
    if STATE.devices and place_of(g) is not place:
        return g.copy_to(dtype, place)
    return g if g._array.dtype == dtype else g.cast(dtype)


def real_part(g: Tensor, dtype: Any) -> Tensor:
    """Return the gradient of an operand of that dtype: for a real one the real part, as a view."""
    if g._array.dtype.kind != "c" or dtype.kind == "c":
        return g
    return g.view_as_real().select(-1, 0)
