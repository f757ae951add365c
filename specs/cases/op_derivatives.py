"""First and second derivatives of elementwise functions, with each of their settings."""

import torch

from specs.cases._measures import derivatives


def derivatives_of_powers_and_logarithms():
    """Of powers by numbers and tensors, of roots, exponentials and logarithms.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(x**3, x) == [[0.75, 54.0], [4.5, 3888.0], [1.125, 2916.0]]
    assert derivatives(x**0.5, x) == [[0.70711, 0.57735], [-1.0, -0.11111], [1.0, 0.33333]]
    assert derivatives(x**y, x, y) == [
        [1.0, -0.22222],
        [-0.17329, 0.73241],
        [4.06694, -0.09794],
        [-0.42792, 1.18838],
        [2.06006, 0.5858],
    ]
    assert derivatives(3.0**y, y) == [[9.88751, 0.73241], [214.80697, 1.17864], [195.52573, 0.53642]]
    assert derivatives(x.sqrt(), x) == [[0.70711, 0.57735], [-1.0, -0.11111], [1.0, 0.33333]]
    assert derivatives(x.rsqrt(), x) == [[-1.41421, -0.19245], [-12.0, -0.03704], [4.0, 0.03704]]
    assert derivatives(x.reciprocal(), x) == [[-4.0, -0.22222], [-128.0, -0.06584], [32.0, 0.04938]]
    assert derivatives(x.exp(), x) == [[1.64872, 40.17107], [5.43656, 3227.43035], [5.43656, 1613.71517]]
    assert derivatives(x.exp2(), x) == [[0.98026, 11.09035], [1.3321, 170.50862], [1.92181, 122.99597]]
    assert derivatives(x.expm1(), x) == [[1.64872, 40.17107], [5.43656, 3227.43035], [5.43656, 1613.71517]]
    assert derivatives(x.log(), x) == [[2.0, 0.66667], [-16.0, -0.2963], [8.0, 0.44444]]
    assert derivatives(x.log2(), x) == [[2.88539, 0.9618], [-33.3019, -0.6167], [16.65095, 0.92505]]
    assert derivatives(x.log10(), x) == [[0.86859, 0.28953], [-3.01779, -0.05588], [1.50889, 0.08383]]
    assert derivatives(x.log1p(), x) == [[0.66667, 0.5], [-0.59259, -0.125], [0.88889, 0.25]]
    assert derivatives(x.xlogy(y.abs()), x, y) == [
        [0.69315, 0.0],
        [0.25, -6.0],
        [0.25, 24.0],
        [0.63065, 72.0],
        [1.08591, 36.0],
    ]
    assert derivatives(x.logaddexp(y), x, y) == [
        [0.18243, 1.96403],
        [0.81757, 0.03597],
        [-0.18946, 0.13622],
        [0.18946, -0.13622],
        [1.40341, 3.8587],
    ]
    assert derivatives((x / 4).logit(), x) == [[2.28571, 2.66667], [-17.91254, 9.48148], [10.44898, 7.11111]]
    assert derivatives((x / 4).logit(eps=0.25), x) == [[0.0, 2.66667], [0.0, 9.48148], [0.0, 7.11111]]


def derivatives_of_trigonometric_functions():
    """Of angles, of hyperbolas, and of their inverses. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([0.5, -0.25], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(x.sin(), x) == [[0.87758, 1.93782], [-0.84147, 1.9177], [1.5403, 3.75517]]
    assert derivatives(x.cos(), x) == [[-0.47943, 0.49481], [0.84147, -1.9177], [0.4597, 0.24483]]
    assert derivatives(x.tan(), x) == [[1.29845, 2.1304], [3.68418, -4.63558], [3.37193, 4.5386]]
    assert derivatives(x.asin(), x) == [[1.1547, 2.06559], [1.77778, -2.27556], [2.66667, 4.26667]]
    assert derivatives(x.acos(), x) == [[-1.1547, -2.06559], [1.77778, -2.27556], [2.66667, 4.26667]]
    assert derivatives(x.atan(), x) == [[0.8, 1.88235], [-1.024, 3.33483], [1.28, 3.54325]]
    assert derivatives(x.sinh(), x) == [[1.12763, 2.06283], [1.1752, -2.08438], [2.54308, 4.25525]]
    assert derivatives(x.cosh(), x) == [[0.5211, -0.50522], [1.1752, -2.08438], [0.54308, 0.25525]]
    assert derivatives(x.tanh(), x) == [[0.78645, 1.88003], [-1.14328, 3.46267], [1.237, 3.53451]]
    assert derivatives(x.asinh(), x) == [[0.89443, 1.94029], [-0.64, 1.77163], [1.6, 3.76471]]
    assert derivatives((x + 2).acosh(), x) == [[0.43644, 1.39262], [-0.18141, -3.29109], [0.38095, 1.93939]]
    assert derivatives(x.atanh(), x) == [[1.33333, 2.13333], [4.74074, -4.85452], [3.55556, 4.55111]]
    assert derivatives(x.erf(), x) == [[0.87878, 2.12003], [-1.54452, 4.49452], [1.54452, 4.49452]]
    assert derivatives(x.erfc(), x) == [[-0.87878, -2.12003], [-1.54452, 4.49452], [1.54452, 4.49452]]
    assert derivatives(x.erfinv(), x) == [[1.11258, 1.86476], [2.62736, -2.922], [2.47569, 3.47732]]
    assert derivatives(x.atan2(y), x, y) == [
        [0.47059, -1.88235],
        [-0.11765, 0.47059],
        [-0.05536, 1.77163],
        [-0.22145, 7.08651],
        [0.47059, 3.76471],
    ]
    assert derivatives(x.hypot(y), x, y) == [
        [0.24254, -0.48507],
        [0.97014, -1.94029],
        [0.0, 0.0],
        [0.0, 0.0],
        [2.0, 4.0],
    ]
    assert derivatives(x.deg2rad() * x, x) == [[0.01745, -0.01745], [0.00122, -0.00244], [0.00061, 0.0003]]


def derivatives_of_products_and_quotients():
    """Sums with factors, remainders, what lies between two, and products that are added.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0, -1.5], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([[0.25], [4.0]], dtype=torch.float64, requires_grad=True)
    assert derivatives(x.add(y * y, alpha=3), x, y) == [
        [1.0, 2.0],
        [12.0, -18.0],
        [144.0, -432.0],
        [290.0, 328.0],
    ]
    assert derivatives((x * x).sub(y, alpha=0.5), x) == [[1.0, 12.0], [4.0, 96.0], [2.0, 144.0]]
    assert derivatives(torch.rsub(x * x, y * y, alpha=0.5), x, y) == [
        [-0.5, -6.0],
        [4.0, -6.0],
        [1.0, 24.0],
        [16.0, -48.0],
        [32.5, 72.0],
    ]
    assert derivatives(x * z, x, z) == [
        [12.25, 16.5],
        [6.5, 13.5],
        [94.0, 134.0],
        [90.5, 205.5],
        [12.625, 47.25, 111.5, 213.0],
    ]
    assert derivatives(x / z, x, z) == [
        [4.75, 9.0],
        [-104.0, -0.84375],
        [3328.31641, 6656.42188],
        [-173784.0, -6.99316],
        [1702.0, 10056.0, 2.42773, 4.81641],
    ]
    assert derivatives(2 / x, x) == [[-8.0, -0.44444], [-512.0, -0.26337], [128.0, 0.19753]]
    assert derivatives(x.square().remainder(y), x, y) == [
        [1.0, 12.0],
        [0.0, 12.0],
        [4.0, 96.0],
        [0.0, 0.0],
        [2.0, 288.0],
    ]
    assert derivatives(x.square().fmod(y), x, y) == [
        [1.0, 12.0],
        [0.0, 12.0],
        [4.0, 96.0],
        [0.0, 0.0],
        [2.0, 288.0],
    ]
    assert derivatives((x * x).remainder(0.75), x) == [[1.0, 12.0], [4.0, 96.0], [2.0, 144.0]]
    assert derivatives((x * x).frac(), x) == [[1.0, 12.0], [4.0, 96.0], [2.0, 144.0]]
    assert derivatives(x.lerp(y, 0.25).square(), x, y) == [
        [1.3125, 5.625],
        [0.4375, 1.875],
        [3.28125, 28.125],
        [1.09375, 9.375],
        [3.82812, 35.15625],
    ]
    assert derivatives(x.lerp(y, z), x, y, z) == [
        [-8.25, -10.5],
        [12.25, 16.5],
        [-7.5, -13.5],
        [96.0, 138.0],
        [-96.0, -138.0],
        [149.0, 339.0],
        [-28.75, 60.0, 107.0, 316.5],
    ]
    assert derivatives(x.addcmul(y, z, value=0.5), x, y, z) == [
        [4.0, 6.0],
        [6.125, 8.25],
        [-0.5, 0.0],
        [-0.5, -1.0],
        [22.625, 51.375],
        [8.53125, 14.8125, 32.5, 45.0],
    ]
    assert derivatives(x.addcdiv(y, z, value=0.5), x, y, z) == [
        [4.0, 6.0],
        [2.375, 4.5],
        [8.0, 0.0],
        [-128.0, -256.0],
        [-1206.0, -1.57031],
        [-238.5, 222.0, 8.59375, 13.125],
    ]
    assert derivatives(torch.where(x > y, x * y, z), x, y, z) == [
        [0.0, -9.0],
        [0.0, 18.0],
        [1.0, 3.0],
        [0.0, 216.0],
        [0.0, -108.0],
        [2.0, 135.0, 6.0, 135.0],
    ]
    assert derivatives((x * x).masked_fill(y > 0, z[0, 0]), x, z) == [
        [0.0, 12.0],
        [1.0, 0.0],
        [0.0, 96.0],
        [2.0, 144.0],
    ]


def derivatives_within_bounds():
    """Within and outside of bounds that are numbers or tensors, crossed bounds included.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
    low = torch.tensor([2.5, 1.5, 3.5, 5.0], dtype=torch.float64, requires_grad=True)
    high = torch.tensor([4.0, 3.5, 3.25, 4.5], dtype=torch.float64, requires_grad=True)
    assert derivatives((x * x).clamp(3.5, 10.0), x) == [
        [0.0, 8.0, 18.0, 0.0],
        [0.0, 64.0, 216.0, 0.0],
        [0.0, 64.0, 216.0, 0.0],
    ]
    assert derivatives((x * x).clamp_min(3.5), x) == [
        [0.0, 8.0, 18.0, 32.0],
        [0.0, 64.0, 216.0, 512.0],
        [0.0, 64.0, 216.0, 512.0],
    ]
    assert derivatives((x * x).clamp_max(10.0), x) == [
        [2.0, 8.0, 18.0, 0.0],
        [8.0, 64.0, 216.0, 0.0],
        [8.0, 64.0, 216.0, 0.0],
    ]
    assert derivatives(x.clamp(low, high) * x, x, low, high) == [
        [2.5, 8.0, 9.75, 18.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 9.0, 16.0],
        [2.0, 64.0, 54.0, 128.0],
        [5.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 58.5, 144.0],
        [14.5, 64.0, 117.375, 290.0],
    ]
    assert derivatives(x.clamp(min=low) * x, x, low) == [
        [2.5, 8.0, 10.5, 20.0],
        [1.0, 0.0, 9.0, 16.0],
        [2.0, 64.0, 54.0, 128.0],
        [5.0, 0.0, 63.0, 160.0],
        [14.5, 64.0, 127.5, 328.0],
    ]
    assert derivatives(x.clamp(max=high) * x, x, high) == [
        [2.0, 8.0, 18.0, 32.0],
        [0.0, 0.0, 0.0, 0.0],
        [8.0, 64.0, 216.0, 512.0],
        [0.0, 0.0, 0.0, 0.0],
        [8.0, 64.0, 216.0, 512.0],
    ]
    assert derivatives(x.clamp_min(low) * x, x, low) == [
        [2.5, 8.0, 10.5, 20.0],
        [1.0, 0.0, 9.0, 16.0],
        [2.0, 64.0, 54.0, 128.0],
        [5.0, 0.0, 63.0, 160.0],
        [14.5, 64.0, 127.5, 328.0],
    ]
    assert derivatives(x.clamp_max(high) * x, x, high) == [
        [2.0, 8.0, 18.0, 32.0],
        [0.0, 0.0, 0.0, 0.0],
        [8.0, 64.0, 216.0, 512.0],
        [0.0, 0.0, 0.0, 0.0],
        [8.0, 64.0, 216.0, 512.0],
    ]
    assert derivatives(x.maximum(low) * x, x, low) == [
        [2.5, 8.0, 10.5, 20.0],
        [1.0, 0.0, 9.0, 16.0],
        [2.0, 64.0, 54.0, 128.0],
        [5.0, 0.0, 63.0, 160.0],
        [14.5, 64.0, 127.5, 328.0],
    ]
    assert derivatives(x.minimum(high) * x, x, high) == [
        [2.0, 8.0, 18.0, 32.0],
        [0.0, 0.0, 0.0, 0.0],
        [8.0, 64.0, 216.0, 512.0],
        [0.0, 0.0, 0.0, 0.0],
        [8.0, 64.0, 216.0, 512.0],
    ]
    assert derivatives((x - 2).abs() * x, x) == [
        [0.0, 0.0, 12.0, 24.0],
        [0.0, 0.0, 144.0, 384.0],
        [0.0, 0.0, 96.0, 288.0],
    ]
    assert derivatives((x - 2).relu() * x, x) == [
        [0.0, 0.0, 12.0, 24.0],
        [0.0, 0.0, 144.0, 384.0],
        [0.0, 0.0, 96.0, 288.0],
    ]


def derivatives_of_remainders_and_scaled_differences():
    """Of both operands, on either side of zero. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([-7.0, 7.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0, -2.0], dtype=torch.float64, requires_grad=True)
    grad = torch.autograd.grad
    ones = torch.ones(2, dtype=torch.float64)
    assert [g.tolist() for g in grad(torch.remainder(x, y), (x, y), ones)] == [[1.0, 1.0], [4.0, 4.0]]
    assert [g.tolist() for g in grad(torch.fmod(x, y), (x, y), ones)] == [[1.0, 1.0], [3.0, 3.0]]
    assert [g.tolist() for g in grad(torch.rsub(x, y, alpha=3), (x, y), ones)] == [[-3.0, -3.0], [1.0, 1.0]]
    assert [g.tolist() for g in grad(torch.sub(x, y, alpha=3), (x, y), ones)] == [[1.0, 1.0], [-3.0, -3.0]]
    assert [g.tolist() for g in grad(torch.add(x, y, alpha=3), (x, y), ones)] == [[1.0, 1.0], [3.0, 3.0]]
    assert grad(torch.rsub(x, 2, alpha=3), x, ones)[0].tolist() == [-3.0, -3.0]
    assert grad(torch.sub(2, x, alpha=3), x, ones)[0].tolist() == [-3.0, -3.0]


def derivatives_at_zero_are_numbers():
    """Of angles, powers and lengths: what does not depend on an operand there has gradient zero.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([0.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0.0, 2.0, 0.0], dtype=torch.float64, requires_grad=True)
    ones = torch.ones(3, dtype=torch.float64)
    found = lambda out, *of: [[round(v, 5) + 0.0 for v in g] for g in _given(out, of, ones)]
    assert found(torch.atan2(x, y), x, y) == [[0.0, 0.5, 0.0], [0.0, 0.0, -0.33333]]
    assert found(x**y, x, y) == [[0.0, 0.0, 0.0], [0.0, 0.0, 1.09861]]
    assert found(torch.hypot(x, y + 1), x, y) == [[0.0, 0.0, 0.94868], [1.0, 1.0, 0.31623]]
    assert found(torch.xlogy(x, y + 1), x, y) == [[0.0, 1.09861, 0.0], [0.0, 0.0, 3.0]]
    z = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert found(0.0**z, z) == [[float("-inf"), 0.0, 0.0]] == found(torch.pow(0, z), z)


def _given(out, inputs, upstream):
    """Return the gradients as lists."""
    return [g.tolist() for g in torch.autograd.grad(out, inputs, upstream)]
