"""Calls of norms, losses, recurrent layers and attention, for any namespace shaped like torch."""

from __future__ import annotations

from typing import Any


def _f(name: str, *settings: Any, **more: Any) -> Any:
    """A function of ``nn.functional`` of one tensor."""
    return lambda t, x, shape=(3, 4): getattr(t.nn.functional, name)(x(*shape), *settings, **more)


def _image(name: str, *settings: Any, shape: Any = (2, 3, 6, 5), **more: Any) -> Any:
    return lambda t, x: getattr(t.nn.functional, name)(x(*shape), *settings, **more)


def _module(make: Any, *shapes: Any, **more: Any) -> Any:
    return lambda t, x: x.module(make(t.nn))(*(x(*shape) for shape in shapes), **more)


def _lstm_packed(t: Any, x: Any) -> Any:
    rnn = t.nn.utils.rnn
    packed = rnn.pack_padded_sequence(x(4, 3, 2), t.tensor([2, 4, 1]), enforce_sorted=False)
    out, state = x.module(t.nn.LSTM(2, 3, bidirectional=True))(packed)
    return rnn.pad_packed_sequence(out), state


def _attention(**more: Any) -> Any:
    def call(t: Any, x: Any) -> Any:
        layer = x.module(t.nn.MultiheadAttention(4, 2, batch_first=True))
        q = x(2, 3, 4)
        given = {k: v(t) if callable(v) else v for k, v in more.items()}
        return layer(q, q, q, **given)

    return call


def _classes(**more: Any) -> Any:
    def call(t: Any, x: Any) -> Any:
        given = {k: v(t) if callable(v) else v for k, v in more.items()}
        return t.nn.functional.cross_entropy(x(4, 3), t.tensor([0, 2, 1, 1]), **given)

    return call


def _weights(t: Any) -> Any:
    return t.tensor([1.0, 2.0, 0.5], dtype=t.float64)


