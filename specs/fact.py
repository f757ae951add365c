"""The observable facts of a tensor, in the order they are read, and how each is compared.

Reading is an action: in PyTorch it regenerates a stale view's history, and can be refused. So the order below
is part of the semantics, and both sides read in it. How facts are obtained lives in the adapters, how traces
are compared in the conformance package.
"""

from __future__ import annotations

from dataclasses import dataclass


class _Unseen:
    """The one value that says an implementation does not show a fact."""

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
    Fact("value", "rounded", "the elements, as nested lists; zero equals minus zero, NaN equals NaN"),
    Fact("dtype", "exact", "the dtype's PyTorch name"),
    Fact("shape", "exact", "the sizes"),
    Fact("device", "exact", "where it is: cpu, or the number of the device that `cuda` stands for"),
    Fact("is_leaf", "exact", "whether no recorded operation made it"),
    Fact("requires_grad", "exact", "whether gradients are computed for it"),
    Fact("retains_grad", "exact", "whether it is a non-leaf whose grad is kept; false on leaves"),
    Fact("grad_fn", "exact", "the name of the node that made it, or None"),
    Fact("output_nr", "exact", "which output of that node it is"),
    Fact("is_view", "exact", "whether it is a differentiable view of another tensor"),
    Fact("version", "change", "how far its version counter moved since the name was bound"),
    Fact("grad", "grad", "None, or the facts of its grad in the order of GRAD_FACTS"),
)

FACTS = tuple(fact.name for fact in DECLARED)
"""The reading order; an observed tensor is a tuple of values in this order."""

GRAD_FACTS = ("dtype", "shape", "device", "value", "requires_grad", "is_leaf", "grad_fn")
"""What is read of a grad that is not None, in this order."""

DECLARED_TOPOLOGY = (
    Fact("history", "exact", "the number of its node, and the nodes first met from it: name, edges"),
    Fact("age", "exact", "the ranks of those nodes by sequence number, among all that are met"),
    Fact("memory", "exact", "the first name on that storage, the offset there, the strides that matter"),
    Fact("grad_memory", "exact", "the same of its grad, which may share memory with any tensor or grad"),
)
"""What is read of all live tensors together, once, in the end; nodes are numbered as they are met."""

TOPOLOGY = tuple(fact.name for fact in DECLARED_TOPOLOGY)
WIRING, WIRED = DECLARED_TOPOLOGY, TOPOLOGY
"""Former names, which adapters may import."""

POSITION = {name: index for index, name in enumerate(FACTS)}

DENSITIES = ("each", "touched", "end")
"""How much is looked at: after each step all it may have changed, only what it names, or nothing before the
end; all that is live is looked at then.
"""


def refused(rule: str) -> tuple[str, str]:
    """The value of a fact whose reading was refused by a rule."""
    return ("refused", rule)
