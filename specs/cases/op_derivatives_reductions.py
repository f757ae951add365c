"""First and second derivatives of reductions: norms, spreads, extremes, and running products."""

import torch

from specs.cases._measures import derivatives


def derivatives_of_norms():
    """Of each kind, of all elements and along dimensions; ties share, and zeros get nothing.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([[1.0, -2.0, 2.0], [0.5, 3.0, -3.0]], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([[0.0, 0.0], [3.0, -4.0]], dtype=torch.float64, requires_grad=True)
    v = torch.linalg.vector_norm
    assert derivatives(x.norm(), x) == [
        [0.19157, -0.38313, 0.38313, 0.09578, 0.5747, -0.5747],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0],
    ]
    assert derivatives(x.norm(dim=1), x) == [
        [0.33333, -0.66667, 0.66667, 0.23408, 1.40449, -1.40449],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 4.0],
    ]
    assert derivatives(x.norm(1, dim=0), x) == [
        [1.0, -2.0, 3.0, 1.0, 2.0, -3.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [4.0, 8.0, 12.0],
    ]
    assert derivatives(v(x, 3.0, dim=0, keepdim=True), x) == [
        [0.92448, -0.74767, 1.12151, 0.23112, 1.68226, -2.52339],
        [0.18993, 0.43124, -0.97029, -0.37985, 0.28749, -0.64686],
        [1.81617, 3.38902, 5.08353],
    ]
    assert derivatives(v(x, 1.5), x) == [
        [0.38589, -0.54573, 0.54573, 0.27286, 0.66838, -0.66838],
        [0.05051, -0.00975, 0.00975, 0.07933, -0.02153, 0.02153],
        [3.42492],
    ]
    assert derivatives(v(x, 0.5, dim=1), x) == [
        [3.82843, -2.70711, 2.70711, 11.79796, 4.8165, -4.8165],
        [-7.0, -1.75, 1.75, -215.46122, 17.9551, -17.9551],
        [58.62742, 185.58911],
    ]
    assert derivatives(v(x, float("inf"), dim=1) * x[:, 0], x) == [
        [2.0, -0.5, 0.5, 6.0, 0.5, -0.5],
        [1.0, -2.0, 2.0, 2.0, 12.0, -12.0],
        [9.0, 36.5],
    ]
    assert derivatives(v(x, float("inf"), dim=(0, 1)) * x[0, 0], x) == [
        [3.0, 0.0, 0.0, 0.0, 0.5, -0.5],
        [1.0, 0.0, 0.0, 0.0, 3.0, -3.0],
        [19.0],
    ]
    assert derivatives(v(x, float("-inf"), dim=1, keepdim=True) * x, x) == [
        [4.0, 2.0, 3.0, 1.0, 2.5, 3.0],
        [42.0, 16.0, 24.0, 77.0, 10.0, 12.0],
        [16.0, -12.0, 22.0, 2.0, 8.5, -3.0],
    ]
    assert derivatives(z.norm(dim=1) * z[1], z)[0] == [0.0, 0.0, -4.8, 16.4]
    assert derivatives(v(z, 3.0, dim=1) * z[1], z)[0] == [0.0, 0.0, -3.55881, 15.32266]


def derivatives_of_spreads():
    """Variances and deviations with each correction, along dimensions or of all; logarithms of sums.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([[1.0, -2.0, 2.0], [0.5, 3.0, -3.0]], dtype=torch.float64, requires_grad=True)
    assert derivatives(x.var(), x) == [
        [0.3, -0.9, 0.7, 0.1, 1.1, -1.3],
        [0.24, -0.72, 0.56, 0.08, 0.88, -1.04],
        [8.6],
    ]
    assert derivatives(x.var(1, correction=0), x) == [
        [0.44444, -1.55556, 1.11111, 0.44444, 3.77778, -4.22222],
        [0.59259, -2.07407, 1.48148, 1.18519, 10.07407, -11.25926],
        [7.7037, 32.2963],
    ]
    assert derivatives(x.var(0, keepdim=True), x) == [
        [0.5, -10.0, 15.0, -0.5, 10.0, -15.0],
        [2.0, -80.0, 180.0, -2.0, 80.0, -180.0],
        [1.0, 200.0, 300.0],
    ]
    assert derivatives(x.std((0, 1), correction=2), x) == [
        [0.07234, -0.21701, 0.16878, 0.02411, 0.26523, -0.31346],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.5],
    ]
    assert derivatives(x.std(1, keepdim=True), x) == [
        [0.16013, -0.56045, 0.40032, 0.1106, 0.9401, -1.0507],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 2.0],
    ]
    assert derivatives(x.logsumexp(1), x) == [
        [0.26539, 0.01321, 0.7214, 0.15137, 1.84406, 0.00457],
        [-0.17284, -0.01527, 0.18811, -0.47239, 0.48799, -0.01561],
        [1.18204, 3.42349],
    ]
    assert derivatives(x.logsumexp((0, 1), keepdim=True), x) == [
        [0.08488, 0.00423, 0.23072, 0.05148, 0.62715, 0.00155],
        [-0.06307, -0.00382, -0.10415, -0.04169, 0.21415, -0.00141],
        [0.91284],
    ]
    assert derivatives(x.softmax(1), x) == [
        [-0.38641, -0.00603, 0.39243, -0.07013, 0.06768, 0.00245],
        [0.27708, -0.00577, -0.27131, 0.01641, -0.01609, -0.00031],
        [-0.30089, -0.00493, 0.30582, -0.01926, 0.01951, -0.00025],
    ]
    assert derivatives(x.softmax(0), x) == [
        [-0.70501, -0.01994, -0.01994, 0.70501, 0.01994, 0.01994],
        [-0.48694, 0.00157, -0.00157, 0.48694, -0.00157, 0.00157],
        [-0.66272, -0.00053, -0.00053, 0.66272, 0.00053, 0.00053],
    ]
    assert derivatives(x.log_softmax(1), x) == [
        [-0.59233, 1.92072, -1.3284, 2.86473, -8.83045, 5.96572],
        [-1.5853, -0.47738, 2.06269, -24.46786, 25.41935, -0.95148],
        [0.99559, 6.02169, -0.47655, 21.55242, -1.83793, 27.7544],
    ]
    assert derivatives((x * x).mean(0), x) == [
        [1.0, -4.0, 6.0, 0.5, 6.0, -9.0],
        [2.0, -16.0, 36.0, 1.0, 24.0, -54.0],
        [2.5, 52.0, 78.0],
    ]
    assert derivatives((x * x).sum((0, 1), keepdim=True), x) == [
        [2.0, -4.0, 4.0, 1.0, 6.0, -6.0],
        [8.0, -16.0, 16.0, 4.0, 24.0, -24.0],
        [218.0],
    ]
    assert derivatives((x * x).nansum(1), x) == [
        [2.0, -4.0, 4.0, 2.0, 12.0, -12.0],
        [8.0, -16.0, 16.0, 16.0, 96.0, -96.0],
        [72.0, 292.0],
    ]
    assert derivatives(torch.stack(torch.std_mean(x, 1)), x) == [
        [1.16013, 0.43955, 1.40032, 1.44393, 2.27344, 0.28263],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 2.0, 2.0, 2.66667],
    ]


