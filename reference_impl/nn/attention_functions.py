"""Attention of ``torch.nn.functional``: by the kernel of `fused_attention`, or of products and softmax."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.base.dtypes import bool_, float32
from reference_impl.base.rules import by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.fidelity.batched import levels_of
from reference_impl.namespace.random import source
from reference_impl.nn.fused_attention import FusedAttention
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


def _is_fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, enable_gqa: bool
) -> bool:
    """Return True if PyTorch runs its kernel for the CPU, whose backward has no derivative."""
    given = (query, key, value)
    if not query.is_cpu or dropout_p or {x.ndim for x in given} - {4}:
        return False
    (batch, heads, length, width), (_, shared, seen, _) = query.shape, key.shape
    return (
        {(x.shape[0], x.shape[3]) for x in given} == {(batch, width)}
        and value.shape[1] == shared
        and (heads == shared or (enable_gqa and heads % shared == 0))
        and bool(length and seen)
        and all(x.stride(-1) == 1 for x in given)
        and (mask is None or _is_plain(mask, (batch, heads, length, seen)))
        and by("nn/attention-is-fused")
    )


def _is_plain(mask: Tensor, shape: tuple[int, ...]) -> bool:
    """Return True for a mask that the kernel takes, for scores of that shape."""
    fits = mask.ndim in (2, 4) and all(
        n in (1, m) for n, m in zip(mask.shape, shape[-mask.ndim :], strict=True)
    )
    return fits and not mask.requires_grad


def _need_operands(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float) -> None:
    """Refuse vectors, masks of numbers of another kind, and shares that are none."""
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if {key.dtype, value.dtype} != {query.dtype}:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{type_in_c(query)} key.dtype: {type_in_c(key)} and value.dtype: {type_in_c(value)} instead."
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
    _need_operands(query, key, value, attn_mask, dropout_p)
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if array_of(value).dtype.kind in "biu":
        raise RuntimeError(f"expected scalar type Float but found {SCALARS[value.dtype.name]}")
    if {query.ndim, key.ndim, value.ndim} == {3} and by("nn/attention-of-three-dimensions-is-fused"):
        query, key, value = (x.unsqueeze(0) for x in (query, key, value))
        mask = attn_mask if attn_mask is None or attn_mask.ndim < 3 else attn_mask.unsqueeze(0)
        how = (mask, dropout_p, is_causal, scale, enable_gqa)
        return scaled_dot_product_attention(query, key, value, *how).squeeze(0)
    mask = None if attn_mask is None else as_additive(attn_mask, query, True)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    if _is_fused(query, key, value, mask, dropout_p, enable_gqa):
        if not levels_of(query, key, value):
            return FusedAttention.apply(query, key, value, (mask, is_causal, scale))
        query, key, value = query._fused(), key._fused(), value._fused()
    if is_causal:
        mask = wrap_beside(query, np.tril(np.ones((query.shape[-2], key.shape[-2]), bool)))
        mask = as_additive(mask, query, True)
    if enable_gqa:
        heads = query.shape[-3]
        if any(heads % x.shape[-3] for x in (key, value)):
            raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
        key, value = (x.repeat_interleave(heads // x.shape[-3], -3) for x in (key, value))
    root = math.sqrt(abs(scale))
    scores = query.mul_scalar(math.copysign(root, scale)).matmul(key.transpose(-2, -1).mul_scalar(root))
    if mask is not None:
        scores = scores.add(mask)
    return _dropped(scores._safe_softmax(-1), dropout_p).matmul(value)


def transposed(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
    """Transpose what is given for keys and values once, and all three if they are the same."""
    if key is not value:
        return tuple(x.transpose(1, 0) for x in (query, key, value))
    first = query.transpose(1, 0)
    other = first if query is key else key.transpose(1, 0)
    return first, other, other


def parted(x: Tensor, parts: int) -> tuple[Tensor, ...]:
    """Part what was projected at once."""
    width = x.shape[-1] // parts
    apart = x.unflatten(-1, (parts, width)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(apart.select(0, n) for n in range(parts))


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

    def by_head(x: Tensor) -> Tensor:
        return x.view((x.shape[0], batch * heads, size)).transpose(0, 1)

    q, k, v = map(by_head, (query, key, value))
    if need_weights:
        q = q.mul(math.sqrt(1 / size))
        scores = q.bmm(k.transpose(-2, -1)) if mask is None else mask.baddbmm(q, k.transpose(-2, -1))
        weights = _dropped(scores._softmax(-1), dropout_p)
        out = weights.bmm(v).transpose(0, 1)
    else:
        apart = (batch, heads)
        q, k, v = (x.view((*apart, x.shape[1], size)) for x in (q, k, v))
        if mask is not None:
            mask = mask.view((*apart, *mask.shape[1:])) if mask.shape[0] > 1 else mask.unsqueeze(0)
        out = scaled_dot_product_attention(q, k, v, mask, dropout_p).permute((2, 0, 1, 3))
        weights = None
    return out.reshape((length * batch, width)), weights


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
