"""The values of an explanation: what each line of a script did to the tensors, and the rules behind it.

Tensors and nodes have numbers that last for the whole script. A step knows the state after it: which name
holds which tensor, each tensor's facts, and the nodes that were there. Steps share what did not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

JSON_FORMAT = 1
"""The version of the JSON form, which ``specs/schema/explanation.schema.json`` describes."""

TOLD_FACTS = (
    "is_leaf",
    "requires_grad",
    "grad_fn",
    "grad",
    "version",
    "device",
    "retains_grad",
    "base",
    "stale",
)
"""The facts of a tensor whose changes are told."""


@dataclass(frozen=True, slots=True)
class TensorState:
    """The facts of a tensor after a step, read from raw state.

    ``value`` holds the elements as nested lists, None beyond a few; ``grad``, ``base`` and ``node`` are the
    numbers of tensors and of a node. ``storage`` and ``counter`` number the memory and the version counter:
    tensors with the same number share it. A ``stale`` view gets a new history as soon as it is read.
    """

    number: int
    value: Any
    shape: tuple[int, ...]
    dtype: str
    device: str
    is_leaf: bool
    requires_grad: bool
    retains_grad: bool
    grad_fn: str | None
    node: int | None
    output_nr: int
    grad: int | None
    grad_value: Any
    version: int | None
    base: int | None
    stale: bool
    storage: int
    counter: int
    made: int
    """The step that made it, or at which it was first seen."""


@dataclass(frozen=True, slots=True)
class SavedOperand:
    """A tensor that a node keeps for backward: its number, and its version then."""

    slot: str
    tensor: int
    version: int


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of the graph: its edges as (node or None, index), and what it saved.

    ``variable`` is the tensor that an AccumulateGrad fills; ``freed`` is the step that released the saved.
    """

    number: int
    name: str
    edges: tuple[tuple[int | None, int], ...]
    saved: tuple[SavedOperand, ...]
    variable: int | None
    made: int
    freed: int | None = None


@dataclass(frozen=True, slots=True)
class NodeRun:
    """A node that a backward reached: its number, and the gradients that arrived at it.

    A gradient is nested lists, and None where it is undefined or large.
    """

    node: int
    grads: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """A call that takes tensors and gives tensors, by number; ``how`` is its name.

    It gives none if its result is a number or an array. ``lost``: some tensor that it takes requires grad,
    and nothing that it gives does.
    """

    how: str
    gives: tuple[int, ...]
    takes: tuple[int, ...]
    lost: bool


@dataclass(frozen=True, slots=True)
class Change:
    """A fact of a tensor that a step changed, and the rules that decide it; ``name`` is the tensor's name."""

    name: str
    fact: str
    before: Any
    after: Any
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mishap:
    """An error or a warning of the script: torch's wording, its rule, what caused it, and the cure.

    ``tensors`` names the tensors it is about; ``causes`` are the lines that led to it, the decisive first.
    """

    kind: str
    message: str
    line: int
    rule: str | None = None
    tensors: tuple[str, ...] = ()
    tensor: int | None = None
    node: int | None = None
    saved_version: int | None = None
    causes: tuple[int, ...] = ()
    sentence: str = ""
    cure: str = ""
    operands: tuple[int, ...] = ()
    """The tensors that the refused op was given."""
    step: int | None = None
    """The number of the step during which it came."""
    calls: tuple[int, ...] = ()
    """The lines whose calls led to it, the outermost first."""
    again: int = 0
    """The later passes of its line in which the script caught the same."""


@dataclass(frozen=True, slots=True)
class ExecutedLine:
    """One pass of one line: what changed, why, and the state after it."""

    number: int
    line: int
    function: str
    passes: int
    marks: tuple[str, ...]
    changes: tuple[Change, ...]
    because: tuple[str, ...]
    printed: str
    names: Mapping[str, int] = field(repr=False)
    tensors: Mapping[int, TensorState] = field(repr=False)
    nodes: Mapping[int, GraphNode] = field(repr=False)
    ran: tuple[NodeRun, ...] = field(default=(), repr=False)
    """The nodes that backward reached, in order."""
    flows: tuple[Flow, ...] = field(default=(), repr=False)
    """The ops that were called, in order."""

    def named(self, tensor: int | None) -> tuple[str, ...]:
        """Return the names that hold a tensor."""
        return tuple(name for name, number in self.names.items() if number == tensor)

    def graph(self) -> dict[int, GraphNode]:
        """Return the nodes that the tensors of this step lead to."""
        stack = [state.node for state in self.tensors.values()]
        met: dict[int, GraphNode] = {}
        while stack:
            number = stack.pop()
            if number is not None and number not in met and number in self.nodes:
                met[number] = self.nodes[number]
                stack += [target for target, _ in self.nodes[number].edges]
        return met


@dataclass(frozen=True)
class Story:
    """A script as it ran: its steps in order, its warnings, what was refused and the script caught, and the
    error that ended it, if any.
    """

    script: str
    source: tuple[str, ...]
    steps: tuple[ExecutedLine, ...]
    warnings: tuple[Mishap, ...] = ()
    caught: tuple[Mishap, ...] = ()
    error: Mishap | None = None
    ending: str = "finished"
    """finished, error, not modelled, syntax error, timeout, memory, killed or exit."""
    note: str = ""
    """The reason in words why the script ended, where it is neither its end nor an error of autograd."""

    @property
    def mishaps(self) -> tuple[Mishap, ...]:
        """The warnings and errors in the order in which they came, the one that ended the script last."""
        survived = sorted((*self.warnings, *self.caught), key=lambda mishap: mishap.step or 0)
        return (*survived, *filter(None, [self.error]))

    def text_of(self, line: int) -> str:
        """Return a line of the script, stripped."""
        return self.source[line - 1].strip() if 0 < line <= len(self.source) else ""

    def at(self, line: int) -> ExecutedLine | None:
        """Return the last step of a line."""
        return next((step for step in reversed(self.steps) if step.line == line), None)

    def told(self) -> Iterator[ExecutedLine]:
        """Give the steps worth telling: those that changed something, and the first pass of each line."""
        for step in self.steps:
            if step.changes or step.printed or step.passes == 1:
                yield step

    def rules(self) -> tuple[str, ...]:
        """Return the ids of all rules named, once each, in order."""
        found = [rule for step in self.steps for change in step.changes for rule in change.because]
        found += [mishap.rule for mishap in self.mishaps if mishap.rule]
        return tuple(dict.fromkeys(found))
