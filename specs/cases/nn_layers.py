"""Layers with each of their settings: what they hold, what they compute, and the gradients of it."""

import torch

from specs.cases._measures import filled, graded, wave


def layers_of_norms():
    """Their parameters, if they have any, begin with 1 and 0. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x = wave(2, 4, 2)
    m = n.LayerNorm(2, eps=0.5, dtype=torch.float64)
    assert [(k, v.tolist()) for k, v in m.named_parameters()] == [
        ("weight", [1.0, 1.0]),
        ("bias", [0.0, 0.0]),
    ]
    assert (m.normalized_shape, m.eps, m.elementwise_affine) == ((2,), 0.5, True)
    assert graded(filled(m)(x), x, m.weight, m.bias) == [(2, 4, 2), 113.8069, -3.1455, -10.2552, 208.0]
    m = n.LayerNorm((4, 2), bias=False)
    assert [(k, tuple(v.shape), v.dtype is torch.float32) for k, v in m.named_parameters()] == [
        ("weight", (4, 2), True)
    ]
    assert m.bias is None
    assert graded(filled(m)(x), x, m.weight) == [(2, 4, 2), 41.0708, 10.2015, -334.8765]
    m = n.LayerNorm([2], elementwise_affine=False)
    assert (m.weight, m.bias, m.eps, m.normalized_shape) == (None, None, 1e-05, (2,))
    assert graded(m(x), x) == [(2, 4, 2), -1.9453, 5.5071]
    m = n.RMSNorm(2, eps=0.5, dtype=torch.float64)
    assert [(k, v.tolist()) for k, v in m.named_parameters()] == [("weight", [1.0, 1.0])]
    assert (m.normalized_shape, m.eps, m.elementwise_affine) == ((2,), 0.5, True)
    assert graded(filled(m)(x), x, m.weight) == [(2, 4, 2), -18.9551, 242.4073, -45.2227]
    m = n.RMSNorm([4, 2], elementwise_affine=False)
    assert (m.weight, m.eps, m.normalized_shape) == (None, None, (4, 2))
    assert graded(m(x), x) == [(2, 4, 2), -30.3646, 753.2447]
    m = n.GroupNorm(2, 4, eps=0.25, dtype=torch.float64)
    assert [(k, v.tolist()) for k, v in m.named_parameters()] == [
        ("weight", [1.0, 1.0, 1.0, 1.0]),
        ("bias", [0.0, 0.0, 0.0, 0.0]),
    ]
    assert (m.num_groups, m.num_channels, m.eps, m.affine) == (2, 4, 0.25, True)
    assert graded(filled(m)(x), x, m.weight, m.bias) == [(2, 4, 2), 11.6358, 0.9955, -27.7139, 380.0]
    m = n.GroupNorm(4, 4, affine=False)
    assert (m.weight, m.bias, m.eps) == (None, None, 1e-05)
    assert graded(m(x), x) == [(2, 4, 2), -1.9453, 5.5071]
    m = n.LocalResponseNorm(2)
    assert (m.size, m.alpha, m.beta, m.k) == (2, 0.0001, 0.75, 1.0)
    assert graded(n.LocalResponseNorm(3, 0.5, 0.5, 2.0)(x), x) == [(2, 4, 2), -28.7882, 587.2065]
    assert graded(n.LocalResponseNorm(2, alpha=0.5, beta=1.0)(x.reshape(1, 2, 2, 2, 2)), x) == [
        (1, 2, 2, 2, 2),
        -22.2548,
        197.1329,
    ]


def norms_without_a_bias():
    """A norm with a weight need not have a bias. Rule: nn/norms-may-lack-a-bias."""
    n = torch.nn
    m = n.GroupNorm(1, 4, bias=False)
    assert m.bias is None and m.weight is not None
    x = torch.ones(2, 4, 2)
    m = n.BatchNorm1d(4, bias=False)
    assert m.bias is None and tuple(m.weight.shape) == (4,) and m(x).shape == x.shape
    m = n.InstanceNorm1d(4, affine=True, bias=False)
    assert m.bias is None and tuple(m.weight.shape) == (4,) and m(x).shape == x.shape


def layers_that_drop_channels():
    """Dropout of whole channels, in training alone; of all with 1, of none with 0.

    Rule: nn/dropout-in-training-only.
    """
    torch.manual_seed(0)
    n, f = torch.nn, torch.nn.functional
    x = torch.ones(2, 3, 4, 4, requires_grad=True)
    every = [n.Dropout(0.5), n.Dropout2d(), n.Dropout3d(), n.AlphaDropout()]
    assert [m.p for m in every] == [0.5, 0.5, 0.5, 0.5]
    assert [m.eval()(x) is x for m in every] == [True, True, False, True]
    whole = [n.Dropout2d(0.5)(x), f.dropout2d(x), f.dropout2d(x, 0.5, True), n.Dropout3d()(x.unsqueeze(-1))]
    assert [sorted(set(y.flatten(2).std(2, False).flatten().tolist())) for y in whole] == [
        [0.0],
        [0.0],
        [0.0],
        [0.0],
    ]
    y = n.Dropout1d(0.5)(x.reshape(2, 12, 4))
    assert sorted(set(y.std(2, False).flatten().tolist())) == [0.0]
    assert f.dropout1d(x[0, 0], 0.0).shape == (4, 4)
    assert f.dropout3d(x, 0.5).shape == (2, 3, 4, 4)
    k = torch.ones(64, 1, 1, 4)
    assert len(set(f.dropout3d(k)[:, 0, 0, 0].tolist())) == 2
    assert f.dropout3d(k, 1.0, inplace=True) is k
    assert k.shape == (64, 1, 1, 4) and k._version == 3
    z = f.dropout1d(torch.ones(40, 5))
    assert sorted(set(z.std(1, False).tolist())) == [0.0]
    assert sorted(set(z.flatten().tolist())) == [0.0, 2.0]
    many = torch.ones(1, 64, 4, 4)
    assert sorted(set(f.dropout2d(many).flatten().tolist())) == [0.0, 2.0]
    assert sorted(set(f.dropout2d(many, 0.75).flatten().tolist())) == [0.0, 4.0]
    assert f.dropout2d(many, 0.0).equal(many)
    assert f.dropout(many, 1.0).sum().item() == 0.0
    assert f.dropout2d(many, 0.9, training=False).equal(many)
    assert f.dropout3d(many.unsqueeze(-1), training=False).equal(many.unsqueeze(-1))
    kept = many.clone()
    assert f.dropout2d(kept, 1.0, inplace=True) is kept
    assert kept.sum().item() == 0.0
    assert f.alpha_dropout(x) is x
    assert f.alpha_dropout(x, 0.0, True).equal(x)
    a = f.alpha_dropout(torch.zeros(400), 0.5, True)
    assert sorted({round(v, 4) for v in a.tolist()}) == [-0.7792, 0.7792]
    b = n.AlphaDropout(0.25)(torch.ones(400))
    assert sorted({round(v, 4) for v in b.tolist()}) == [-1.1435, 1.2484]
    y = f.dropout2d(x, 0.5)
    y.sum().backward()
    assert x.grad.equal(y.detach())


def layers_of_shapes():
    """Flattening, folding out, and similarity along a dimension. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x = wave(2, 3, 2)
    assert n.Flatten()(x).shape == (2, 6)
    assert n.Flatten(0, 1)(x).shape == (6, 2)
    assert n.Flatten(start_dim=0)(x).shape == (12,)
    assert n.Unflatten(1, (3, 1))(x).shape == (2, 3, 1, 2)
    assert n.Unflatten(dim=-1, unflattened_size=[1, 2])(x).shape == (2, 3, 1, 2)
    assert n.Unflatten(0, (-1, 2))(x).shape == (1, 2, 3, 2)
    y = torch.linspace(1.0, 2.0, 12, dtype=torch.float64).reshape(2, 3, 2)
    assert graded(n.CosineSimilarity()(x, y), x) == [(2, 2), -1.5895, 39.5434]
    assert graded(n.CosineSimilarity(dim=2, eps=0.5)(x, y), x) == [(2, 3), -3.1333, 49.1437]
    assert graded(n.PairwiseDistance()(x, y), x) == [(2, 3), 72.3189, -143.5376]
    assert graded(n.PairwiseDistance(1.0, 0.5, keepdim=True)(x, y), x) == [(2, 3, 1), 87.1006, -131.0]
    assert [round(v, 4) for v in n.ChannelShuffle(2)(wave(1, 4, 1, 1)).flatten().tolist()] == [
        1.892,
        2.2732,
        -2.1037,
        -2.3973,
    ]
    assert graded(n.Softmax2d()(x), x) == [(2, 3, 2), 43.2932, 27.8808]
    assert graded(n.Identity(5, a=1)(x), x) == [(2, 3, 2), -31.9138, 650.0]
    m = n.Bilinear(2, 2, 1, dtype=torch.float64)
    assert [(k, tuple(v.shape)) for k, v in m.named_parameters()] == [("weight", (1, 2, 2)), ("bias", (1,))]
    assert (m.in1_features, m.in2_features, m.out_features) == (2, 2, 1)
    assert graded(filled(m)(x, y), x, m.weight, m.bias) == [(2, 3, 1), 14.2419, 190.303, -186.124, 21.0]
    assert n.Bilinear(1, 2, 3, bias=False).bias is None


