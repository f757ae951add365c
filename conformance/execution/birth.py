"""The version that a tensor is born with: when it is compared as it is, and when only its increase is.

A tensor's version is compared as it is, unless an accident of kernels decides how often it was written before
it got its name: how often the engine and the formulas of nodes wrote into a gradient, and how often a kernel
wrote into the normal tensor that it makes of inference tensors. Of these, and of what is made from them,
the increase since they got the name is compared. That a copy of an inference tensor is written once is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
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


def writes_are_chance(op: str, operands: Collection[str], chance: Set[str], since: Mapping[str, Any]) -> bool:
    """Tell whether chance decides how often the results of an operation were written.

    ``chance`` are the names of which that is so already; ``since`` holds no int for inference tensors.
    """
    if op in GIVE_GRADIENTS:
        return True
    if chance.isdisjoint(operands):
        return False
    return op not in copies() or any(type(since.get(name, 0)) is int for name in operands)


def handed_chance(
    op: str,
    args: Iterable[Any],
    chance: Collection[str],
    since: Mapping[str, Any],
    modules: Collection[str],
    tensors: Mapping[str, Any],
) -> frozenset[str]:
    """Return the names of what a step without a result gave the chance to.

    A tensor that is assigned the data of an inference tensor is one itself from then on, by whichever of the
    names that ``tensors`` have. A module hands out parameters that share the counter of what it was given,
    and so do the ``modules`` that hold it.
    """
    target, *given = args or (None,)
    if type(target) is not Ref or op in (".grad=", ".requires_grad="):
        return frozenset()
    names = [arg.name for arg in given if type(arg) is Ref]
    if op == ".data=":
        passed = any(type(since.get(name, 0)) is not int for name in names)
        own = tensors.get(target.name)
        alike = (name for name, each in tensors.items() if each is own)
        return frozenset([target.name, *alike]) if passed else frozenset()
    passed = target.name not in since and any(name in chance for name in names)
    return frozenset([target.name, *modules]) if passed else frozenset()
