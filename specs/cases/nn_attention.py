"""Attention and the layers of transformers, with each of their masks and settings."""

import torch

from specs.case import refused
from specs.cases._measures import filled, graded, wave


def _still(m):
    """Fill a module whose weights are small, without dropout."""
    for n, p in enumerate(m.parameters()):
        wave = torch.linspace(1.0, 9.0 + n, p.numel(), dtype=torch.float64).sin()
        p.data = wave.reshape(p.shape)
    return m.eval()


def attention_looks_where_masks_allow():
    """Masks of places, of samples and of what comes later; with weights of all heads or their mean.

    Rule: op/derivatives-beyond-programs.
    """
    n = torch.nn
    x = wave(3, 2, 4)
    m = n.MultiheadAttention(4, 2, dtype=torch.float64)
    assert [(k, tuple(v.shape)) for k, v in m.named_parameters()] == [
        ("in_proj_weight", (12, 4)),
        ("in_proj_bias", (12,)),
        ("out_proj.weight", (4, 4)),
        ("out_proj.bias", (4,)),
    ]
    assert (m.embed_dim, m.num_heads, m.head_dim, m.dropout, m.batch_first) == (4, 2, 2, 0.0, False)
    filled(m)
    out, w = m(x, x, x)
    assert (tuple(out.shape), tuple(w.shape)) == ((3, 2, 4), (2, 3, 3))
    assert graded(out, x) == [(3, 2, 4), 124.7987, 550.4548]
    assert graded(w, x) == [(2, 3, 3), 56.9811, -153.1913]
    assert m(x, x, x, need_weights=False)[1] is None
    assert graded(m(x, x, x, need_weights=False)[0], x) == [(3, 2, 4), 124.7987, 550.4548]
    out, w = m(x, x, x, average_attn_weights=False)
    assert (tuple(w.shape), graded(w, x)) == ((2, 2, 3, 3), [(2, 2, 3, 3), 221.9623, -306.3826])
    apart = torch.tensor([[False, True, False], [False, False, True], [True, False, False]])
    assert graded(m(x, x, x, attn_mask=apart)[0], x) == [(3, 2, 4), 100.7719, 457.5867]
    assert graded(m(x, x, x, attn_mask=apart, need_weights=False)[0], x) == [(3, 2, 4), 100.7719, 457.5867]
    assert graded(m(x, x, x, attn_mask=apart.double())[0], x) == [(3, 2, 4), 123.0371, 584.5381]
    absent = torch.tensor([[False, False, True], [False, True, False]])
    assert graded(m(x, x, x, key_padding_mask=absent)[0], x) == [(3, 2, 4), 74.4397, 481.1633]
    assert graded(m(x, x, x, key_padding_mask=absent, need_weights=False)[0], x) == [
        (3, 2, 4),
        74.4397,
        481.1633,
    ]
    assert graded(m(x, x, x, absent, True, apart)[0], x) == [(3, 2, 4), 86.1617, 361.3675]
    assert graded(m(x, x, x, absent, False, apart)[0], x) == [(3, 2, 4), 86.1617, 361.3675]
    assert graded(m(x, x, x, attn_mask=apart.expand(4, 3, 3))[0], x) == [(3, 2, 4), 100.7719, 457.5867]
    assert graded(m(x, x, x, attn_mask=apart.expand(4, 3, 3), need_weights=False)[0], x) == [
        (3, 2, 4),
        100.7719,
        457.5867,
    ]
    later = n.Transformer.generate_square_subsequent_mask(3, dtype=torch.float64)
    assert graded(m(x, x, x, attn_mask=later, is_causal=True, need_weights=False)[0], x) == [
        (3, 2, 4),
        99.8458,
        342.444,
    ]
    assert graded(m(x, x, x, attn_mask=later)[0], x) == [(3, 2, 4), 99.8458, 342.444]
    y = wave(2, 2, 4)
    assert graded(m(y, x, x)[0], x, y) == [(2, 2, 4), 82.9607, 367.8636, -21.1729]


