"""Losses with margins, of sequences, and weighted ones, by function and by layer."""

import torch

from specs.case import refused
from specs.cases._measures import graded, wave


def losses_with_margins():
    """Of one class or several, by its first or second power. Rule: op/derivatives-beyond-programs."""
    n, f = torch.nn, torch.nn.functional
    x = wave(2, 3)
    t = torch.tensor([2, 0])
    assert graded(f.multi_margin_loss(x, t), x) == [(), 0.6443, -0.3333]
    assert graded(f.multi_margin_loss(x, t, p=2, margin=2.0, reduction="sum"), x) == [(), 8.1935, -7.1223]
    assert graded(f.multi_margin_loss(x, t, reduction="none"), x) == [(2,), 1.2885, -0.6667]
    w = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    assert graded(n.MultiMarginLoss()(x, t), x) == [(), 0.6443, -0.3333]
    m = n.MultiMarginLoss(2, 0.5, w, reduction="sum")
    assert (m.p, m.margin, m.reduction, [k for k, _ in m.named_buffers()], list(m.state_dict())) == (
        2,
        0.5,
        "sum",
        ["weight"],
        ["weight"],
    )
    assert graded(m(x, t), x) == [(), 15.1026, -17.9496]
    assert graded(f.multi_margin_loss(x[0], t[0], weight=w), x) == [(), 5.1541, -2.6667]
    t = torch.tensor([[2, -1, 0], [1, 0, -1]])
    assert graded(f.multilabel_margin_loss(x, t), x) == [(), 0.6443, -0.3333]
    assert graded(n.MultiLabelMarginLoss(reduction="none")(x, t), x) == [(2,), 1.2885, -0.6667]
    assert graded(n.MultiLabelMarginLoss(reduction="sum")(x[0], t[0]), x) == [(), 1.2885, -0.6667]
    t = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    assert graded(f.multilabel_soft_margin_loss(x, t), x) == [(), 1.2019, -0.2617]
    assert graded(f.multilabel_soft_margin_loss(x, t, w, reduction="none"), x) == [(2,), 11.0074, -11.9089]
    m = n.MultiLabelSoftMarginLoss(w, reduction="sum")
    assert (m.reduction, [k for k, _ in m.named_buffers()]) == ("sum", ["weight"])
    assert graded(m(x, t), x) == [(), 6.4312, -7.35]
    t = t * 2 - 1
    assert graded(f.soft_margin_loss(x, t), x) == [(), 1.2019, -0.2617]
    assert graded(n.SoftMarginLoss(reduction="sum")(x, t), x) == [(), 7.2114, -1.5701]
    assert graded(f.hinge_embedding_loss(x + 0.25, t), x) == [(), 0.4897, 0.5]
    assert graded(n.HingeEmbeddingLoss(2.5, reduction="none")(x + 0.25, t), x) == [(2, 3), 7.6097, 17.0]


def losses_of_pairs_have_margins():
    """Distances, angles and ranks; the distance may be any function. Rule: op/derivatives-beyond-programs."""
    n, f = torch.nn, torch.nn.functional
    x = wave(2, 3)
    y = torch.tensor([[0.5, 1.0, -1.0], [2.0, 0.0, 1.0]], dtype=torch.float64)
    t = torch.tensor([1.0, -1.0], dtype=torch.float64)
    assert graded(f.cosine_embedding_loss(x, y, t), x) == [(), 0.676, 1.0465]
    assert graded(n.CosineEmbeddingLoss(-0.5, reduction="none")(x, y, t), x) == [(2,), 2.6808, 4.0588]
    a, b = x.unbind()
    assert graded(f.margin_ranking_loss(a, b, t[:1]), x) == [(), 0.8156, 2.0]
    assert graded(n.MarginRankingLoss(0.5, reduction="sum")(a, b, -t[:1]), x) == [(), 1.9238, -3.0]
    assert graded(f.triplet_margin_loss(x, y, y.flip(0)), x) == [(), 1.6314, -0.539]
    assert graded(n.TripletMarginLoss(2.0, 1.0, 0.5, swap=True, reduction="none")(x, y, y.flip(0)), x) == [
        (2,),
        7.9692,
        26.0,
    ]
    assert graded(f.triplet_margin_with_distance_loss(x, y, y.flip(0)), x) == [(), 1.6314, -0.539]
    far = lambda u, v: (u - v).abs().amax(1)
    assert graded(
        f.triplet_margin_with_distance_loss(x, y, y.flip(0), distance_function=far, margin=4.0), x
    ) == [(), 5.2168, -5.0]
    m = n.TripletMarginWithDistanceLoss(distance_function=far, margin=2.0, swap=True, reduction="sum")
    assert (m.margin, m.swap, m.reduction) == (2.0, True, "sum")
    assert graded(m(x + 0.125, y, -y), x) == [(), 4.1686, -8.0]
    assert graded(n.TripletMarginWithDistanceLoss(swap=True)(x + 0.125, y, -y), x) == [(), 0.6365, -0.5837]
    v = torch.tensor([[0.5, 1.0, 2.0], [0.0, 1.5, 1.0]], dtype=torch.float64)
    assert graded(f.gaussian_nll_loss(x, y, v), x) == [(), 17913.222, 309078.8685]
    assert graded(n.GaussianNLLLoss(full=True, eps=0.25, reduction="none")(x, y, v), x) == [
        (2, 3),
        65.6783,
        -104.2454,
    ]
    assert graded(f.gaussian_nll_loss(x, y, v[:, :1] + 1, reduction="sum"), x) == [(), 10.1859, -22.3065]
    assert graded(f.gaussian_nll_loss(x, y, 2.0), x) == [(), 1.2984, -1.9858]
    assert graded(n.PoissonNLLLoss()(x, y.abs()), x) == [(), 3.2274, 6.7312]
    assert graded(n.PoissonNLLLoss(False, True, eps=0.5, reduction="sum")(x.abs() + 1, 2 * y.abs()), x) == [
        (),
        7.2268,
        -8.6908,
    ]