def layers_that_pad():
    """One number for all sides or one for each; with the edge, a mirror image, what is behind, or a value.

    Rule: op/derivatives-beyond-programs.
    """
    n = torch.nn
    x = wave(1, 1, 3)
    assert n.ConstantPad1d(1, 2.5).padding == (1, 1)
    assert n.ConstantPad2d([1, 0, 0, 1], 2.5).padding == (1, 0, 0, 1)
    assert n.ReflectionPad2d(1).padding == (1, 1, 1, 1)
    assert n.ZeroPad3d(1).padding == (1, 1, 1, 1, 1, 1)
    assert graded(n.ConstantPad1d((2, 1), 2.5)(x), x) == [(1, 1, 6), 20.9837, 26.0]
    assert graded(n.ZeroPad1d(1)(x), x) == [(1, 1, 5), -2.2095, 20.0]
    assert graded(n.ReflectionPad1d((2, 1))(x), x) == [(1, 1, 6), 5.6749, 45.0]
    assert graded(n.ReplicationPad1d((1, 2))(x), x) == [(1, 1, 6), -26.688, 54.0]
    assert graded(n.CircularPad1d((1, 2))(x), x) == [(1, 1, 6), 12.0446, 40.0]
    y = wave(1, 1, 2, 3)
    assert graded(n.ZeroPad2d((1, 0, 0, 1))(y), y) == [(1, 1, 3, 4), -11.5922, 127.0]
    assert graded(n.ConstantPad2d(1, -1.0)(y), y) == [(1, 1, 4, 5), -164.5838, 247.0]
    assert graded(n.ReflectionPad2d((0, 2, 1, 0))(y), y) == [(1, 1, 3, 5), 25.953, 456.0]
    assert graded(n.ReplicationPad2d((0, 1, 2, 0))(y), y) == [(1, 1, 4, 4), -96.1444, 494.0]
    assert graded(n.CircularPad2d((1, 0, 0, 1))(y), y) == [(1, 1, 3, 4), -48.3103, 255.0]
    z = wave(1, 1, 2, 2, 2)
    assert n.ConstantPad3d(1, 0.5)(z).shape == (1, 1, 4, 4, 4)
    assert graded(n.ReplicationPad3d((1, 0, 0, 0, 0, 1))(z), z) == [(1, 1, 3, 2, 3), -32.1373, 1032.0]
    assert graded(n.ReflectionPad3d((1, 0, 0, 1, 0, 0))(z), z) == [(1, 1, 2, 3, 3), 51.4395, 903.0]
    assert graded(n.CircularPad3d((1, 0, 0, 0, 0, 1))(z), z) == [(1, 1, 3, 2, 3), -96.2688, 711.0]


