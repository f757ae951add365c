"""torch.distributions: samples by their support, and how those with a history follow the parameters."""

import torch

from specs.cases._measures import derivatives, error_kinds


class _Own(torch.distributions.Normal):
    """A class of its own, with divergences of its own."""


def _slopes(x, *inputs):
    """Return the gradients of the sum of a sample."""
    return torch.autograd.grad(x.sum(), inputs, retain_graph=True)


def _near(x, y, least=1e-4):
    return bool(((x - y).abs() < least + least * y.abs()).all())


def _follows(law, a, s):
    """Return the shape, flags and slopes of a sample that is a location and a number times the scale."""
    x = law.rsample((4, 3))
    of_a, of_s = _slopes(x, a, s)
    return [x.shape == (4, 3, 2), x.requires_grad, of_a.tolist(), _near(of_s, ((x - a) / s).sum((0, 1)))]


def _share_below(a, x):
    """Return the share of a gamma distribution that lies below, by its series."""
    terms = [(x.log() * (a + k) - x - torch.lgamma(a + k + 1)).exp() for k in range(60)]
    return torch.stack(terms).sum(0)


def samples_follow_location_and_scale():
    """By what was drawn, times the scale. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    torch.manual_seed(3)
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    n = torch.tensor([3.0, 5.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(d.Cauchy(a, s).log_prob(n), a, s) == [
        [0.4878, 0.66207],
        [0.10976, 3.94483],
        [0.0, 0.0],
        [-0.25, -64.0],
        [0.5, 16.0],
    ]
    laws = (d.Normal(a, s), d.Cauchy(a, s), d.Laplace(a, s), d.Gumbel(a, s), d.StudentT(n, a, s))
    assert [_follows(law, a, s) for law in laws] == [[True, True, [12.0, 12.0], True]] * 5
    x = d.LogNormal(a, s).rsample((5,))
    of_a, of_s = _slopes(x, a, s)
    assert _near(of_a, x.sum(0)) and _near(of_s, (x * (x.log() - a) / s).sum(0))
    x = d.LogisticNormal(a, s).rsample((5,))
    assert [x.shape == (5, 3), _near(x.sum(-1), torch.ones(5, dtype=torch.float64))] == [True, True]
    x = d.Uniform(a, n).rsample((5,))
    of_a, of_n = _slopes(x, a, n)
    assert _near(of_n, ((x - a) / (n - a)).sum(0)) and _near(of_a + of_n, torch.full_like(a, 5.0))
    assert bool((x >= a).all()) and bool((x < n).all())
    x = d.HalfNormal(s).rsample((6,))
    assert _near(_slopes(x, s)[0], (x / s).sum(0)) and bool((x >= 0).all())
    x = d.Exponential(s).rsample((6,))
    assert _near(_slopes(x, s)[0], -(x / s).sum(0)) and bool((x >= 0).all())
    x = d.Pareto(s, n).rsample((6,))
    assert _near(_slopes(x, s)[0], (x / s).sum(0)) and bool((x >= s).all())
    x = d.Weibull(s, n).rsample((6,))
    of_s, of_n = _slopes(x, s, n)
    assert _near(of_s, (x / s).sum(0)) and _near(of_n, -(x * (x / s).log() / n).sum(0))
    law = d.Independent(d.Normal(a, s), 1)
    x = law.rsample((4,))
    assert [law.has_rsample, x.shape == (4, 2), _slopes(x, a)[0].tolist()] == [True, True, [4.0, 4.0]]
    assert [repr(law), law.sample((2,)).requires_grad, round(law.entropy().item(), 5)] == [
        "Independent(Normal(loc: torch.Size([2]), scale: torch.Size([2])), 1)",
        False,
        2.83788,
    ]


def samples_follow_shapes():
    """As the share below them stays: where that has a formula, so has their slope.

    Rule: op/derivatives-beyond-programs.
    """
    d = torch.distributions
    torch.manual_seed(5)
    a = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
    b = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert derivatives(d.Gamma(a, b).log_prob(a.detach()), a, b) == [
        [1.27036, 0.35166],
        [0.0, 0.0],
        [-12.53798, -0.55552],
        [2.54073, 1.40662],
        [3.22764, 0.12366],
    ]
    x = d.Beta(a, b.detach()).rsample()
    assert x.shape == (2,) and _near(_slopes(x, a)[0], -x * x.log() / a, 2e-2)
    x = d.Beta(b.detach(), a).rsample()
    assert _near(_slopes(x, a)[0], (1 - x) * (1 - x).log() / a, 2e-2)
    x = d.Dirichlet(torch.stack((a, b.detach()), -1)).rsample((3,))
    y = x.select(-1, 0)
    assert [x.shape == (3, 2, 2), _near(x.sum(-1), torch.ones(3, 2, dtype=torch.float64))] == [True, True]
    assert _near(_slopes(y, a)[0], (-y * y.log() / a).sum(0), 2e-2)
    x = d.Gamma(a, b).rsample((3,))
    of_a, of_b = _slopes(x, a, b)
    assert _near(of_b, -x.sum(0)) and bool((of_a > 0).all()) and bool((x > 0).all())
    h = 1e-4
    low, high = (_share_below(a.detach() + e, x.detach()) for e in (-h, h))
    assert _near(of_a, (-(high - low) / (2 * h) / d.Gamma(a, b).log_prob(x).exp()).sum(0).detach(), 2e-2)
    x = d.Chi2(a).rsample((2, 3))
    assert [x.shape == (2, 3, 2), bool((x > 0).all()), bool((_slopes(x, a)[0] > 0).all())] == [
        True,
        True,
        True,
    ]
    x = d.InverseGamma(a, b).rsample((3,))
    assert _near(_slopes(x, b)[0], x.sum(0)) and bool((_slopes(x, a)[0] < 0).all())
    x = d.FisherSnedecor(a, b).rsample((3,))
    assert [x.shape == (3, 2), bool((x > 0).all()), x.requires_grad, a.grad is None] == [
        True,
        True,
        True,
        True,
    ]
    x = d.Kumaraswamy(a, b).rsample((3,))
    assert _near(_slopes(x, a)[0], (-x * x.log() / a).sum(0))
    x = d.ContinuousBernoulli(a / 4).rsample((3,))
    assert [x.shape == (3, 2), bool(((x >= 0) & (x <= 1)).all()), bool((_slopes(x, a)[0] > 0).all())] == [
        True,
        True,
        True,
    ]
    assert [
        d.StudentT(a).mode.tolist(),
        d.Cauchy(a, b).mode.tolist(),
        d.Cauchy(a, b).mean.tolist()[0] > 0,
    ] == [[0.0, 0.0], [0.5, 3.0], False]


def samples_of_vectors():
    """Mixed by a factor of their covariance. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    torch.manual_seed(7)
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([[2.0, 0.0], [0.5, 1.0]], dtype=torch.float64, requires_grad=True)
    law = d.MultivariateNormal(a, scale_tril=w)
    assert derivatives(law.log_prob(torch.zeros(2, dtype=torch.float64)), a, w) == [
        [-0.40625, 1.125],
        [-0.39844, 0.0, -0.28125, 0.26562],
        [1.24268, -3.73926],
        [-0.63446, 0.0, 1.27979, -7.20972],
        [3.47815],
    ]
    x = law.rsample((3,))
    of_a, of_w = _slopes(x, a, w)
    drawn = ((x[:, 0] - a[0]) / 2).sum()
    assert [x.shape == (3, 2), of_a.tolist(), _near(of_w[0, 0], drawn), _near(of_w[1, 0], drawn)] == [
        True,
        [3.0, 3.0],
        True,
        True,
    ]
    low = d.LowRankMultivariateNormal(a, w[:, :1], torch.full((2,), 1e-12, dtype=torch.float64))
    x = low.rsample((3,))
    of_a, of_w = _slopes(x, a, w)
    drawn = ((x[:, 0] - a[0]) / 2).sum()
    assert [x.shape == (3, 2), of_a.tolist(), _near(of_w[:, 0], drawn), low.mean is a, low.mode is a] == [
        True,
        [3.0, 3.0],
        True,
        False,
        False,
    ]
    s = torch.ones(2, dtype=torch.float64, requires_grad=True)
    x = d.LowRankMultivariateNormal(a, w[:, :1] * 0, s).rsample()
    assert [_near(_slopes(x, s)[0], (x - a) / 2), law.sample().requires_grad, low.sample().requires_grad] == [
        True,
        False,
        False,
    ]
    mixed = d.MixtureSameFamily(d.Categorical(torch.tensor([0.0, 1.0])), d.Normal(a, s * 1e-9))
    assert [round(v, 4) for v in mixed.sample((3,)).tolist()] == [-1.0, -1.0, -1.0]
    assert [type(mixed.mixture_distribution).__name__, mixed.component_distribution.mean is a] == [
        "Categorical",
        True,
    ]


