"""torch.distributions: densities of vectors, and of mixtures."""

import torch

from specs.cases._densities import valued
from specs.cases._measures import derivatives


def densities_of_vectors():
    """By a covariance, its inverse, its factor, or a few directions. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.625, 0.25], dtype=torch.float64, requires_grad=True)
    m = torch.tensor([[2.0, 0.0], [0.75, 1.5]], dtype=torch.float64, requires_grad=True)
    p = m @ m.t()
    x = d.MultivariateNormal(a, p)
    assert derivatives(x.log_prob(v), a, m, v) == [
        [-0.16927, 0.53472],
        [-0.51058, 0.11423, 0.03342, -0.23777],
        [0.16927, -0.53472],
        [0.29034, -0.68059],
        [-0.3129, 0.69873, 0.18271, -1.49786],
        [-0.29034, 0.68059],
        [1.92111],
    ]
    assert [valued(each, a, m) for each in (x.mean, x.mode, x.variance, x.entropy(), x.scale_tril)] == [
        [[0.5, -1.0], [1.0, 2.0], None],
        [[0.5, -1.0], [1.0, 2.0], None],
        [[4.0, 2.8125], None, [4.0, 0.0, 3.0, 6.0]],
        [[3.93649], None, [0.5, -0.25, 0.0, 0.66667]],
        [[2.0, 0.0, 0.75, 1.5], None, [1.0, 0.75, 3.0, 4.0]],
    ]
    x = d.MultivariateNormal(a, precision_matrix=p)
    assert derivatives(x.log_prob(v), a, m, v) == [
        [2.375, 3.70312],
        [0.35156, -0.48438, -1.48438, -1.67708],
        [-2.375, -3.70312],
        [-68.44629, -74.9126],
        [15.20093, 21.70806, 60.07829, 62.26841],
        [68.44629, 74.9126],
        [88.16343],
    ]
    assert [valued(each, m) for each in (x.variance, x.entropy(), x.covariance_matrix)] == [
        [[0.3125, 0.44444], [-0.3125, 0.60069, 0.16667, -1.26852]],
        [[1.73926], [-0.5, 0.25, 0.0, -0.66667]],
        [[0.3125, -0.16667, -0.16667, 0.44444], [0.10417, -0.20486, -0.94444, -1.34259]],
    ]
    x = d.MultivariateNormal(a, scale_tril=m)
    assert derivatives(x.log_prob(v), a, m, v) == [
        [-0.16927, 0.53472],
        [-0.51058, 0.0, 0.03342, -0.23777],
        [0.16927, -0.53472],
        [0.35727, -0.73691],
        [-0.29567, 0.0, 0.15203, -1.52945],
        [-0.35727, 0.73691],
        [1.89501],
    ]
    assert [valued(each, m) for each in (x.variance, x.entropy(), x.covariance_matrix)] == [
        [[4.0, 2.8125], [4.0, 0.0, 3.0, 6.0]],
        [[3.93649], [0.5, 0.0, 0.0, 0.66667]],
        [[4.0, 1.5, 1.5, 2.8125], [7.75, 7.5, 16.0, 12.0]],
    ]
    x = d.LowRankMultivariateNormal(a, m[:, :1], v)
    assert derivatives(x.log_prob(v), a, m, v) == [
        [-1.17617, 3.70984],
        [-0.83742, 0.0, 1.28454, 0.0],
        [1.59842, 1.63795],
        [18.90228, -66.93013],
        [9.17553, 0.0, -30.93788, 0.0],
        [-40.19612, -161.40958],
        [45.47092],
    ]
    assert [valued(each, m, v) for each in (x.variance, x.entropy(), x.covariance_matrix)] == [
        [[4.625, 0.8125], [4.0, 0.0, 3.0, 0.0], [1.0, 2.0]],
        [[3.04321], [0.33161, 0.0, 0.31088, 0.0], [0.26943, 1.53368]],
        [[4.625, 1.5, 1.5, 0.8125], [7.75, 0.0, 16.0, 0.0], [1.0, 4.0]],
    ]
    assert [valued(each, m, v) for each in (x.scale_tril, x.precision_matrix)] == [
        [[2.15058, 0.0, 0.69749, 0.57098], [0.84109, 0.0, 3.49997, 0.0], [0.37473, 3.50277]],
        [[0.53886, -0.99482, -0.99482, 3.06736], [2.92862, 0.0, -10.50831, 0.0], [-1.56869, -23.36707]],
    ]


def densities_of_mixtures():
    """Of numbers and of vectors. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.625, 0.25], dtype=torch.float64, requires_grad=True)
    x = d.MixtureSameFamily(d.Categorical(logits=a), d.Normal(a, s))
    assert derivatives(x.log_prob(v), a, s, v) == [
        [0.37757, -0.05708],
        [-1.44274, 0.885],
        [-0.06054, -0.25995],
        [-2.88629, 6.50948],
        [-1.17302, 5.69847],
        [-0.58344, -3.03974],
        [1.76598, 2.1988],
    ]
    assert [valued(each, a, s) for each in (x.mean, x.variance)] == [
        [[0.22636], [1.04129, -0.04129], None],
        [[3.65148], [0.7936, -0.7936], [3.2703, 0.18243]],
    ]
    y = d.MixtureSameFamily(d.Categorical(v), d.Independent(d.Normal(torch.stack([a, s]), s), 1))
    assert derivatives(y.log_prob(v), a, s, v) == [
        [0.00425, 0.67976],
        [-0.59255, -0.73264],
        [-0.63257, 2.49763],
        [-0.27276, -31.55978],
        [-1.1045, -79.85573],
        [-3.4728, -12.37024],
        [15.97653],
    ]
    assert [valued(each, a, s, v) for each in (y.mean, y.variance)] == [
        [[0.92857, -0.57143], [0.71429, 1.42857], [0.28571, 0.57143], [-1.46939, 3.67347]],
        [[4.45918, 0.70918], [-0.61224, -1.22449], [4.61224, 3.22449], [-0.94461, 2.36152]],
    ]
    assert [tuple(each.sample((3,)).shape) for each in (x, y)] == [(3,), (3, 2)]
