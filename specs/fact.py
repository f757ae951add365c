"""The observable facts of a tensor, in the order they are read, and how each is compared.

Reading is an action: in PyTorch it regenerates a stale view's history, and it can be refused. So the order
below is part of the semantics, and both sides read in it. Facts are read by the adapters; traces are compared
in ``conformance/comparison``.
"""

from __future__ import annotations

from dataclasses import dataclass


class _Unseen:
    """The value of a fact that an implementation does not show."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSEEN"

    def __reduce__(self) -> str:
        return "UNSEEN"


UNSEEN = _Unseen()


@dataclass(frozen=True, slots=True)
class Fact:
    """One observable fact; `how` is exact, rounded (exact if nothing upstream rounds), change or grad."""

    name: str
    how: str
    meaning: str


DECLARED = (
    Fact("value", "rounded", "the elements as nested lists; 0.0 equals -0.0, and NaN equals NaN"),
    Fact("dtype", "exact", "the dtype's PyTorch name"),
    Fact("shape", "exact", "the sizes"),
    Fact("device", "exact", "cpu, or the number of the accelerator"),
    Fact("is_leaf", "exact", "true unless a recorded operation made it"),
    Fact("requires_grad", "exact", "true if gradients are computed for it"),
    Fact("retains_grad", "exact", "true for a non-leaf whose grad is kept; false for leaves"),
    Fact("grad_fn", "exact", "the name of the node that made it, or None"),
    Fact("output_nr", "exact", "its number among the outputs of that node"),
    Fact("is_view", "exact", "true if it is a differentiable view of another tensor"),
    Fact(
        "version",
        "change",
        "its version counter; if chance decides where that begins, its increase since the name was bound",
    ),
    Fact("grad", "grad", "None, or the facts of its grad, in the order of GRAD_FACTS"),
)

FACTS = tuple(fact.name for fact in DECLARED)
"""The reading order; an observed tensor is a tuple of values in this order."""

GRAD_FACTS = ("dtype", "shape", "device", "value", "requires_grad", "is_leaf", "grad_fn")
"""The facts of a grad that is not None, in reading order."""

DECLARED_TOPOLOGY = (
    Fact("history", "exact", "the number of its node, and the nodes first reached from it: name, edges"),
    Fact("age", "exact", "the ranks of those nodes by sequence number, among all that are reached"),
    Fact(
        "memory",
        "exact",
        "the first name on its storage, its offset, and the strides of dimensions above size 1",
    ),
    Fact("grad_memory", "exact", "the same of its grad, which may share memory with any tensor or grad"),
)
"""The topology of all live tensors, read once after the last step; nodes are numbered as they are reached."""

TOPOLOGY = tuple(fact.name for fact in DECLARED_TOPOLOGY)
WIRING, WIRED = DECLARED_TOPOLOGY, TOPOLOGY
"""Former names, which adapters may import."""

POSITION = {name: index for index, name in enumerate(FACTS)}

DENSITIES = ("each", "touched", "end")
"""Densities of observing: after each step every tensor that it may have changed (in long programs after some
of them, see `Scope`), only those that it names, or none. After the last step all live tensors are observed.
"""


def refused(rule: str) -> tuple[str, str]:
    """Return the value of a fact whose reading is refused by a rule."""
    return ("refused", rule)