def samples_of_classes_and_counts():
    """One of each row, as often as was asked. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    torch.manual_seed(9)
    p = torch.tensor([[0.25, 0.75], [1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    law = d.OneHotCategorical(p)
    x = law.sample((4,))
    assert [
        x.shape == (4, 2, 2),
        x.sum(-1).tolist() == [[1.0] * 2] * 4,
        x[:, 1, 0].tolist(),
        x.requires_grad,
    ] == [True, True, [1.0, 1.0, 1.0, 1.0], False]
    v = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    assert derivatives(law.log_prob(v)[:1], p) == [
        [-1.0, 0.33333, 0.0, 0.0],
        [-1.33333, -2.51852, 0.0, 0.0],
        [2.22222],
    ]
    assert [law.mean.tolist(), law.variance.tolist(), law.mode.tolist(), law.probs.tolist()] == [
        [[0.25, 0.75], [1.0, 0.0]],
        [[0.1875, 0.1875], [0.0, 0.0]],
        [[0.0, 1.0], [1.0, 0.0]],
        [[0.25, 0.75], [1.0, 0.0]],
    ]
    assert [[round(each, 5) for each in law.entropy().tolist()], law.logits[0].exp().tolist()] == [
        [0.56234, 0.0],
        [0.25, 0.75],
    ]
    one = d.Categorical(p)
    assert [
        one.mode.tolist(),
        [str(each) for each in one.mean.tolist()],
        [str(each) for each in one.variance.tolist()],
    ] == [[1, 0], ["nan", "nan"], ["nan", "nan"]]
    assert [one.sample((3,)).shape == (3, 2), one.sample((3,))[:, 1].tolist()] == [True, [0, 0, 0]]
    through = d.OneHotCategoricalStraightThrough(p)
    x = through.rsample()
    assert [
        x.requires_grad,
        [round(each, 6) for each in x.sum(-1).tolist()],
        [round(each, 6) for each in x[1].tolist()],
    ] == [True, [1.0, 1.0], [1.0, 0.0]]
    (g,) = torch.autograd.grad((x * torch.tensor([1.0, 2.0])).sum(), p)
    assert [[round(each, 5) + 0.0 for each in row] for row in g.tolist()] == [[-0.75, 0.25], [0.0, 1.0]]
    x = d.Multinomial(5, p).sample((3,))
    assert [
        x.shape == (3, 2, 2),
        x.sum(-1).tolist() == [[5.0] * 2] * 3,
        x[:, 1].tolist() == [[5.0, 0.0]] * 3,
    ] == [True, True, True]
    assert [x.dtype is torch.float64, x.requires_grad, d.Multinomial(5, p).mean.tolist()] == [
        True,
        False,
        [[1.25, 3.75], [5.0, 0.0]],
    ]
    s = torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64)
    x = d.Binomial(4, s).sample((6,))
    assert [
        x.shape == (6, 3),
        x[:, 0].tolist(),
        x[:, 1].tolist(),
        0 <= x.min().item() <= x.max().item() <= 4,
    ] == [True, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [4.0, 4.0, 4.0, 4.0, 4.0, 4.0], True]
    x = d.Bernoulli(s).sample((6,))
    assert [x[:, 0].tolist(), x[:, 1].tolist(), bool(((x == 0) | (x == 1)).all())] == [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        True,
    ]
    x = d.Geometric(s[1:]).sample((6,))
    assert [x[:, 0].tolist(), bool((x >= 0).all()), bool((x == x.floor()).all())] == [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        True,
        True,
    ]
    x = d.Poisson(s * 8).sample((40,))
    assert [x[:, 0].max().item(), bool((x == x.floor()).all()), 4 < x[:, 1].mean().item() < 12] == [
        0.0,
        True,
        True,
    ]
    x = d.NegativeBinomial(s * 0 + 3, s * 0.5).sample((40,))
    assert [x[:, 0].max().item(), bool((x == x.floor()).all()), x.shape == (40, 3)] == [0.0, True, True]


def relaxed_samples():
    """Gradients through the temperature and the logits. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    torch.manual_seed(2)
    t = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    a = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(d.RelaxedBernoulli(t, logits=a).log_prob(a.detach().sigmoid()), a, t) == [
        [-0.12435, 0.48984, -1.38635],
        [15.32472],
        [7.6663, -29.73183, 75.58341],
        [-920.31821],
        [63.23547, 69.04543, 90.90744],
    ]
    x = d.relaxed_bernoulli.LogitRelaxedBernoulli(t, logits=a).rsample((4,))
    of_a, of_t = _slopes(x, a, t)
    assert [x.shape == (4, 3), _near(of_a, torch.full((3,), 8.0)), _near(of_t, -x.sum() / t)] == [
        True,
        True,
        True,
    ]
    y = d.RelaxedBernoulli(t, logits=a).rsample((4,))
    assert _near(_slopes(y, a)[0], (y * (1 - y) / t).sum(0))
    x = d.relaxed_categorical.ExpRelaxedCategorical(t, logits=a).rsample((4,))
    assert [
        x.shape == (4, 3),
        _near(x.exp().sum(-1), torch.ones(4)),
        _near(_slopes(x[:, 0], a)[0].sum(), t * 0),
    ] == [True, True, True]
    y = d.RelaxedOneHotCategorical(t, probs=a.softmax(0)).rsample()
    (g,) = torch.autograd.grad(y[0], a)
    assert [_near(y.sum(), t * 0 + 1), _near(g[0], y[0] * (1 - y[0]) / t), _near(g[1], -y[0] * y[1] / t)] == [
        True,
        True,
        True,
    ]


