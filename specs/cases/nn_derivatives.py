"""First and second derivatives of layers: activations, convolutions, pools, norms and the like."""

import torch

from specs.cases._measures import derivatives


def derivatives_of_activations():
    """On both sides of their bends, with each setting. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([-4.0, -0.5, 0.25, 2.0, 7.0], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([0.25], dtype=torch.float64, requires_grad=True)
    f = torch.nn.functional
    assert derivatives(x.sigmoid(), x) == [
        [0.01766, 0.47001, 0.7384, 0.41997, 0.00455],
        [0.0006, 0.10821, -0.1356, -0.26866, -4e-05],
        [0.00062, 0.22091, 0.36349, 0.08819, 1e-05],
    ]
    assert derivatives(f.silu(x), x) == [
        [-0.05266, 0.52008, 1.87113, 4.36314, 5.0273],
        [0.00345, 0.91789, 5.44068, 1.74742, -0.22821],
        [0.00555, 0.27048, 2.33409, 9.51848, 10.10951],
    ]
    assert derivatives(f.gelu(x), x) == [
        [-0.0005, 0.26501, 2.08612, 4.34093, 5.0],
        [0.0, 0.65311, 9.37714, -3.74993, 0.0],
        [0.0, 0.07023, 2.90126, 9.42182, 10.0],
    ]
    assert derivatives(f.gelu(x, approximate="tanh"), x) == [
        [-0.00034, 0.26526, 2.08606, 4.3444, 5.0],
        [0.0, 0.65308, 9.37412, -3.74922, 0.0],
        [0.0, 0.07036, 2.9011, 9.43689, 10.0],
    ]
    assert derivatives(f.softplus(x, beta=2, threshold=10), x) == [
        [0.00034, 0.53788, 1.86738, 3.92806, 5.0],
        [0.0, 0.84603, 5.26609, 1.11008, 0.0],
        [0.0, 0.28932, 2.32473, 7.71481, 10.0],
    ]
    assert derivatives(f.elu(x, alpha=2.0), x) == [
        [0.03663, 2.42612, 3.0, 4.0, 5.0],
        [0.00268, 11.77214, 0.0, 0.0, 0.0],
        [0.00268, 5.88607, 6.0, 8.0, 10.0],
    ]
    assert derivatives(f.selu(x), x) == [
        [0.0322, 2.13268, 3.1521, 4.2028, 5.2535],
        [0.00207, 9.09667, 0.0, 0.0, 0.0],
        [0.00207, 4.54833, 6.62384, 8.83178, 11.03973],
    ]
    assert derivatives(f.mish(x), x) == [
        [-0.05377, 0.57902, 2.26252, 4.27727, 5.00011],
        [0.00372, 1.3062, 7.90637, -1.97523, -0.00199],
        [0.00578, 0.33527, 3.41266, 9.14753, 10.00043],
    ]
    assert derivatives(f.logsigmoid(x), x) == [
        [0.98201, 1.24492, 1.31347, 0.47681, 0.00456],
        [-0.03469, -1.17024, -1.93974, -0.4005, -4e-05],
        [1.9287, 1.54982, 1.15014, 0.11367, 1e-05],
    ]
    assert derivatives(f.softsign(x), x) == [
        [0.04, 0.88889, 1.92, 0.44444, 0.07812],
        [0.00128, 2.107, -11.79648, -0.26337, -0.00305],
        [0.0032, 0.79012, 2.4576, 0.09877, 0.00244],
    ]
    assert derivatives(f.leaky_relu(x * x * x, 0.5), x) == [
        [24.0, 0.75, 0.5625, 48.0, 735.0],
        [-576.0, -4.5, 5.0625, 4608.0, 308700.0],
        [1152.0, 0.5625, 0.21094, 1152.0, 216090.0],
    ]
    assert derivatives(f.prelu(x, w), x, w) == [
        [0.25, 0.5, 3.0, 4.0, 5.0],
        [-5.0],
        [-10.0, -20.0, 0.0, 0.0, 0.0],
        [2.5],
        [40.125, 5.25, 6.0, 8.0, 10.0],
    ]
    assert derivatives(f.relu6(x * x), x) == [
        [0.0, -2.0, 1.5, 16.0, 0.0],
        [0.0, -16.0, 18.0, 256.0, 0.0],
        [0.0, 4.0, 1.5, 128.0, 0.0],
    ]
    assert derivatives(f.hardtanh(x * x, -1.0, 5.0), x) == [
        [0.0, -2.0, 1.5, 16.0, 0.0],
        [0.0, -16.0, 18.0, 256.0, 0.0],
        [0.0, 4.0, 1.5, 128.0, 0.0],
    ]
    (g,) = torch.autograd.grad(f.hardsigmoid(x), x, x.detach())
    assert [round(v, 5) + 0.0 for v in g.tolist()] == [0.0, -0.08333, 0.04167, 0.33333, 0.0]
    assert derivatives(f.hardswish(x) * x, x) == [
        [0.0, -0.75, 0.84375, 16.0, 70.0],
        [0.0, -1.5, 6.32812, 384.0, 1400.0],
        [0.0, 0.5625, 0.47461, 128.0, 1960.0],
    ]
    assert derivatives(f.softshrink(x, 0.5) * x, x) == [
        [-7.5, 0.0, 0.0, 14.0, 67.5],
        [-30.0, 0.0, 0.0, 224.0, 1350.0],
        [112.5, 0.0, 0.0, 98.0, 1822.5],
    ]
    assert derivatives(f.hardshrink(x, 0.5) * x, x) == [
        [-8.0, 0.0, 0.0, 16.0, 70.0],
        [-32.0, 0.0, 0.0, 256.0, 1400.0],
        [128.0, 0.0, 0.0, 128.0, 1960.0],
    ]
    assert derivatives(f.threshold(x * x, 1.0, 20.0), x) == [
        [-8.0, 0.0, 0.0, 16.0, 70.0],
        [-32.0, 0.0, 0.0, 256.0, 1400.0],
        [128.0, 0.0, 0.0, 128.0, 1960.0],
    ]
    assert derivatives(f.glu(x[:4]), x) == [
        [0.56218, 1.76159, -0.98454, -0.10499, 0.0],
        [-0.48466, -0.04409, 0.03567, 0.72303, 0.0],
        [2.57071, 3.11424],
    ]


def derivatives_of_convolutions():
    """With strides, padding, dilation and groups; forward and transposed.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor(
        [[[1.0, -2.0, 0.5, 3.0], [2.0, 1.0, -1.0, 0.0]]], dtype=torch.float64, requires_grad=True
    )
    w = torch.tensor([[[1.0, -1.0], [0.5, 2.0]]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    f = torch.nn.functional
    assert derivatives(f.conv1d(x, w, b), x, w, b) == [
        [1.0, 1.0, 1.0, -3.0, 0.5, 3.0, 5.5, 6.0],
        [-1.5, 8.0, 1.0, -1.0],
        [6.0],
        [-3.0, 10.0, 23.0, 48.0, 2.0, 2.0, 2.0, -6.0],
        [12.0, -12.0, 46.0, 64.0],
        [-8.5, 55.0, 94.0],
    ]
    assert derivatives(f.conv1d(x, w, stride=2, padding=1, dilation=2), x, w) == [
        [0.0, 1.0, 0.0, -2.0, 0.0, 3.0, 0.0, 4.0],
        [-4.0, 4.0, 2.0, 1.0],
        [0.0, -8.0, 0.0, 16.0, 0.0, 10.0, 0.0, 4.0],
        [4.0, -6.0, 12.0, 22.0],
        [-4.0, 69.0],
    ]
    assert derivatives(f.conv1d(x, w.view(2, 1, 2), groups=2), x, w) == [
        [1.0, 1.0, 1.0, -3.0, 2.0, 10.5, 13.0, 12.0],
        [-1.5, 8.0, 7.0, -1.0],
        [-3.0, 10.0, 23.0, 48.0, 56.0, 62.0, 74.0, -12.0],
        [12.0, -12.0, 277.0, 358.0],
        [-35.0, 14.0, 54.5, 70.0, 78.5, 47.0],
    ]
    assert derivatives(f.conv1d(x, w, padding="same"), x, w) == [
        [1.0, 1.0, 1.0, 1.0, 0.5, 3.0, 5.5, 8.0],
        [10.5, 8.0, 1.0, -1.0],
        [21.0, 58.0, 95.0, 132.0, 2.0, 2.0, 2.0, 2.0],
        [20.0, 12.0, 110.0, 76.0],
        [3.5, -5.0, 94.0, 73.0],
    ]
    assert derivatives(f.conv2d(x.view(1, 2, 2, 2), w.view(1, 2, 2, 1), b, padding=(0, 1)), x, w, b) == [
        [2.0, 3.0, -2.0, -3.0, 1.0, 1.5, 4.0, 6.0],
        [-4.0, 10.0, 7.0, -2.0],
        [10.0],
        [-16.0, -24.0, 40.0, 60.0, 28.0, 42.0, -8.0, -12.0],
        [26.0, -26.0, 13.0, 52.0],
        [20.0, 79.0, 147.5, 20.0],
    ]
    assert derivatives(f.conv3d(x.view(1, 2, 2, 2, 1), w.view(1, 2, 1, 2, 1), b), x, w, b) == [
        [1.0, -1.0, 2.0, -2.0, 0.5, 2.0, 1.0, 4.0],
        [2.0, 4.0, 0.0, 1.0],
        [3.0],
        [4.0, 8.0, 8.0, 16.0, 0.0, 2.0, 0.0, 4.0],
        [10.0, -10.0, 5.0, 20.0],
        [8.5, 57.0],
    ]
    assert derivatives(f.conv_transpose1d(x, w.view(2, 1, 2), b, stride=2, output_padding=1), x, w, b) == [
        [-1.0, -1.0, -1.0, -1.0, 4.5, 9.5, 14.5, 19.5],
        [18.5, 21.0, 0.0, 2.0],
        [45.0],
        [121.0, 279.0, 437.0, 595.0, 8.0, 16.0, 24.0, 32.0],
        [-32.0, -40.0, 484.0, 580.0],
        [129.5, 160.0, 23.5, 50.0, 121.0, 167.0, 218.5, 296.0, 90.0],
    ]
    assert derivatives(f.conv_transpose1d(x, w.view(2, 1, 2), padding=1, dilation=2), x, w) == [
        [-2.0, -2.0, -2.0, 3.0, 4.0, 6.5, 9.0, 1.5],
        [8.0, -2.0, -1.0, 3.0],
        [-8.0, 4.0, 16.0, 48.0, 12.0, 16.0, 20.0, -6.0],
        [6.0, -36.0, 58.0, 127.0],
        [-31.5, 43.0, 99.5, 32.0],
    ]
    assert derivatives(f.conv_transpose2d(x.view(1, 2, 2, 2), w.view(2, 1, 2, 1), b), x, w, b) == [
        [-2.0, -2.0, -2.0, -2.0, 6.5, 9.0, 11.5, 14.0],
        [10.5, 15.5, 1.0, 5.0],
        [21.0],
        [114.0, 166.0, 218.0, 270.0, 32.0, 44.0, 56.0, 68.0],
        [-40.0, -72.0, 230.0, 394.0],
        [69.5, 7.0, 139.0, 103.0, 97.5, 195.0],
    ]


def derivatives_of_pools():
    """Of largest and mean elements, in windows of a size or of a number.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([[[1.0, -2.0, 0.5, 3.0, 2.0, 2.5]]], dtype=torch.float64, requires_grad=True)
    y = x * x
    z = y.view(1, 1, 2, 3)
    f = torch.nn.functional
    assert derivatives(f.max_pool1d(y, 2, stride=1), x) == [
        [0.0, -12.0, 0.0, 42.0, 0.0, 25.0],
        [0.0, -144.0, 0.0, 1176.0, 0.0, 500.0],
        [96.0, 96.0, 504.0, 504.0, 250.0],
    ]
    assert derivatives(f.max_pool1d(y, 3, padding=1, dilation=2), x) == [
        [0.0, 0.0, 0.0, 6.0, 8.0, 0.0],
        [0.0, 0.0, 0.0, 24.0, 64.0, 0.0],
        [72.0, 64.0],
    ]
    assert derivatives(f.max_pool1d(y, 2, stride=2, ceil_mode=True), x) == [
        [0.0, -4.0, 0.0, 12.0, 0.0, 15.0],
        [0.0, -16.0, 0.0, 96.0, 0.0, 180.0],
        [32.0, 144.0, 150.0],
    ]
    assert derivatives(f.max_pool2d(z, (1, 2), stride=1), x) == [
        [0.0, -12.0, 0.0, 18.0, 0.0, 20.0],
        [0.0, -144.0, 0.0, 216.0, 0.0, 320.0],
        [96.0, 96.0, 216.0, 200.0],
    ]
    assert derivatives(f.avg_pool1d(y, 2, stride=1, padding=1), x) == [
        [3.0, -10.0, 3.5, 27.0, 22.0, 32.5],
        [18.0, -100.0, 49.0, 486.0, 484.0, 845.0],
        [6.0, 46.0, 43.5, 165.5, 250.0, 250.5, 162.5],
    ]
    assert derivatives(f.avg_pool1d(y, 2, padding=1, count_include_pad=False), x) == [
        [2.0, -4.0, 1.0, 9.0, 6.0, 20.0],
        [8.0, -16.0, 4.0, 54.0, 36.0, 320.0],
        [8.0, 17.0, 78.0, 200.0],
    ]
    assert derivatives(f.avg_pool2d(z, 2, stride=1), x) == [
        [0.5, -3.0, 0.5, 1.5, 3.0, 2.5],
        [0.5, -9.0, 1.0, 1.5, 9.0, 5.0],
        [17.0, 18.5],
    ]
    assert derivatives(f.avg_pool2d(z, 2, stride=1, divisor_override=3), x) == [
        [0.66667, -4.0, 0.66667, 2.0, 4.0, 3.33333],
        [0.88889, -16.0, 1.77778, 2.66667, 16.0, 8.88889],
        [30.22222, 32.88889],
    ]
    assert derivatives(f.adaptive_avg_pool1d(y, 4), x) == [
        [1.0, -6.0, 1.0, 9.0, 14.0, 10.0],
        [2.0, -36.0, 4.0, 54.0, 196.0, 80.0],
        [26.0, 25.0, 110.0, 106.0],
    ]
    assert derivatives(f.adaptive_avg_pool2d(z, (1, 2)), x) == [
        [0.5, -3.0, 0.5, 1.5, 3.0, 2.5],
        [0.5, -9.0, 1.0, 1.5, 9.0, 5.0],
        [17.0, 18.5],
    ]
    assert derivatives(f.adaptive_max_pool1d(y, 4), x) == [
        [0.0, -12.0, 0.0, 18.0, 0.0, 20.0],
        [0.0, -144.0, 0.0, 216.0, 0.0, 320.0],
        [96.0, 96.0, 216.0, 200.0],
    ]


def derivatives_of_resizing():
    """Between elements, at edges, out of columns and by shuffles. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[[1.0, -2.0, 0.5, 3.0]]], dtype=torch.float64, requires_grad=True)
    y = x * x
    z = y.view(1, 1, 2, 2)
    f = torch.nn.functional
    assert derivatives(f.interpolate(y, 6), x) == [
        [6.0, -12.0, 9.0, 36.0],
        [72.0, -144.0, 324.0, 864.0],
        [24.0, 24.0, 96.0, 18.0, 18.0, 432.0],
    ]
    assert derivatives(f.interpolate(y, scale_factor=0.5), x) == [
        [2.0, 0.0, 2.0, 0.0],
        [8.0, 0.0, 16.0, 0.0],
        [8.0, 4.0],
    ]
    assert derivatives(f.interpolate(y, 6, mode="linear"), x) == [
        [4.0, -16.66667, 6.33333, 51.0],
        [32.0, -277.77778, 160.44444, 1734.0],
        [16.0, 74.66667, 113.22222, 32.77778, 312.33333, 612.0],
    ]
    assert derivatives(f.interpolate(y, 6, mode="linear", align_corners=True), x) == [
        [3.6, -17.6, 6.8, 48.0],
        [25.92, -309.76, 184.96, 1536.0],
        [14.4, 90.24, 115.36, 39.04, 238.56, 576.0],
    ]
    assert derivatives(f.interpolate(z, (3, 2), mode="bilinear"), x) == [
        [5.0, -16.0, 6.5, 48.0],
        [50.0, -256.0, 169.0, 1536.0],
        [20.0, 128.0, 16.5, 352.0, 13.0, 576.0],
    ]
    assert derivatives(f.interpolate(z, scale_factor=(1, 2), mode="nearest"), x) == [
        [6.0, -28.0, 11.0, 90.0],
        [72.0, -784.0, 484.0, 5400.0],
        [24.0, 24.0, 224.0, 224.0, 22.0, 22.0, 1080.0, 1080.0],
    ]
    assert derivatives(f.pad(y, (2, 1), mode="reflect"), x) == [
        [6.0, -24.0, 13.0, 36.0],
        [72.0, -576.0, 676.0, 864.0],
        [26.0, 192.0, 24.0, 192.0, 26.0, 432.0, 26.0],
    ]
    assert derivatives(f.pad(y, (2, 1), mode="replicate"), x) == [
        [12.0, -16.0, 5.0, 78.0],
        [288.0, -256.0, 100.0, 4056.0],
        [48.0, 48.0, 48.0, 128.0, 10.0, 936.0, 936.0],
    ]
    assert derivatives(f.pad(y, (2, 1), mode="circular"), x) == [
        [20.0, -16.0, 6.0, 48.0],
        [800.0, -256.0, 144.0, 1536.0],
        [12.0, 576.0, 80.0, 128.0, 12.0, 576.0, 80.0],
    ]
    assert derivatives(f.pad(z, (1, 0, 0, 1), mode="replicate"), x) == [
        [6.0, -12.0, 24.0, 90.0],
        [72.0, -144.0, 2304.0, 5400.0],
        [24.0, 24.0, 96.0, 48.0, 48.0, 1080.0, 48.0, 48.0, 1080.0],
    ]
    assert derivatives(f.unfold(z, (2, 1), padding=(1, 0)), x) == [
        [20.0, -48.0, 14.0, 96.0],
        [800.0, -2304.0, 784.0, 6144.0],
        [0.0, 0.0, 80.0, 384.0, 28.0, 1152.0, 80.0, 384.0, 28.0, 1152.0, 0.0, 0.0],
    ]
    assert derivatives(f.fold(y.view(1, 2, 2), (2, 2), (2, 1)), x) == [
        [2.0, -8.0, 3.0, 24.0],
        [8.0, -64.0, 36.0, 384.0],
        [8.0, 64.0, 6.0, 288.0],
    ]
    assert derivatives(f.pixel_shuffle(y.view(1, 4, 1, 1), 2), x) == [
        [2.0, -8.0, 3.0, 24.0],
        [8.0, -64.0, 36.0, 384.0],
        [8.0, 64.0, 6.0, 288.0],
    ]
