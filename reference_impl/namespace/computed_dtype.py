"""Ops that are told a dtype to compute in, or that depend on what they were given before it was cast."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.graph import gradient_edge
from reference_impl.core.tensor import Tensor
from specs.dtype_names import type_in_c


def with_dtype(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Add the ``dtype`` argument, to which the operand is cast first, to a reduction."""

    @functools.wraps(function)
    def reduce(x: Tensor, *how: Any, **named: Any) -> Tensor:
        target = named.pop("dtype", None) if named else None
        if target is None:
            return function(x, *how, **named)
        recorded = x.requires_grad and STATE.enabled and not STATE.inference
        if recorded and not (target.is_floating_point or target.is_complex):
            refuse_by("op/no-history-for-integers", dtype=target)
        cast = x.to(target)
        # Sums of small integers count as int64.
        return casting_itself(x, cast, function(cast, *how, **named).to(target))

    return reduce


def casting_itself(x: Tensor, cast: Tensor, result: Tensor) -> Tensor:
    """Return the result of an op on a ``cast`` tensor that PyTorch's casts for itself: the copy has no node.

    NB: within transforms it keeps one, by which these go.
    """
    node = result.grad_fn
    own = node is not None and node.edges[0][0] is cast.grad_fn is not x.grad_fn and not STATE.transforms
    if own and by("op/derivatives-beyond-programs"):
        node.edges = (gradient_edge(x), *node.edges[1:])
    return result


def in_own_dtype(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Add the ``dtype`` argument to a write, where it can but be the tensor's own."""

    @functools.wraps(function)
    def write(x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        if dtype not in (None, x.dtype):
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {type_in_c(x)} and output tensor dtype "
                f"{type_in_c(dtype)} should match"
            )
        return function(x, dim)

    return write


def no_quotient_of_integers(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let ``addcdiv`` refuse to divide integers by integers, though they are cast to floats."""

    @functools.wraps(function)
    def addcdiv(x: Tensor, tensor1: Tensor, tensor2: Tensor, **named: Any) -> Tensor:
        if not any(each.is_floating_point() or each.is_complex() for each in (tensor1, tensor2)):
            raise RuntimeError(
                "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
                "perform a true division of tensor1 and tensor2."
            )
        return function(x, tensor1, tensor2, **named)

    return addcdiv
