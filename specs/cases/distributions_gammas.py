"""torch.distributions: densities by the gamma function, of counts, of angles and on the unit interval."""

import torch

from specs.cases._densities import valued
from specs.cases._measures import derivatives


def densities_by_the_gamma_function():
    """Gamma, Chi2, Beta, Dirichlet, StudentT. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    a = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.625, 0.25], dtype=torch.float64, requires_grad=True)
    x = d.Gamma(a, s)
    assert derivatives(x.log_prob(v), a, s, v) == [
        [2.18665, -6.00445],
        [-0.375, 11.5],
        [-2.8, 15.0],
        [-30.91641, 341.48545],
        [7.8804, -660.03561],
        [0.57929, -2062.07123],
        [25.52416, 393.30344],
    ]
    assert [valued(each, a, s) for each in (x.mean, x.mode, x.variance, x.entropy())] == [
        [[0.25, 6.0], [0.5, 4.0], [-0.125, -24.0]],
        [[0.0, 4.0], [0.0, 4.0], [0.0, -16.0]],
        [[0.125, 12.0], [0.25, 8.0], [-0.125, -96.0]],
        [[-0.60254, 2.54073], [3.4674, 0.42026], [-0.5, -4.0]],
    ]
    x = d.Chi2(a)
    assert derivatives(x.log_prob(v), a, v) == [
        [1.53215, -2.11593],
        [-1.7, 3.0],
        [-15.89446, 25.97798],
        [-4.07656, -112.92745],
        [10.47498, 13.47717],
    ]
    assert [valued(each, a) for each in (x.df, x.mean, x.variance, x.entropy())] == [
        [[0.5, 3.0], [1.0, 2.0]],
        [[0.5, 3.0], [1.0, 2.0]],
        [[1.0, 6.0], [2.0, 4.0]],
        [[-0.93942, 2.05412], [6.949, 0.5326]],
    ]
    x = d.Beta(a, s)
    assert derivatives(x.log_prob(v), a, s, v) == [
        [2.19666, -2.41184],
        [-0.70046, 5.55797],
        [-3.46667, 17.33333],
        [-31.30618, 285.3008],
        [20.85974, -197.99697],
        [51.19413, -2225.26905],
        [34.66749, 337.15246],
    ]
    assert [valued(each, a, s) for each in (x.mean, x.variance, x.entropy())] == [
        [[0.2, 0.85714], [0.32, 0.08163], [-0.08, -0.4898]],
        [[0.04571, 0.02721], [0.0418, -0.02505], [-0.02678, 0.06565]],
        [[-0.76528, -1.10805], [2.71258, -0.58866], [-0.39976, 5.92588]],
    ]
    assert [valued(each, a, s) for each in (x.concentration1, x.concentration0)] == [
        [[0.5, 3.0], [1.0, 2.0], [0.0, 0.0]],
        [[2.0, 0.5], [0.0, 0.0], [1.0, 2.0]],
    ]
    x = d.Dirichlet(torch.stack([a, s]))
    assert derivatives(x.log_prob(torch.stack([v, 1 - v], -1)), a, s, v) == [
        [2.59666, -0.80046],
        [-2.21184, 4.75797],
        [-6.13333, 9.33333],
        [-44.06792, 34.53015],
        [160.03336, -138.70228],
        [171.33635, -624.91349],
        [90.00234, 114.64164],
    ]
    assert [valued(each, a, s) for each in (x.mean, x.variance, x.entropy())] == [
        [[0.14286, 0.85714, 0.8, 0.2], [-0.2449, 0.04082], [-0.08, 0.32]],
        [[0.02721, 0.02721, 0.04571, 0.04571], [0.09848, -0.03758], [-0.18743, 0.29257]],
        [[-1.10805, -0.76528], [2.96294, -0.29433], [-0.79951, 5.42516]],
    ]
    x = d.StudentT(a, s, v)
    assert derivatives(x.log_prob(v * 3), a, s, v) == [
        [0.64343, 0.09861],
        [-0.88889, 8.0],
        [1.24444, -24.0],
        [-12.76467, -0.01215],
        [63.91006, -256.0],
        [-211.99626, -4608.0],
        [5.50553, 640.00972],
    ]
    assert [valued(each, a, s, v) for each in (x.mean, x.variance, x.entropy())] == [
        [["nan", 0.5], None, [0.0, 2.0], None],
        [["nan", 0.1875], [0.0, -0.25], None, [0.0, 3.0]],
        [[3.19672, 0.38718], [-4.49579, -0.2464], None, [1.6, 8.0]],
    ]
    assert str(d.StudentT(a + 1.25).variance.tolist()) == "[inf, 1.8888888888888888]"
    made = (d.Beta(a, s), d.Gamma(1.0, 2.0), d.Chi2(a), d.StudentT(4.0))
    assert [repr(each).replace(", grad_fn=<MulBackward0>", "") for each in made] == [
        "Beta()",
        "Gamma(concentration: 1.0, rate: 2.0)",
        "Chi2()",
        "StudentT(df: 4.0, loc: 0.0, scale: 1.0)",
    ]
    shapes = [(tuple(each.batch_shape), tuple(each.event_shape)) for each in (*made, d.Dirichlet(a))]
    assert shapes == [((2,), ()), ((), ()), ((2,), ()), ((), ()), ((), (2,))]


def densities_of_counts():
    """Poisson, Geometric, Binomial, Multinomial, and Cauchy's. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    p = torch.tensor([0.25, 0.5], dtype=torch.float64, requires_grad=True)
    n = torch.tensor([3.0, 1.0], dtype=torch.float64)
    x = d.Poisson(s)
    assert derivatives(x.log_prob(n), s) == [[0.5, 2.0], [-0.75, -32.0], [0.5, 4.0]]
    assert [valued(each, s) for each in (x.mean, x.variance, x.stddev)] == [
        [[2.0, 0.5], [1.0, 2.0]],
        [[2.0, 0.5], [1.0, 2.0]],
        [[1.41421, 0.70711], [0.35355, 1.41421]],
    ]
    assert valued(x.log_prob(n.unsqueeze(1)), s) == [[-1.71232, -4.3712, -1.30685, -1.19315], [-1.0, 14.0]]
    x = d.Geometric(p)
    assert derivatives(x.log_prob(n), p) == [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert [valued(each, p) for each in (x.mean, x.variance, x.entropy())] == [
        [[3.0, 1.0], [-16.0, -8.0]],
        [[12.0, 2.0], [-112.0, -24.0]],
        [[2.24934, 1.38629], [-4.60291, -5.54518]],
    ]
    assert valued(d.Geometric(logits=a).log_prob(n), a) == [[-3.39631, -1.62652], [-1.48984, 0.92423]]
    assert (
        str(d.Geometric(p.detach().round() + 0.5, validate_args=False).log_prob(n * 0).tolist())
        == "[-0.6931471805599453, -0.6931471805599453]"
    )
    x = d.Binomial(4, p)
    assert derivatives(x.log_prob(n), p) == [[10.66667, -8.0], [-1061.92593, 0.0], [227.55556, 64.0]]
    assert [valued(each, p) for each in (x.mean, x.variance)] == [
        [[1.0, 2.0], [4.0, 8.0]],
        [[0.75, 1.0], [2.0, 0.0]],
    ]
    assert valued(d.Binomial(torch.tensor([5, 2]), logits=a).log_prob(n), a) == [
        [-1.0678, -0.93338],
        [-0.1123, 0.92423],
    ]
    assert (x.support.check(n * 2).tolist(), x.total_count.dtype, tuple(x.batch_shape)) == (
        [False, True],
        torch.float64,
        (2,),
    )
    assert tuple(d.Binomial(torch.ones(3, 1), p).batch_shape) == (3, 2)
    x = d.Multinomial(4, p)
    assert derivatives(x.log_prob(n), p) == [[6.66667, -3.33333], [-592.59259, 74.07407], [111.11111]]
    assert [valued(each, p) for each in (x.mean, x.variance, x.probs, x.logits)] == [
        [[1.33333, 2.66667], [-3.55556, 1.77778]],
        [[0.88889, 0.88889], [3.55556, -1.77778]],
        [[0.33333, 0.66667], [-0.88889, 0.44444]],
        [[-1.09861, -0.40547], [0.0, 0.0]],
    ]
    x = d.Multinomial(4, logits=a)
    assert valued(x.log_prob(n), a) == [[-0.91936], [-0.2703, 0.2703]]
    assert (x.total_count, tuple(x.batch_shape), tuple(x.event_shape)) == (4, (), (2,))
    none = d.Multinomial(4, torch.tensor([0.0, 1.0]))
    assert none.log_prob(torch.tensor([0.0, 4.0])).item() == -4.768372150465439e-07
    x = d.Cauchy(a, s)
    assert derivatives(x.log_prob(p), a, s, p) == [
        [-0.12308, 2.4],
        [-0.48462, 3.2],
        [0.12308, -2.4],
        [0.11745, 6.144],
        [-0.27983, -68.608],
        [-0.11745, -6.144],
        [0.5303, 21.76],
    ]
    assert [valued(each, a, s) for each in (x.mean, x.mode, x.variance, x.entropy())] == [
        [["nan", "nan"], None, None],
        [[0.5, -1.0], [1.0, 2.0], None],
        [["inf", "inf"], None, None],
        [[3.22417, 1.83788], None, [0.5, 4.0]],
    ]


def densities_of_angles():
    """By Bessel functions, small and large. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 5.0], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.625, 0.25], dtype=torch.float64, requires_grad=True)
    x = d.VonMises(a, s)
    assert derivatives(x.log_prob(v), a, s, v) == [
        [0.24935, 9.48985],
        [0.29442, -1.15612],
        [-0.24935, -9.48985],
        [-1.90582, -124.083],
        [0.02765, 72.15299],
        [1.90582, 124.083],
        [0.42207, 181.45098],
    ]
    assert [valued(each, a, s) for each in (x.mean, x.mode, x.variance, x.stddev)] == [
        [[0.5, -1.0], [1.0, 2.0], None],
        [[0.5, -1.0], [1.0, 2.0], None],
        [[0.30223, 0.10662], None, [-0.16422, -0.04638]],
        [[0.54975, 0.32652], None, [-0.14936, -0.07102]],
    ]
    x = d.VonMises(a, s * 0.1)
    assert valued(x.log_prob(v), a, s, v) == [
        [-1.64941, -1.74177],
        [0.02493, 0.94898],
        [0.08927, 0.01456],
        [-0.02493, -0.94898],
    ]
    assert valued(x.variance, s) == [[0.9005, 0.7575], [-0.04926, -0.09124]]
    y = d.VonMises(0.0, torch.tensor([0.0001, 3.75, 30.0, 1000.0], dtype=torch.float64))
    assert [[round(v, 6) for v in each.tolist()] for each in (y.variance, y.log_prob(y.loc + 0.1))] == [
        [0.99995, 0.14683, 0.01681, 0.0005],
        [-1.837778, -0.316966, 0.627546, -2.461021],
    ]
    assert (x.has_rsample, repr(x.support), tuple(x.expand((3, 2)).mean.shape)) == (False, "Real()", (3, 2))
    drawn = y.sample((5,))
    assert (tuple(drawn.shape), drawn.dtype, drawn.abs().max().item() <= 3.1416) == (
        (5, 4),
        torch.float64,
        True,
    )
    assert derivatives(d.Normal(a, s).log_prob(v), a) == [[0.03125, 0.1], [-0.01562, -0.016], [0.00195, 0.01]]


def densities_on_the_unit_interval():
    """Continuous Bernoulli's, also near one half, where series stand for it.

    Rule: op/derivatives-beyond-programs.
    """
    d = torch.distributions
    p = torch.tensor([0.25, 0.5, 0.8], dtype=torch.float64, requires_grad=True)
    a = torch.tensor([0.5, -1.0, 0.001], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.625, 0.25, 0.9], dtype=torch.float64, requires_grad=True)
    x = d.ContinuousBernoulli(p)
    assert derivatives(x.log_prob(v), p, v) == [
        [1.14539, -2.0, 5.40027],
        [-1.09861, 0.0, 4.15888],
        [-23.83281, 10.66667, 278.61678],
        [12.2175, -32.0, 202.50998],
        [5.03774, 4.0, 30.97279],
    ]
    assert [valued(each, p) for each in (x.mean, x.variance, x.stddev, x.entropy(), x.logits)] == [
        [[0.41024, 0.5, 0.61199], [0.41886, 0.66667, 1.42308]],
        [[0.07854, 0.08333, 0.0759], [0.04443, 0.0, -0.18665]],
        [[0.28024, 0.28868, 0.2755], [0.07927, 0.0, -0.33875]],
        [[-0.04882, 0.0, -0.07641], [0.46016, 0.0, -1.97281]],
        [[-1.09861, 0.0, 1.38629], [5.33333, 8.0, 18.75]],
    ]
    assert [valued(each, p, v) for each in (x.cdf(v), x.icdf(v))] == [
        [[0.7451, 0.25, 0.8274], [-0.52941, 0.0, -1.09763], [0.82934, 2.0, 4.82736]],
        [[0.49062, 0.25, 0.94376], [0.64796, 0.0, 0.39508], [1.04027, 2.0, 1.75463]],
    ]
    y = d.ContinuousBernoulli(logits=a)
    assert derivatives(y.log_prob(v), a, v) == [
        [0.08351, -0.33605, 1.19975],
        [0.5, -2.0, 0.003],
        [0.98625, -7.89337, -0.58187],
        [0.16701, -1.34419, 7.1985],
        [0.51395, 4.11293, 0.95961],
    ]
    assert [valued(each, a) for each in (y.mean, y.variance, y.entropy(), y.probs)] == [
        [[0.54149, 0.41802, 0.50008], [0.0823, 0.15865, 0.25]],
        [[0.0823, 0.07933, 0.08333], [-0.00409, 0.01541, -2e-05]],
        [[-0.01035, -0.04065, 0.0], [-0.04115, 0.15865, -0.00025]],
        [[0.62246, 0.26894, 0.50025], [0.235, 0.39322, 0.75]],
    ]
    assert [valued(each, a, v) for each in (y.cdf(v), y.icdf(v))] == [
        [[0.56548, 0.34993, 0.9], [-0.1203, -0.20872, 0.0], [1.05349, 2.46409, 3.0]],
        [[0.68072, 0.17201, 0.9], [0.10493, 0.12556, 0.0], [0.92315, 1.50153, 3.0]],
    ]
    z = d.ContinuousBernoulli(p, lims=(0.2, 0.9))
    assert [valued(each, p) for each in (z.mean, z.variance, z.log_prob(v), z.entropy())] == [
        [[0.41111, 0.5, 0.6096], [0.4, 0.66667, 1.288]],
        [[0.0797, 0.08333, 0.07843], [0.02487, 0.0, -0.07611]],
        [[-0.18881, 0.0, 0.47009], [1.18889, -2.0, 5.0238]],
        [[-0.04617, 0.0, -0.06751], [0.3913, 0.0, -1.36435]],
    ]
    assert [valued(each, p, v) for each in (z.cdf(v), z.icdf(v))] == [
        [[0.625, 0.25, 0.9], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]],
        [[0.625, 0.25, 0.9], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]],
    ]
    ends = torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64)
    assert x.cdf(ends)[:2].tolist() == [0.0, 1.0]
    q = torch.tensor([0.0, 1.0], dtype=torch.float64)
    assert [round(e, 4) for e in d.ContinuousBernoulli(q).logits.tolist()] == [-36.0437, 36.0437]
    assert (tuple(d.ContinuousBernoulli(0.3).batch_shape), x.has_rsample, repr(x.support)) == (
        (),
        True,
        "Interval(lower_bound=0.0, upper_bound=1.0)",
    )
    assert [each.requires_grad for each in (x.sample((2,)), x.rsample((2,)))] == [False, True]
    assert [tuple(each.shape) for each in (x.sample((2,)), y.rsample())] == [(2, 3), (3,)]
