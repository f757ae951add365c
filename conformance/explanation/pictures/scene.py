"""The contents of the picture of a moment: tensors with their facts, nodes, and the links between them.

It knows nothing of how they are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.explanation.pictures.moments import Moment
from conformance.explanation.pictures.shown import contents, printable, short, shown
from conformance.explanation.value import GraphNode, SavedOperand, TensorState

MOST = 90
"""The most boxes of a picture."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of a box; ``changed`` by this line, or ``refused``."""

    label: str
    lines: tuple[str, ...]
    changed: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class TensorBox:
    """A tensor: ``kind`` is leaf (it requires grad), result (it has a grad_fn) or outside (of the graph)."""

    number: int
    title: str
    kind: str
    facts: tuple[Fact, ...]
    refused: bool


@dataclass(frozen=True, slots=True)
class NodeBox:
    """A node of the graph; ``order`` is its place in the backward that this line ran, 0 if it did not run."""

    number: int
    title: str
    facts: tuple[Fact, ...]
    edges: tuple[tuple[int | None, int], ...]
    order: int
    refused: bool


@dataclass(frozen=True, slots=True)
class Link:
    """A line of a picture; ``kind`` is grad_fn, fills, saved, view or memory."""

    kind: str
    source: int
    target: int
    label: str = ""
    marked: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """The boxes and links of a picture. ``left_out`` boxes had no room."""

    tensors: tuple[TensorBox, ...]
    nodes: tuple[NodeBox, ...]
    links: tuple[Link, ...]
    left_out: int = 0


def scene_of(moment: Moment) -> Scene:
    """Return the contents of the picture of a moment."""
    return _Painter(moment).scene()


