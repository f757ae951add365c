"""Attention of ``torch.nn.functional``, composed of products and softmax.

NB: PyTorch runs a fused kernel for some of it, and records a single node then.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.base.dtypes import bool_, float32
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace.random import source
from specs.dtype_names import SCALARS, type_in_c


def _dropped(x: Tensor, p: float) -> Tensor:
    if not p:
        return x
    kept = (source(None).random(tuple(x.shape)) >= p) / (1 - p) if p < 1 else np.zeros(tuple(x.shape))
    return x.mul(wrap_beside(x, np.asarray(kept).astype(array_of(x).dtype)))


def as_additive(mask: Tensor, like: Tensor, allows: bool) -> Tensor:
    """A mask to add to scores: minus infinity where a bool mask forbids; ``allows`` says if True allows."""
    if mask.dtype is not bool_:
        return mask
    forbidden = mask.logical_not() if allows else mask
    return like.new_zeros(tuple(mask.shape)).masked_fill(forbidden, -math.inf)


def _is_fused(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float) -> bool:
    """Return True if PyTorch runs its kernel for the CPU, whose backward has no derivative."""
    shapes = {(*x.shape[:-2], x.shape[-1]) for x in (query, key, value)}
    return (
        query.is_cpu
        and len(shapes) == 1
        and bool(query.numel() and key.numel())
        and not dropout_p
        and (mask is None or not mask.requires_grad)
        and query.ndim in (3, 4)
        and by("nn/attention-is-fused")
        and (query.ndim == 4 or by("nn/attention-of-three-dimensions-is-fused"))
    )


def _need_operands(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float) -> None:
    """Refuse vectors, masks of numbers of another kind, and shares that are none."""
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if mask is not None and mask.dtype not in (bool_, float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{type_in_c(mask)} and  query.dtype: {type_in_c(query)} instead."
        )
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Weigh values by the softmax of products of queries and keys."""
    if enable_gqa:
        raise NotModelled("torch.nn.functional.scaled_dot_product_attention(enable_gqa=True)")
    _need_operands(query, key, value, attn_mask, dropout_p)
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )
        shape = (query.shape[-2], key.shape[-2])
        attn_mask = wrap_beside(query, np.tril(np.ones(shape, bool)))
    if array_of(value).dtype.kind in "biu":
        raise RuntimeError(f"expected scalar type Float but found {SCALARS[value.dtype.name]}")
    if _is_fused(query, key, value, attn_mask, dropout_p):
        query, key, value = query._fused(), key._fused(), value._fused()
    root = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = query.mul(root).matmul(key.mul(root).transpose(-2, -1))
    if attn_mask is not None:
        scores = scores.add(as_additive(attn_mask, query, True))
    return _dropped(scores._safe_softmax(-1), dropout_p).matmul(value)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    heads: int,
    dropout_p: float,
    need_weights: bool,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads over ``(L, N, E)``; the weights come as ``(N * heads, L, S)``."""
    length, batch, width = query.shape
    size = width // heads

    def parted(x: Tensor) -> Tensor:
        return x.view((x.shape[0], batch * heads, size)).transpose(0, 1)

    q, k, v = parted(query), parted(key), parted(value)
    if need_weights:
        q = q.mul(math.sqrt(1 / size))
        scores = q.bmm(k.transpose(-2, -1)) if mask is None else mask.baddbmm(q, k.transpose(-2, -1))
        weights = _dropped(scores._softmax(-1), dropout_p)
        out = weights.bmm(v)
    else:
        apart = (batch, heads)
        q, k, v = (x.view((*apart, x.shape[1], size)) for x in (q, k, v))
        if mask is not None:
            mask = mask.view((*apart, *mask.shape[1:])) if mask.shape[0] > 1 else mask.unsqueeze(0)
        out = scaled_dot_product_attention(q, k, v, mask, dropout_p)
        out = out.view((batch * heads, length, size))
        weights = None
    return out.transpose(0, 1).contiguous().view((length * batch, width)), weights


def need_ranks(query: Tensor, key: Tensor, value: Tensor, width: int) -> None:
    """Refuse what a `MultiheadAttention` of that width cannot take: 2 dimensions, or 3 in a batch."""
    if query.shape[-1] != width:
        raise AssertionError(f"was expecting embedding dimension of {width}, but got {query.shape[-1]}")
    if query.ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
        )
    if key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(
            f"For {'batched (3-D)' if query.ndim == 3 else 'unbatched (2-D)'} `query`, expected `key` and "
            f"`value` to be {query.ndim}-D but found {key.ndim}-D and {value.ndim}-D tensors respectively"
        )


def need_values(key: Tensor, value: Tensor, same_width: bool) -> None:
    """Refuse values of another length or batch than the keys, or of another width if it is to be the same."""
    keys, values = key.size(), value.size()
    if same_width and keys != values:
        raise AssertionError(f"key shape {keys} does not match value shape {values}")
    if keys[:2] != values[:2]:
        raise AssertionError(f"key's sequence and batch dims {keys[:2]} do not match value's {values[:2]}")


def joined_mask(
    query: Tensor, heads: int, batch: int, attn_mask: Any, padding: Any, sources: int
) -> Tensor | None:
    """One additive mask ``(1 or N * heads, L, S)`` of the two that attention takes."""
    mask = None
    if attn_mask is not None:
        mask = as_additive(attn_mask, query, False)
        mask = mask.unsqueeze(0) if mask.ndim == 2 else mask
    if padding is not None:
        hidden = as_additive(padding, query, False).view((batch, 1, 1, sources))
        hidden = hidden.expand((-1, heads, -1, -1)).reshape((batch * heads, 1, sources))
        mask = hidden if mask is None else mask.add(hidden)
    return mask