def losses_of_sequences():
    """Each with its own length, without blanks; infinite ones may count as zero.

    Rule: op/derivatives-beyond-programs.
    """
    n, f = torch.nn, torch.nn.functional
    x = wave(4, 2, 3)
    logs = x.log_softmax(2)
    t = torch.tensor([[1, 2], [2, 2]])
    assert graded(f.ctc_loss(logs, t, (4, 4), (2, 2)), x) == [(), 1.0267, -0.2958]
    assert graded(f.ctc_loss(logs, t, torch.tensor([4, 3]), torch.tensor([1, 2]), reduction="none"), x) == [
        (2,),
        14.0467,
        -0.9607,
    ]
    assert graded(f.ctc_loss(logs, torch.tensor([1, 2, 2]), (4, 3), (1, 2), reduction="sum"), x) == [
        (),
        7.8927,
        0.3086,
    ]
    assert graded(f.ctc_loss(logs, t - 1, (4, 4), (2, 2), blank=2), x) == [(), 1.2461, -0.5704]
    assert f.ctc_loss(logs, t, (4, 2), (2, 2), reduction="none").tolist()[1] == float("inf")
    assert graded(f.ctc_loss(logs, t, (4, 2), (2, 2), reduction="none", zero_infinity=True), x) == [
        (2,),
        1.6317,
        -0.4651,
    ]
    m = n.CTCLoss()
    assert (m.blank, m.reduction, m.zero_infinity) == (0, "mean", False)
    assert graded(m(logs, t, (4, 4), (2, 0)), x) == [(), 2.6251, 1.7143]
    assert graded(n.CTCLoss(2, "sum", True)(logs, t - 1, (4, 2), (2, 2)), x) == [(), 1.8984, -0.3576]
    one = f.ctc_loss(logs[:, 0], t[0], torch.tensor(4), torch.tensor(2), reduction="none")
    assert (tuple(one.shape), graded(one, x)) == ((), [(), 1.6317, -0.4651])
    assert graded(f.ctc_loss(logs[:, 0], t[0, :1], torch.tensor(3), torch.tensor(1)), x) == [
        (),
        1.5837,
        1.331,
    ]


