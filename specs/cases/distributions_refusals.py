"""Refusals of torch.distributions: parameters beyond their constraints, values beyond the support."""

import torch

from specs.cases._measures import derivatives, refusal_kinds


def parameters_are_given_once_and_within_bounds():
    """Either probabilities or logits, of at least one dimension. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    p = torch.tensor([0.25, 0.75], dtype=torch.float64, requires_grad=True)
    s = torch.tensor(0.5)
    one = torch.ones(1)
    assert (
        refusal_kinds(
            [
                lambda: d.Bernoulli(),
                lambda: d.Bernoulli(p, p),
                lambda: d.Bernoulli(p + 1),
                lambda: d.Categorical(),
                lambda: d.Categorical(p, p),
                lambda: d.Categorical(s),
                lambda: d.Categorical(logits=s),
                lambda: d.OneHotCategorical(s),
                lambda: d.OneHotCategorical(p, p),
                lambda: d.Multinomial(2, s),
                lambda: d.Multinomial(-1, p),
                lambda: d.Multinomial(torch.tensor(2), p),
                lambda: d.Binomial(2, p, p),
                lambda: d.Binomial(-1, p),
                lambda: d.Geometric(),
                lambda: d.Geometric(p - 0.25),
                lambda: d.NegativeBinomial(2),
                lambda: d.NegativeBinomial(-2, p),
                lambda: d.ContinuousBernoulli(),
                lambda: d.ContinuousBernoulli(p, p),
                lambda: d.ContinuousBernoulli(p + 1),
                lambda: d.RelaxedBernoulli(s),
                lambda: d.RelaxedBernoulli(s, p, p),
                lambda: d.RelaxedOneHotCategorical(s),
                lambda: d.RelaxedOneHotCategorical(s, p, p),
                lambda: d.Uniform(1.0, 1.0),
                lambda: d.Uniform(p, p),
                lambda: d.Normal(0.0, -1.0),
                lambda: d.Normal(p, torch.ones(3)),
                lambda: d.Normal(0.0, float("nan")),
                lambda: d.Laplace(0.0, 0.0),
                lambda: d.Exponential(-1.0),
                lambda: d.Gamma(0.0, 1.0),
                lambda: d.Beta(0.0, 1.0),
                lambda: d.Dirichlet(s),
                lambda: d.Dirichlet(-p),
                lambda: d.Poisson(-1.0),
                lambda: d.VonMises(0.0, -1.0),
                lambda: d.StudentT(0.0),
                lambda: d.Pareto(0.0, 1.0),
                lambda: d.HalfNormal(0.0),
                lambda: d.HalfCauchy(-1.0),
                lambda: d.Gumbel(0.0, 0.0),
                lambda: d.Weibull(0.0, 1.0),
                lambda: d.Kumaraswamy(0.0, 1.0),
                lambda: d.LogNormal(0.0, 0.0),
                lambda: d.FisherSnedecor(0.0, 1.0),
                lambda: d.InverseGamma(0.0, 1.0),
                lambda: d.Chi2(0.0),
                lambda: d.Normal(0.0, -1.0, validate_args=False),
                lambda: d.Bernoulli(p + 1, validate_args=False),
            ]
        )
        == "VVVVVVVVVVVNVVVVVVVV-VVVVVVVoVVVVVVVVVVVVVVVVVVVV--"
    )
    assert (
        refusal_kinds(
            [
                lambda: d.MultivariateNormal(s, torch.eye(1)),
                lambda: d.MultivariateNormal(one),
                lambda: d.MultivariateNormal(one, torch.eye(1), torch.eye(1)),
                lambda: d.MultivariateNormal(one, one),
                lambda: d.MultivariateNormal(one, precision_matrix=one),
                lambda: d.MultivariateNormal(one, scale_tril=one),
                lambda: d.MultivariateNormal(one, -torch.eye(1)),
                lambda: d.MultivariateNormal(torch.ones(3), torch.eye(2)),
                lambda: d.LowRankMultivariateNormal(s, torch.ones(1, 1), one),
                lambda: d.LowRankMultivariateNormal(one, one, one),
                lambda: d.LowRankMultivariateNormal(one, torch.ones(2, 1), one),
                lambda: d.LowRankMultivariateNormal(one, torch.ones(1, 1), torch.ones(2)),
                lambda: d.LowRankMultivariateNormal(torch.ones(2, 1), torch.ones(3, 1, 1), one),
                lambda: d.LowRankMultivariateNormal(torch.ones(2, 1), torch.ones(1, 1), one),
                lambda: d.MixtureSameFamily(d.Normal(one, one), d.Normal(one, one)),
                lambda: d.MixtureSameFamily(d.Categorical(one), one),
                lambda: d.MixtureSameFamily(d.Categorical(p), d.Normal(one, one)),
                lambda: d.MixtureSameFamily(d.Categorical(p), d.Normal(torch.ones(3), torch.ones(3))),
                lambda: d.Independent(d.Normal(one, one), 2),
                lambda: d.Independent(d.Normal(one, one), 1),
                lambda: d.TransformedDistribution(d.Normal(one, one), one),
                lambda: d.TransformedDistribution(d.Normal(one, one), [one]),
                lambda: d.TransformedDistribution(d.Normal(s, s), d.StickBreakingTransform()),
                lambda: d.ComposeTransform([]).log_abs_det_jacobian(one, one),
                lambda: d.AbsTransform().log_abs_det_jacobian(one, one),
                lambda: d.SoftmaxTransform().log_abs_det_jacobian(one, one),
                lambda: d.IndependentTransform(d.ExpTransform(), 1)(s),
                lambda: d.Transform()(one),
                lambda: d.ExpTransform().with_cache(2),
            ]
        )
        == "VVVVVVV-VVVVV-VVVVV-VVV-NNVNV"
    )
    assert derivatives(d.Bernoulli(p).log_prob(torch.ones(2, dtype=torch.float64)), p) == [
        [4.0, 2.66667],
        [-128.0, -18.96296],
        [32.0, 7.11111],
    ]


def values_lie_within_the_support():
    """Values beyond it have no probability. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    p = torch.tensor([0.25, 0.75], dtype=torch.float64, requires_grad=True)
    n = d.Normal(torch.zeros(2), torch.ones(2))
    assert (
        refusal_kinds(
            [
                lambda: n.log_prob(1.0),
                lambda: n.log_prob(torch.ones(3)),
                lambda: n.log_prob(torch.ones(2, 2)),
                lambda: n.log_prob(torch.tensor([1.0, float("nan")])),
                lambda: n.entropy(),
                lambda: d.Bernoulli(p).log_prob(p.detach()),
                lambda: d.Bernoulli(p).rsample(),
                lambda: d.Categorical(p).log_prob(torch.tensor(2)),
                lambda: d.Categorical(p).log_prob(torch.tensor(0.5)),
                lambda: d.Categorical(p).rsample(),
                lambda: d.OneHotCategorical(p).log_prob(torch.tensor([1.0, 1.0])),
                lambda: d.Multinomial(2, p).log_prob(torch.tensor([1.0, 2.0])),
                lambda: d.Multinomial(2, p).rsample(),
                lambda: d.Binomial(2, p).log_prob(torch.tensor([1.0, 3.0])),
                lambda: d.Geometric(p).log_prob(-torch.ones(2)),
                lambda: d.Poisson(p).log_prob(p.detach()),
                lambda: d.Uniform(0.0, 1.0).log_prob(torch.tensor(2.0)),
                lambda: d.Uniform(0.0, 1.0, validate_args=False).log_prob(torch.tensor(2.0)),
                lambda: d.Exponential(1.0).log_prob(torch.tensor(-1.0)),
                lambda: d.Gamma(1.0, 1.0).log_prob(torch.tensor(0.0)),
                lambda: d.Beta(1.0, 1.0).log_prob(torch.tensor(1.5)),
                lambda: d.Dirichlet(p).log_prob(torch.tensor([0.5, 0.6])),
                lambda: d.HalfNormal(1.0).log_prob(torch.tensor(-1.0)),
                lambda: d.Pareto(1.0, 1.0).log_prob(torch.tensor(0.5)),
                lambda: d.VonMises(0.0, 1.0).entropy(),
                lambda: d.VonMises(0.0, 1.0).rsample(),
                lambda: d.LogNormal(0.0, 1.0).log_prob(torch.tensor(-1.0)),
                lambda: d.RelaxedBernoulli(p[0], p).log_prob(torch.ones(2) * 2),
                lambda: d.MixtureSameFamily(d.Categorical(p), d.Normal(p, p)).rsample(),
                lambda: d.MixtureSameFamily(d.Categorical(p), d.Normal(p, p)).entropy(),
            ]
        )
        == "VV-V-VNVVNVVNVVVV-V-VVVVNNVVNN"
    )
    assert (
        refusal_kinds(
            [
                lambda: d.kl_divergence(d.Independent(n, 1), d.Independent(d.Normal(p, p), 0)),
                lambda: d.kl_divergence(d.Binomial(2, p), d.Binomial(3, p)),
                lambda: d.kl_divergence(d.Binomial(3, p), d.Binomial(2, p)),
                lambda: d.kl_divergence(
                    d.MultivariateNormal(torch.ones(1), torch.eye(1)),
                    d.MultivariateNormal(torch.ones(2), torch.eye(2)),
                ),
                lambda: d.register_kl(int, d.Normal),
                lambda: d.register_kl(d.Normal, int),
                lambda: d.Distribution.set_default_validate_args(1),
                lambda: d.constraints.Constraint().check(p),
            ]
        )
        == "NN-V---N"
    )
    assert derivatives(n.log_prob(p), p) == [[-0.25, -1.5], [0.5, 6.0], [0.125, 2.25]]
