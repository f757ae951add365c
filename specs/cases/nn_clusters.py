"""Softmaxes over clusters, and pools of random windows."""

import torch

from specs.cases._measures import error_kinds, filled, graded, wave


def rarer_classes_are_in_clusters():
    """Frequent classes first, rarer ones in clusters of their own. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    m = filled(n.AdaptiveLogSoftmaxWithLoss(4, 7, [2, 5], div_value=2.0, head_bias=True))
    x = wave(5, 4)
    goal = torch.tensor([6, 0, 3, 1, 4])
    out, loss = m(x, goal)
    assert [graded(out, x, *m.parameters()), graded(loss, x)] == [
        [(5,), -109.2699, -333.8581, 312.7606, 6.7811, -754.9785, -32.9184, -0.0897, 0.1102],
        [(), 8.1104, 16.3661],
    ]
    assert [[k, tuple(p.shape)] for k, p in m.named_parameters()] == [
        ["head.weight", (4, 4)],
        ["head.bias", (4,)],
        ["tail.0.0.weight", (2, 4)],
        ["tail.0.1.weight", (3, 2)],
        ["tail.1.0.weight", (1, 4)],
        ["tail.1.1.weight", (2, 1)],
    ]
    assert [graded(m.log_prob(x), x), m.log_prob(x).exp().sum(1).allclose(torch.ones(5).double())] == [
        [(5, 7), -4277.4086, -4059.8991],
        True,
    ]
    assert [m.predict(x).tolist(), m.log_prob(x).argmax(1).tolist()] == [[0, 4, 0, 0, 3], [0, 4, 0, 0, 3]]
    two = m(x[:2], torch.tensor([1, 0]))
    assert [graded(two.output, x), round(two.loss.item(), 5), type(two).__name__, two._fields] == [
        [(2,), -28.3562, 87.4422],
        7.27256,
        "_ASMoutput",
        ("output", "loss"),
    ]
    one = m(x[0], torch.tensor(5))
    assert [graded(one.output, x), round(one.loss.item(), 5)] == [[(), -4.5542, -0.4348], 4.55415]
    assert [m.cutoffs, m.shortlist_size, m.n_clusters, m.head_size, m.div_value, m.head_bias] == [
        [2, 5, 7],
        2,
        2,
        4,
        2.0,
        True,
    ]
    with torch.no_grad():
        m.head.bias.copy_(torch.tensor([9.0, 0.0, 0.0, 0.0]))
    assert m.predict(x * 0.01).tolist() == [0, 0, 0, 0, 0]
    with torch.no_grad():
        m.head.bias.copy_(torch.tensor([0.0, 0.0, 9.0, 8.0]))
    assert m.predict(x * 0.01).tolist() == [3, 4, 4, 2, 3]
    k = n.AdaptiveLogSoftmaxWithLoss(8, 6, (1,), dtype=torch.float64)
    assert [[c, tuple(p.shape), p.dtype is torch.float64] for c, p in k.named_parameters()] == [
        ["head.weight", (2, 8), True],
        ["tail.0.0.weight", (2, 8), True],
        ["tail.0.1.weight", (5, 2), True],
    ]
    before = [p.clone() for p in k.parameters()]
    k.reset_parameters()
    assert [p.equal(q) for p, q in zip(k.parameters(), before, strict=True)] == [False, False, False]
    assert (
        error_kinds(
            [
                lambda: n.AdaptiveLogSoftmaxWithLoss(4, 7, []),
                lambda: n.AdaptiveLogSoftmaxWithLoss(4, 7, [2, 2]),
                lambda: n.AdaptiveLogSoftmaxWithLoss(4, 7, [5, 2]),
                lambda: n.AdaptiveLogSoftmaxWithLoss(4, 7, [0, 2]),
                lambda: n.AdaptiveLogSoftmaxWithLoss(4, 7, [2, 7]),
                lambda: n.AdaptiveLogSoftmaxWithLoss(4, 7, [2.5]),
                lambda: n.AdaptiveLogSoftmaxWithLoss(4, 7, [6]),
                lambda: m(x, goal[:4]),
                lambda: m(x, goal.reshape(1, 5)),
                lambda: m(x[0], goal[:1]),
                lambda: m(x, torch.tensor([1, 2, 3, 4, 7])),
                lambda: m(x, torch.tensor([1, 2, 3, 4, -1])),
            ]
        )
        == "VVVVVV-ooooo"
    )


def windows_at_random_places():
    """Their places follow from numbers that are drawn, or given. Rule: op/derivatives-beyond-programs."""
    n, f = torch.nn, torch.nn.functional
    x, v = wave(1, 2, 7, 6), wave(1, 1, 5, 4, 6)
    s = torch.tensor([[[0.25, 0.75], [0.5, 0.125]]], dtype=torch.float64)
    t = torch.tensor([[[0.25, 0.75, 0.5]]], dtype=torch.float64)
    out, at = f.fractional_max_pool2d(x, 2, output_size=(3, 4), _random_samples=s, return_indices=True)
    assert [graded(out, x), at.tolist()] == [
        [(1, 2, 3, 4), 108.2463, 16452.0],
        [
            [
                [[0, 1, 3, 4], [18, 26, 28, 29], [37, 38, 40, 41]],
                [[7, 9, 9, 10], [12, 14, 15, 16], [30, 32, 33, 34]],
            ]
        ],
    ]
    assert graded(f.fractional_max_pool2d(x, (3, 2), output_ratio=(0.5, 0.5), _random_samples=s), x) == [
        (1, 2, 3, 3),
        140.964,
        8922.0,
    ]
    assert graded(f.fractional_max_pool2d(x[0], 2, 3, _random_samples=s), x) == [(2, 3, 3), 65.3233, 9317.0]
    assert graded(f.fractional_max_pool2d(x, (7, 1), (1, 5), _random_samples=s), x) == [
        (1, 2, 1, 5),
        117.6622,
        2357.0,
    ]
    out, at = f.fractional_max_pool3d(v, 2, output_size=(2, 2, 3), _random_samples=t, return_indices=True)
    assert [graded(out, v), at.flatten().tolist()] == [
        [(1, 1, 2, 2, 3), 108.6875, 4937.0],
        [0, 2, 4, 12, 14, 16, 73, 74, 76, 84, 86, 88],
    ]
    assert graded(
        f.fractional_max_pool3d(v[0], (1, 2, 2), output_ratio=(0.5, 0.5, 0.4), _random_samples=t), v
    ) == [(1, 2, 2, 2), -41.051, 2932.0]
    m = n.FractionalMaxPool2d(2, output_ratio=0.5, return_indices=True, _random_samples=s)
    assert [graded(m(x)[0], x), m.output_ratio, m.output_size, [k for k, _ in m.named_buffers()]] == [
        [(1, 2, 3, 3), 65.3233, 9317.0],
        (0.5, 0.5),
        None,
        ["_random_samples"],
    ]
    k = n.FractionalMaxPool3d((1, 2, 2), output_size=2, _random_samples=t)
    assert [graded(k(v), v), k.kernel_size, k.output_size, k.output_ratio, k.return_indices] == [
        [(1, 1, 2, 2, 2), -41.051, 2932.0],
        (1, 2, 2),
        (2, 2, 2),
        None,
        False,
    ]
    torch.manual_seed(0)
    drawn = f.fractional_max_pool2d(x, 2, 4)
    assert [tuple(drawn.shape), torch.isin(drawn, x).all().item()] == [(1, 2, 4, 4), True]
    assert tuple(f.fractional_max_pool3d(v, 2, (3, 2, 4)).shape) == (1, 1, 3, 2, 4)
    out, at = f.adaptive_max_pool3d(v, (2, None, 4), return_indices=True)
    assert [graded(out, v), at.flatten()[:7].tolist(), graded(n.AdaptiveMaxPool3d(3)(v[0]), v)] == [
        [(1, 1, 2, 4, 4), 1107.9286, 37175.0],
        [0, 1, 3, 4, 6, 7, 58],
        [(1, 3, 3, 3), 713.3924, 26900.0],
    ]
    assert (
        error_kinds(
            [
                lambda: f.fractional_max_pool2d(x, 2),
                lambda: f.fractional_max_pool3d(v, 2),
                lambda: n.FractionalMaxPool2d(2),
                lambda: n.FractionalMaxPool3d(2, 2, 0.5),
                lambda: n.FractionalMaxPool2d(2, output_ratio=1.0),
                lambda: n.FractionalMaxPool2d(2, output_ratio=(0.5, 0.0)),
                lambda: f.fractional_max_pool2d(x, 2, (7, 5), _random_samples=s),
                lambda: f.fractional_max_pool2d(x, 2, (6, 6), _random_samples=s),
                lambda: f.fractional_max_pool3d(v, 2, (4, 3, 5), _random_samples=t),
                lambda: f.fractional_max_pool3d(v, 2, (5, 2, 2), _random_samples=t),
                lambda: f.fractional_max_pool2d(x, 2, (6, 5), _random_samples=s),
            ]
        )
        == "VVVVVVoooo-"
    )
