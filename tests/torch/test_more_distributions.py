"""Distributions beside the common ones: densities, their nodes and gradients, moments are torch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_impl
from reference_impl.distributions import gammas

torch = pytest.importorskip("torch")

BETWEEN, COUNTS, SHARES = [0.5, 0.25], [1.0, 2.0], [0.3, 0.7]
CASES = [
    ("D.Beta(a, b)", BETWEEN),
    ("D.Gamma(a, b)", BETWEEN),
    ("D.Chi2(a)", BETWEEN),
    ("D.Poisson(a)", COUNTS),
    ("D.StudentT(a)", BETWEEN),
    ("D.LogNormal(a, b)", BETWEEN),
    ("D.HalfNormal(a)", BETWEEN),
    ("D.Cauchy(a, b)", BETWEEN),
    ("D.Gumbel(a, b)", BETWEEN),
    ("D.Geometric(probs=a / 4)", COUNTS),
    ("D.Binomial(5, logits=a)", COUNTS),
    ("D.Dirichlet(a)", SHARES),
    ("D.MultivariateNormal(a, scale_tril=L)", BETWEEN),
    ("D.MultivariateNormal(a, L @ L.T)", BETWEEN),
    ("D.MultivariateNormal(a, precision_matrix=L @ L.T)", BETWEEN),
    ("D.TransformedDistribution(D.Normal(a, b), [D.TanhTransform(cache_size=1)])", BETWEEN),
    ("D.TransformedDistribution(D.Normal(a, b), D.ExpTransform())", BETWEEN),
    ("D.TransformedDistribution(D.Gamma(a, b), D.PowerTransform(2.0))", BETWEEN),
    ("D.TransformedDistribution(D.Normal(a, b), D.SoftplusTransform())", BETWEEN),
    (
        "D.TransformedDistribution(D.Normal(a, b), [D.SigmoidTransform(), D.AffineTransform(1.0, 3.0)])",
        [1.5, 2.25],
    ),
    ("D.TransformedDistribution(D.Normal(a, b), D.AffineTransform(a, b, event_dim=1))", BETWEEN),
    ("D.MixtureSameFamily(D.Categorical(a), D.Normal(a, b))", BETWEEN),
    ("D.MixtureSameFamily(D.Categorical(a), D.MultivariateNormal(L, torch.eye(2)))", BETWEEN),
    ("D.RelaxedBernoulli(torch.tensor(0.5), logits=a)", BETWEEN),
    ("D.RelaxedBernoulli(torch.tensor(0.5), probs=a / 4)", BETWEEN),
    ("D.RelaxedOneHotCategorical(torch.tensor(0.5), logits=a)", SHARES),
    ("D.OneHotCategoricalStraightThrough(logits=a)", [0.0, 1.0]),
    ("D.HalfCauchy(a)", BETWEEN),
    ("D.InverseGamma(a, b)", BETWEEN),
    ("D.Kumaraswamy(a, b)", BETWEEN),
    ("D.Pareto(a / 8, b)", [1.5, 2.25]),
    ("D.Weibull(a, b)", BETWEEN),
    ("D.LogisticNormal(a[:1], b[:1])", SHARES),
    ("D.FisherSnedecor(a + 4, b + 5)", BETWEEN),
    ("D.NegativeBinomial(3.0, logits=a)", COUNTS),
    ("D.NegativeBinomial(3.0, probs=a / 4)", COUNTS),
    ("D.VonMises(a, b)", BETWEEN),
    ("D.ContinuousBernoulli(a / 8)", BETWEEN),
    ("D.ContinuousBernoulli(logits=a - 2.5)", BETWEEN),
    ("D.LowRankMultivariateNormal(a, L, b)", BETWEEN),
    (
        "D.TransformedDistribution(D.Independent(D.Normal(a[:1], b[:1]), 1), D.StickBreakingTransform())",
        SHARES,
    ),
]
PAIRS = [
    ("D.Beta(a, b)", "D.Beta(b, a)"),
    ("D.Gamma(a, b)", "D.Gamma(b, a)"),
    ("D.Dirichlet(a)", "D.Dirichlet(b)"),
    ("D.MultivariateNormal(a, scale_tril=L)", "D.MultivariateNormal(b, torch.eye(2))"),
    ("D.Poisson(a)", "D.Poisson(b)"),
    ("D.Gumbel(a, b)", "D.Gumbel(b, a)"),
    ("D.Geometric(probs=a / 4)", "D.Geometric(probs=b / 5)"),
    ("D.HalfNormal(a)", "D.HalfNormal(b)"),
    ("D.Cauchy(a, b)", "D.Cauchy(b, a)"),
    ("D.Pareto(a, b)", "D.Pareto(b, a)"),
    ("D.LogNormal(a, b)", "D.LogNormal(b, a)"),
]


def parameters(namespace: Any) -> dict[str, Any]:
    """The operands of the expressions."""
    numbers = {"a": [2.5, 3.0], "b": [1.5, 4.0], "L": [[1.0, 0.0], [0.5, 2.0]]}
    return {name: namespace.tensor(x, requires_grad=True) for name, x in numbers.items()}


def told(namespace: Any, made: Any, given: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The value and gradients, as numbers, and the node."""
    grads = namespace.autograd.grad(made.sum(), list(given.values()), allow_unused=True, retain_graph=True)
    return [made.tolist(), *[g.tolist() for g in grads if g is not None]], [made.grad_fn.name()]


