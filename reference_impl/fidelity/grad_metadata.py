"""Gradients of leaves that have a ``grad_dtype`` of their own, and gradients on devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.base.device import ambient_in, geometry, place_in, place_of
from reference_impl.base.grad_dtype import cast_to, grad_dtype_of
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.extension_points import fill
from reference_impl.core.graph import Node
from reference_impl.core.tensor import Tensor


@fill
def input_metadata(tensor: Tensor) -> Any:
    """Return the shape and dtype of a tensor's gradients, and where they belong."""
    array = tensor._array
    dtype = grad_dtype_of(tensor) if STATE.grad_dtypes else array.dtype
    return geometry(array.shape, dtype, place_of(tensor)) if STATE.devices else (array.shape, dtype)


@fill
def grad_dtype(dtype: Any, got: np.dtype) -> np.dtype:
    """Return the dtype that a gradient of dtype ``got`` is cast to where metadata says ``dtype``."""
    return cast_to(dtype) or got


@fill
def match_device(g: Tensor, metadata: Any) -> Tensor:
    """Move a 0-d gradient to the device of its metadata; refuse any other that is elsewhere."""
    want, got = place_in(metadata), place_of(g)
    if want is got:
        return g
    if g._array.ndim == 0 and by("device/one-element-gradient-follows"):
        return g.copy_to(g._array.dtype, want)
    refuse_by("device/gradient-elsewhere", want=want, got=got)
    return g


@fill
def on_apply(node: Node) -> None:
    """Have a node make memory on the device of its first gradient; hooks may have asked for another."""
    STATE.place = ambient_in(node.input_metadata)
