"""torch.nn: functions and modules as few call them, by their values and derivatives."""

import torch

from specs.cases._measures import derivatives, error_kinds, graded, ramp, wave


def _parts(out, *inputs):
    """Return the real and imaginary parts of gradients."""
    grads = torch.autograd.grad((out * (1 + 2j)).abs().sum(), inputs)
    return [[round(v, 4) + 0.0 for v in torch.view_as_real(g).reshape(-1).tolist()] for g in grads]


def _of_nothing(out, *inputs):
    """Return the shapes of a result and of its gradient, and the gradient of what scales it."""
    g, of_scale = torch.autograd.grad(out.sum(), inputs)
    return [tuple(out.shape), tuple(g.shape), of_scale.tolist()]


def activations_without_a_dimension():
    """The first one, or the second of two or four. Rule: op/derivatives-beyond-programs."""
    F = torch.nn.functional
    t = wave(2, 3)
    assert derivatives(F.softmax(t), t) == [
        [-0.11544, 0.01624, 0.09919, -0.07616, 0.06243, 0.01373],
        [-0.04033, 0.00296, 0.03736, -0.01675, 0.0147, 0.00205],
        [-0.02562, 0.00437, 0.02124, -0.01863, 0.01749, 0.00114],
    ]
    assert derivatives(F.log_softmax(wave(3).detach() * t), t) == [
        [-6.90676, 2.38334, -3.98432, 0.41949, 5.95687, 12.44618],
        [89.30113, -0.29912, 112.55279, -326.56787, -2.09841, -417.98259],
        [-10.14928, 21.69917, 35.08931, 45.68322, 58.37523, -15.5789],
    ]
    x = wave(3)
    assert derivatives(F.softmin(x), x) == [
        [0.02565, 0.02496, -0.05061],
        [-0.00366, -0.00342, 0.00708],
        [-0.00193, -0.00383, 0.00576],
    ]
    y = wave(2, 2, 2)
    assert torch.equal(F.softmax(y), F.softmax(y, 0)) and torch.equal(
        F.softmax(y[None]), F.softmax(y[None], 1)
    )
    assert torch.equal(torch.nn.Softmax()(t), t.softmax(1)) and torch.equal(
        torch.nn.LogSoftmax()(x), x.log_softmax(0)
    )
    assert F.softmax(t.float(), dtype=torch.float64).dtype is torch.float64
    assert graded(F.hardsigmoid(t), t) == [(2, 3), 8.7783, 15.1667]
    assert derivatives(F.hardswish(t), t) == [
        [1.13067, -0.34749, 0.52645, 5.28483, 2.25677, -1.79462],
        [0.75378, -0.46333, 1.05291, 14.09289, 7.52258, -7.17849],
        [2.55682, 0.12075, 0.18477, 13.96473, 2.03721, 1.07356],
    ]
    assert derivatives(F.hardtanh(t, -1.0, 0.5), t)[:1] == [[0.0, 0.0, 3.0, 0.0, 5.0, 0.0]]
    assert (
        error_kinds(
            [
                lambda: F.hardtanh(t, 1.0, 0.0),
                lambda: F.glu(torch.zeros(3)),
                lambda: F.prelu(t, torch.zeros(2, dtype=torch.float64)),
                lambda: F.softmax(t, 2),
                lambda: F.threshold(t, 0.0, "a"),
            ]
        )
        == "VooIT"
    )


