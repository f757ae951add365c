"""Attention and transformer layers, composed of linear layers, products and softmax."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from reference_impl.base.not_modelled import refuse_unless_default
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.factories import empty
from reference_impl.nn import functional, init
from reference_impl.nn.attention_functions import (
    attend,
    joined_mask,
    need_ranks,
    need_values,
    parted,
    transposed,
)
from reference_impl.nn.containers import ModuleList
from reference_impl.nn.layers import Dropout, Linear, NonDynamicallyQuantizableLinear
from reference_impl.nn.module import Module
from reference_impl.nn.normalization import LayerNorm
from reference_impl.nn.parameter import Parameter


class MultiheadAttention(Module):
    """Attention of several heads, with projections of queries, keys and values (Vaswani et al. 2017)."""

    in_proj_weight: Any
    in_proj_bias: Any
    q_proj_weight: Any
    k_proj_weight: Any
    v_proj_weight: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        given = {"add_bias_kv": add_bias_kv, "add_zero_attn": add_zero_attn}
        refuse_unless_default("nn.MultiheadAttention", given, add_bias_kv=False, add_zero_attn=False)
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = (
            embed_dim,
            num_heads,
            dropout,
            batch_first,
        )
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        self._same = kdim in (None, embed_dim) and vdim in (None, embed_dim)
        for name, width in (("q", embed_dim), ("k", kdim or embed_dim), ("v", vdim or embed_dim)):
            own = None if self._same else Parameter(empty(embed_dim, width, **like))
            self.register_parameter(f"{name}_proj_weight", own)
        joint = Parameter(empty(3 * embed_dim, embed_dim, **like)) if self._same else None
        self.register_parameter("in_proj_weight", joint)
        self.register_parameter("in_proj_bias", Parameter(empty(3 * embed_dim, **like)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, **like)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._same:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        need_ranks(query, key, value, self.embed_dim)
        batched = query.ndim == 3
        inputs: tuple[Tensor, ...] = (query, key, value)
        if batched and self.batch_first:
            inputs = transposed(*inputs)
        elif not batched:
            inputs = tuple(x.unsqueeze(1) for x in inputs)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        length, batch, _ = inputs[0].shape
        need_values(inputs[1], inputs[2], self._same)
        if key_padding_mask is not None and key_padding_mask.shape[0] != batch:
            raise AssertionError(
                f"Expected key_padded_mask.shape[0] to be {batch}, but got {key_padding_mask.shape[0]}"
            )
        mask = joined_mask(query, self.num_heads, batch, attn_mask, key_padding_mask, inputs[1].shape[0])
        q, k, v = self._projected(*inputs)
        p = self.dropout if self.training else 0.0
        out, weights = attend(q, k, v, mask, self.num_heads, p, need_weights)
        out = functional.linear(out, self.out_proj.weight, self.out_proj.bias).view((length, batch, -1))
        if weights is not None:
            weights = weights.view((batch, self.num_heads, length, -1))
            weights = weights.mean(1) if average_attn_weights else weights
        if not batched:
            return out.squeeze(1), None if weights is None else weights.squeeze(0)
        return (out.transpose(1, 0) if self.batch_first else out), weights

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Project all that one tensor is given for at once."""
        weight, bias, width = self.in_proj_weight, self.in_proj_bias, self.embed_dim
        if self._same and query is key is value:
            return parted(functional.linear(query, weight, bias), 3)
        if self._same and key is value:
            weights = weight.split((width, 2 * width))
            biases = (None,) * 2 if bias is None else bias.split((width, 2 * width))
            own, both = map(functional.linear, (query, key), weights, biases)
            return own, *parted(both, 2)
        weights = (
            weight.chunk(3) if self._same else (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        )
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        return tuple(map(functional.linear, (query, key, value), weights, biases))


def _named(activation: Any) -> Callable[[Tensor], Tensor]:
    if callable(activation):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return functional.relu if activation == "relu" else functional.gelu


class _Layer(Module):
    """A layer of attention blocks and a feed-forward block, each added to its input and normalised."""

    attentions: tuple[str, ...] = ("self_attn",)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        for name in self.attentions:
            attention = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **like)
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **like)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **like)
        self.norm_first = norm_first
        count = len(self.attentions) + 1
        for n in range(1, count + 1):
            self.add_module(f"norm{n}", LayerNorm(d_model, layer_norm_eps, bias=bias, **like))
        for n in range(1, count + 1):
            self.add_module(f"dropout{n}", Dropout(dropout))
        self.activation = _named(activation)

    def _block(self, x: Tensor, n: int, function: Callable[[Tensor], Tensor]) -> Tensor:
        norm, drop = getattr(self, f"norm{n}"), getattr(self, f"dropout{n}")
        if self.norm_first:
            return x.add(drop(function(norm(x))))
        return norm(x.add(drop(function(x))))

    def _attended(self, name: str, x: Tensor, memory: Tensor | None, mask: Any, padding: Any) -> Tensor:
        source = x if memory is None else memory
        return getattr(self, name)(
            x, source, source, attn_mask=mask, key_padding_mask=padding, need_weights=False
        )[0]

    def _fed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward block."""

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        padding = src_key_padding_mask
        x = self._block(src, 1, lambda x: self._attended("self_attn", x, None, src_mask, padding))
        return self._block(x, 2, self._fed_forward)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, and a feed-forward block."""

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        own, other = tgt_key_padding_mask, memory_key_padding_mask
        x = self._block(tgt, 1, lambda x: self._attended("self_attn", x, None, tgt_mask, own))
        x = self._block(x, 2, lambda x: self._attended("multihead_attn", x, memory, memory_mask, other))
        return self._block(x, 3, self._fed_forward)


class _Stack(Module):
    """Copies of a layer, one after the other, and an optional norm at the end."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None = None, **_: Any) -> None:
        super().__init__()
        self.layers = ModuleList([deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def through(self, x: Tensor, *given: Any, **named: Any) -> Tensor:
        """Run the layers and the norm."""
        for layer in self.layers:
            x = layer(x, *given, **named)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """A stack of `TransformerEncoderLayer`."""

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        return self.through(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)


class TransformerDecoder(_Stack):
    """A stack of `TransformerDecoderLayer`."""

    def forward(self, tgt: Tensor, memory: Tensor, *masks: Any, **named: Any) -> Tensor:
        return self.through(tgt, memory, *masks, **named)


class Transformer(Module):
    """An encoder and a decoder."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        settings = (
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
        )
        norm = (d_model, layer_norm_eps)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(d_model, nhead, *settings, dtype),
            num_encoder_layers,
            LayerNorm(*norm, bias=bias),
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(d_model, nhead, *settings, dtype),
            num_decoder_layers,
            LayerNorm(*norm, bias=bias),
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        **hints: Any,
    ) -> Tensor:
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return self.decoder(tgt, memory, *masks)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """A mask that hides what comes later: minus infinity above the diagonal."""
        mask = wrap(np.triu(np.full((sz, sz), -np.inf, np.float32), 1))
        return mask.to(dtype=dtype, device=device) if dtype is not None or device is not None else mask
