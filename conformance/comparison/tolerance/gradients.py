"""The gradients that one run of the engine makes, as `dataflow` follows them.

What arrives where is worked out in `aliasing.carry`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from conformance.comparison.tolerance.aliasing import (
    EXACT,
    AbstractMemory,
    AbstractNode,
    AbstractTensor,
    Arrival,
    Family,
    Passed,
    Roundings,
    Tensors,
    families_of,
    memories_of,
    nodes_of,
    sharing,
)

CROWD = 100
"""Above this many reached tensors, gradients are tracked by kind instead of one by one."""


class GradientsOfRun:
    """The gradients made so far in one run of the engine.

    In a crowd those of tensors of one kind share one entry: under create_graph a gradient of each gradient
    would double their number with every run.
    """

    def __init__(
        self,
        roundings: Any,
        ran: Iterable[AbstractNode],
        begun: Tensors,
        captures: bool,
        create_graph: bool,
        rounding: Callable[[], int],
        crowded: bool,
    ) -> None:
        self._roundings, self._ran, self._begun, self._captures = roundings, list(ran), begun, captures
        self._create, self._rounding, self._crowded = create_graph, rounding, crowded
        self._passed = Passed(self._ran) if create_graph else None
        self._rounds = create_graph and any(node.is_inexact() for node in self._ran)
        self._divides = create_graph and any(node.divides for node in self._ran)
        # Later gradients may have come through all that ran, and through earlier ones.
        self._before = AbstractNode(len(roundings) - 1, junction=True)
        self._before.parents = {*self._ran, *nodes_of(begun)}
        self._kinds: dict[Any, tuple[AbstractTensor, AbstractMemory, AbstractNode]] = {}

    def gradient(
        self, arrival: Arrival, old: Roundings = EXACT, earlier: Collection[AbstractNode] = ()
    ) -> AbstractTensor:
        """Add what arrived to an old grad of these roundings and nodes. What is handed out may be, or view,
        what it began as.
        """
        level = arrival.onto(old)
        kind = self._roundings[arrival.roundings.bit_length() - 1] if arrival.roundings else None
        new = not (self._crowded and kind in self._kinds)
        if not new:
            made, memory, node = self._kinds[kind]
            memory.level |= level
        else:
            memory, node = AbstractMemory(level), AbstractNode(self._rounding())
            if kind is not None:  # it has the dtype of where it arrived, not the root's
                self._roundings[node.rounding] = kind
            if self._create:
                self._record(node, memory)
            made = memory.owner = AbstractTensor({memory}, {Family(node)}, self._create)
            self._kinds[kind] = made, memory, node
        for carrier in arrival.carriers:
            memory.may_be(carrier)
        if self._create:
            node.parents.add(self._before)
            node.parents.update(earlier)
            if new:
                later = AbstractNode(node.rounding, junction=True)
                later.parents = {node, self._before}
                self._before = later
        same = sharing(self._begun, arrival.carriers) if self._captures and self._begun else ()
        made.join(families_of(same))
        made.passes_on = not same
        return made

    def accumulate(self, tensor: AbstractTensor, arrival: Arrival) -> None:
        """Add what arrived to the grad of a tensor."""
        old = EXACT
        for memory in memories_of(tensor.grads):
            if not self._create:  # else the sum is a new tensor
                memory.write(arrival.onto(memory.level), len(self._roundings))
            old |= memory.level
        made = self.gradient(arrival, old, nodes_of(tensor.grads))
        tensor.grads = {**tensor.grads, made: None}

    def _record(self, node: AbstractNode, memory: AbstractMemory) -> None:
        """Let a gradient's node read what all that the run passed has kept."""
        node.keeps, node.passed, node.rounds = {memory}, self._passed, self._rounds
        node.divides = self._divides
