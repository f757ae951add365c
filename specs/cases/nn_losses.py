"""Losses with each of their settings, and the gradients of their input."""

import torch

from specs.case import refused


def _graded(loss, x):
    """Return a loss and the gradient of its sum."""
    (g,) = torch.autograd.grad(loss.sum(), x)
    rounded = [round(v, 5) + 0.0 for v in loss.detach().reshape(-1).tolist()]
    return rounded, [round(v, 5) + 0.0 for v in g.reshape(-1).tolist()]


def losses_of_differences():
    """Their mean, their sum or each; with a delta or beta, on it, below and above.

    Rules: nn/loss-is-the-mean, op/derivatives-beyond-programs.
    """
    x = torch.tensor([1.0, 2.5, -1.0, 4.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([1.5, 2.0, 1.0, 4.0], dtype=torch.float64)
    f = torch.nn.functional
    assert _graded(f.mse_loss(x, y), x) == ([1.125], [-0.25, 0.25, -1.0, 0.0])
    assert _graded(f.mse_loss(x, y, reduction="none"), x) == ([0.25, 0.25, 4.0, 0.0], [-1.0, 1.0, -4.0, 0.0])
    assert _graded(f.l1_loss(x, y), x) == ([0.75], [-0.25, 0.25, -0.25, 0.0])
    assert _graded(f.l1_loss(x, y, reduction="sum"), x) == ([3.0], [-1.0, 1.0, -1.0, 0.0])
    assert _graded(f.smooth_l1_loss(x, y), x) == ([0.4375], [-0.125, 0.125, -0.25, 0.0])
    assert _graded(f.smooth_l1_loss(x, y, beta=0.5, reduction="none"), x) == (
        [0.25, 0.25, 1.75, 0.0],
        [-1.0, 1.0, -1.0, 0.0],
    )
    assert _graded(f.smooth_l1_loss(x, y, beta=0.0, reduction="sum"), x) == ([3.0], [-1.0, 1.0, -1.0, 0.0])
    assert _graded(f.huber_loss(x, y, delta=0.5), x) == ([0.28125], [-0.125, 0.125, -0.125, 0.0])
    assert _graded(f.huber_loss(x, y, delta=4.0, reduction="sum"), x) == ([2.25], [-0.5, 0.5, -2.0, 0.0])
    assert _graded(torch.nn.SmoothL1Loss(reduction="sum", beta=0.25)(x, y), x) == (
        [2.625],
        [-1.0, 1.0, -1.0, 0.0],
    )
    assert _graded(torch.nn.HuberLoss(delta=0.25)(x, y), x) == ([0.16406], [-0.0625, 0.0625, -0.0625, 0.0])


def losses_of_classes():
    """Weights weigh the mean too, an ignored class counts nowhere, and smoothing spreads the target.

    Rules: nn/loss-is-the-mean, nn/target-is-a-class.
    """
    x = torch.tensor(
        [[1.0, 2.0, 0.5], [0.0, -1.0, 1.5], [2.0, 0.0, 1.0]], dtype=torch.float64, requires_grad=True
    )
    t = torch.tensor([1, 0, 2])
    w = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    q = torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.25, 0.5, 0.25]], dtype=torch.float64)
    f = torch.nn.functional
    assert _graded(f.l1_loss(x, q), x) == (
        [1.0],
        [0.11111, 0.11111, 0.11111, 0.0, -0.11111, 0.11111, 0.11111, -0.11111, 0.11111],
    )
    assert _graded(f.nll_loss(x, t, w), x) == (
        [-1.14286],
        [0.0, -0.28571, 0.0, -0.14286, 0.0, 0.0, 0.0, 0.0, -0.57143],
    )
    assert _graded(f.nll_loss(x, t, w, ignore_index=0, reduction="none"), x) == (
        [-4.0, 0.0, -4.0],
        [0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -4.0],
    )
    assert _graded(f.nll_loss(x, t, ignore_index=2), x) == (
        [-1.0],
        [0.0, -0.5, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
    )
    assert _graded(f.cross_entropy(x, t), x) == (
        [1.21278],
        [0.07707, -0.12382, 0.04675, -0.27635, 0.02096, 0.25539, 0.22175, 0.03001, -0.25176],
    )
    assert _graded(f.cross_entropy(x, t, w, reduction="sum"), x) == (
        [8.32553],
        [0.46245, -0.74294, 0.28049, -0.82905, 0.06289, 0.76616, 2.66096, 0.36012, -3.02109],
    )
    assert _graded(f.cross_entropy(x, t, ignore_index=0, label_smoothing=0.25), x) == (
        [1.04015],
        [0.07395, -0.1024, 0.02846, 0.0, 0.0, 0.0, 0.29095, 0.00335, -0.2943],
    )
    assert _graded(f.cross_entropy(x, t, w, ignore_index=0, label_smoothing=0.25), x) == (
        [1.113],
        [0.0664, -0.05954, -0.00686, 0.0, 0.0, 0.0, 0.38341, 0.02599, -0.4094],
    )
    assert _graded(f.cross_entropy(x, t, w, label_smoothing=0.25, reduction="none"), x) == (
        [1.55077, 2.02182, 5.12725],
        [0.39838, -0.35723, -0.04116, -0.6054, -0.08281, 0.68821, 2.30045, 0.15594, -2.45639],
    )
    assert _graded(f.cross_entropy(x, q), x) == (
        [1.92111],
        [-0.08959, 0.12618, -0.03659, 0.05698, -0.31237, 0.25539, 0.13841, -0.13666, -0.00176],
    )
    assert _graded(f.cross_entropy(x, q, w, label_smoothing=0.25), x) == (
        [3.91321],
        [0.00779, 0.25592, -0.26372, 0.09094, -0.51188, 0.42094, 0.41327, -0.23741, -0.17587],
    )
    assert _graded(f.cross_entropy(x, q, w, reduction="none"), x) == (
        [2.92874, 5.53274, 3.91711],
        [-0.03755, 0.75706, -0.71951, 0.34191, -1.87422, 1.53231, 1.24679, -0.79743, -0.44936],
    )
    assert _graded(torch.nn.CrossEntropyLoss(w, label_smoothing=0.5, reduction="sum")(x, t), x) == (
        [9.07416],
        [0.33432, 0.02849, -0.3628, -0.38175, -0.22852, 0.61026, 1.93993, -0.04824, -1.89169],
    )
    assert _graded(torch.nn.NLLLoss(ignore_index=1)(x, t), x) == (
        [-0.5],
        [0.0, 0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0, -0.5],
    )
    y = torch.tensor([[[1.0, 0.5], [2.0, 0.0]]], dtype=torch.float64, requires_grad=True)
    assert _graded(f.cross_entropy(y, torch.tensor([[0, 1]])), y) == (
        [1.14367],
        [-0.36553, 0.31123, 0.36553, -0.31123],
    )
    z = torch.tensor([1.0, 0.5], dtype=torch.float64, requires_grad=True)
    assert _graded(f.cross_entropy(z, torch.tensor(1)), z) == ([0.97408], [0.62246, -0.62246])


def the_gradient_of_a_loss_asks_for_a_target_of_each_row():
    """One without dimensions has no rows to be counted, whatever class it names.

    Rule: op/dim-range.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    target = torch.tensor([0, 1])
    loss = torch.nn.functional.cross_entropy(x, target)
    target.data = torch.tensor(5)
    with refused("op/dim-range"):
        loss.backward()


def losses_of_two_classes():
    """From probabilities or from logits, with weights of elements and of the positive class.

    Rules: nn/loss-is-the-mean, op/derivatives-beyond-programs.
    """
    p = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64, requires_grad=True)
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    t = torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64)
    w = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    f = torch.nn.functional
    assert _graded(f.l1_loss(x, t), x) == ([1.16667], [-0.33333, -0.33333, 0.33333])
    assert _graded(f.binary_cross_entropy(p, t), p) == ([0.60594], [0.44444, -0.66667, 0.44444])
    assert _graded(f.binary_cross_entropy(p, t, w, reduction="sum"), p) == (
        [5.02193],
        [1.33333, -4.0, 5.33333],
    )
    assert _graded(f.binary_cross_entropy(p, t, w), p) == ([1.67398], [0.44444, -1.33333, 1.77778])
    assert _graded(f.binary_cross_entropy_with_logits(x, t), x) == ([0.71111], [0.08965, -0.16667, 0.12693])
    assert _graded(f.binary_cross_entropy_with_logits(x, t, w, reduction="none"), x) == (
        [0.31326, 1.38629, 4.50771],
        [0.26894, -1.0, 1.52319],
    )
    assert _graded(f.binary_cross_entropy_with_logits(x, t, pos_weight=w), x) == (
        [1.00563],
        [0.08965, -0.33333, 0.06733],
    )
    assert _graded(f.binary_cross_entropy_with_logits(x, t, w, pos_weight=w * 2, reduction="sum"), x) == (
        [12.14314],
        [0.26894, -4.0, -0.14565],
    )
    assert _graded(torch.nn.BCELoss(w)(p, t), p) == ([1.67398], [0.44444, -1.33333, 1.77778])
    assert _graded(torch.nn.BCEWithLogitsLoss(pos_weight=w, reduction="sum")(x, t), x) == (
        [3.01688],
        [0.26894, -1.0, 0.20199],
    )
    s = torch.tensor([-1.0, 1.0, 1.0], dtype=torch.float64)
    assert _graded(f.soft_margin_loss(x, s), x) == ([0.37778], [0.08965, -0.16667, -0.03973])
    assert _graded(f.hinge_embedding_loss(x, s, margin=0.5, reduction="none"), x) == (
        [1.5, 0.0, 2.0],
        [-1.0, 1.0, 1.0],
    )


def losses_of_pairs_and_distributions():
    """Of rankings, similarities, triplets, counts and variances, with margins and without.

    Rules: nn/loss-is-the-mean, op/derivatives-beyond-programs.
    """
    x = torch.tensor([[1.0, 2.0], [0.5, -1.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[2.0, 1.0], [0.5, 2.0]], dtype=torch.float64)
    z = torch.tensor([[0.0, 1.0], [1.0, -2.0]], dtype=torch.float64)
    s = torch.tensor([1.0, -1.0], dtype=torch.float64)
    f = torch.nn.functional
    assert _graded(f.l1_loss(x, y), x) == ([1.25], [-0.25, 0.25, 0.0, -0.25])
    assert _graded(f.margin_ranking_loss(x[0], y[0], s, margin=0.5), x) == ([1.5], [-0.5, 0.5, 0.0, 0.0])
    assert _graded(f.cosine_embedding_loss(x, y, s, reduction="none"), x) == (
        [0.2, 0.0],
        [-0.24, 0.12, 0.0, 0.0],
    )
    assert _graded(f.cosine_embedding_loss(x, z, s, margin=0.25), x) == (
        [0.42779],
        [0.08944, -0.04472, 0.0, 0.0],
    )
    assert _graded(f.triplet_margin_loss(x, y, z, margin=2.0), x) == (
        [2.94098],
        [-0.70711, 0.0, 0.22361, -0.94721],
    )
    assert _graded(f.triplet_margin_loss(x, y, z, margin=3.0, p=1.0, swap=True, reduction="none"), x) == (
        [3.0, 4.5],
        [-2.0, 0.0, 2.0, -2.0],
    )
    assert _graded(f.poisson_nll_loss(x, y.abs()), x) == ([2.46848], [0.17957, 1.59726, 0.28718, -0.40803])
    assert _graded(f.poisson_nll_loss(x, y, full=True, reduction="none"), x) == (
        [1.37009, 5.38906, 1.39872, 3.01969],
        [0.71828, 6.38906, 1.14872, -1.63212],
    )
    assert _graded(f.poisson_nll_loss(x * x, y, log_input=False, eps=0.25), x) == (
        [1.06427],
        [-0.3, 0.76471, 0.0, 0.3],
    )
    assert _graded(f.gaussian_nll_loss(x, y, z * z, full=True, eps=0.5), x) == (
        [1.66183],
        [-0.5, 0.25, 0.0, -0.1875],
    )
    assert _graded(f.gaussian_nll_loss(x, y, z * z + 1, reduction="none"), x) == (
        [0.5, 0.59657, 0.34657, 1.70472],
        [-1.0, 0.5, 0.0, -0.6],
    )
    assert _graded(f.kl_div(x, y.softmax(1), reduction="batchmean"), x) == (
        [-0.79992],
        [-0.36553, -0.13447, -0.09121, -0.40879],
    )
    assert _graded(f.kl_div(x, y, log_target=True, reduction="sum"), x) == (
        [26.83794],
        [-7.38906, -2.71828, -1.64872, -7.38906],
    )
    assert _graded(f.cosine_similarity(x, y, dim=0), x) == ([0.97619, 0.0], [0.08677, 0.2, -0.17354, 0.4])
    assert _graded(f.pairwise_distance(x, y, p=1.0, keepdim=True), x) == ([2.0, 3.0], [-1.0, 1.0, 1.0, -1.0])
    assert _graded(torch.nn.TripletMarginLoss(margin=2.0, swap=True)(x, y, z), x) == (
        [2.94098],
        [-0.70711, 0.0, 0.22361, -0.94721],
    )
    assert _graded(torch.nn.PoissonNLLLoss(log_input=False)(x * x, y), x) == (
        [1.38921],
        [-0.5, 0.75, -0.25, 0.5],
    )
    assert _graded(torch.nn.KLDivLoss(reduction="sum", log_target=True)(x, y), x) == (
        [26.83794],
        [-7.38906, -2.71828, -1.64872, -7.38906],
    )
