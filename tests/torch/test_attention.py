"""Attention records in both what it records in torch: the kernel's node, and what is composed around it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import reference_impl

LAYERS = {
    "heads": "n.MultiheadAttention(4, 2, batch_first=True)(x, x, x, need_weights=False)[0]",
    "heads, weighed": "n.MultiheadAttention(4, 2)(x, x, x)[0]",
    "heads of others": "n.MultiheadAttention(4, 2, batch_first=True)(x, w, w, need_weights=False)[0]",
    "heads of three": "n.MultiheadAttention(4, 2, batch_first=True)(x, w, x, need_weights=False)[0]",
    "heads, not in batches": "n.MultiheadAttention(4, 2)(x[0], x[0], x[0], need_weights=False)[0]",
    "widths": "n.MultiheadAttention(4, 2, kdim=4, vdim=4, bias=False)(x, w, w)[0]",
    "encoder": "n.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)(x)",
    "encoder, norm first": "n.TransformerEncoderLayer(4, 1, 8, dropout=0.0, norm_first=True)(x)",
    "decoder": "n.TransformerDecoderLayer(4, 2, 8, dropout=0.0, batch_first=True)(x, w)",
    "both": "n.Transformer(4, 2, 1, 1, 8, dropout=0.0, batch_first=True)(x, w)",
}

ATTENDED = [
    "q, k, v",
    "q, k, v, mask",
    "q, k, v, mask > 0",
    "q, k, v, mask[None, None]",
    "q, k, v, mask[None]",
    "q, k, v, mask.clone().requires_grad_()",
    "q, k, v, is_causal=True",
    "q, k, v, scale=0.5",
    "q, k, v, scale=-0.5",
    "q, k, v[..., :3]",
    "q, k, v[..., :2]",
    "q, k[:1], v[:1]",
    "q, k[:, :1], v[:, :1]",
    "q, k[:, :1], v[:, :1], enable_gqa=True",
    "q[:, :1], k, v, enable_gqa=True",
    "q.double(), k.double(), v.double()",
    "q.transpose(1, 2).contiguous().transpose(1, 2), k, v",
    "q.transpose(2, 3).contiguous().transpose(2, 3), k, v",
    "q[0], k[0], v[0]",
    "q[0, 0], k[0, 0], v[0, 0]",
    "q[None], k[None], v[None]",
    "q.detach(), k, v",
    "q.detach(), k.detach(), v",
    "q, k.double(), v",
]


def _filled(side: Any, *shape: int) -> Any:
    count = side.Size(shape).numel()
    return (side.arange(float(count)).reshape(shape) % 5 / 4 - 0.5).requires_grad_()


def _graph(node: Any, depth: int = 0) -> list[str]:
    """The nodes of a graph by name, each before those that its gradient goes to."""
    if node is None:
        return []
    return [f"{depth} {node.name()}"] + [n for to, _ in node.next_functions for n in _graph(to, depth + 1)]


@pytest.mark.parametrize("text", LAYERS.values(), ids=LAYERS)
def test_layers_record_the_same_graph(text: str) -> None:
    found = []
    for side in (torch, reference_impl):
        side.manual_seed(0)
        x, w = _filled(side, 2, 3, 4), _filled(side, 2, 3, 4)
        out = eval(text, {"n": side.nn, "x": x, "w": w})
        found.append((tuple(out.shape), out.stride(), _graph(out.grad_fn)))
    assert found[0] == found[1]


def _attended(side: Any, arguments: str) -> Any:
    """Return what a call of attention records and saves, and numbers; or how it fails."""
    q, k, v = _filled(side, 2, 2, 3, 4), _filled(side, 2, 2, 5, 4), _filled(side, 2, 2, 5, 4)
    names = {"q": q, "k": k, "v": v, "mask": _filled(side, 3, 5).detach()}
    saved = []

    def pack(x: Any) -> Any:
        saved.append((tuple(x.shape), x.stride()))
        return x

    call = f"f.scaled_dot_product_attention({arguments})"
    try:
        with side.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
            out = eval(call, {"f": side.nn.functional, **names})
    except RuntimeError as error:
        return str(error)
    grads = side.autograd.grad((out * out).sum(), (q, k, v), allow_unused=True)
    recorded = (_graph(out.grad_fn), saved, out.stride(), [g is not None and g.stride() for g in grads])
    return recorded, [x.flatten().tolist() for x in (out, *grads) if x is not None]


@pytest.mark.parametrize("arguments", ATTENDED)
def test_attention_is_torchs(arguments: str) -> None:
    theirs, ours = (_attended(side, arguments) for side in (torch, reference_impl))
    if isinstance(theirs, str):
        assert ours == theirs
        return
    assert ours[0] == theirs[0]
    assert ours[1] == [pytest.approx(values, abs=1e-5) for values in theirs[1]]
