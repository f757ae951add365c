"""`torch.asarray`: a tensor of anything, on the same memory where that is allowed.

PyTorch: torch/csrc/utils/tensor_new.cpp (asarray)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import place_of
from reference_impl.base.not_modelled import NotModelled
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import from_numpy, tensor
from specs.dtype_names import SCALARS


def asarray(
    obj: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """The tensor itself, or one on an array's memory, unless a copy is asked for or needed.

    Whether it requires grad is as said, or else as before. Raises ValueError where ``copy`` is False and
    the memory cannot be shared.
    """
    if isinstance(obj, (bytes, bytearray, memoryview)):
        raise NotModelled("torch.asarray of a buffer")
    if not isinstance(obj, (Tensor, np.ndarray)):
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    found = obj if isinstance(obj, Tensor) else from_numpy(obj)
    if requires_grad is None and copy is None and dtype is None and found.is_leaf and found.requires_grad:
        warnings.warn(
            "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False.",
            UserWarning,
            stacklevel=2,
        )
    needs = found.requires_grad if requires_grad is None else requires_grad
    wanted = found.dtype if dtype is None else dtype
    moved = found.to(wanted) if device is None else found.to(wanted, device=device)
    if moved is not found and copy is False:
        _refuse_alias(found, moved)
    if moved is found and copy:
        moved = found.clone()
    return moved.requires_grad_(needs) if moved.is_leaf or needs else moved.detach()


def _refuse_alias(given: Tensor, wanted: Tensor) -> None:
    if place_of(given) is not place_of(wanted):
        raise ValueError(f"can't alias tensor from device '{place_of(given)}' to '{place_of(wanted)}'.")
    own, other = (SCALARS[x.dtype.name] for x in (given, wanted))
    raise ValueError(f"can't alias tensor with dtype '{own}' into dtype '{other}'.")
