"""One copy from device to host for all elements observed at a step, so that the device is waited for once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specs.fact import GRAD_FACTS, POSITION

_VALUE, _GRAD, _GRAD_VALUE = POSITION["value"], POSITION["grad"], GRAD_FACTS.index("value")


class BufferSlot(int):
    """The index of a tensor's elements in a batch."""


class BatchedCopy:
    """Tensors whose elements are to be observed, each added once."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.tensors: list[Any] = []

    def take(self, x: Any) -> BufferSlot:
        """Take a tensor in, and say where it is."""
        self.tensors.append(x)
        return BufferSlot(len(self.tensors) - 1)

    def fill(
        self, seen: Mapping[str, tuple[Any, ...]], read: Callable[[Callable[[], Any]], Any]
    ) -> dict[str, tuple[Any, ...]]:
        """Return the facts with elements in place of slots; ``read`` gives the fact of a failed reading."""
        try:
            values = self._copied()
        except Exception:  # of one of them: each by itself
            values = [read(x.tolist) for x in self.tensors]
        return {name: _filled(facts, values) for name, facts in seen.items()}

    def _copied(self) -> list[Any]:
        """The elements of each as nested lists, in one copy of bytes.

        The largest elements come first, so that all lie where they may; below autograd nothing is recorded,
        nor is any history asked for.
        """
        torch, tensors = self._torch, self.tensors
        order = sorted(range(len(tensors)), key=lambda at: -tensors[at].element_size())
        values: list[Any] = [None] * len(tensors)
        with torch._C._AutoDispatchBelowAutograd():
            there = tensors[0].device
            parts = [tensors[at].resolve_conj().resolve_neg() for at in order]
            rows = [part.clone(memory_format=torch.contiguous_format) for part in parts]
            flat = [row.view(-1).view(torch.uint8).to(there) for row in rows]
            here = torch.cat(flat).cpu()
            start = 0
            for at, part, bytes_ in zip(order, parts, flat, strict=True):
                end = start + bytes_.numel()
                values[at] = here[start:end].view(part.dtype).view(part.shape).tolist()
                start = end
        return values


def _filled(facts: tuple[Any, ...], values: list[Any]) -> tuple[Any, ...]:
    """The facts of one tensor, and of its grad, with the elements in their places."""
    if len(facts) <= _GRAD:
        return facts
    if type(facts[_VALUE]) is BufferSlot:
        facts = (*facts[:_VALUE], values[facts[_VALUE]], *facts[_VALUE + 1 :])
    grad = facts[_GRAD]
    if type(grad) is tuple and len(grad) == len(GRAD_FACTS) and type(grad[_GRAD_VALUE]) is BufferSlot:
        grad = (*grad[:_GRAD_VALUE], values[grad[_GRAD_VALUE]], *grad[_GRAD_VALUE + 1 :])
        facts = (*facts[:_GRAD], grad, *facts[_GRAD + 1 :])
    return facts
