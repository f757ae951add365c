"""Convolutions, pooling and its undoing, and layers of images."""

import torch

from specs.cases._measures import filled, graded, wave


def layers_of_convolutions():
    """With each setting, and for one sample without a batch. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x = wave(2, 4, 5)
    m = n.Conv1d(4, 2, 3, stride=2, padding=1, dilation=1, groups=2, bias=True, dtype=torch.float64)
    assert [(k, tuple(v.shape)) for k, v in m.named_parameters()] == [("weight", (2, 2, 3)), ("bias", (2,))]
    assert (m.stride, m.padding, m.dilation, m.groups, m.kernel_size, m.padding_mode, m.transposed) == (
        (2,),
        (1,),
        (1,),
        2,
        (3,),
        "zeros",
        False,
    )
    assert graded(filled(m)(x), x, m.weight, m.bias) == [(2, 2, 3), 268.3357, -1042.8542, -2379.7006, 126.0]
    assert graded(filled(n.Conv1d(4, 2, 2, dilation=2, padding="same"))(x), x) == [
        (2, 2, 5),
        13.0544,
        -1162.1424,
    ]
    assert graded(filled(n.Conv1d(4, 2, 2, padding="same", bias=False))(x), x) == [
        (2, 2, 5),
        -162.833,
        -1462.753,
    ]
    assert graded(filled(n.Conv1d(4, 2, 3, padding="valid"))(x), x) == [(2, 2, 3), -21.4357, -1284.5207]
    assert graded(filled(n.Conv1d(4, 2, 3, padding=2, padding_mode="circular"))(x), x) == [
        (2, 2, 7),
        -115.0427,
        -7117.0372,
    ]
    assert graded(filled(n.Conv1d(4, 2, 3, padding=1, padding_mode="reflect"))(x), x) == [
        (2, 2, 5),
        -62.7506,
        -3582.8134,
    ]
    assert graded(filled(n.Conv1d(4, 2, 3, padding="same", padding_mode="replicate"))(x), x) == [
        (2, 2, 5),
        -60.6194,
        -3572.9561,
    ]
    one = wave(4, 5)
    assert graded(filled(n.Conv1d(4, 2, 3))(one), one) == [(2, 3), 16.479, -162.2224]
    y = wave(1, 2, 3, 4)
    m = filled(n.Conv2d(2, 2, (2, 3), stride=(1, 2), padding=(1, 0), dilation=(2, 1)))
    assert (m.kernel_size, m.stride, m.padding, m.dilation) == ((2, 3), (1, 2), (1, 0), (2, 1))
    assert graded(m(y), y, m.weight, m.bias) == [(1, 2, 3, 1), 36.9462, -126.653, -443.8708, 36.0]
    assert graded(filled(n.Conv2d(2, 1, 2, padding=(0, 1), padding_mode="circular"))(y), y) == [
        (1, 1, 2, 5),
        -222.9137,
        -581.4449,
    ]
    z = wave(1, 1, 2, 3, 2)
    m = filled(n.Conv3d(1, 2, (1, 2, 1), bias=False))
    assert graded(m(z), z, m.weight) == [(1, 2, 2, 2, 2), -107.644, 209.5231, -408.2601]
    f = torch.nn.functional
    w = wave(2, 4, 2)
    assert graded(f.conv1d(x, w), x, w) == [(2, 2, 4), 2055.0403, -13020.8731, -4000.1807]
    assert graded(f.conv1d(x, w, None, 2, 1), x, w) == [(2, 2, 3), 963.3811, -6688.0274, -1959.8027]
    assert graded(f.conv1d(x, w, padding="same", dilation=2), x, w) == [
        (2, 2, 5),
        2553.8091,
        -15951.4304,
        -4870.2441,
    ]
    w = wave(2, 2, 2)
    assert graded(f.conv1d(x, w, groups=2, dilation=(2,), stride=(2,)), x, w) == [
        (2, 2, 2),
        5.3674,
        -1087.742,
        -634.0112,
    ]


def layers_of_transposed_convolutions():
    """With each setting, or the size of the result. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x = wave(2, 4, 3)
    m = n.ConvTranspose1d(4, 2, 3, 2, 1, 1, 2, dtype=torch.float64)
    assert [(k, tuple(v.shape)) for k, v in m.named_parameters()] == [("weight", (4, 1, 3)), ("bias", (2,))]
    assert (m.stride, m.padding, m.output_padding, m.groups, m.dilation, m.transposed) == (
        (2,),
        (1,),
        (1,),
        2,
        (1,),
        True,
    )
    assert graded(filled(m)(x), x, m.weight, m.bias) == [(2, 2, 6), 671.8101, -1164.199, -5586.9118, 486.0]
    m = filled(n.ConvTranspose1d(4, 2, 3, dilation=2, bias=False))
    assert graded(m(x), x, m.weight) == [(2, 2, 7), 1194.8169, -2348.0719, -21295.0467]
    one = wave(4, 3)
    assert graded(m(one), one) == [(2, 7), -254.7247, -503.2861]
    m = filled(n.ConvTranspose1d(4, 2, 3, stride=2))
    assert m(x, output_size=[8]).shape == (2, 2, 8) and m(x, [7]).shape == (2, 2, 7)
    assert m(x, (2, 2, 8)).shape == (2, 2, 8)
    assert graded(m(x, output_size=[8]), x) == [(2, 2, 8), 1764.4558, -2623.8418]
    y = wave(1, 2, 2, 3)
    m = filled(n.ConvTranspose2d(2, 1, (2, 1), stride=(2, 1), padding=(1, 0), output_padding=(1, 0)))
    assert graded(m(y), y, m.weight, m.bias) == [(1, 1, 3, 3), 24.613, 131.453, -289.118, 45.0]
    z = wave(1, 1, 2, 2, 1)
    m = filled(n.ConvTranspose3d(1, 1, (1, 2, 2)))
    assert graded(m(z), z, m.weight) == [(1, 1, 2, 3, 2), 58.7071, 45.5041, -107.5359]


