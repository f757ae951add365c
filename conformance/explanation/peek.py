"""Snapshots of what a script's names reach: tensors and nodes by number, each only where it changed."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.adapters.reference_state import (
    FEW,
    TENSOR,
    RawFacts,
    device_of,
    elements,
    has_freed,
    history_of,
    in_full,
    saved_by,
    stands_for_torch,
    variable_of,
)
from conformance.explanation.reach import reached
from conformance.explanation.value import GraphNode, SavedOperand, TensorState


class Numbers:
    """Numbers for objects that last while the objects live; none is kept alive, nor compared."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, int]] = {}
        self.next = 1

    def of(self, x: Any) -> int:
        found = self.known.get(id(x))
        if found is not None and found[0]() is x:
            return found[1]
        number, self.next = self.next, self.next + 1
        self.known[id(x)] = weakref.ref(x), number
        return number


class Groups:
    """Numbers for memory and counters, which take no weak references: kept alive as long as the script."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, int]] = {}

    def of(self, x: Any) -> int:
        return self.known.setdefault(id(x), (x, len(self.known)))[1]


class Peek:
    """The tensors and nodes seen so far, by number."""

    def __init__(self) -> None:
        self.numbers, self.node_numbers = Numbers(), Numbers()
        self.storages, self.counters = Numbers(), Groups()
        self.tensors: dict[int, TensorState] = {}
        self.nodes: dict[int, GraphNode] = {}
        self.alive: dict[int, Any] = {}
        self.step = 0
        self.born: dict[int, int] = {}
        """The step at which the node of an op's result was made; a name may lead to it only later."""
        self.held: dict[int, list[Any]] = {}
        """The tensors that each node saved, as weak references."""
        self.prints: dict[int, Any] = {}
        """By tensor what must be as it was for its state to be as it was."""
        self.names: dict[str, int] = {}
        self.states: dict[int, TensorState] = {}
        self._deep = True
        """Known nodes are walked too: what they hold may have changed."""
        self._walked: set[int] = set()
        self._new: set[int] = set()

    def look(
        self, roots: Mapping[str, Any], quiet: bool = False
    ) -> tuple[dict[str, int], dict[int, TensorState], set[int]]:
        """Return the tensors' names, the states of all reached, and the nodes that are new or changed.

        After a ``quiet`` line, which can have changed no tensor that was there, only new ones are looked at.
        """
        names: dict[str, int] = {}
        found: dict[int, Any] = {}
        for name, x in reached(roots, TENSOR, stands_for_torch):
            names[name] = number = self.numbers.of(x)
            found[number] = x
        self._deep = not (quiet and self.names.items() <= names.items())
        states = {} if self._deep else dict(self.states)
        new, self._new = self._new, set()
        todo = [x for number, x in found.items() if number not in states]
        seen = set(map(id, todo))
        while todo:
            x = todo.pop()
            raw = RawFacts(x)
            state = self._state(x, raw)
            states[state.number] = state
            more = [raw.grad, raw.base, *self._walk(raw.node, new)]
            for other in more:
                if other is not None and id(other) not in seen:
                    seen.add(id(other))
                    todo.append(other)
        if self._deep:
            self._freed(new)
        self.names, self.states = names, states
        return names, states, new

    def _state(self, x: Any, raw: RawFacts) -> TensorState:
        number = self.numbers.of(x)
        before = self.tensors.get(number)
        print_ = self._print(raw)
        if before is not None and self.prints.get(number) == print_:
            return before
        self.prints[number] = print_
        state = TensorState(
            number,
            elements(x),
            raw.array.shape,
            raw.dtype,
            device_of(x),
            raw.is_leaf,
            raw.needs,
            raw.retains,
            None if raw.node is None else raw.node.name(),
            None if raw.node is None else self.node_numbers.of(raw.node),
            raw.nr,
            None if raw.grad is None else self.numbers.of(raw.grad),
            None if raw.grad is None else elements(raw.grad),
            raw.version,
            None if raw.base is None else self.numbers.of(raw.base),
            raw.stale,
            self.storages.of(raw.storage),
            self.counters.of(raw.counter),
            self.step if before is None else before.made,
        )
        if before == state:
            return before
        self.tensors[number] = state
        return state

    def _print(self, raw: RawFacts) -> Any:
        """Return what must be as it was for a tensor's state to be as it was."""
        array, grad = raw.array, raw.grad
        small = array.tobytes() if array.size <= FEW else id(array)
        kept = None if grad is None else (self.numbers.of(grad), in_full(grad))
        node = None if raw.node is None else self.node_numbers.of(raw.node)
        base = None if raw.base is None else id(raw.base)
        return (
            small, array.shape, raw.version, node, raw.nr, raw.needs, raw.retains, raw.is_leaf, kept,
            raw.stale, id(raw.storage), id(raw.counter), base,
        )  # fmt: skip

    def _walk(self, node: Any, new: set[int]) -> Iterator[Any]:
        """Give the tensors that new nodes hold, and number the nodes."""
        stack = [node]
        while stack:
            node = stack.pop()
            if node is None:
                continue
            number = self.node_numbers.of(node)
            known = number in self.nodes
            if known and (number not in self.alive or not self._deep):
                continue
            variable = variable_of(node)
            if variable is not None:
                yield variable
            if known:
                if number not in self._walked:
                    self._walked.add(number)
                    stack += [target for target, _ in node.edges]
                    yield from (x for ref in self.held.get(number, ()) if (x := ref()) is not None)
                continue
            new.add(number)
            self._walked.add(number)
            self.alive[number] = weakref.ref(node)
            saved = list(saved_by(node))
            yield from (tensor for _, tensor, _ in saved)
            self.held[number] = [weakref.ref(tensor) for _, tensor, _ in saved]
            self.nodes[number] = GraphNode(
                number,
                node.name(),
                tuple((None if t is None else self.node_numbers.of(t), nr) for t, nr in node.edges),
                tuple(SavedOperand(slot, self.numbers.of(x), version) for slot, x, version in saved),
                None if variable is None else self.numbers.of(variable),
                self.born.get(number, self.step),
                self.step if has_freed(node) else None,
            )
            stack += [target for target, _ in node.edges]

    def note_birth(self, result: Any, step: int) -> None:
        """Note when the node of an op's result was made."""
        node = history_of(result)
        if node is not None:
            self.born.setdefault(self.node_numbers.of(node), step)

    def meet(self, node: Any, step: int) -> int:
        """Return the number of a node that runs, and note what it leads to: nothing else may reach it."""
        self.step, self._deep = step, True
        for _ in self._walk(node, self._new):
            pass
        return self.node_numbers.of(node)

    def begin(self, step: int) -> None:
        """Start a snapshot after that step."""
        self.step, self._walked = step, set()

    def _freed(self, new: set[int]) -> None:
        """Note the nodes that have released what they saved."""
        for number in list(self.alive):
            node, known = self.alive[number](), self.nodes[number]
            if node is None:
                del self.alive[number]
                self.held.pop(number, None)
            elif known.freed is None and has_freed(node):
                fields = (known.number, known.name, known.edges, known.saved, known.variable, known.made)
                self.nodes[number] = GraphNode(*fields, self.step)
                new.add(number)