def derivatives_of_running_products():
    """Products of all, along a dimension and so far, with a zero, two or none; running logarithms of sums.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([[1.0, -2.0, 2.0], [0.5, 3.0, -3.0]], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]], dtype=torch.float64, requires_grad=True)
    assert derivatives(x.prod(), x) == [
        [18.0, -9.0, 9.0, 36.0, 6.0, -6.0],
        [3060.0, -1773.0, 1773.0, 2232.0, 1212.0, -1212.0],
        [3708.0],
    ]
    assert derivatives(x.prod(1), x) == [
        [-4.0, 2.0, -2.0, -18.0, -3.0, 3.0],
        [16.0, -20.0, 20.0, 72.0, 222.0, -222.0],
        [48.0, 342.0],
    ]
    assert derivatives(x.prod(0, keepdim=True), x) == [
        [0.5, 6.0, -9.0, 1.0, -4.0, 6.0],
        [2.0, -16.0, 36.0, 1.0, 24.0, -54.0],
        [2.5, 52.0, 78.0],
    ]
    assert derivatives(z.prod(1), z) == [
        [0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
        [8.0, 0.0, 4.0, 0.0, 0.0, 0.0],
        [8.0, 0.0],
    ]
    assert derivatives(x.cumprod(1), x) == [
        [-15.0, 8.0, -6.0, -35.0, -6.5, 9.0],
        [200.0, -276.0, 228.0, 493.0, 964.0, -1299.0],
        [-30.0, 76.0, 176.0, -70.0, -216.5, 676.5],
    ]
    assert derivatives(z.cumprod(1), z) == [
        [1.0, 8.0, 0.0, 19.0, 0.0, 0.0],
        [128.0, 16.0, 48.0, 0.0, 190.0, 684.0],
        [2.0, 16.0, 32.0, 38.0, 114.0, 0.0],
    ]
    assert derivatives((x * x).cumsum(0), x) == [
        [10.0, -28.0, 36.0, 4.0, 30.0, -36.0],
        [200.0, -784.0, 1296.0, 64.0, 600.0, -864.0],
        [40.0, 224.0, 288.0, 48.0, 584.0, 720.0],
    ]
    assert derivatives(x.logcumsumexp(1), x) == [
        [3.70131, 0.13449, 2.1642, 4.8334, 10.15289, 0.01371],
        [2.48528, -0.83567, -1.64961, -8.17371, 8.44011, -0.2664],
        [7.40262, 7.0643, 5.09062, 9.6668, 19.49872, 19.45422],
    ]


def derivatives_of_extremes():
    """Of all, where ties share, and along dimensions, where one is picked, in order or by rank.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([[1.0, 3.0, 2.0], [0.5, 3.0, -3.0]], dtype=torch.float64, requires_grad=True)
    y = x * x
    assert derivatives(y.max(), x) == [
        [0.0, 2.0, 0.0, 0.0, 2.0, -2.0],
        [0.0, 2.66667, 0.0, 0.0, 2.66667, -2.66667],
        [24.0],
    ]
    assert derivatives(y.min(), x) == [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 4.0, 0.0, 0.0], [2.0]]
    assert derivatives(y.amax(1), x) == [
        [0.0, 6.0, 0.0, 0.0, 6.0, -6.0],
        [0.0, 24.0, 0.0, 0.0, 24.0, -24.0],
        [72.0, 72.0],
    ]
    assert derivatives(y.amax(), x) == [
        [0.0, 2.0, 0.0, 0.0, 2.0, -2.0],
        [0.0, 2.66667, 0.0, 0.0, 2.66667, -2.66667],
        [24.0],
    ]
    assert derivatives(y.amin((0, 1), keepdim=True), x) == [
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 4.0, 0.0, 0.0],
        [2.0],
    ]
    assert derivatives(y.max(1).values, x) == [
        [0.0, 6.0, 0.0, 0.0, 12.0, 0.0],
        [0.0, 24.0, 0.0, 0.0, 96.0, 0.0],
        [72.0, 144.0],
    ]
    assert derivatives(y.min(0, keepdim=True).values, x) == [
        [0.0, 12.0, 12.0, 1.0, 0.0, 0.0],
        [0.0, 96.0, 144.0, 4.0, 0.0, 0.0],
        [2.0, 144.0, 96.0],
    ]
    assert derivatives(y.sort(1, descending=True).values, x) == [
        [6.0, 6.0, 8.0, 6.0, 24.0, -30.0],
        [72.0, 24.0, 64.0, 144.0, 384.0, -600.0],
        [72.0, 64.0, 24.0, 288.0, 360.0, 12.0],
    ]
    assert derivatives(y.topk(2, 1).values, x) == [
        [0.0, 6.0, 8.0, 0.0, 18.0, -24.0],
        [0.0, 24.0, 64.0, 0.0, 216.0, -384.0],
        [72.0, 64.0, 216.0, 288.0],
    ]
    assert derivatives(y.topk(1, 0, largest=False).values, x) == [
        [0.0, 12.0, 12.0, 1.0, 0.0, 0.0],
        [0.0, 96.0, 144.0, 4.0, 0.0, 0.0],
        [2.0, 144.0, 96.0],
    ]
    assert derivatives(y.kthvalue(2, 1).values, x) == [
        [0.0, 0.0, 4.0, 0.0, 12.0, 0.0],
        [0.0, 0.0, 16.0, 0.0, 96.0, 0.0],
        [32.0, 144.0],
    ]
    assert derivatives(y.median(), x) == [
        [0.0, 0.0, 4.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 16.0, 0.0, 0.0, 0.0],
        [32.0],
    ]
    assert derivatives(y.median(1).values, x) == [
        [0.0, 0.0, 4.0, 0.0, 12.0, 0.0],
        [0.0, 0.0, 16.0, 0.0, 96.0, 0.0],
        [32.0, 144.0],
    ]
    assert derivatives(y.nanmedian(1, keepdim=True).values, x) == [
        [0.0, 0.0, 4.0, 0.0, 12.0, 0.0],
        [0.0, 0.0, 16.0, 0.0, 96.0, 0.0],
        [32.0, 144.0],
    ]
    assert derivatives(y.mode(1).values, x) == [
        [2.0, 0.0, 0.0, 0.0, 0.0, -12.0],
        [8.0, 0.0, 0.0, 0.0, 0.0, -96.0],
        [8.0, 144.0],
    ]
    assert derivatives(x.cummax(1).values * x, x) == [
        [2.0, 18.0, 9.0, 4.0, 12.0, 18.0],
        [8.0, 198.0, 108.0, 64.0, 456.0, 144.0],
        [8.0, 216.0, 126.0, 8.0, 144.0, 36.0],
    ]
    assert derivatives(x.cummin(0).values * x, x) == [
        [2.0, 12.0, 12.0, 4.0, 30.0, -36.0],
        [8.0, 96.0, 144.0, 64.0, 600.0, -864.0],
        [8.0, 144.0, 96.0, 8.0, 360.0, 432.0],
    ]