def first_values_of_layers_are_bounded():
    """By the number of inputs, for weights and biases alike. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    torch.manual_seed(0)
    near = lambda x, bound: 0.8 * bound < x.max().item() <= bound and -bound <= x.min().item() < -0.8 * bound
    m = n.Linear(100, 50)
    assert near(m.weight, 0.1) and near(m.bias, 0.1)
    m = n.Conv1d(50, 100, 2)
    assert near(m.weight, 0.1) and near(m.bias, 0.1)
    m = n.Conv2d(50, 100, 2, groups=2)
    assert near(m.weight, 0.1) and near(m.bias, 0.1)
    m = n.ConvTranspose1d(50, 100, 2)
    assert near(m.weight, 200**-0.5) and near(m.bias, 200**-0.5)
    m = n.Bilinear(100, 2, 50)
    assert near(m.weight, 0.1) and near(m.bias, 0.1)
    m = n.Embedding(100, 50)
    assert 0.95 < m.weight.std().item() < 1.05 and abs(m.weight.mean().item()) < 0.06
    assert n.Embedding(4, 3, padding_idx=-1).weight[3].tolist() == [0.0, 0.0, 0.0]
    m = n.MultiheadAttention(50, 2)
    assert near(m.in_proj_weight, (6 / 200) ** 0.5) and near(m.out_proj.weight, 50**-0.5)
    assert m.in_proj_bias.abs().sum().item() == m.out_proj.bias.abs().sum().item() == 0
    m = n.MultiheadAttention(50, 2, kdim=20, vdim=10)
    assert (
        near(m.k_proj_weight, (6 / 70) ** 0.5)
        and near(m.v_proj_weight, 0.1**0.5)
        and near(m.q_proj_weight, 0.06**0.5)
    )
    x = wave(1, 4, 2)
    assert graded(filled(n.Conv1d(4, 2, 2))(x), x) == [(1, 2, 1), 1.2551, -2.7148]


def layers_that_pool():
    """The largest, the mean, powers; with windows of each kind. Rule: op/derivatives-beyond-programs."""
    n, f = torch.nn, torch.nn.functional
    x = (wave(1, 2, 7).detach() * torch.tensor([1.0, -1.0, 2.0, 0.5, -2.0, 1.0, 3.0])).requires_grad_()
    assert graded(n.MaxPool1d(3)(x), x) == [(1, 2, 2), 32.2949, 89.0]
    assert graded(n.MaxPool1d(3, 1, 1, 2)(x), x) == [(1, 2, 5), 90.467, 482.0]
    assert graded(n.MaxPool1d(2, stride=3, ceil_mode=True)(x), x) == [(1, 2, 3), -9.4903, 208.0]
    out, at = n.MaxPool1d(2, return_indices=True)(x)
    assert (graded(out, x), at.flatten().tolist()) == ([(1, 2, 3), 54.6122, 178.0], [0, 3, 4, 0, 2, 4])
    assert graded(n.MaxUnpool1d(2)(out, at), x) == [(1, 2, 6), 94.5155, 320.0]
    assert graded(n.MaxUnpool1d(2)(out, at, output_size=(7,)), x) == [(1, 2, 7), 102.6187, 350.0]
    assert graded(n.MaxUnpool1d(2)(out, at, output_size=x.size()), x) == [(1, 2, 7), 102.6187, 350.0]
    assert graded(f.max_unpool1d(*f.max_pool1d(x, 3, 2, return_indices=True), 3, 2), x) == [
        (1, 2, 7),
        92.3369,
        395.0,
    ]
    assert graded(n.AvgPool1d(3)(x), x) == [(1, 2, 2), 4.8236, 87.0]
    assert graded(n.AvgPool1d(3, 2, 1, ceil_mode=True)(x), x) == [(1, 2, 4), -22.4711, 283.6667]
    assert graded(n.AvgPool1d(3, 2, 1, count_include_pad=False)(x), x) == [(1, 2, 4), -35.4888, 343.0]
    assert graded(n.LPPool1d(2, 3)(x), x) == [(1, 2, 2), 41.3215, 22.0647]
    assert graded(n.LPPool1d(3.0, 2, 1)(x.abs() + 1), x) == [(1, 2, 6), 387.0626, 70.5557]
    assert graded(n.LPPool1d(2, 2, ceil_mode=True)(x), x) == [(1, 2, 4), 172.0372, -70.3744]
    assert graded(n.AdaptiveAvgPool1d(3)(x), x) == [(1, 2, 3), 5.7737, 197.0]
    assert graded(n.AdaptiveMaxPool1d(3)(x), x) == [(1, 2, 3), 74.699, 188.0]
    out, at = n.AdaptiveMaxPool1d(2, return_indices=True)(x)
    assert at.flatten().tolist() == [0, 4, 2, 4]
    y = wave(1, 1, 4, 4)
    assert graded(n.MaxPool2d((2, 1), (1, 2), (1, 0), 1)(y), y) == [(1, 1, 5, 2), 30.7858, 551.0]
    out, at = f.max_pool2d(y, 2, return_indices=True)
    assert graded(n.MaxUnpool2d(2)(out, at), y) == [(1, 1, 4, 4), 55.5073, 286.0]
    assert graded(n.MaxUnpool2d(2, (3, 3), 0)(out, at), y) == [(1, 1, 5, 5), 55.5073, 286.0]
    assert graded(n.AvgPool2d(2, 1, 1, False, False)(y), y) == [(1, 1, 5, 5), -186.8293, 3602.5]
    assert graded(n.AvgPool2d((1, 3), divisor_override=2)(y), y) == [(1, 1, 4, 1), -3.0432, 150.0]
    assert graded(n.LPPool2d(2, 2)(y), y) == [(1, 1, 2, 2), 36.0392, -32.8165]
    assert graded(n.AdaptiveAvgPool2d((3, None))(y), y) == [(1, 1, 3, 4), 8.3231, 806.0]
    assert graded(n.AdaptiveMaxPool2d((None, 2))(y), y) == [(1, 1, 4, 2), 1.7967, 384.0]
    z = wave(1, 1, 2, 2, 4)
    out, at = n.MaxPool3d(2, return_indices=True)(z)
    assert ([round(v, 4) for v in out.flatten().tolist()], at.flatten().tolist()) == (
        [2.4636, 2.2732],
        [9, 10],
    )
    assert graded(n.MaxUnpool3d(2)(out, at), z) == [(1, 1, 2, 2, 4), 49.6419, 221.0]
    assert graded(n.AvgPool3d((2, 1, 2))(z), z) == [(1, 1, 1, 2, 2), -7.9132, 95.0]
    assert graded(n.AdaptiveAvgPool3d(1)(z), z) == [(1, 1, 1, 1, 1), -0.2525, 8.5]


def layers_that_resize():
    """To a size or by a factor; by the nearest, straight lines, curves or areas.

    Rule: op/derivatives-beyond-programs.
    """
    n, f = torch.nn, torch.nn.functional
    x, y, z = wave(1, 1, 4), wave(1, 1, 3, 4), wave(1, 1, 2, 2, 2)
    assert graded(n.Upsample(scale_factor=2)(x), x) == [(1, 1, 8), -20.0037, 110.0]
    how = {"mode": "linear", "recompute_scale_factor": True}
    assert n.Upsample(scale_factor=1.3, **how)(x).tolist() == n.Upsample(size=5, mode="linear")(x).tolist()
    assert graded(n.Upsample(6, mode="linear")(x), x) == [(1, 1, 6), -10.9612, 63.3333]
    assert graded(n.Upsample(size=7, mode="linear", align_corners=True)(x), x) == [(1, 1, 7), -10.0787, 84.0]
    m = n.Upsample(scale_factor=(1, 2), mode="bilinear", recompute_scale_factor=True)
    assert (m.size, m.scale_factor, m.mode, m.align_corners, m.recompute_scale_factor) == (
        None,
        (1.0, 2.0),
        "bilinear",
        None,
        True,
    )
    assert graded(m(y), y) == [(1, 1, 3, 8), -123.685, 2519.75]
    assert n.Upsample(scale_factor=2).scale_factor == 2.0
    assert graded(n.UpsamplingNearest2d(scale_factor=2)(y), y) == [(1, 1, 6, 8), -437.3016, 9812.0]
    assert graded(n.UpsamplingBilinear2d((4, 5))(y), y) == [(1, 1, 4, 5), -80.6038, 1728.3333]
    assert graded(f.interpolate(x, scale_factor=1.7), x) == [(1, 1, 6), 15.956, 50.0]
    assert graded(f.interpolate(x, scale_factor=1.7, mode="linear"), x) == [(1, 1, 6), -1.0029, 58.0588]
    assert graded(f.interpolate(x, scale_factor=1.7, mode="linear", recompute_scale_factor=True), x) == [
        (1, 1, 6),
        -10.9612,
        63.3333,
    ]
    assert graded(f.interpolate(x, 3, mode="area"), x) == [(1, 1, 3), -0.1224, 17.0]
    assert graded(f.interpolate(y, (2, 3), mode="area"), y) == [(1, 1, 2, 3), -0.8311, 158.5]
    assert graded(f.interpolate(z, 1, mode="area"), z) == [(1, 1, 1, 1, 1), -0.2271, 4.5]
    assert graded(f.interpolate(x, 7, mode="nearest-exact"), x) == [(1, 1, 7), -11.3409, 88.0]
    assert graded(f.interpolate(y, (4, 5), mode="nearest-exact"), y) == [(1, 1, 4, 5), -12.7383, 1714.0]
    assert graded(f.interpolate(y, 5, mode="bicubic"), y) == [(1, 1, 5, 5), -117.2892, 2727.8075]
    assert graded(f.interpolate(y, (5, 3), mode="bicubic", align_corners=True), y) == [
        (1, 1, 5, 3),
        -19.8661,
        981.75,
    ]
    assert graded(f.interpolate(y, (2, 3), mode="bilinear", antialias=True), y) == [
        (1, 1, 2, 3),
        -6.6952,
        163.8,
    ]
    assert graded(f.interpolate(y, (2, 3), mode="bicubic", antialias=True), y) == [
        (1, 1, 2, 3),
        -6.2025,
        166.5878,
    ]
    assert graded(f.interpolate(z, 3, mode="trilinear", align_corners=True), z) == [
        (1, 1, 3, 3, 3),
        -124.8734,
        2088.0,
    ]
    assert graded(f.interpolate(z, scale_factor=2, mode="trilinear"), z) == [
        (1, 1, 4, 4, 4),
        -568.753,
        11404.0,
    ]
    assert graded(f.interpolate(z, scale_factor=(1, 2, 1.5)), z) == [(1, 1, 2, 4, 3), -114.4251, 1668.0]
    p = wave(1, 4, 2, 2)
    assert graded(n.PixelShuffle(2)(p), p) == [(1, 1, 4, 4), -52.8303, 1372.0]
    assert graded(n.PixelUnshuffle(2)(p), p) == [(1, 16, 1, 1), -51.4926, 1496.0]
    assert graded(f.channel_shuffle(p, 2), p) == [(1, 4, 2, 2), -103.0866, 1432.0]
    assert graded(n.Unfold(2, dilation=1, padding=1, stride=(1, 2))(p), p) == [
        (1, 16, 6),
        -521.9492,
        17024.0,
    ]
    q = wave(1, 4, 4)


def grids_say_where_images_are_read():
    """By lines, curves or the nearest; beyond the edge by zeros, the edge or a mirror image.

    Rule: op/derivatives-beyond-programs.
    """
    f = torch.nn.functional
    x = wave(1, 1, 3, 4)
    t = torch.tensor([[[1.5, 0.25, 0.5], [-0.5, 0.75, -0.25]]], dtype=torch.float64, requires_grad=True)
    g = f.affine_grid(t, (1, 1, 2, 3))
    assert graded(g, t) == [(1, 2, 3, 2), 21.8333, 449.6667]
    assert graded(f.affine_grid(t, [1, 1, 2, 3], align_corners=True), t) == [(1, 2, 3, 2), 33.5, 526.0]
    assert graded(f.grid_sample(x, g), x, t) == [(1, 1, 2, 3), 3.4449, 87.0, -263.3074]
    assert graded(f.grid_sample(x, g, align_corners=True), x, t) == [
        (1, 1, 2, 3),
        4.2313,
        92.4479,
        -133.3951,
    ]
    assert graded(f.grid_sample(x, g, "nearest"), x) == [(1, 1, 2, 3), 4.9738, 91.0]
    assert graded(f.grid_sample(x, g, mode="bicubic"), x, t) == [(1, 1, 2, 3), 6.8025, 99.7913, -251.9717]
    assert graded(f.grid_sample(x, g, padding_mode="border"), x, t) == [
        (1, 1, 2, 3),
        1.4478,
        139.5,
        236.0423,
    ]
    assert graded(f.grid_sample(x, g, "bilinear", "reflection", False), x, t) == [
        (1, 1, 2, 3),
        1.5156,
        134.25,
        148.2543,
    ]
    assert graded(f.grid_sample(x, g, "bicubic", "reflection", True), x, t) == [
        (1, 1, 2, 3),
        11.6067,
        133.0509,
        148.24,
    ]
    t = wave(1, 3, 4)
    g = f.affine_grid(t, (1, 1, 2, 1, 2), align_corners=False)
    assert graded(g, t) == [(1, 2, 1, 2, 3), -69.4261, 827.0]
    z = wave(1, 1, 2, 2, 2)
    assert graded(f.grid_sample(z, g, padding_mode="border"), z, t) == [(1, 1, 2, 1, 2), -24.7476, 30.0, 0.0]
    assert graded(f.grid_sample(z, 0.25 * g, "nearest", align_corners=True), z) == [
        (1, 1, 2, 1, 2),
        -24.7476,
        30.0,
    ]