def divergences_that_are_told():
    """By a formula that is registered, for the nearest classes. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    a = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    kl = d.kl_divergence
    assert derivatives(kl(d.Beta(a, s), d.Beta(s, a)), a, s) == [
        [-9.7885, 6.70739],
        [3.3537, -19.577],
        [-724.82858, 455.28119],
        [113.8203, -2899.31433],
        [214.12392, 428.24784],
    ]
    assert derivatives(kl(d.Gumbel(a, s), d.Gumbel(s, a + 1)), a, s) == [
        [-4.60622, 0.76907],
        [2.70917, -4.03132],
        [-231.65346, 0.03503],
        [115.58857, -66.36342],
        [57.11374, 16.843],
    ]
    assert kl(d.Uniform(a, a + 1), d.Uniform(a - 1, a + 2)).exp().tolist() == [
        3.0000000000000004,
        3.0000000000000004,
    ]
    assert kl(d.Uniform(a, a + 1), d.Uniform(a + 0.5, a + 2)).isinf().tolist() == [True, True]
    assert error_kinds([lambda: kl(d.Uniform(a, a + 1), d.StudentT(a))]) == "N"
    d.register_kl(_Own, d.Normal)(lambda p, q: p.loc - q.loc)
    assert kl(_Own(a, s), d.Normal(s, a)).tolist() == [-1.5, 1.5]
    assert kl(_Own(a, s), d.Normal(a, s)).tolist() == [0.0, 0.0]
    assert d.Categorical(torch.tensor([0.5, 0.5])).perplexity().tolist() == 2.0
    d.Distribution.set_default_validate_args(False)
    loose = d.Normal(a, -s).scale.tolist()
    d.Distribution.set_default_validate_args(True)
    assert loose == [-2.0, -0.5]
    assert error_kinds([lambda: d.Normal(a, -s), lambda: d.Distribution.set_default_validate_args(1)]) == "V-"
    law = d.Normal(a, s)
    shapes = [law.batch_shape, law.event_shape, law.expand((3, 2)).batch_shape, law.rsample().shape]
    assert [tuple(each) for each in shapes] == [(2,), (), (3, 2), (2,)]