class _Painter:
    def __init__(self, moment: Moment) -> None:
        self.moment, self.step = moment, moment.step
        self.order = {run.node: at for at, run in reversed(list(enumerate(self.step.ran, 1)))}
        self.grads = {run.node: run.grads for run in self.step.ran}
        self.red_tensors = {m.tensor for m in moment.mishaps if m.tensor is not None}
        self.red_nodes = {m.node for m in moment.mishaps if m.node is not None}
        self.changed = {(change.name, change.fact) for change in self.step.changes}
        self.names: dict[int, list[str]] = {}
        for name, number in self.step.names.items():
            self.names.setdefault(number, []).append(name)

    def scene(self) -> Scene:
        nodes = self._nodes()
        tensors = self._tensors(nodes)
        kept_tensors, kept_nodes = self._most_telling(tensors, nodes)
        left_out = len(tensors) + len(nodes) - len(kept_tensors) - len(kept_nodes)
        drawn = {node.number for node in kept_nodes}
        boxes = tuple(self._node_box(node, drawn) for node in self._near(kept_nodes))
        links = tuple(self._links(kept_tensors, kept_nodes))
        return Scene(tuple(map(self._tensor_box, kept_tensors)), boxes, links, left_out)

    def _nodes(self) -> list[GraphNode]:
        """The nodes that tensors lead to and those that ran."""
        known = self.step.graph()
        todo = [run.node for run in self.step.ran] + sorted(self.red_nodes)
        while todo:
            number = todo.pop()
            node = self.step.nodes.get(number)
            if node is not None and number not in known:
                known[number] = node
                todo += [target for target, _ in node.edges if target is not None]
        return sorted(known.values(), key=lambda node: -node.number)

    def _most_telling(
        self, tensors: list[TensorState], nodes: list[GraphNode]
    ) -> tuple[list[TensorState], list[GraphNode]]:
        """Choose those for which there is room: what the line is about, and what is near it in the graph."""
        if len(tensors) + len(nodes) <= MOST:
            return tensors, nodes
        chosen = self._near(nodes)[: max(MOST // 2, MOST - len(tensors))]
        drawn = {node.number for node in chosen}
        filled = {node.variable for node in chosen}

        def rank(state: TensorState) -> bool:
            return state.node not in drawn and state.number not in filled

        about = self._changed_tensors() | self.red_tensors
        first = [state for state in tensors if state.number in about]
        named = [state for state in tensors if state.number in self.names and state.number not in about]
        return [*first, *sorted(named, key=rank)][: MOST - len(chosen)], chosen

    def _near(self, nodes: list[GraphNode]) -> list[GraphNode]:
        """Sort nodes: what is red, the way of the gradient, then by the distance from what changed."""
        states = self.step.tensors
        layer = [states[number].node for number in self._changed_tensors() if number in states]
        distance: dict[int | None, int] = {}
        while layer:
            fresh = [number for number in layer if number is not None and number not in distance]
            distance |= dict.fromkeys(fresh, len(distance))
            layer = [
                t for number in fresh if number in self.step.nodes for t, _ in self.step.nodes[number].edges
            ]
        far = len(distance)
        late = len(self.order) + 1
        return sorted(
            nodes,
            key=lambda n: (
                n.number not in self.red_nodes,
                self.order.get(n.number, late),
                distance.get(n.number, far),
                -n.number,
            ),
        )

    def _changed_tensors(self) -> set[int]:
        return {self.step.names[name] for name, _ in self.changed if name in self.step.names}

    def _tensors(self, nodes: list[GraphNode]) -> list[TensorState]:
        """The tensors that have a name, and those without that the graph or a view of them keeps."""
        step = self.step
        grads = {state.grad for state in step.tensors.values()}
        wanted: set[int | None] = {*self.names, *self.red_tensors}
        for node in nodes:
            wanted |= {node.variable, *(self._kept(node, saved) for saved in node.saved)}
        wanted |= {state.base for number, state in step.tensors.items() if number in wanted}
        states = [
            state
            for number, state in step.tensors.items()
            if number in wanted or (number in grads and state.node is not None)
        ]
        changed = self._changed_tensors()

        def rank(state: TensorState) -> tuple[bool, bool, bool, int]:
            number = state.number
            return number not in self.red_tensors, number not in changed, number not in self.names, number

        return sorted(states, key=rank)

    def _kept(self, node: GraphNode, saved: SavedOperand) -> int:
        """Return the number of a saved tensor, or of the result whose alias a node keeps."""
        states = self.step.tensors
        alias = states.get(saved.tensor)
        if saved.tensor in self.names or (alias is None and saved.slot != "out"):
            return saved.tensor
        rewritten = alias is not None and alias.node is None  # its result may have a later write as history
        for number in (*self.names, *states):
            state = states.get(number)
            own = state is not None and state.node == node.number
            if state is None or not (own or (rewritten and number in self.names)):
                continue
            if number != saved.tensor and (alias is None or _memory(alias) == _memory(state)):
                return number
        return saved.tensor

    def _title(self, number: int) -> str:
        return printable(", ".join(self.names.get(number, ())) or "(unnamed)")

    def _tensor_box(self, state: TensorState) -> TensorBox:
        kind = "outside" if not state.requires_grad else "leaf" if state.is_leaf else "result"
        refused = state.number in self.red_tensors
        return TensorBox(state.number, self._title(state.number), kind, tuple(self._facts(state)), refused)

    def _facts(self, state: TensorState) -> Iterator[Fact]:
        names = self.names.get(state.number, ())

        def fact(label: str, *lines: str, of: str = "") -> Fact:
            return Fact(label, lines, any((name, of or label) in self.changed for name in names))

        yield fact("data", *contents(state.value, state.shape, state.dtype), of="value")
        grad = ["None"] if state.grad is None else contents(state.grad_value, state.shape, state.dtype)
        yield fact("grad", *grad)
        yield fact("grad_fn", short(state.grad_fn or "None"))
        yield fact("is_leaf", str(state.is_leaf))
        yield fact("requires_grad", str(state.requires_grad))
        yield fact("version", "untracked" if state.version is None else str(state.version))
        if state.retains_grad:
            yield fact("retains_grad", "True")
        if state.base is not None:
            yield fact("view of", self._title(state.base), of="base")
        if state.stale:
            yield fact("stale", "True: reading renews it")
        if state.dtype != "float32" and state.value is not None:
            yield fact("dtype", state.dtype)
        if state.device != "cpu":
            yield fact("device", state.device)

    def _node_box(self, node: GraphNode, drawn: set[int]) -> NodeBox:
        facts: list[Fact] = []
        grads = self.grads.get(node.number)
        if grads is not None:
            arrived = ("undefined or large" if g is None else shown(g) for g in grads)
            facts.append(Fact("gradient", tuple(arrived), changed=True))
        for saved in node.saved:
            refused = self._outdated(node, saved)
            facts.append(Fact("saved", (self._saved(node, saved),), refused=refused))
        if node.freed is not None and node.saved:
            facts.append(Fact("freed", (self._freed(node.freed),), refused=node.number in self.red_nodes))
        edges = tuple((t if t in drawn else None if t is None else -1, nr) for t, nr in node.edges)
        order = self.order.get(node.number, 0)
        return NodeBox(
            node.number, short(node.name), tuple(facts), edges, order, node.number in self.red_nodes
        )

    def _freed(self, step: int) -> str:
        lines = self.moment.lines
        if step == self.step.number and self.moment.error is None:
            return "now"
        return f"by line {lines[step]}" if step in lines else "before"

    def _outdated(self, node: GraphNode, saved: SavedOperand) -> bool:
        state = self.step.tensors.get(saved.tensor)
        return node.freed is None and state is not None and state.version not in (None, saved.version)

    def _saved(self, node: GraphNode, saved: SavedOperand) -> str:
        slot = f"{saved.slot} = " if saved.slot else ""
        told = f"{slot}{self._title(self._kept(node, saved))} at version {saved.version}"
        if self._outdated(node, saved):
            told += f", now {self.step.tensors[saved.tensor].version}"
        return told

    def _links(self, tensors: list[TensorState], nodes: list[GraphNode]) -> Iterator[Link]:
        known, drawn = {t.number for t in tensors}, {n.number for n in nodes}
        for state in tensors:
            if state.node in drawn:
                label = str(state.output_nr) if state.output_nr else ""
                yield Link("grad_fn", state.number, state.node or 0, label)
            if state.base in known:
                yield Link("view", state.number, state.base or 0, "view of")
        for node in nodes:
            if node.variable in known:
                yield Link("fills", node.number, node.variable or 0, "", node.number in self.order)
            for saved in node.saved:
                kept, refused = self._kept(node, saved), self._outdated(node, saved)
                if kept in known and (refused or node.freed is None):
                    yield Link("saved", node.number, kept, saved.slot, False, refused)
        yield from self._shared(tensors)

    def _shared(self, tensors: list[TensorState]) -> Iterator[Link]:
        """Tensors that share memory and are no views of one another."""
        first: dict[int, TensorState] = {}
        for state in sorted(tensors, key=lambda state: state.number):
            other = first.setdefault(state.storage, state)
            if other is not state and state.base is None:
                yield Link("memory", state.number, other.number, "same memory")


def _memory(state: TensorState) -> tuple[int, int, tuple[int, ...]]:
    return state.storage, state.counter, state.shape