def attention_of_several_sizes():
    """Samples first or one alone; keys and values of other sizes; without biases, or with one more key.

    Rule: op/derivatives-beyond-programs.
    """
    n = torch.nn
    x = wave(2, 3, 4)
    m = filled(n.MultiheadAttention(4, 2, batch_first=True))
    out, w = m(x, x, x)
    assert (tuple(out.shape), tuple(w.shape)) == ((2, 3, 4), (2, 3, 3))
    assert graded(out, x) == [(2, 3, 4), 76.0331, 394.4613]
    one = wave(3, 4)
    out, w = m(one, one, one)
    assert (tuple(out.shape), tuple(w.shape)) == ((3, 4), (3, 3))
    assert graded(out, one) == [(3, 4), 35.8194, 111.4957]
    absent = torch.tensor([False, True, False])
    assert graded(m(one, one, one, key_padding_mask=absent)[0], one) == [(3, 4), 0.207, 143.2777]
    k, v = wave(2, 3, 2), wave(2, 3, 3)
    m = n.MultiheadAttention(4, 2, kdim=2, vdim=3, batch_first=True, dtype=torch.float64)
    assert [(key, tuple(p.shape)) for key, p in m.named_parameters()] == [
        ("q_proj_weight", (4, 4)),
        ("k_proj_weight", (4, 2)),
        ("v_proj_weight", (4, 3)),
        ("in_proj_bias", (12,)),
        ("out_proj.weight", (4, 4)),
        ("out_proj.bias", (4,)),
    ]
    assert graded(filled(m)(x, k, v)[0], x, k, v) == [(2, 3, 4), 169.8634, 143.9356, -3.8589, -62.8201]
    m = n.MultiheadAttention(4, 1, bias=False)
    assert (m.in_proj_bias, m.out_proj.bias) == (None, None)
    assert graded(filled(m)(x, x, x)[0], x) == [(2, 3, 4), -8.3403, 530.1911]
    assert graded(filled(n.MultiheadAttention(4, 1, dropout=1.0))(x, x, x)[0], x) == [
        (2, 3, 4),
        76.2612,
        0.0,
    ]
    assert graded(filled(n.MultiheadAttention(4, 1, dropout=1.0)).eval()(x, x, x)[0], x) == [
        (2, 3, 4),
        117.1334,
        331.5301,
    ]


def attention_by_products():
    """With a mask, without what comes later, and with another scale. Rule: op/derivatives-beyond-programs."""
    f = torch.nn.functional
    q, k, v = wave(1, 3, 2), wave(1, 2, 2), wave(1, 2, 1)
    assert graded(f.scaled_dot_product_attention(q, k, v), q, k, v) == [
        (1, 3, 1),
        -2.3145,
        -0.1446,
        7.2375,
        9.1862,
    ]
    assert graded(f.scaled_dot_product_attention(q, k, v, scale=2.0), q, k, v) == [
        (1, 3, 1),
        -3.6176,
        -0.4678,
        17.5815,
        9.49,
    ]
    assert graded(f.scaled_dot_product_attention(q, k, v, is_causal=True), q, k, v) == [
        (1, 3, 1),
        0.761,
        -0.2714,
        7.0785,
        8.4692,
    ]
    seen = torch.tensor([[True, False], [True, True], [False, True]])
    assert graded(f.scaled_dot_product_attention(q, k, v, seen), q, k, v) == [
        (1, 3, 1),
        -4.2235,
        0.0404,
        -3.9049,
        9.6312,
    ]
    assert graded(f.scaled_dot_product_attention(q, k, v, attn_mask=seen.double()), q, k, v) == [
        (1, 3, 1),
        -3.8645,
        -0.0047,
        3.3766,
        9.5475,
    ]
    assert graded(f.scaled_dot_product_attention(q, k, v, None, 1.0), q, k, v) == [
        (1, 3, 1),
        0.0,
        0.0,
        0.0,
        0.0,
    ]


