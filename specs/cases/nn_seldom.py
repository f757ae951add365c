"""torch.nn: losses, recurrent layers and first values as few ask for them."""

import torch

from specs.cases._measures import derivatives, error_kinds, filled, graded, ramp, wave


def losses_by_one_variance_for_several():
    """A variance that is shared, or a number. Rules: nn/loss-is-the-mean, op/derivatives-beyond-programs."""
    F = torch.nn.functional
    t, y = wave(2, 2), ramp(2, 2)
    v = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(F.gaussian_nll_loss(t, y.detach(), v), t, v) == [
        [1.946, -0.88517, 0.11749, -0.67466],
        [-8.64092, -0.81295],
        [69.207, -31.47996, 0.12488, -0.71713],
        [-632.88702, -1.89237],
        [160.73148],
    ]
    assert derivatives(F.gaussian_nll_loss(t, y.detach(), v[:, None], reduction="none", full=True), t, v)[
        :2
    ] == [[7.78401, -7.08138, 1.40987, -10.79462], [-39.8319, -13.14677]]
    assert derivatives(F.gaussian_nll_loss(t, y.detach(), 0.25), t)[:1] == [
        [3.89201, -1.77034, 0.93991, -5.39731]
    ]
    assert derivatives(F.cosine_similarity(t, y[0], 0), t, y)[:2] == [
        [-0.02369, -0.03068, 0.01971, 0.02692],
        [0.0, 0.0, 0.0, 0.0],
    ]
    assert derivatives(F.pairwise_distance(t, y, keepdim=True), t, y)[:2] == [
        [0.91026, -0.41405, 0.34312, -1.97035],
        [-0.91026, 0.41405, -0.34312, 1.97035],
    ]
    assert (
        error_kinds(
            [
                lambda: F.gaussian_nll_loss(t, y, -v),
                lambda: F.gaussian_nll_loss(t, y, torch.ones(3, dtype=torch.float64)),
                lambda: F.gaussian_nll_loss(t, y, v, reduction="some"),
                lambda: F.multi_margin_loss(t, torch.tensor([0, 5])),
                lambda: F.hinge_embedding_loss(t, y, reduction="some"),
            ]
        )
        == "VVVoV"
    )


def recurrent_layers_that_project():
    """Into fewer numbers than they keep. Rule: op/derivatives-beyond-programs."""
    m = filled(torch.nn.LSTM(2, 3, proj_size=2, batch_first=True))
    assert [m, [(name, tuple(p.shape)) for name, p in m.named_parameters()]][1] == [
        ("weight_ih_l0", (12, 2)),
        ("weight_hh_l0", (12, 2)),
        ("bias_ih_l0", (12,)),
        ("bias_hh_l0", (12,)),
        ("weight_hr_l0", (2, 3)),
    ]
    x = ramp(1, 3, 2)
    out, (h, c) = m(x)
    assert [tuple(each.shape) for each in (out, h, c)] == [(1, 3, 2), (1, 1, 2), (1, 1, 3)]
    assert graded(out, x, *m.parameters()) == [
        (1, 3, 2),
        -8.3315,
        -2.6891,
        -85.1002,
        11.1796,
        -7.3459,
        -7.3459,
        -106.9351,
    ]
    assert repr(m) == "LSTM(2, 3, proj_size=2, batch_first=True)"
    two = filled(torch.nn.LSTM(2, 3, 2, proj_size=1, bidirectional=True))
    out, (h, c) = two(x)
    assert [tuple(each.shape) for each in (out, h, c)] == [(1, 3, 2), (4, 3, 1), (4, 3, 3)]
    assert graded(out, x) == [(1, 3, 2), -2.8837, -1.0017]
    assert (
        error_kinds(
            [
                lambda: torch.nn.LSTM(2, 3, proj_size=3),
                lambda: torch.nn.GRU(2, 3, proj_size=2),
                lambda: torch.nn.LSTM(2, 3, proj_size=-1),
                lambda: m(ramp(1, 3, 3)),
                lambda: m(x, (h, c)),
                lambda: torch.nn.LSTMCell(2, 3)(torch.ones(1, 2), (torch.ones(2, 3), torch.ones(1, 3))),
                lambda: torch.nn.GRUCell(2, 3)(torch.ones(1, 2), torch.ones(1, 2)),
            ]
        )
        == "VVVoooo"
    )


def first_values_between_bounds():
    """Drawn again where they fall outside. Rule: nn/first-values-are-not-recorded."""
    torch.manual_seed(1)
    p = torch.nn.Parameter(torch.zeros(300))
    made = torch.nn.init.trunc_normal_(p, 1.0, 2.0, -1.0, 2.0)
    assert [
        made is p,
        p.requires_grad,
        p.is_leaf,
        p._version > 0,
        -1 <= p.min().item() < 0,
        1 < p.max().item() <= 2,
    ] == [True, True, True, True, True, True]
    far = torch.nn.init.trunc_normal_(torch.empty(50), 0.0, 1.0, 3.0, 4.0)
    assert 3 <= far.min().item() <= far.max().item() <= 4
    m = torch.nn.Linear(2, 2)
    assert [
        m.type(torch.float64) is m,
        m.weight.dtype is torch.float64,
        m.float().bias.dtype is torch.float32,
    ] == [True, True, True]
    assert [m.half().weight.dtype is torch.float16, m.bfloat16().bias.dtype is torch.bfloat16] == [True, True]
    assert [m.share_memory() is m, m.weight.requires_grad] == [True, True]
    w = torch.nn.Parameter(torch.tensor([3.0, 4.0]))
    w.grad = torch.tensor([3.0, 4.0])
    assert [torch.nn.utils.get_total_norm([w.grad]).item(), torch.nn.utils.clip_grad_norm(w, 1.0).item()] == [
        5.0,
        5.0,
    ]
    assert [round(v, 4) for v in w.grad.tolist()] == [0.6, 0.8]
    torch.nn.utils.clip_grads_with_norm_(w, 0.5, torch.tensor(2.0))
    assert [round(v, 4) for v in w.grad.tolist()] == [0.15, 0.2]
    assert [torch.nn.utils.clip_grad_value_(w, 0.1), [round(v, 4) for v in w.grad.tolist()]] == [
        None,
        [0.1, 0.1],
    ]
    assert [torch.nn.utils.clip_grad_norm_([], 1.0).item(), torch.nn.utils.get_total_norm([]).item()] == [
        0.0,
        0.0,
    ]
