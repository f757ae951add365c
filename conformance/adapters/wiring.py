"""How the tensors of a torch-shaped namespace hang together: whose histories meet, and who shares memory.

Read once, when a program is over: what is numbered here is numbered among all that is live.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from specs.fact import UNSEEN


def wiring(
    tensors: Mapping[str, Any], graded: Container[str], refused: Callable[[Exception], Any]
) -> dict[str, tuple[Any, ...]]:
    """The facts `specs.fact.WIRING` of each tensor and of its grad if it is ``graded``; ``refused`` tells
    what a failed reading shows.
    """
    histories, ages = _histories(tensors, refused)
    ranks = {age: rank for rank, age in enumerate(sorted({age for nodes in ages.values() for age in nodes}))}
    owners: dict[int, str] = {}
    seen = {}
    for name, x in tensors.items():
        memory = _memory(name, x, owners)
        kept = _memory(f"{name}.grad", x.grad, owners) if name in graded else None
        seen[name] = (histories[name], tuple([ranks[age] for age in ages.get(name, ())]), memory, kept)
    return seen


def _histories(
    tensors: Mapping[str, Any], refused: Callable[[Exception], Any]
) -> tuple[dict[str, Any], dict[str, list[int]]]:
    """Each tensor's node and the nodes behind it that no earlier tensor led to, as facts; and their ages."""
    numbers: dict[Any, int | None] = {None: None}
    made_by: dict[str, Any] = {}
    behind: dict[str, list[tuple[str, Any, int]]] = {}
    shown: dict[str, Any] = {}
    for name, x in tensors.items():
        try:
            node = x.grad_fn
        except Exception as error:
            shown[name] = refused(error)
            continue
        shown[name] = None
        if node is not None:
            made_by[name] = node
            behind[name] = _behind(node, numbers)
    for name, new in behind.items():
        nodes = [(kind, tuple([(numbers[child], nr) for child, nr in edges])) for kind, edges, _ in new]
        shown[name] = (numbers[made_by[name]], tuple(nodes))
    return shown, {name: [age for _, _, age in new] for name, new in behind.items()}


def _behind(node: Any, numbers: dict[Any, int | None]) -> list[tuple[str, Any, int]]:
    """Name, edges and age of the nodes that can be reached and have no number yet; they are given one."""
    new = []
    stack = [node]
    while stack:
        node = stack.pop()
        if node not in numbers:
            numbers[node] = len(numbers) - 1
            edges = node.next_functions
            new.append((node.name(), edges, node._sequence_nr()))
            stack += [child for child, _ in reversed(edges) if child not in numbers]
    return new


def _memory(name: str, x: Any, owners: dict[int, str]) -> Any:
    """The first tensor on the same storage and, if there are elements, where this one lies in it.

    The stride of a dimension of one element leads nowhere, and is not read.
    """
    try:
        owner = owners.setdefault(x.untyped_storage()._cdata, name)
    except (AttributeError, NotImplementedError):
        return UNSEEN
    if not x.numel():
        return (owner,)
    strides = tuple([stride for size, stride in zip(x.shape, x.stride(), strict=True) if size != 1])
    return owner, x.storage_offset(), strides
