"""Refusals of activations, norms, attention and losses: sizes that do not fit, settings out of range."""

import torch

from specs.cases._measures import derivatives, refusal_kinds


def activations_refuse_what_they_cannot_bend():
    """Bounds in the wrong order, halves of odd sizes, zero scales. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[-1.0, 0.5, 2.0], [0.25, -3.0, 1.0]], dtype=torch.float64, requires_grad=True)
    s = torch.tensor(2.0)
    assert (
        refusal_kinds(
            [
                lambda: torch.nn.functional.glu(x, 1),
                lambda: torch.nn.functional.glu(s),
                lambda: torch.nn.functional.glu(x, 2),
                lambda: torch.nn.functional.celu(x, 0.0),
                lambda: torch.nn.functional.elu(x, -1.0),
                lambda: torch.nn.functional.hardtanh(x, 1.0, -1.0),
                lambda: torch.nn.functional.rrelu(x, 0.5, 0.25),
                lambda: torch.nn.functional.rrelu(x, 0.25, 0.5, training=True),
                lambda: torch.nn.functional.prelu(s, torch.ones(2)),
                lambda: torch.nn.functional.prelu(torch.ones(2, 3), torch.ones(2)),
                lambda: torch.nn.functional.prelu(torch.ones(2, 3), torch.ones(1, 3)),
                lambda: torch.nn.functional.prelu(torch.ones(2, 3), torch.tensor(0.5)),
                lambda: torch.nn.functional.prelu(torch.ones(3), torch.ones(3)),
                lambda: torch.nn.functional.softmax(x, 2),
                lambda: torch.nn.functional.softmin(x, -3),
                lambda: torch.nn.functional.log_softmax(x, 5),
                lambda: torch.nn.functional.gumbel_softmax(x, dim=4),
                lambda: torch.nn.functional.dropout(x, 1.5),
                lambda: torch.nn.functional.dropout(x, -0.5),
                lambda: torch.nn.functional.alpha_dropout(x, 2.0),
                lambda: torch.nn.functional.dropout1d(x, 3.0),
                lambda: torch.nn.functional.dropout2d(x, 3.0),
                lambda: torch.nn.functional.threshold(x, 0.5, 1.0),
                lambda: torch.nn.functional.gelu(x, approximate="erf"),
                lambda: torch.nn.functional.softshrink(x, -0.5),
                lambda: torch.nn.functional.hardshrink(x, -0.5),
                lambda: torch.nn.functional.local_response_norm(x[0], 2),
                lambda: torch.nn.functional.normalize(x, dim=3),
                lambda: torch.nn.functional.pairwise_distance(x, torch.ones(2, 4, dtype=torch.float64)),
                lambda: torch.nn.functional.cosine_similarity(x, torch.ones(2, 4, dtype=torch.float64)),
                lambda: torch.nn.functional.cosine_similarity(
                    torch.ones(2, dtype=torch.long), torch.ones(2, dtype=torch.long)
                ),
                lambda: torch.nn.functional.bilinear(x, torch.ones(3, 3), torch.ones(1, 3, 3)),
                lambda: torch.nn.functional.linear(x, torch.ones(2, 4, dtype=torch.float64)),
                lambda: torch.nn.functional.linear(x, torch.ones(2, 3)),
                lambda: torch.nn.functional.linear(
                    x, torch.ones(2, 3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
                ),
                lambda: torch.nn.functional.pad(x, (1,)),
                lambda: torch.nn.functional.pad(x, (1, 1, 1, 1, 1, 1)),
                lambda: torch.nn.functional.pad(x, (-4, 0)),
                lambda: torch.nn.functional.pad(x, (1, 1), "mirror"),
                lambda: torch.nn.functional.pad(x, (1, 1), "reflect", 2.0),
                lambda: torch.nn.functional.pad(x, (3, 0), "reflect"),
                lambda: torch.nn.functional.pad(x, (4, 0), "circular"),
                lambda: torch.nn.functional.pad(x, (1, 1, 1, 1), "replicate"),
                lambda: torch.nn.functional.one_hot(torch.tensor([1, -1])),
                lambda: torch.nn.functional.one_hot(torch.tensor([1, 2]), 2),
                lambda: torch.nn.functional.one_hot(torch.tensor([1.0])),
                lambda: torch.nn.functional.one_hot(torch.tensor([], dtype=torch.long)),
            ]
        )
        == "ooIo-Vo-ooo-oIIIIVVVVV-oo-VIooooooooooNoooNoooo"
    )
    assert derivatives(
        torch.nn.functional.glu(x.mT, 0) if x.shape[1] == 2 else torch.nn.functional.celu(x, 0.5), x
    ) == [
        [0.13534, 2.0, 3.0, 4.0, 0.01239, 6.0],
        [0.07326, 0.0, 0.0, 0.0, 0.00061, 0.0],
        [0.03663, 4.0, 6.0, 8.0, 6e-05, 12.0],
    ]


def norms_and_attention_refuse_sizes_that_do_not_fit():
    """Channels, shapes and groups have to divide. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[-1.0, 0.5, 2.0], [0.25, -3.0, 1.0]], dtype=torch.float64, requires_grad=True)
    three = torch.ones(2, 3, 4)
    assert (
        refusal_kinds(
            [
                lambda: torch.nn.functional.layer_norm(x, (2,)),
                lambda: torch.nn.functional.layer_norm(x, ()),
                lambda: torch.nn.functional.layer_norm(x, (3,), torch.ones(2, dtype=torch.float64)),
                lambda: torch.nn.functional.rms_norm(x, (2,)),
                lambda: torch.nn.functional.rms_norm(x, (3,), torch.ones(2, dtype=torch.float64)),
                lambda: torch.nn.functional.group_norm(x, 2),
                lambda: torch.nn.functional.group_norm(x, 0),
                lambda: torch.nn.functional.group_norm(x[0], 1),
                lambda: torch.nn.functional.group_norm(three, 3, torch.ones(2)),
                lambda: torch.nn.functional.group_norm(torch.ones(1, 2), 2),
                lambda: torch.nn.functional.batch_norm(three, torch.ones(2), torch.ones(3)),
                lambda: torch.nn.functional.batch_norm(three, None, None),
                lambda: torch.nn.functional.batch_norm(three, torch.ones(3), torch.ones(3), torch.ones(2)),
                lambda: torch.nn.functional.batch_norm(
                    torch.ones(1, 3), torch.ones(3), torch.ones(3), training=True
                ),
                lambda: torch.nn.functional.instance_norm(torch.ones(2, 3, 1), use_input_stats=True),
                lambda: torch.nn.functional.instance_norm(three, use_input_stats=False),
                lambda: torch.nn.functional.instance_norm(x.detach()),
                lambda: torch.nn.BatchNorm1d(3)(torch.ones(3)),
                lambda: torch.nn.BatchNorm1d(3)(torch.ones(2, 4)),
                lambda: torch.nn.BatchNorm2d(3)(three),
                lambda: torch.nn.BatchNorm3d(3)(three),
                lambda: torch.nn.InstanceNorm1d(3)(torch.ones(3)),
                lambda: torch.nn.InstanceNorm2d(3)(torch.ones(2)),
                lambda: torch.nn.GroupNorm(2, 3),
                lambda: torch.nn.LayerNorm(3)(torch.ones(2)),
                lambda: torch.nn.SyncBatchNorm(3)(torch.ones(3)),
            ]
        )
        == "oooooooooVoooVVoVVoVVVVVoV"
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.nn.functional.scaled_dot_product_attention(x, x, torch.ones(2, 3)),
                lambda: torch.nn.functional.scaled_dot_product_attention(x[0], x[0], x[0]),
                lambda: torch.nn.functional.scaled_dot_product_attention(x, x[:, :2], x),
                lambda: torch.nn.functional.scaled_dot_product_attention(
                    x, x, x, torch.ones(2, 2), is_causal=True
                ),
                lambda: torch.nn.functional.scaled_dot_product_attention(
                    x, x, x, torch.ones(2, 2, dtype=torch.long)
                ),
                lambda: torch.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=2.0),
                lambda: torch.nn.MultiheadAttention(4, 3),
                lambda: torch.nn.MultiheadAttention(0, 1),
                lambda: torch.nn.MultiheadAttention(4, 2)(
                    torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 3)
                ),
                lambda: torch.nn.MultiheadAttention(4, 2)(three[0], three[0], torch.ones(2, 4)),
                lambda: torch.nn.Embedding(2, 3, padding_idx=2),
                lambda: torch.nn.Embedding(2, 3, padding_idx=-3),
                lambda: torch.nn.Embedding(2, 3, _weight=torch.ones(3, 3)),
                lambda: torch.nn.Embedding.from_pretrained(torch.ones(3)),
                lambda: torch.nn.functional.embedding(torch.tensor([3]), torch.ones(2, 2)),
                lambda: torch.nn.functional.embedding(torch.tensor([1.0]), torch.ones(2, 2)),
                lambda: torch.nn.functional.embedding(torch.tensor([1]), torch.ones(2)),
                lambda: torch.nn.functional.embedding(torch.tensor([1]), torch.ones(2, 2), padding_idx=2),
                lambda: torch.nn.functional.embedding_bag(torch.tensor([1]), torch.ones(2, 2)),
                lambda: torch.nn.functional.embedding_bag(
                    torch.tensor([[1]]), torch.ones(2, 2), torch.tensor([0])
                ),
                lambda: torch.nn.functional.embedding_bag(torch.tensor([[[1]]]), torch.ones(2, 2)),
                lambda: torch.nn.functional.embedding_bag(
                    torch.tensor([1]), torch.ones(2, 2), torch.tensor([1])
                ),
                lambda: torch.nn.functional.embedding_bag(
                    torch.tensor([1]), torch.ones(2, 2), torch.tensor([0]), mode="most"
                ),
                lambda: torch.nn.functional.embedding_bag(
                    torch.tensor([[1]]), torch.ones(2, 2), per_sample_weights=torch.ones(1, 1), mode="mean"
                ),
                lambda: torch.nn.functional.embedding_bag(
                    torch.tensor([[1]]), torch.ones(2, 2), per_sample_weights=torch.ones(1)
                ),
                lambda: torch.nn.functional.embedding_bag(
                    torch.tensor([1]),
                    torch.ones(2, 2),
                    torch.tensor([], dtype=torch.long),
                    include_last_offset=True,
                ),
                lambda: torch.nn.functional.embedding_bag(
                    torch.tensor([[1]]), torch.ones(2, 2), mode="max", sparse=True
                ),
            ]
        )
        == "oooooooVooooooIoooVVVoVNVoV"
    )
    assert derivatives(torch.nn.functional.layer_norm(x, (3,)), x) == [
        [-1e-05, 0.0, 1e-05, -0.61583, 0.11547, 0.50037],
        [0.0, 0.0, 0.0, -0.05967, 0.33266, -0.273],
        [0.0, 0.0, 0.0, -0.70946, 0.13302, 0.57644],
    ]


