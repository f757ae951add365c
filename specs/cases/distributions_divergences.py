"""torch.distributions: divergences in closed form."""

import torch

from specs.cases._measures import derivatives, refusal_kinds


def divergences_of_rarer_distributions():
    """Of two of one kind, each of its parameters. Rule: op/derivatives-beyond-programs."""
    d, kl = torch.distributions, torch.distributions.kl_divergence
    a = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.25], dtype=torch.float64, requires_grad=True)
    p = torch.tensor([0.25, 0.5], dtype=torch.float64, requires_grad=True)
    assert derivatives(kl(d.Gamma(a, s), d.Gamma(s, a)), a, s) == [
        [-11.9022, 48.00547],
        [4.71009, -301.27029],
        [-1000.29109, 118101.37593],
        [182.4042, -1432371.93783],
        [327.69476, 93068.31227],
    ]
    assert derivatives(kl(d.Dirichlet(a), d.Dirichlet(s)), a, s) == [
        [-7.81515, 0.67312],
        [2.9169, -4.61963],
        [-498.81803, 5.27186],
        [78.07397, -162.24309],
        [182.75792],
    ]
    assert derivatives(kl(d.Poisson(a), d.Poisson(s)), a, s) == [
        [-1.38629, 4.96981],
        [0.75, -22.0],
        [-6.29518, 358.62642],
        [1.57379, -4303.51701],
        [4.96862, 508.69904],
    ]
    assert derivatives(kl(d.Geometric(p), d.Geometric(p * p)), p) == [
        [-2.8297, -2.08961],
        [-84.65128, -27.50211],
        [16.01444, 4.36648],
    ]
    assert derivatives(kl(d.HalfNormal(a), d.HalfNormal(s)), a, s) == [
        [-1.875, 95.33333],
        [0.46875, -1144.0],
        [-16.05469, 1763327.7037],
        [0.27832, -31702528.0],
        [7.4707, 1317824.44444],
    ]
    assert derivatives(kl(d.Cauchy(a, s), d.Cauchy(s, a)), a, s) == [
        [-1.76471, 0.65747],
        [0.44118, -7.88966],
        [-15.77855, 0.8726],
        [0.63581, -511.90259],
        [6.61765, 62.67893],
    ]
    assert derivatives(kl(d.Pareto(a + s, s), d.Pareto(p, a)), a, s, p) == [
        [1.00259, 12.92309],
        [0.575, -86.15385],
        [-2.0, -12.0],
        [25.5449, 5624.562],
        [-0.09539, -127546.43698],
        [-40.02068, -679.38473],
        [10.6716, 7733.4915],
    ]
    assert derivatives(kl(d.LogNormal(a, s), d.LogNormal(s, a)), a, s) == [
        [-54.0, 0.71296],
        [13.5, -8.55556],
        [-39204.0, -2.89146],
        [6702.75, -554.94925],
        [6196.5, 73.70585],
    ]
    m = torch.tensor([[2.0, 0.0], [0.75, 1.5]], dtype=torch.float64, requires_grad=True)
    x, y = d.MultivariateNormal(a, m @ m.t()), d.MultivariateNormal(s, scale_tril=m * m)
    assert derivatives(kl(x, y), a, s, m) == [
        [-0.176, 0.58488],
        [0.176, -0.58488],
        [0.12402, 0.20833, 0.35214, -1.99654],
        [-1.08464, 6.7775],
        [1.08464, -6.7775],
        [-1.60262, 0.5223, 4.48698, -36.52224],
        [9.83017],
    ]
    one = d.Independent(d.Normal(a, s), 1), d.Independent(d.Normal(s, a), 1)
    assert derivatives(kl(*one), a, s) == [
        [-54.0, 0.35648],
        [13.5, -4.27778],
        [-39204.0, -0.72287],
        [6702.75, -138.73731],
        [6233.35292],
    ]
    assert derivatives(kl(d.OneHotCategorical(p), d.OneHotCategorical(logits=a)), p, a) == [
        [1.60609, -0.80305],
        [-0.25748, 0.25748],
        [3.15403, -14.47466],
        [-3.64129, 3.64129],
        [6.714],
    ]


def binomials_differ_by_their_totals_too():
    """Of more draws, infinitely; of fewer, it is unknown. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    p = torch.tensor([0.25, 0.5], dtype=torch.float64, requires_grad=True)
    q = torch.tensor([0.5, 0.125], dtype=torch.float64)
    assert derivatives(d.kl_divergence(d.Binomial(3, p), d.Binomial(3, q)), p) == [
        [-3.29584, 11.67546],
        [-105.46678, 560.42212],
        [21.72508, 136.31639],
    ]
    assert derivatives(d.Binomial(3, p).entropy(), p) == [[1.64792, 0.0], [-31.00831, 0.0], [5.43127, 0.0]]
    assert d.kl_divergence(d.Binomial(3, p), d.Binomial(2, q)).isposinf().all().item()
    assert d.Binomial(2, q).enumerate_support().tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    assert d.Binomial(2, q).enumerate_support(False).tolist() == [[0.0], [1.0], [2.0]]
    assert (
        refusal_kinds(
            [
                lambda: d.kl_divergence(d.Binomial(2, p), d.Binomial(3, q)),
                lambda: d.Binomial(torch.tensor([2, 3]), q).entropy(),
                lambda: d.Binomial(torch.tensor([2, 3]), q).enumerate_support(),
            ]
        )
        == "NNN"
    )
