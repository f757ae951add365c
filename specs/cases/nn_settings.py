"""Settings of layers and losses that are refused, and with which kinds of errors."""

import torch

from specs.cases._measures import error_kinds, graded, wave


def layers_refuse_settings():
    """Sizes that do not fit, and words that are none. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x = wave(1, 2, 3)
    assert graded(n.Softmax(1)(x), x) == [(1, 2, 3), 11.1008, 4.5208]
    assert (
        error_kinds(
            [
                lambda: n.Conv1d(3, 2, 1, groups=2),
                lambda: n.Conv1d(2, 3, 1, groups=2),
                lambda: n.Conv1d(2, 2, 1, groups=0),
                lambda: n.Conv1d(1, 1, 1, padding_mode="least"),
                lambda: n.Conv1d(1, 1, 1, padding="least"),
                lambda: n.Conv1d(1, 1, 2, stride=2, padding="same"),
                lambda: n.ConvTranspose1d(1, 1, 1, padding_mode="reflect"),
                lambda: n.Conv1d(1, 1),
                lambda: n.ConvTranspose1d(1, 1, 2, 2)(x[:, :1], output_size=[9]),
                lambda: n.ConvTranspose1d(1, 1, 2, 2)(x[:, :1].float(), output_size=[5]),
                lambda: n.ConvTranspose1d(1, 1, 2, 2)(x[:, :1], output_size=[5, 5, 5, 5]),
                lambda: n.GroupNorm(2, 3),
                lambda: n.Dropout(1.5),
                lambda: n.Dropout2d(-0.1),
                lambda: n.AlphaDropout(2.0),
                lambda: n.Dropout1d()(x[0, 0]),
                lambda: n.Embedding(3, 2, padding_idx=3),
                lambda: n.Embedding(3, 2, padding_idx=-4),
                lambda: n.Embedding(3, 2, _weight=torch.ones(2, 2)),
                lambda: n.Embedding.from_pretrained(torch.ones(2)),
                lambda: n.EmbeddingBag(3, 2, padding_idx=5),
                lambda: n.EmbeddingBag.from_pretrained(torch.ones(2)),
                lambda: n.RNN(1, 0),
                lambda: n.LSTM(1, 1, 0),
                lambda: n.GRU(1, 1, dropout=1.5),
                lambda: n.RNN(1, 1, nonlinearity="gelu"),
                lambda: n.RNNCell(1, 1, nonlinearity="gelu")(torch.ones(1, 1)),
                lambda: n.LSTM(1, 1, dropout=-0.5),
                lambda: n.MultiheadAttention(3, 2),
                lambda: n.MultiheadAttention(0, 1),
                lambda: n.MultiheadAttention(2, 0),
                lambda: n.TransformerEncoderLayer(2, 1, activation="tanh"),
                lambda: n.Transformer(3, 2),
                lambda: n.Linear(1),
                lambda: n.Linear(1, 2, 3, 4, 5, 6),
                lambda: n.ReLU(inplaces=True),
                lambda: n.MaxPool1d(),
                lambda: n.LeakyReLU(0.1, True, 3),
                lambda: n.Threshold(1.0),
                lambda: n.Bilinear(0, 1, 1),
            ]
        )
        == "VVVVVVVTVVVVVVVoooooooVVVVoVoVVooTTTTTTV"
    )
    assert (
        error_kinds(
            [
                lambda: n.Unflatten(0, (2, 2))(wave(3)),
                lambda: n.PReLU(3)(x),
                lambda: n.GLU(1)(wave(1, 3)),
                lambda: n.GELU("least")(x),
                lambda: n.PixelShuffle(2)(wave(1, 3, 1, 1)),
                lambda: n.ChannelShuffle(2)(wave(1, 3, 1, 1)),
                lambda: n.BatchNorm1d(2)(wave(1, 2, 1)),
                lambda: n.BatchNorm1d(2)(wave(2, 2, 1, 1)),
                lambda: n.BatchNorm2d(2)(x),
                lambda: n.BatchNorm1d(3).double()(x),
                lambda: n.InstanceNorm1d(2)(wave(1, 2, 1)),
                lambda: n.InstanceNorm2d(2)(x[0]),
                lambda: n.LayerNorm(2)(x),
                lambda: n.GroupNorm(2, 4)(x),
                lambda: n.LSTM(3, 1)(x[0, 0]),
                lambda: n.GRU(3, 2).double()(x, wave(1, 2, 1)),
                lambda: n.GRU(3, 2).double()(x, wave(1, 2)),
                lambda: n.LSTM(3, 2).double()(x, (wave(1, 2, 2), wave(1, 1, 2))),
                lambda: n.LSTM(3, 2).double()(x[0], (wave(1, 1, 2), wave(1, 1, 2))),
                lambda: n.RNNCell(3, 1).double()(x),
                lambda: n.LSTMCell(2, 1).double()(x[0]),
                lambda: n.GRUCell(3, 2).double()(x[0], wave(1, 2)),
                lambda: n.GRUCell(3, 2).double()(x[0], wave(2, 1)),
                lambda: n.MultiheadAttention(3, 1).double()(x[0, 0], x[0], x[0]),
                lambda: n.MultiheadAttention(3, 1).double()(x, x, x[:, :1]),
                lambda: n.MultiheadAttention(2, 1).double()(x, x, x),
                lambda: n.MultiheadAttention(3, 1).double()(x, x, x, attn_mask=torch.ones(2, 2)),
                lambda: n.MultiheadAttention(3, 1).double()(x, x, x, is_causal=True),
                lambda: n.MultiheadAttention(3, 1).double()(
                    x, x, x, key_padding_mask=torch.ones(1, 2, dtype=torch.bool)
                ),
            ]
        )
        == "ooooooVVVoVVooVooooVooooooooo"
    )


def losses_refuse_arguments():
    """Targets, weights and words that do not fit. Rule: op/derivatives-beyond-programs."""
    n, f = torch.nn, torch.nn.functional
    x, w = wave(2, 3), wave(3).detach()
    t, p = torch.tensor([0, 2]), wave(2, 1, 3)
    assert graded(f.nll_loss(x, t), x) == [(), 0.2527, -3.5]
    assert (
        error_kinds(
            [
                lambda: f.mse_loss(x, x, reduction="least"),
                lambda: f.mse_loss(x, wave(4)),
                lambda: f.mse_loss(x, x, weight=w),
                lambda: f.l1_loss(x, x, reduction="least"),
                lambda: f.l1_loss(x, x, weight=w),
                lambda: f.smooth_l1_loss(x, x, beta=-1.0),
                lambda: f.huber_loss(x, x, delta=0.0),
                lambda: f.huber_loss(x, x, weight=w),
                lambda: n.MSELoss(reduction="least")(x, x),
                lambda: n.MSELoss(reductions="sum"),
                lambda: f.nll_loss(x, torch.tensor([0])),
                lambda: f.nll_loss(x, torch.tensor([[0], [1]])),
                lambda: f.nll_loss(x, torch.tensor([0.0, 1.0])),
                lambda: f.nll_loss(x, t, w[:2]),
                lambda: f.nll_loss(x, t, w.float()),
                lambda: f.nll_loss(x[0], t),
                lambda: f.nll_loss(x[0, 0], t),
                lambda: f.nll_loss(wave(1, 3, 2), torch.tensor([[0, 1, 2]])),
                lambda: f.nll_loss(x, t, reduction="least"),
                lambda: f.nll_loss(x, t + 1),
                lambda: f.cross_entropy(x, t, label_smoothing=2.0),
                lambda: f.cross_entropy(x, torch.ones(2, 3, dtype=torch.int64)),
                lambda: f.cross_entropy(x, wave(2, 2)),
                lambda: f.cross_entropy(x, t, w[:2]),
                lambda: f.cross_entropy(x, t, reduction="least"),
                lambda: f.binary_cross_entropy(x.sigmoid(), wave(2, 2).sigmoid()),
                lambda: f.binary_cross_entropy(x + 5, x.sigmoid()),
                lambda: f.binary_cross_entropy_with_logits(x, wave(2, 2)),
                lambda: f.binary_cross_entropy_with_logits(x, x.detach(), pos_weight=w[:2]),
                lambda: n.BCELoss(weights=w),
                lambda: f.kl_div(t, t),
                lambda: f.kl_div(x, x, reduction="least"),
                lambda: f.poisson_nll_loss(x, x, reduction="least"),
                lambda: f.gaussian_nll_loss(x, x, -x.abs()),
                lambda: f.gaussian_nll_loss(x, x, wave(4)),
                lambda: f.gaussian_nll_loss(x, x, x.abs(), reduction="least"),
                lambda: f.cosine_embedding_loss(x, x, torch.ones(2, 2)),
                lambda: f.triplet_margin_loss(x, x, x, margin=-1.0),
                lambda: f.triplet_margin_with_distance_loss(x, x, x, margin=-1.0),
                lambda: f.multi_margin_loss(x, t, p=3),
                lambda: f.multi_margin_loss(x, t, weight=wave(1, 3)),
                lambda: f.multi_margin_loss(x, torch.tensor([0])),
                lambda: f.multilabel_margin_loss(x, torch.tensor([[0, 1]])),
                lambda: f.soft_margin_loss(x, wave(4)),
                lambda: f.ctc_loss(p, torch.tensor([[1]]), (3,), (1,)),
                lambda: f.ctc_loss(p, torch.tensor([[1]]), (2, 2), (1,)),
                lambda: f.ctc_loss(p, torch.tensor([[1]]), (2,), (1, 1)),
                lambda: f.ctc_loss(p, torch.tensor([[1]]), (2,), (1,), blank=3),
                lambda: f.ctc_loss(p, torch.tensor([[1]]), (2,), (2,)),
            ]
        )
        == "VoVVVooVVTVooooVVoVIooooVVoVoToVVVVVoVVVVoooooooo"
    )