def measured(namespace: Any, expression: str, value: list[float]) -> tuple[list[Any], list[Any]]:
    """The density of a value, moments and entropy if there are, shapes of samples and what they carry."""
    given = parameters(namespace)
    made = eval(expression, {"torch": namespace, "D": namespace.distributions, **given})
    numbers, facts = told(namespace, made.log_prob(namespace.tensor(value)), given)
    for what in (lambda: made.mean, lambda: made.variance, made.entropy):
        try:
            numbers.append(what().tolist())
        except NotImplementedError:
            facts.append("not there")
    facts += [tuple(made.batch_shape), tuple(made.event_shape), tuple(made.sample((3,)).shape)]
    facts += [made.has_rsample, made.sample().requires_grad]
    if made.has_rsample:
        drawn = made.rsample((2,))
        facts += [tuple(drawn.shape), drawn.grad_fn.name()]
    return numbers, facts


@pytest.mark.parametrize(("expression", "value"), CASES)
def test_a_distribution_is_torchs(expression: str, value: list[float]) -> None:
    """All that does not depend on which numbers are drawn."""
    numbers, facts = measured(torch, expression, value)
    ours, told_here = measured(reference_impl, expression, value)
    assert facts == told_here
    for theirs, mine in zip(numbers, ours, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("expression", "value"), [case for case in CASES if "Mixture" not in case[0]]
)  # the values of mixtures are a batch
def test_an_expanded_distribution_is_torchs(expression: str, value: list[float]) -> None:
    """With one more dimension of the batch, in front."""
    expanded = f"(lambda d: d.expand((3, *d.batch_shape)))({expression})"
    numbers, facts = measured(torch, expanded, value)
    ours, told_here = measured(reference_impl, expanded, value)
    assert facts == told_here
    for theirs, mine in zip(numbers, ours, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_a_divergence_is_torchs(p: str, q: str) -> None:
    """In value and gradients."""
    found = []
    for namespace in (torch, reference_impl):
        given = parameters(namespace)
        names = {"torch": namespace, "D": namespace.distributions, **given}
        divergence = namespace.distributions.kl_divergence(eval(p, names), eval(q, names))
        found.append(told(namespace, divergence, given)[0])
    for theirs, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=1e-6)


def test_samples_move_with_their_parameters() -> None:
    """As torch's do, which are computed by approximations."""
    a, x = np.array([0.3, 1.5, 4.0, 20.0]), np.array([0.1, 2.0, 3.0, 25.0])
    expected = torch._standard_gamma_grad(torch.tensor(a), torch.tensor(x))
    np.testing.assert_allclose(gammas.slope_of_sample(x, a, gammas.log_of_gamma), expected, rtol=1e-2)
    b, share = np.array([1.0, 2.0, 3.0, 0.8]), np.array([0.2, 0.5, 0.6, 0.9])
    total = torch.tensor(a + b)
    scaled = torch._dirichlet_grad(torch.tensor(share), torch.tensor(a), total)
    actual = gammas.slope_of_sample(
        share, a, lambda at, of: gammas.log_of_beta(at, of, b[..., None] if at.ndim > 1 else b)
    )
    np.testing.assert_allclose(actual / (1 - share), scaled, rtol=1e-2)


@pytest.mark.parametrize("expression", ["D.Gamma(a, b)", "D.Beta(a, b)", "D.Dirichlet(a)"])
def test_samples_have_gradients(expression: str) -> None:
    """Of the shapes of their parameters, and finite."""
    given = parameters(reference_impl)
    made = eval(expression, {"torch": reference_impl, "D": reference_impl.distributions, **given})
    made.rsample((5,)).sum().backward()
    assert np.isfinite(given["a"].grad.numpy()).all()
