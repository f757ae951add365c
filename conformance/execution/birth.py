"""The version that a tensor is born with: when it is compared as it is, and when only its increase is.

A tensor's version is compared as it is, unless an accident of kernels decides how often it was written before
it got its name: how often the engine and the formulas of nodes wrote into a gradient, and how often a kernel
wrote into the normal tensor that it makes of inference tensors. Of these, and of what is made from them,
the increase since they got the name is compared. That a copy of an inference tensor is written once is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any

from conformance.program import Ref
from specs import ops
from specs.inference_alone import copied, copied_by_rows

GIVE_GRADIENTS = frozenset([
    ".grad", "torch.autograd.grad",
    *(f"torch.autograd.functional.{name}" for name in ("hessian", "hvp", "jacobian", "jvp", "vhp", "vjp")),
])  # fmt: skip
"""Operations that hand out gradients."""

_CASTS = frozenset(["bfloat16", "double", "float", "half"])


@cache
def copies() -> frozenset[str]:
    """The operations that copy elements once, if at all."""
    ops.load()
    every = (op for overloads in ops.ALL.values() for op in overloads)
    return _CASTS | {op.name for op in every if op.alone in (copied, copied_by_rows)}


_DETACHING = frozenset([".data", "detach", "torch.detach"])

Births = Mapping[str, Any]
"""The version that each tensor had when it got its name: no int for inference tensors."""


class Chance(set[str]):
    """The names of tensors and modules of which chance decides how often they were written."""

    def __init__(self) -> None:
        super().__init__()
        self._inference: set[str] = set()

    def note(self, name: str, inference: bool = False) -> None:
        """Add a name: that of an ``inference`` tensor that counts its writes all the same, or another's."""
        self.add(name)
        if inference:
            self._inference.add(name)

    def forget(self, name: str) -> None:
        self.discard(name)
        self._inference.discard(name)

    def decides(self, op: str, operands: Collection[str], since: Births) -> bool:
        """Tell whether chance decides how often the results of an operation were written."""
        if op in GIVE_GRADIENTS:
            return True
        if self.isdisjoint(operands):
            return False
        return op not in copies() or any(type(since.get(name, 0)) is int for name in operands)

    def detaches_inference(self, op: str, operands: Iterable[str], since: Births) -> bool:
        """Tell whether the result of an operation is an inference tensor that counts its writes."""
        return op in _DETACHING and any(self._is_inference(name, since) for name in operands)

    def hand_on(
        self,
        op: str,
        args: Iterable[Any],
        since: Births,
        modules: Collection[str],
        tensors: Mapping[str, Any],
    ) -> None:
        """Note the names of what a step without a result gave the chance to.

        A tensor that is assigned the data of an inference tensor is one itself from then on, by whichever of
        the names that ``tensors`` have. A module hands out parameters that share the counter of what it was
        given, and so do the ``modules`` that hold it.
        """
        target, *given = args or (None,)
        if type(target) is not Ref or op in (".grad=", ".requires_grad="):
            return
        names = [arg.name for arg in given if type(arg) is Ref]
        if op == ".data=":
            if any(self._is_inference(name, since) for name in names):
                own = tensors.get(target.name)
                for name in (target.name, *(name for name, each in tensors.items() if each is own)):
                    self.note(name, inference=True)
        elif target.name not in since and not self.isdisjoint(names):
            self.update([target.name, *modules])

    def _is_inference(self, name: str, since: Births) -> bool:
        return name in self._inference or type(since.get(name, 0)) is not int