def losses_are_weighted_and_named():
    """Means by weight, old names of reductions, and layers that hold their weights.

    Rule: op/derivatives-beyond-programs.
    """
    n, f = torch.nn, torch.nn.functional
    x = wave(2, 3)
    y = torch.tensor([[0.5, 1.0, 0.25], [0.75, 0.0, 1.0]], dtype=torch.float64)
    w = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    full = w.expand(2, 3)
    assert graded(f.mse_loss(x, y, weight=full), x) == [(), 5.3806, -14.5023]
    assert graded(f.mse_loss(x, y, weight=full, reduction="sum"), x) == [(), 75.3277, -203.0316]
    assert graded(f.l1_loss(x, y, weight=full), x) == [(), 1.9945, -3.2143]
    assert graded(f.smooth_l1_loss(x, y, size_average=False), x) == [(), 8.2584, -6.7297]
    assert graded(f.mse_loss(x, y, reduce=False), x) == [(2, 3), 105.7875, -240.4769]
    assert graded(n.MSELoss(size_average=False)(x, y), x) == [(), 27.0622, -45.1603]
    assert n.L1Loss(reduce=False).reduction == "none" and n.L1Loss(True, True).reduction == "mean"
    assert graded(f.binary_cross_entropy(x.sigmoid(), y, full, reduction="none"), x) == [
        (2, 3),
        85.0788,
        -111.8945,
    ]
    assert graded(f.binary_cross_entropy_with_logits(x, y, w, pos_weight=w, reduction="sum"), x) == [
        (),
        57.4996,
        -95.6111,
    ]
    m = n.BCEWithLogitsLoss(weight=w, pos_weight=2 * w)
    assert list(m.state_dict()) == ["weight", "pos_weight"]
    assert graded(m(x, y), x) == [(), 18.5233, -33.2803]
    m = n.CrossEntropyLoss(weight=w, ignore_index=1, label_smoothing=0.25, reduction="sum")
    assert (list(m.state_dict()), m.ignore_index, m.label_smoothing) == (["weight"], 1, 0.25)
    assert graded(m(x, torch.tensor([1, 2])), x) == [(), 16.9182, -6.5382]
    m = n.NLLLoss(w, ignore_index=0, reduction="none")
    assert (list(m.state_dict()), m.ignore_index) == (["weight"], 0)
    assert graded(m(x, torch.tensor([0, 2])), x) == [(2,), 19.1785, -48.0]
    z = wave(1, 3, 2)
    assert graded(f.nll_loss(z, torch.tensor([[0, 2]]), w), z) == [(), 1.5394, -5.0]
    assert graded(f.nll_loss(z, torch.tensor([[0, 2]]), reduction="none"), z) == [(1, 2), 2.9026, -13.0]
    assert f.nll_loss(
        wave(1, 3, 2, 2, 2), torch.ones(1, 2, 2, 2, dtype=torch.int64), reduction="none"
    ).shape == (1, 2, 2, 2)
    assert graded(f.nll_loss(z[0, :, 0], torch.tensor(2)), z) == [(), 0.1459, -5.0]
    assert graded(f.cross_entropy(z[0, :, 1], torch.tensor(1), w), z) == [(), 0.0188, -0.0069]
    assert graded(f.cross_entropy(x, y, label_smoothing=0.5, weight=w), x) == [(), 11.4431, -4.3395]
    assert graded(n.KLDivLoss(log_target=True, reduction="batchmean")(x, (y + 1).log()), x) == [
        (),
        3.8448,
        -16.625,
    ]
    assert graded(n.KLDivLoss()(x, y), x) == [(), 0.1599, -2.0417]
    assert graded(n.HuberLoss("sum", 0.5)(x, y), x) == [(), 4.7595, -3.7297]
    assert graded(n.SmoothL1Loss(None, None, "sum", 0.5)(x, y), x) == [(), 9.519, -7.4594]
    assert graded(n.KLDivLoss(None, None, "sum", True)(x, y), x) == [(), 13.2417, -40.7151]
    assert graded(f.huber_loss(x, y, weight=full), x) == [(), 3.6088, -6.0766]
    assert graded(f.l1_loss(x, y, weight=full, reduction="none"), x) == [(2, 3), 118.0088, -221.0]
    m = n.HuberLoss()
    assert (
        m.reduction,
        m.delta,
        n.SmoothL1Loss().beta,
        n.KLDivLoss().log_target,
        n.TripletMarginLoss().eps,
    ) == ("mean", 1.0, 1.0, False, 1e-06)
    m.delta, m.reduction = 0.25, "sum"
    assert graded(m(x, y), x) == [(), 2.5413, -2.2297]


def a_loss_of_classes_wants_a_target_for_each_input():
    """One index is none for a batch. Rule: nn/a-target-for-each-input."""
    x = torch.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]], requires_grad=True)
    with refused("nn/a-target-for-each-input"):
        torch.nn.functional.cross_entropy(x, torch.tensor([2]))
    with refused("nn/a-target-for-each-input"):
        torch.nn.functional.nll_loss(x, torch.tensor(2))
    with refused("nn/a-target-for-each-input"):
        torch.nn.functional.cross_entropy(x.unsqueeze(2), torch.tensor([[2]]))
    y = torch.nn.functional.nll_loss(x, torch.tensor([2, 0]))
    z = torch.nn.functional.nll_loss(x[0], torch.tensor(1))
    assert y.item() == -3.0 and z.item() == -2.0


def a_loss_of_classes_reads_its_targets_again_at_backward():
    """They must still be one class index for each row then. Rule: nn/targets-go-with-scores."""
    x = torch.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]], requires_grad=True)
    y = torch.tensor([2, 0])
    z = torch.nn.functional.nll_loss(x, y, reduction="sum")
    y.data = torch.tensor([1])
    with refused("nn/targets-go-with-scores"):
        torch.autograd.grad(z, x, retain_graph=True)
    y.data = torch.tensor([[1, 0]])
    with refused("nn/targets-go-with-scores"):
        torch.autograd.grad(z, x, retain_graph=True)
    y.data = torch.tensor([1, 2])
    g = torch.autograd.grad(z, x)[0]
    assert g.tolist() == [[0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    t = torch.tensor([2])
    u = torch.nn.functional.nll_loss(w, t)
    with refused("nn/targets-go-with-scores"):
        torch.autograd.grad(u, w)
    k = torch.nn.functional.nll_loss(w, t[0])
    h = torch.autograd.grad(k, w)[0]
    assert h.tolist() == [0.0, 0.0, -1.0]