def convolutions_of_complex_numbers():
    """Their parts meet as in a product. Rules: op/derivatives-beyond-programs, op/gradients-conjugate."""
    F = torch.nn.functional
    x = torch.complex(ramp(1, 1, 4).detach(), wave(1, 1, 4).detach()).requires_grad_()
    w = torch.complex(wave(2, 1, 2).detach(), ramp(2, 1, 2).detach()).requires_grad_()
    b = torch.tensor([1.0 + 2j, -1j], dtype=torch.complex128, requires_grad=True)
    y = F.conv1d(x, w, b)
    assert [tuple(y.shape), y.dtype is torch.complex128, y.requires_grad] == [(1, 2, 3), True, True]
    assert _parts(y, x, w, b) == [
        [-1.1362, 9.5929, 0.3502, -17.5741, 1.9756, 21.3838, 5.3855, -9.9359],
        [13.3128, -5.024, -15.0054, 8.0937, 13.0747, -4.3983, -15.7446, 7.5966],
        [-1.0606, 2.7871, -1.5909, 2.9208],
    ]
    assert _parts(F.conv1d(x, w, b, stride=2, padding=1), x, w, b) == [
        [-10.706, 7.6157, -5.2349, -7.5155, 2.9074, 11.5483, 9.5072, -7.2725],
        [10.6741, -7.9896, -11.0645, -1.9619, 11.5899, 0.7427, -9.5514, 6.374],
        [1.1671, -4.3367, 0.3913, -4.3121],
    ]
    z = F.conv_transpose1d(x, w.transpose(0, 1), b)
    assert _parts(z, x, w, b) == [
        [-16.1342, 17.7334, 1.1641, -19.5487, -0.7389, 18.62, 10.968, -18.5657],
        [19.1749, -11.3876, -22.6083, 4.2384, 20.7039, -2.3431, -19.2389, 10.0153],
        [0.659, 0.9659, -0.7753, -0.2092],
    ]
    assert [round(v, 4) for v in torch.view_as_real(F.conv1d(x, w)).reshape(-1).tolist()] == [
        0.0,
        12.1163,
        -6.8852,
        -8.5401,
        -0.041,
        5.6775,
        0.041,
        5.6775,
        -7.969,
        -6.6763,
        0.0,
        21.6925,
    ]
    assert (
        error_kinds(
            [lambda: F.conv1d(x, w.real), lambda: F.conv1d(x.real, w), lambda: F.conv_transpose1d(x.real, w)]
        )
        == "ooo"
    )


def norms_of_nothing_and_of_several_dtypes():
    """Empty inputs keep a path to the parameters. Rule: op/derivatives-beyond-programs."""
    F = torch.nn.functional
    t = wave(2, 4)
    assert derivatives(F.group_norm(t, 2), t) == [
        [0.0, 0.0, 0.0, 0.0, -0.00015, 0.00015, -4e-05, 4e-05],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
    w = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
    e = torch.zeros(0, 4, dtype=torch.float64, requires_grad=True)
    outs = (F.batch_norm(e, None, None, w, w, True), F.layer_norm(e, (4,), w, w), F.group_norm(e, 2, w, w))
    assert [_of_nothing(out, e, w) for out in (*outs, F.rms_norm(e, (4,), w))] == [
        [(0, 4), (0, 4), [0.0] * 4]
    ] * 4
    assert derivatives(F.local_response_norm(wave(1, 3, 2).detach() * t[0, 0], 2), t)[0][:2] == [
        -10.29259,
        0.0,
    ]
    h = torch.ones(2, 4, dtype=torch.bfloat16)
    assert [
        F.layer_norm(h, (4,), torch.ones(4)).dtype is torch.bfloat16,
        F.rms_norm(h, (4,)).dtype is torch.bfloat16,
    ] == [True, True]
    assert (
        error_kinds(
            [
                lambda: F.layer_norm(t, (4,), torch.ones(4)),
                lambda: F.layer_norm(t, (3,)),
                lambda: F.layer_norm(t, ()),
                lambda: F.group_norm(t, 3),
                lambda: F.group_norm(t, 2, torch.ones(3, dtype=torch.float64)),
                lambda: F.batch_norm(t[:1], None, None, training=True),
                lambda: F.rms_norm(torch.ones(2, 2).long(), (2,)),
                lambda: F.instance_norm(t[0]),
            ]
        )
        == "oooooVNV"
    )
    n = torch.nn.SyncBatchNorm.convert_sync_batchnorm(
        torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Tanh())
    )
    assert [type(n[0]).__name__, n[0].num_features, type(n[1]).__name__, n[0].training] == [
        "SyncBatchNorm",
        2,
        "Tanh",
        True,
    ]


