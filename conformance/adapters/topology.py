"""Graph and storage topology: shared history and shared memory of all live tensors.

Read once, when a program is over: what is numbered here is numbered among all that is live.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specs.fact import POSITION, UNSEEN

MemoryPlace = Callable[[str, Any, Sequence[int], dict[int, str]], tuple[Any, ...]]
"""The reader of a tensor's memory: `memory_place`, or a shorter way to the same."""

_SHAPE, _NODE, _GRAD = POSITION["shape"], POSITION["grad_fn"], POSITION["grad"]
_NEW: Any = object()
"""The number of a node that was not met before."""


def topology(
    tensors: Mapping[str, Any], facts: Mapping[str, tuple[Any, ...]], memory_place: MemoryPlace
) -> dict[str, tuple[Any, ...]]:
    """Return the facts `specs.fact.TOPOLOGY` of each tensor and of its grad, if it has one by the ``facts``
    that were just read.
    """
    numbers: dict[Any, int | None] = {None: None}
    owners: dict[int, str] = {}
    ages: list[int] = []
    own: list[tuple[str, int, int]] = []
    seen: dict[str, tuple[Any, ...]] = {}
    for name, x in tensors.items():
        known = facts[name]
        history: Any = known[_NODE]
        if type(history) is str:  # else there is none, or to ask for it is refused
            node = x.grad_fn
            number = numbers.get(node)
            if number is None:
                first = len(ages)
                history = _behind(node, numbers, ages)
                own.append((name, first, len(ages)))
            else:
                history = number, ()
        try:
            memory: Any = memory_place(name, x, known[_SHAPE], owners)
        except (AttributeError, NotImplementedError):
            memory = UNSEEN
        kept: Any = None
        if known[_GRAD] is not None:
            try:
                grad = x.grad
                kept = memory_place(f"{name}.grad", grad, grad.shape, owners)
            except (AttributeError, NotImplementedError):
                kept = UNSEEN
        seen[name] = history, (), memory, kept
    if own:
        ranks = tuple(map(sorted(ages).index, ages))  # they are few
        for name, first, end in own:
            history, _, memory, kept = seen[name]
            seen[name] = history, ranks[first:end], memory, kept
    return seen


def _behind(node: Any, numbers: dict[Any, int | None], ages: list[int]) -> tuple[Any, ...]:
    """A node's number and the nodes behind it that no earlier one led to, as a fact.

    They are given numbers as they are met, and their ages are added to ``ages``.
    """
    numbers[node] = number = len(numbers) - 1
    met, nodes = [node], []
    for each in met:
        edges = []
        for child, nr in each.next_functions:
            at = numbers.get(child, _NEW)
            if at is _NEW:
                numbers[child] = at = len(numbers) - 1
                met.append(child)
            edges.append((at, nr))
        nodes.append((each.name(), tuple(edges)))
        ages.append(each._sequence_nr())
    return number, tuple(nodes)


def memory_place(name: str, x: Any, shape: Sequence[int], owners: dict[int, str]) -> tuple[Any, ...]:
    """The first tensor on the same storage and, if there are elements, where this one of that shape lies in
    it.

    The stride of a dimension of one element leads nowhere, and is not read.
    """
    owner = owners.setdefault(x.untyped_storage()._cdata, name)
    if 0 in shape:
        return (owner,)
    strides = x.stride()
    if 1 in shape:
        strides = tuple([stride for size, stride in zip(shape, strides, strict=True) if size != 1])
    return owner, x.storage_offset(), strides
