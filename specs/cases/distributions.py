"""torch.distributions: derivatives of densities and divergences, and samples with a history or without."""

import torch

from specs.cases._measures import derivatives


def _gradients(out, *inputs):
    """Return the values of a result, and the gradients of inputs by its sum."""
    found = (out, *torch.autograd.grad(out.sum(), inputs, allow_unused=True))
    return [
        None if g is None else [round(v, 5) + 0.0 for v in g.detach().reshape(-1).tolist()] for g in found
    ]


def densities_of_real_numbers():
    """Their logarithms, moments and entropies, as functions of the parameters.

    Rule: op/derivatives-beyond-programs.
    """
    d = torch.distributions
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([1.5, 0.25], dtype=torch.float64, requires_grad=True)
    assert derivatives(d.Normal(a, s).log_prob(v), a, s, v) == [
        [0.25, 10.0],
        [-0.375, 21.0],
        [-0.25, -10.0],
        [-0.0625, -2000.0],
        [-0.29688, -7564.0],
        [0.0625, 2000.0],
        [0.53125, 641.0],
    ]
    assert _gradients(d.Normal(a, s).entropy(), a, s) == [[2.11209, 0.72579], None, [0.5, 2.0]]
    assert _gradients(d.Normal(a, s).cdf(v), a, s, v) == [
        [0.69146, 0.99379],
        [-0.17603, -0.03506],
        [-0.08802, -0.08764],
        [0.17603, 0.03506],
    ]
    assert _gradients(d.Normal(a, s).icdf(v / 4), a, s, v) == [
        [-0.13728, -1.76706],
        [1.0, 1.0],
        [-0.31864, -1.53412],
        [1.31858, 1.01639],
    ]
    assert _gradients(d.Laplace(a, s).log_prob(v), a, s, v) == [
        [-1.88629, -2.5],
        [0.5, 2.0],
        [-0.25, 3.0],
        [-0.5, -2.0],
    ]
    assert _gradients(d.Laplace(a, s).entropy() + d.Laplace(a, s).variance, s) == [
        [10.38629, 1.5],
        [8.5, 4.0],
    ]
    assert _gradients(d.Uniform(a, a + 3).log_prob(v), a) == [[-1.09861, -1.09861], [0.0, 0.0]]
    assert _gradients(d.Uniform(a, s + 1).entropy() + d.Uniform(a, s + 1).mean, a, s) == [
        [2.66629, 1.16629],
        [0.1, 0.1],
        [0.9, 0.9],
    ]
    assert _gradients(d.Uniform(a, s + 1).variance + d.Uniform(a, s + 1).stddev, a, s) == [
        [1.24252, 1.24252],
        [-0.70534, -0.70534],
        [0.70534, 0.70534],
    ]
    assert _gradients(d.Exponential(s).log_prob(v), s, v) == [
        [-2.30685, -0.81815],
        [-1.0, 1.75],
        [-2.0, -0.5],
    ]
    assert _gradients(d.Exponential(s).entropy() + d.Exponential(s).mean + d.Exponential(s).variance, s) == [
        [1.05685, 7.69315],
        [-1.0, -22.0],
    ]
    assert _gradients(d.Independent(d.Normal(a, s), 1).log_prob(v), a, s, v) == [
        [-5.08788],
        [0.25, 5.0],
        [-0.375, 10.5],
        [-0.25, -5.0],
    ]


