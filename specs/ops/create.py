"""Copies and fills. Tensors from numbers, casts and ``detach`` are in the reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs import inference_alone as alone
from specs.active_rules import by
from specs.errors import need_fit, refuse
from specs.kind import Number, Tensor
from specs.layout import laid_out_like
from specs.op import composite, op


@op(
    node="CloneBackward0",
    dtypes="keep",
    layout=(),
    complex=True,
    grows="keeps",
    often=4,
    zero="copy",
    alone=alone.copied,
)
def clone(x: Tensor):
    """A copy in its own memory, keeping a dense layout."""
    return laid_out_like(x.copy(order="K"), x) if by("copy/clone-shares-nothing") else x[...]


clone.wrt(x=lambda g: g)


@composite(complex=True, grows="keeps", function=False)
def contiguous(x: Tensor):
    """The tensor itself if it is laid out by rows, else a copy that is."""
    kept = x.is_contiguous() and by("copy/nothing-to-do-is-itself")
    return x if kept else x.clone_contiguous()


_WRITE: dict[str, Any] = {"inplace": "only", "dtypes": "keep", "complex": True, "grows": "keeps"}


@op(
    batched_write="inplace arithmetic",
    node="torch::autograd::CopyBackwards",
    crosses=True,
    overwrites="copy",
    real=True,
    **_WRITE,
)
def copy_(x: Tensor, y: Tensor):
    """Overwrite with another tensor's values, broadcast and cast."""
    return y


copy_.wrt(x=lambda g: g.new_zeros(g.shape), y=lambda g: g)


@op(node="ZeroBackward0", memory="constant", overwrites="fill", **_WRITE)
def zero_(x: Tensor):
    """Overwrite with zeros."""
    return np.zeros((), x.dtype)


zero_.wrt(x=lambda g: g.zeros_like())


@op(name="fill_", node="FillBackward2", memory="constant", crosses=True, overwrites="fill", **_WRITE)
def fill_number_(x: Tensor, value: Number):
    """Overwrite with a number."""
    need_fit(value, x.dtype)
    if x.dtype.kind == "b":
        return np.asarray(bool(value))
    if isinstance(value, complex) and x.dtype.kind != "c":
        value = value.real
    return np.asarray(value).astype(x.dtype)


fill_number_.wrt(x=lambda g: g.zeros_like())


@op(
    batched_write="fill_",
    name="fill_",
    node="FillBackward3",
    memory="value",
    crosses=True,
    overwrites="fill",
    **_WRITE,
)
def fill_tensor_(x: Tensor, value: Tensor):
    """Overwrite with the one element of a 0-d tensor."""
    if value.ndim:
        refuse("op/fill-value", ndim=value.ndim)
    return value


fill_tensor_.wrt(x=lambda g: g.zeros_like(), value=lambda g: g.sum())


@op(internal=True, dtypes="keep", complex=True)
def zeros_like(x: Tensor):
    """Zeros laid out like ``x``, never recorded: the gradient of an overwritten operand."""
    return laid_out_like(np.zeros_like(x), x)
