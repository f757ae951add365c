"""The kernel for attention on the CPU: one node, that saves what it was given, and one derivative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.autograd.function import Function
from reference_impl.autograd.function_node import node_named
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, make_output_of
from reference_impl.core.graph import NotImplementedNode, gradient_edge
from reference_impl.core.tensor import Tensor, wrap
from specs.ops.tangents import without_jvp


@node_named("ScaledDotProductFlashAttentionForCpuBackward0")
class FusedAttention(Function):
    """Attention of ``(N, H, L, E)`` queries to ``(N, K, S, E)`` keys and values; H is a multiple of K.

    ``how`` is the mask to add to the scores, or None, whether later keys are hidden, and the scale. NB: the
    mask is no input, as it gets no gradient.
    """

    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, how: tuple[Any, ...]) -> Tensor:
        mask, ctx.causal, ctx.scale = how
        q, k, v = _wide(query, key, value)
        scores = _scores(q, k, mask, ctx.causal, ctx.scale)
        most = np.max(scores, -1, keepdims=True)
        summed = np.exp(scores - np.where(np.isfinite(most), most, 0)).sum(-1, keepdims=True)
        total = np.where(np.isfinite(most), np.log(np.maximum(summed, 1)) + most, most)
        out = np.empty_like(array_of(query))
        out[...] = _weights(scores, total) @ _for_each(v, q)
        result = wrap(out)
        # Heads lie innermost, as the kernel writes them.
        ctx.save_for_backward(mask, key, query, value, wrap(_heads_inside(total[..., 0])), result)
        return result

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        mask, key, query, value, total, out = ctx.saved_tensors
        dy, q, k, v, y = _wide(g, query, key, value, out)
        weights = _weights(_scores(q, k, mask, ctx.causal, ctx.scale), array_of(total)[..., None])
        apart = dy @ np.swapaxes(_for_each(v, q), -1, -2) - (dy * y).sum(-1, keepdims=True)
        by_score = weights * apart * ctx.scale
        found = (
            by_score @ _for_each(k, q),
            _of_each(np.swapaxes(by_score, -1, -2) @ q, k),
            _of_each(np.swapaxes(weights, -1, -2) @ dy, v),
        )
        gradients = [wrap(_heads_inside(each.astype(array_of(query).dtype, copy=False))) for each in found]
        sources = [x for x in (g, query, key, value, out) if x.requires_grad]
        if STATE.enabled and sources:
            edges = tuple(map(gradient_edge, sources))
            node = NotImplementedNode(edges, "aten::_scaled_dot_product_flash_attention_for_cpu_backward")
            for gradient in gradients:
                make_output_of(gradient, node)
        return (*gradients, None)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return without_jvp("_scaled_dot_product_flash_attention_for_cpu")(tangents[0])


def _wide(*tensors: Tensor) -> list[np.ndarray]:
    """The elements, those of half precision as float32."""
    arrays = map(array_of, tensors)
    return [x.astype(np.float32) if x.dtype.itemsize < 4 else x for x in arrays]


def _for_each(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Repeat the heads of keys or values for the heads of queries that share them."""
    return x if x.shape[1] == q.shape[1] else np.repeat(x, q.shape[1] // x.shape[1], 1)


def _of_each(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Sum over the heads of queries that share one of keys or values."""
    if x.shape == like.shape:
        return x
    heads = like.shape[1]
    return x.reshape((x.shape[0], heads, x.shape[1] // heads, *x.shape[2:])).sum(2)


def _scores(q: np.ndarray, k: np.ndarray, mask: Tensor | None, causal: bool, scale: float) -> np.ndarray:
    scores = q @ np.swapaxes(_for_each(k, q), -1, -2) * q.dtype.type(scale)
    if mask is not None:
        scores = scores + array_of(mask).astype(q.dtype)
    return np.where(np.tri(*scores.shape[-2:]) > 0, scores, -math.inf) if causal else scores


def _weights(scores: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The softmax of scores, nothing in rows that see nothing."""
    return np.exp(scores - np.where(np.isfinite(total), total, math.inf))


def _heads_inside(x: np.ndarray) -> np.ndarray:
    """The array laid out so that the heads of each position lie next to each other."""
    return np.swapaxes(np.array(np.swapaxes(x, 1, 2), order="C"), 1, 2)