def losses_refuse_targets_that_do_not_fit():
    """Classes, sizes and words of a reduction. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[-1.0, 0.5, 2.0], [0.25, -3.0, 1.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0, 2])
    w = torch.ones(2, dtype=torch.float64)
    assert (
        refusal_kinds(
            [
                lambda: torch.nn.functional.nll_loss(x, torch.tensor([0, 3])),
                lambda: torch.nn.functional.nll_loss(x, torch.tensor([0])),
                lambda: torch.nn.functional.nll_loss(x, y, w),
                lambda: torch.nn.functional.nll_loss(x, y.double()),
                lambda: torch.nn.functional.nll_loss(x, y, reduction="most"),
                lambda: torch.nn.functional.nll_loss(x.reshape(2, 3, 1), torch.zeros(2, 2, dtype=torch.long)),
                lambda: torch.nn.functional.nll_loss(torch.tensor(1.0), torch.tensor(0)),
                lambda: torch.nn.functional.cross_entropy(x, torch.tensor([0, 3])),
                lambda: torch.nn.functional.cross_entropy(x, torch.ones(2, 2, dtype=torch.float64)),
                lambda: torch.nn.functional.cross_entropy(x, y, w),
                lambda: torch.nn.functional.cross_entropy(x, y, label_smoothing=2.0),
                lambda: torch.nn.functional.cross_entropy(x, y[:1]),
                lambda: torch.nn.functional.mse_loss(x, x.detach(), reduction="all"),
                lambda: torch.nn.functional.smooth_l1_loss(x, x.detach(), beta=-1.0),
                lambda: torch.nn.functional.huber_loss(x, x.detach(), delta=0.0),
                lambda: torch.nn.functional.kl_div(
                    torch.ones(2, dtype=torch.complex64), torch.ones(2), reduction="sum"
                ),
                lambda: torch.nn.functional.binary_cross_entropy(x, x.detach()),
                lambda: torch.nn.functional.binary_cross_entropy(x.sigmoid(), w),
                lambda: torch.nn.functional.binary_cross_entropy(x.sigmoid(), x.detach().sigmoid(), w),
                lambda: torch.nn.functional.binary_cross_entropy_with_logits(x, w),
                lambda: torch.nn.functional.binary_cross_entropy_with_logits(x, x.detach(), pos_weight=w),
                lambda: torch.nn.functional.poisson_nll_loss(x, x.detach(), reduction="all"),
                lambda: torch.nn.functional.gaussian_nll_loss(x, x.detach(), -x.detach().abs()),
                lambda: torch.nn.functional.gaussian_nll_loss(
                    x, x.detach(), torch.ones(4, dtype=torch.float64)
                ),
                lambda: torch.nn.functional.gaussian_nll_loss(
                    x, x.detach(), x.detach().abs(), reduction="all"
                ),
            ]
        )
        == "IVooVoVIoooVVooooVoVoVVVV"
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.nn.functional.multi_margin_loss(x, torch.tensor([0, 3])),
                lambda: torch.nn.functional.multi_margin_loss(x, y, p=3),
                lambda: torch.nn.functional.multi_margin_loss(x, y, weight=w),
                lambda: torch.nn.functional.multi_margin_loss(x, y.int()),
                lambda: torch.nn.functional.multi_margin_loss(x, y[:1]),
                lambda: torch.nn.functional.multi_margin_loss(x, y, reduction="all"),
                lambda: torch.nn.functional.multilabel_margin_loss(x, y),
                lambda: torch.nn.functional.multilabel_margin_loss(x, torch.tensor([[0, -1, 5], [1, -1, 0]])),
                lambda: torch.nn.functional.multilabel_margin_loss(x, torch.tensor([[0, 5, -1], [1, -1, 0]])),
                lambda: torch.nn.functional.multilabel_margin_loss(x, torch.ones(2, 3)),
                lambda: torch.nn.functional.multilabel_soft_margin_loss(x, w),
                lambda: torch.nn.functional.multilabel_soft_margin_loss(x, x.detach().sigmoid(), w),
                lambda: torch.nn.functional.soft_margin_loss(x, w),
                lambda: torch.nn.functional.soft_margin_loss(x, x.detach(), reduction="all"),
                lambda: torch.nn.functional.hinge_embedding_loss(x, w),
                lambda: torch.nn.functional.margin_ranking_loss(x, x.detach(), w),
                lambda: torch.nn.functional.margin_ranking_loss(x, x[0], x),
                lambda: torch.nn.functional.cosine_embedding_loss(x, x.detach(), x.detach()),
                lambda: torch.nn.functional.cosine_embedding_loss(x[0], x[0], w),
                lambda: torch.nn.functional.cosine_embedding_loss(x, x.detach(), w, reduction="all"),
                lambda: torch.nn.functional.triplet_margin_loss(x, x, x[0]),
                lambda: torch.nn.functional.triplet_margin_loss(x, x, x, reduction="all"),
                lambda: torch.nn.functional.triplet_margin_with_distance_loss(x, x, x, margin=-1.0),
                lambda: torch.nn.functional.triplet_margin_with_distance_loss(x, x[0], x),
                lambda: torch.nn.functional.ctc_loss(x, y, torch.tensor([1]), torch.tensor([1])),
                lambda: torch.nn.functional.ctc_loss(
                    x.reshape(2, 1, 3), y, torch.tensor([3]), torch.tensor([2])
                ),
                lambda: torch.nn.functional.ctc_loss(
                    x.reshape(2, 1, 3), y, torch.tensor([2]), torch.tensor([2]), blank=3
                ),
                lambda: torch.nn.functional.ctc_loss(
                    x.reshape(2, 1, 3), y, torch.tensor([2, 2]), torch.tensor([2])
                ),
            ]
        )
        == "oVoooVoooooooVoooooVoVVooooo"
    )
    assert derivatives(torch.nn.functional.nll_loss(x.log_softmax(1), y), x) == [
        [-0.48044, 0.08765, 0.3928, 0.15844, 0.00614, -0.16458],
        [-0.03073, -0.03813, 0.06885, 0.06926, 0.00081, -0.07007],
        [0.89005],
    ]
