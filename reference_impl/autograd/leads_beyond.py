"""The leaves to which a history leads."""

from __future__ import annotations

from collections.abc import Iterable

from reference_impl.core.graph import AccumulateGrad
from reference_impl.core.tensor import Tensor


def leads_beyond(x: Tensor, leaves: Iterable[Tensor]) -> bool:
    """Tell whether the history of a tensor leads to a leaf that is none of these."""
    own = {id(leaf) for leaf in leaves}
    todo, met = [x.grad_fn], set()
    while todo:
        node = todo.pop()
        if node is None or node in met:
            continue
        met.add(node)
        if isinstance(node, AccumulateGrad) and id(node.variable) not in own:
            return True
        todo += [target for target, _ in node.next_functions]
    return False