def dropping_all_or_nothing():
    """With certainty nothing is drawn. Rule: op/derivatives-beyond-programs."""
    F = torch.nn.functional
    t = ramp(2, 2)
    assert derivatives(F.dropout(t, 1.0) + t.softmax(0), t) == [
        [-0.06652, -0.06652, 0.06652, 0.06652],
        [0.01648, 0.01648, -0.01648, -0.01648],
        [-0.00885, -0.00885, 0.00885, 0.00885],
    ]
    assert derivatives(F.alpha_dropout(t, 1.0, True) + t * t, t)[0] == [-4.0, -1.33333, 8.0, 24.0]
    assert [
        F.dropout(t, 0.0) is t,
        F.dropout(t, 0.5, False) is t,
        F.dropout(torch.tensor([1, 2]), 1.0).tolist(),
    ] == [True, True, [0, 0]]
    assert [F.dropout1d(t[None], 1.0).tolist(), F.alpha_dropout(t, 0.0, True) is t] == [
        [[[-0.0, -0.0], [0.0, 0.0]]],
        True,
    ]
    x = t.detach().clone()
    assert [F.dropout(x, 1.0, inplace=True) is x, x.tolist(), x._version] == [
        True,
        [[-0.0, -0.0], [0.0, 0.0]],
        1,
    ]
    assert (
        error_kinds(
            [
                lambda: F.dropout(t, 1.5),
                lambda: F.dropout(t, -0.5),
                lambda: F.alpha_dropout(t, 2.0, True),
                lambda: F.dropout(torch.tensor([1, 2]), 0.5),
                lambda: torch.nn.Dropout(-1.0),
            ]
        )
        == "VVVoV"
    )


def windows_of_everything():
    """One window is the mean; whole numbers have none. Rule: op/derivatives-beyond-programs."""
    F = torch.nn.functional
    t = wave(1, 2, 2, 3)
    assert derivatives(F.adaptive_avg_pool2d(t, 1), t) == [
        [
            0.16667,
            0.16667,
            0.16667,
            0.16667,
            0.16667,
            0.16667,
            0.33333,
            0.33333,
            0.33333,
            0.33333,
            0.33333,
            0.33333,
        ],
        [0.33333, 0.66667],
    ]
    assert graded(F.adaptive_avg_pool3d(t, 1), t) == [(1, 1, 1, 1), -0.2463, 6.5]
    assert [
        F.adaptive_avg_pool2d(t, 1).grad_fn.name(),
        F.adaptive_avg_pool3d(t[None], (1, 1, 1)).grad_fn.name(),
    ] == ["MeanBackward1", "MeanBackward1"]
    assert graded(F.adaptive_avg_pool3d(t, (1, 2, None)), t) == [(1, 1, 2, 3), -18.1807, 154.0]
    assert graded(F.upsample(t, scale_factor=2), t) == [(1, 2, 4, 6), -466.2033, 9868.0]
    assert graded(torch.nn.UpsamplingNearest2d(scale_factor=2)(t), t) == [(1, 2, 4, 6), -466.2033, 9868.0]
    assert graded(torch.nn.UpsamplingBilinear2d(size=3)(t), t) == [(1, 2, 3, 3), -62.5253, 1420.5]
    assert (
        error_kinds(
            [
                lambda: F.max_pool1d(torch.ones(1, 1, 3).long(), 2),
                lambda: F.avg_pool2d(torch.ones(1, 1, 3, 3).long(), 2),
                lambda: F.adaptive_avg_pool2d(torch.ones(2, 2), 1),
                lambda: F.adaptive_avg_pool2d(t, (1, -1)),
                lambda: F.max_pool2d(t, 3),
                lambda: F.max_pool2d(t, 2, padding=2),
                lambda: F.interpolate(t, mode="nowhere", size=2),
                lambda: F.interpolate(t),
                lambda: F.interpolate(t, size=2, scale_factor=2),
                lambda: F.interpolate(t, size=(2, 2, 2)),
            ]
        )
        == "N--oooNVVV"
    )