def layers_with_slopes():
    """Slopes are numbers, parameters, or drawn in training. Rule: op/derivatives-beyond-programs."""
    n, f = torch.nn, torch.nn.functional
    x = wave(1, 2, 3)
    m = n.PReLU()
    assert (m.weight.tolist(), m.num_parameters) == ([0.25], 1)
    m = n.PReLU(2, 0.5, dtype=torch.float64)
    assert m.weight.tolist() == [0.5, 0.5]
    assert graded(m(x), x, m.weight) == [(1, 2, 3), 0.7082, 54.0, -37.1902]
    assert graded(n.RReLU(0.25, 0.75).eval()(x), x) == [(1, 2, 3), 0.7082, 54.0]
    assert graded(f.rrelu(x), x) == [(1, 2, 3), 6.6873, 33.9583]
    assert graded(n.RReLU(0.5, 0.5)(x), x) == [(1, 2, 3), 0.7082, 54.0]
    assert (n.RReLU().lower, n.RReLU().upper == 1 / 3) == (0.125, True)
    torch.manual_seed(0)
    drawn = f.rrelu(torch.full((100,), -1.0), 0.25, 0.75, training=True)
    assert drawn.min().item() >= -0.75 and drawn.max().item() <= -0.25 and len(set(drawn.tolist())) > 20
    assert graded(n.CELU(0.5)(x), x) == [(1, 2, 3), 5.8701, 37.3239]
    assert graded(n.ELU(0.5)(x), x) == [(1, 2, 3), 6.879, 31.4048]
    assert graded(n.SELU()(x), x) == [(1, 2, 3), -4.773, 68.5121]
    assert graded(n.GLU(1)(x), x) == [(1, 1, 3), -0.374, -2.2922]
    assert graded(n.Softmin(1)(x), x) == [(1, 2, 3), 9.8992, -4.5208]
    assert graded(n.Tanhshrink()(x), x) == [(1, 2, 3), -4.4203, 60.6036]
    assert graded(n.Threshold(0.5, 2.0)(x), x) == [(1, 2, 3), 43.7465, 17.0]
    assert graded(n.Hardshrink(1.5)(x), x) == [(1, 2, 3), -6.6798, 57.0]
    assert graded(n.Softshrink(1.5)(x), x) == [(1, 2, 3), -2.1798, 57.0]
    assert graded(n.Softplus(2.0, 1.0)(x), x) == [(1, 2, 3), 13.3833, 29.1769]
    assert graded(n.Hardtanh(-1.0, 2.0)(x), x) == [(1, 2, 3), -1.7583, 35.0]
    assert graded(n.LeakyReLU(0.5)(x), x) == [(1, 2, 3), 0.7082, 54.0]
    assert graded(n.GELU("tanh")(x), x) == [(1, 2, 3), 10.6163, 24.6715]
    assert graded(n.LogSoftmax(2)(x), x) == [(1, 2, 3), -60.2538, 23.0188]
    y = x.detach().clone()
    assert [
        n.CELU(0.5, inplace=True)(y) is y,
        f.elu_(y) is y,
        f.selu(y, True) is y,
        f.leaky_relu_(y) is y,
    ] == [True, True, True, True]
    assert [round(v, 4) for v in y.flatten().tolist()] == [1.9879, -0.0057, -0.0052, 2.5885, -0.002, -0.0057]
    assert [n.ELU(inplace=True)(y) is y, n.Threshold(0.0, 1.0, True)(y) is y, n.ReLU6(True)(y) is y] == [
        True,
        True,
        True,
    ]
    assert [round(v, 4) for v in y.flatten().tolist()] == [1.9879, 1.0, 1.0, 2.5885, 1.0, 1.0]
