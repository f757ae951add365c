"""Names that scripts use seldom: copies of views, in-place forms and old functions, composed of others.

NB: the graph has the nodes of the ops that are composed, also where PyTorch records a single node.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace import factories, ranges
from reference_impl.namespace.non_differentiable import can_cast, promote_types
from reference_impl.namespace.return_types import return_type
from specs.dtype_names import scalar_type

_FREXP = return_type("frexp", ("mantissa", "exponent"))


def _in_place(name: str) -> Callable[..., Any]:
    """Make the in-place form of a method; it saves what was there before."""

    def written(self: Tensor, *args: Any, **named: Any) -> Tensor:
        made: Tensor = getattr(self.clone(), name)(*args, **named)
        if not can_cast(made.dtype, self.dtype):
            refuse_by("write/result-dtype", got=made.dtype, want=self.dtype)
        return self.copy_(made)

    written.__name__ = f"{name}_"
    written.__doc__ = f"`{name}`, in place."
    return written


def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """Raise to powers in double precision, in place: what is narrower is refused."""
    among = exponent.is_complex() if isinstance(exponent, Tensor) else isinstance(exponent, complex)
    wanted = dtypes.complex128 if self.is_complex() or among else dtypes.float64
    if self.dtype is not wanted:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {scalar_type(self)} but the operation's result "
            f"requires dtype {scalar_type(wanted)}"
        )
    return self.pow_(exponent.to(wanted) if isinstance(exponent, Tensor) else exponent)


def addr_(self: Tensor, vec1: Tensor, vec2: Tensor, **scaled: Any) -> Tensor:
    """`addr`, in place, in the tensor's dtype."""
    result = promote_types(self.dtype, promote_types(vec1.dtype, vec2.dtype))
    if not can_cast(result, self.dtype):
        refuse_by("write/result-dtype", got=result, want=self.dtype)
    return self._addr_(vec1.to(self.dtype), vec2.to(self.dtype), **scaled)


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A copy in which ``src`` fills what `as_strided` shows."""
    keeps = by("op/as-strided-scatter-keeps-the-rest")
    made = (input if keeps else input.detach()).clone()
    made.as_strided(size, stride, storage_offset).copy_(src)
    if keeps:
        return made
    replaced = factories.zeros_like(input)
    replaced.as_strided(size, stride, storage_offset).fill_(1)
    return made.add(input.sub(input.detach()).mul(replaced))


def frexp(input: Tensor) -> Any:
    """Split numbers into a mantissa in [0.5, 1) and a power of two."""
    if not input.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    exponent = wrap_beside(input, np.asarray(np.frexp(array_of(input))[1], np.int32))
    return _FREXP(input._mantissa(exponent), exponent)


def fill(input: Tensor, value: Any) -> Tensor:
    """A copy that is filled with one number."""
    how = input._filled_with_tensor if isinstance(value, Tensor) else input._filled_with_number
    return how(value)


def range_(start: Any, end: Any, step: Any = 1, **how: Any) -> Tensor:
    """The numbers from ``start`` to ``end``, which is included."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces values in "
        "[start, end).",
        UserWarning,
        stacklevel=2,
    )
    if not step:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = math.floor((end - start) / step) + 1
    needs = how.pop("requires_grad", False)
    made = ranges.arange(count, **({"dtype": dtypes.default()} | how)).mul_(step).add_(start)
    return made.requires_grad_(needs)


def conj_physical(input: Tensor) -> Tensor:
    """The conjugates in memory of their own; a real tensor itself."""
    return input._conj_physical() if input.is_complex() else input


def frobenius_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The root of the sum of squares, by its old name."""
    return input.norm("fro", dim, keepdim)


BOTH: dict[str, Any] = {
    "as_strided_scatter": as_strided_scatter, "conj_physical": conj_physical, "frexp": frexp,
}  # fmt: skip
"""Functions that are methods too, by name."""
METHODS: dict[str, Any] = {f"{name}_": _in_place(name) for name in ("gcd", "lcm")} | {
    "addr_": addr_,
    "float_power_": float_power_,
    "is_distributed": lambda self: False,
    "is_pinned": lambda self, device=None: False,
    "share_memory_": lambda self: self,
}
"""Methods by name."""
FUNCTIONS: dict[str, Any] = {
    "fill": fill, "range": range_,
    "frobenius_norm": frobenius_norm,
    "is_same_size": lambda x, y: x.shape == y.shape,
    "is_signed": lambda x: x.is_signed(),
    "get_device": lambda x: x.get_device(),
    "square_": lambda x: x.square_(), "conj_physical_": lambda x: x.conj_physical_(),
    "ldexp_": lambda x, other: x.ldexp_(other),
    "gcd_": lambda x, other: x.gcd_(other), "lcm_": lambda x, other: x.lcm_(other),
    "detach_": lambda x: x.detach_(),
    "as_strided_": lambda x, *args, **named: x.as_strided_(*args, **named),
}  # fmt: skip
"""Functions that are not methods, by name."""