def layers_of_transformers():
    """They norm before or after, attend to themselves and to memory. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x, y = wave(3, 2, 4), wave(2, 2, 4)
    m = n.TransformerEncoderLayer(4, 2, 3, dtype=torch.float64)
    assert [(k, tuple(v.shape)) for k, v in m.named_parameters()] == [
        ("self_attn.in_proj_weight", (12, 4)),
        ("self_attn.in_proj_bias", (12,)),
        ("self_attn.out_proj.weight", (4, 4)),
        ("self_attn.out_proj.bias", (4,)),
        ("linear1.weight", (3, 4)),
        ("linear1.bias", (3,)),
        ("linear2.weight", (4, 3)),
        ("linear2.bias", (4,)),
        ("norm1.weight", (4,)),
        ("norm1.bias", (4,)),
        ("norm2.weight", (4,)),
        ("norm2.bias", (4,)),
    ]
    assert (m.norm_first, m.self_attn.batch_first, m.dropout.p, m.norm1.eps) == (False, False, 0.1, 1e-05)
    assert graded(_still(m)(x), x) == [(3, 2, 4), 293.7916, -8.506]
    assert graded(_still(n.TransformerEncoderLayer(4, 2, 3, norm_first=True))(x), x) == [
        (3, 2, 4),
        91.1693,
        4881.483,
    ]
    assert graded(_still(n.TransformerEncoderLayer(4, 2, 3, 0.5, "gelu", 0.25, True, bias=False))(x), x) == [
        (3, 2, 4),
        13.2446,
        29.8299,
    ]
    assert graded(_still(n.TransformerEncoderLayer(4, 2, 3, activation=torch.tanh))(x), x) == [
        (3, 2, 4),
        309.24,
        -12.8538,
    ]
    assert n.TransformerEncoderLayer(4, 2).linear1.out_features == 2048
    later = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
    absent = torch.tensor([[False, False, True], [False, False, False]])
    assert graded(_still(m)(x, later), x) == [(3, 2, 4), 293.7164, -6.6787]
    assert graded(_still(m)(x, src_key_padding_mask=absent), x) == [(3, 2, 4), 293.7983, -6.4235]
    d = n.TransformerDecoderLayer(4, 2, 3, dtype=torch.float64)
    assert [k for k, v in d.named_parameters()] == [
        "self_attn.in_proj_weight",
        "self_attn.in_proj_bias",
        "self_attn.out_proj.weight",
        "self_attn.out_proj.bias",
        "multihead_attn.in_proj_weight",
        "multihead_attn.in_proj_bias",
        "multihead_attn.out_proj.weight",
        "multihead_attn.out_proj.bias",
        "linear1.weight",
        "linear1.bias",
        "linear2.weight",
        "linear2.bias",
        "norm1.weight",
        "norm1.bias",
        "norm2.weight",
        "norm2.bias",
        "norm3.weight",
        "norm3.bias",
    ]
    assert graded(_still(d)(y, x), x, y) == [(2, 2, 4), 96.8972, -26.9087, 2.844]
    assert graded(_still(n.TransformerDecoderLayer(4, 2, 3, norm_first=True))(y, x), x, y) == [
        (2, 2, 4),
        229.81,
        -2640.4878,
        1343.09,
    ]
    assert graded(_still(d)(x, y, later, None, absent), x, y) == [(3, 2, 4), 223.7456, -6.9705, -61.9046]
    assert graded(_still(d)(x, y, memory_mask=later[:, 1:]), x, y) == [
        (3, 2, 4),
        224.8325,
        -4.3073,
        -32.3385,
    ]
    assert graded(_still(d)(y, x, memory_key_padding_mask=absent), x, y) == [
        (2, 2, 4),
        96.8972,
        -26.9081,
        2.8441,
    ]
    e = n.TransformerEncoder(m, 2, n.LayerNorm(4))
    assert (len(e.layers), e.num_layers, e.layers[0] is m, e.layers[0] is e.layers[1]) == (2, 2, False, False)
    assert graded(_still(e)(x, later, absent), x) == [(3, 2, 4), 173.0459, -0.3091]
    c = n.TransformerDecoder(d, 2)
    assert (c.norm, graded(_still(c)(y, x), x, y)) == (None, [(2, 2, 4), 60.3274, -21.7513, 0.1386])
    assert graded(_still(c)(x, y, tgt_mask=later, memory_mask=later[:, :2]), x, y) == [
        (3, 2, 4),
        118.7853,
        0.0942,
        -112.6313,
    ]


def transformers_encode_and_decode():
    """The memory is that of the encoder, which a norm ends. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x, y = wave(3, 2, 4), wave(2, 2, 4)
    t = n.Transformer(4, 2, 1, 1, 3, dtype=torch.float64)
    assert (
        t.d_model,
        t.nhead,
        t.batch_first,
        len(t.encoder.layers),
        len(t.decoder.layers),
        t.encoder.layers[0].dropout.p,
    ) == (4, 2, False, 1, 1, 0.1)
    assert (type(t.encoder.norm).__name__, type(t.decoder.norm).__name__, len(list(t.parameters()))) == (
        "LayerNorm",
        "LayerNorm",
        34,
    )
    bound = max(p.abs().max().item() for p in t.parameters() if p.ndim > 1)
    assert bound <= (6 / 7) ** 0.5
    assert graded(_still(t)(x, y), x, y) == [(2, 2, 4), -13.4986, -0.2053, 2.1334]
    later = t.generate_square_subsequent_mask(2)
    assert (later.tolist() == [[0.0, float("-inf")], [0.0, 0.0]], later.dtype is torch.float32) == (
        True,
        True,
    )
    assert graded(_still(t)(x, y, tgt_mask=later.double()), x, y) == [(2, 2, 4), -13.4986, -0.2053, 2.1334]
    absent = torch.tensor([[False, False, True], [False, False, False]])
    assert graded(_still(t)(x, y, src_key_padding_mask=absent), x, y) == [
        (2, 2, 4),
        -13.4986,
        -0.1841,
        2.1333,
    ]
    assert graded(_still(t)(x, y, memory_key_padding_mask=absent), x, y) == [
        (2, 2, 4),
        -13.469,
        -0.1495,
        2.1539,
    ]
    assert graded(_still(t)(x, y, tgt_key_padding_mask=absent[:, 1:]), x, y) == [
        (2, 2, 4),
        -13.681,
        -0.2341,
        0.1746,
    ]
    assert graded(_still(t)(x, y, src_mask=torch.eye(3).double()), x, y) == [
        (2, 2, 4),
        -13.4987,
        -0.2066,
        2.1333,
    ]
    assert graded(_still(t)(x, y, memory_mask=torch.eye(3).double()[1:]), x, y) == [
        (2, 2, 4),
        -13.5068,
        -0.2285,
        2.1164,
    ]
    t = _still(n.Transformer(4, 2, 1, 2, 3, 0.5, "gelu", batch_first=True, norm_first=True, bias=False))
    assert (len(t.decoder.layers), t.decoder.layers[0].norm_first, t.decoder.layers[1].linear1.bias) == (
        2,
        True,
        None,
    )
    assert graded(t(x[:2], y), x, y) == [(2, 2, 4), -38.7337, 22.1332, -10.2819]
    own = n.Identity()
    assert n.Transformer(4, 2, 1, 1, 3, custom_encoder=own).encoder is own


def attention_keeps_what_it_is_given():
    """On the CPU one node saves queries, keys and values as they are. Rule: nn/attention-is-fused."""
    x = torch.ones(1, 1, 2, 2, requires_grad=True)
    q, k, v = x * 2, x * 3, x * 4
    f = torch.nn.functional
    out = f.scaled_dot_product_attention(q, k, v)
    assert out.grad_fn.name() == "ScaledDotProductFlashAttentionForCpuBackward0"
    assert len(out.grad_fn.next_functions) == 3
    q.add_(1)
    with refused("save/modified-refused"):
        out.sum().backward()
    out = f.scaled_dot_product_attention(q, k, v)
    k.add_(1)
    with refused("save/modified-refused"):
        out.sum().backward()