LOSSES: dict[str, Any] = {
    # norms
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x(2, 3, 4), (3, 4), x(3, 4), x(3, 4)),
    "layer_norm bare": lambda t, x: t.nn.functional.layer_norm(x(2, 4), (4,)),
    "batch_norm": lambda t, x: t.nn.functional.batch_norm(x(4, 3), None, None, x(3), x(3), True),
    "batch_norm image": lambda t, x: t.nn.functional.batch_norm(x(2, 3, 2, 2), None, None, None, None, True),
    "batch_norm eval": lambda t, x: t.nn.functional.batch_norm(
        x(4, 3), x(3, grad=False), x(3, low=0.5, high=2, grad=False), x(3), x(3), False
    ),
    "group_norm": lambda t, x: t.nn.functional.group_norm(x(2, 4, 3), 2, x(4), x(4)),
    "instance_norm": lambda t, x: t.nn.functional.instance_norm(x(2, 3, 4), weight=x(3), bias=x(3)),
    "rms_norm": lambda t, x: t.nn.functional.rms_norm(x(2, 4), (4,), x(4)),
    "local_response": _image("local_response_norm", 3),
    "normalize": _f("normalize", dim=-1),
    # losses
    **{
        f"{n} {r}": (lambda t, x, n=n, r=r: getattr(t.nn.functional, n)(x(3, 4), x(3, 4), reduction=r))
        for n in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
        for r in ("mean", "sum", "none")
    },
    "smooth_l1 beta": lambda t, x: t.nn.functional.smooth_l1_loss(x(3, 4), x(3, 4), beta=0.3),
    "huber delta": lambda t, x: t.nn.functional.huber_loss(x(3, 4), x(3, 4), delta=0.4),
    **{
        f"bce {r}": (
            lambda t, x, r=r: t.nn.functional.binary_cross_entropy(
                x(3, 4, low=0.1, high=0.9), x(3, 4, low=0), reduction=r
            )
        )
        for r in ("mean", "sum", "none")
    },
    "bce weighted": lambda t, x: t.nn.functional.binary_cross_entropy(
        x(3, low=0.1, high=0.9), x(3, low=0), x(3, low=0, grad=False)
    ),
    **{
        f"bce logits {r}": (
            lambda t, x, r=r: t.nn.functional.binary_cross_entropy_with_logits(
                x(3, 4), x(3, 4, low=0), reduction=r
            )
        )
        for r in ("mean", "sum", "none")
    },
    "bce logits weighted": lambda t, x: t.nn.functional.binary_cross_entropy_with_logits(
        x(3), x(3, low=0), x(3, low=0, grad=False)
    ),
    "bce logits pos_weight": lambda t, x: t.nn.functional.binary_cross_entropy_with_logits(
        x(2, 3), x(2, 3, low=0), pos_weight=x(3, low=0.5, high=2, grad=False)
    ),
    "bce logits both": lambda t, x: t.nn.functional.binary_cross_entropy_with_logits(
        x(2, 3), x(2, 3, low=0), x(2, 1, low=0, grad=False), pos_weight=x(3, low=0.5, high=2, grad=False)
    ),
    "cross_entropy": _classes(),
    "cross_entropy weighted": _classes(weight=_weights),
    "cross_entropy ignored": _classes(ignore_index=1),
    "cross_entropy smooth": _classes(label_smoothing=0.1),
    "cross_entropy smooth weighted": _classes(label_smoothing=0.1, weight=_weights),
    "cross_entropy smooth ignored": _classes(label_smoothing=0.1, ignore_index=2),
    "cross_entropy smooth none": _classes(label_smoothing=0.1, reduction="none"),
    "cross_entropy sum": _classes(reduction="sum", weight=_weights, label_smoothing=0.2),
    "cross_entropy one": lambda t, x: t.nn.functional.cross_entropy(x(3), t.tensor(1)),
    "cross_entropy probabilities": lambda t, x: t.nn.functional.cross_entropy(
        x(4, 3), x(4, 3, low=0, grad=False), label_smoothing=0.1, weight=_weights(t)
    ),
    "nll 2d": lambda t, x: t.nn.functional.nll_loss(
        x(2, 3, 2, 2), t.tensor([[[0, 1], [2, 1]], [[1, 1], [0, 2]]])
    ),
    "cross_entropy 2d": lambda t, x: t.nn.functional.cross_entropy(
        x(1, 3, 1, 2), t.tensor([[[0, 2]]]), weight=_weights(t), reduction="none"
    ),
    "cross_entropy 1d": lambda t, x: t.nn.functional.cross_entropy(
        x(2, 3, 2), t.tensor([[0, 2], [1, 1]]), reduction="none"
    ),
    "cross_entropy 3d": lambda t, x: t.nn.functional.cross_entropy(
        x(1, 3, 1, 2, 1), t.tensor([[[[0], [2]]]]), weight=_weights(t)
    ),
    "kl_div": lambda t, x: t.nn.functional.kl_div(x(3, 4), x(3, 4, low=0.1), reduction="batchmean"),
    "kl_div zero": lambda t, x: t.nn.functional.kl_div(
        x(2), t.tensor([0.0, 1.0], dtype=t.float64), reduction="sum"
    ),
    "kl_div log": lambda t, x: t.nn.functional.kl_div(x(3, 4), x(3, 4), log_target=True),
    "triplet": lambda t, x: t.nn.functional.triplet_margin_loss(x(3, 4), x(3, 4), x(3, 4), swap=True),
    "margin ranking": lambda t, x: t.nn.functional.margin_ranking_loss(x(3), x(3), t.tensor([1, -1, 1]), 0.5),
    "hinge": lambda t, x: t.nn.functional.hinge_embedding_loss(x(3), t.tensor([1, -1, 1])),
    "cosine embedding": lambda t, x: t.nn.functional.cosine_embedding_loss(
        x(3, 4), x(3, 4), t.tensor([1, -1, 1])
    ),
    "cosine": lambda t, x: t.nn.functional.cosine_similarity(x(3, 4), x(3, 4)),
    "pairwise": lambda t, x: t.nn.functional.pairwise_distance(x(3, 4), x(3, 4)),
    "soft margin": lambda t, x: t.nn.functional.soft_margin_loss(x(3), t.tensor([1.0, -1.0, 1.0])),
    "poisson": lambda t, x: t.nn.functional.poisson_nll_loss(x(3), x(3, low=0, grad=False)),
    "gaussian": lambda t, x: t.nn.functional.gaussian_nll_loss(x(3), x(3), x(3, low=0.5, high=2)),
    # lookup, attention, recurrent
    "embedding padded": lambda t, x: t.nn.functional.embedding(
        t.tensor([[0, 2], [2, 1]]), x(3, 4), padding_idx=2
    ),
    "bilinear": lambda t, x: t.nn.functional.bilinear(x(3, 2), x(3, 4), x(5, 2, 4), x(5)),
    "attention": _attention(),
    "attention masked": _attention(attn_mask=lambda t: t.triu(t.ones(3, 3, dtype=t.bool), 1)),
    "attention padded": _attention(key_padding_mask=lambda t: t.tensor([[False, False, True], [False] * 3])),
    "attention heads": _attention(average_attn_weights=False),
    "attention plain": _attention(need_weights=False),
    "encoder layer": _module(lambda nn: nn.TransformerEncoderLayer(4, 2, 8, 0.0), (3, 2, 4)),
    "encoder layer first": _module(
        lambda nn: nn.TransformerEncoderLayer(4, 2, 8, 0.0, "gelu", batch_first=True, norm_first=True),
        (2, 3, 4),
    ),
    "decoder layer": _module(lambda nn: nn.TransformerDecoderLayer(4, 2, 8, 0.0), (3, 2, 4), (2, 2, 4)),
    "transformer": _module(lambda nn: nn.Transformer(4, 2, 1, 1, 8, 0.0), (3, 2, 4), (2, 2, 4)),
    "rnn": _module(lambda nn: nn.RNN(2, 3), (4, 2, 2)),
    "rnn relu": _module(lambda nn: nn.RNN(2, 3, nonlinearity="relu", bias=False), (4, 2, 2)),
    "gru": _module(lambda nn: nn.GRU(2, 3, 2, batch_first=True, bidirectional=True), (2, 4, 2)),
    "gru unbatched": _module(lambda nn: nn.GRU(2, 3), (4, 2)),
    "lstm": _module(lambda nn: nn.LSTM(2, 3), (4, 2, 2)),
    "lstm deep": _module(lambda nn: nn.LSTM(2, 3, 2, batch_first=True, bidirectional=True), (2, 4, 2)),
    "lstm packed": _lstm_packed,
    "rnn cell": _module(lambda nn: nn.RNNCell(2, 3), (4, 2), (4, 3)),
    "gru cell": _module(lambda nn: nn.GRUCell(2, 3), (4, 2)),
    "lstm cell": _module(lambda nn: nn.LSTMCell(2, 3), (4, 2)),
}