def probabilities_of_whole_numbers():
    """Of two, of several and of counts, from probabilities or from logits.

    Rule: op/derivatives-beyond-programs.
    """
    d = torch.distributions
    p = torch.tensor([0.25, 0.5], dtype=torch.float64, requires_grad=True)
    x = torch.tensor([[1.0, 0.0, -1.0]], dtype=torch.float64, requires_grad=True)
    one = torch.tensor([1.0, 0.0], dtype=torch.float64)
    assert derivatives(d.Bernoulli(p).log_prob(one), p) == [[4.0, -4.0], [-128.0, 64.0], [32.0, 16.0]]
    assert _gradients(d.Bernoulli(logits=p).log_prob(one), p) == [[-0.57594, -0.97408], [0.43782, -0.62246]]
    assert _gradients(d.Bernoulli(p).entropy() + d.Bernoulli(p).mean + d.Bernoulli(p).variance, p) == [
        [0.99984, 1.44315],
        [2.59861, 1.0],
    ]
    assert _gradients(d.Categorical(logits=x).log_prob(torch.tensor([2])), x) == [
        [-2.40761],
        [-0.66524, -0.24473, 0.90997],
    ]
    assert _gradients(d.Categorical(probs=p).log_prob(torch.tensor(1)), p) == [
        [-0.40547],
        [-1.33333, 0.66667],
    ]
    assert _gradients(d.Categorical(logits=x).entropy(), x) == [[0.8324], [-0.28259, 0.14077, 0.14182]]


def divergences_of_distributions():
    """Of two of one kind. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    p = torch.tensor([0.25, 0.5], dtype=torch.float64, requires_grad=True)
    kl = d.kl_divergence
    assert derivatives(kl(d.Normal(a, s), d.Normal(0.0, 1.0)), a, s) == [
        [0.5, -2.0],
        [1.5, -3.0],
        [1.0, -8.0],
        [3.75, -60.0],
        [5.0, 13.0],
    ]
    assert _gradients(kl(d.Normal(0.0, 1.0), d.Normal(a, s)), a, s) == [
        [0.3494, 2.80685],
        [0.125, -4.0],
        [0.34375, -14.0],
    ]
    assert _gradients(kl(d.Bernoulli(p), d.Bernoulli(0.5 * p)), p) == [[0.05767, 0.14384], [0.27587, 0.43195]]
    assert _gradients(kl(d.Categorical(p), d.Categorical(torch.tensor([0.5, 0.5]).double())), p) == [
        [0.05663],
        [-0.61613, 0.30807],
    ]
    assert _gradients(kl(d.Exponential(s), d.Exponential(s * s)), s) == [[0.30685, 0.19315], [0.5, -1.0]]
    assert _gradients(kl(d.Laplace(a, s), d.Laplace(0.0, 1.0)), a, s) == [
        [0.36445, 0.76081],
        [0.2212, -0.86466],
        [0.4735, -1.59399],
    ]


def samples_with_a_history_and_without():
    """rsample() is a function of the parameters, sample() is recorded nowhere.

    Rules: functional/samples-have-no-history, leaf/op-result-is-no-leaf.
    """
    d = torch.distributions
    a = torch.tensor([0.5, -1.0], requires_grad=True)
    s = torch.tensor([2.0, 0.5], requires_grad=True)
    n = d.Normal(a, s)
    x = n.rsample((3,))
    assert tuple(x.shape) == (3, 2) and x.requires_grad is True and n.has_rsample is True
    da, ds = torch.autograd.grad(x.sum(), (a, s))
    assert da.tolist() == [3.0, 3.0]
    assert [round(v, 4) for v in (ds * s - (x - a).sum(0)).tolist()] == [0.0, 0.0]
    assert n.sample().requires_grad is False and d.Uniform(a, a + s).sample((2,)).requires_grad is False
    assert (
        d.Uniform(a, a + s).rsample().requires_grad is True
        and d.Laplace(a, s).rsample().requires_grad is True
    )
    assert (
        d.Exponential(s).rsample((2,)).requires_grad is True
        and d.Exponential(s).sample().requires_grad is False
    )
    assert d.Bernoulli(logits=a).sample().requires_grad is False and d.Bernoulli(0.5).has_rsample is False
    assert tuple(d.Categorical(logits=a).sample((4,)).shape) == (4,)
    assert tuple(n.batch_shape) == (2,) and tuple(n.expand((3, 2)).sample().shape) == (3, 2)
    assert tuple(d.Independent(n, 1).event_shape) == (2,) and n.mean is n.loc
