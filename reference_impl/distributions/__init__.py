"""``torch.distributions``: the common ones, as compositions of ops; samples are numpy's random numbers."""

import sys

from reference_impl.distributions import constraints, transforms
from reference_impl.distributions.continuous import Exponential, Laplace, Normal, Uniform
from reference_impl.distributions.continuous_bernoulli import ContinuousBernoulli
from reference_impl.distributions.counts import (
    Binomial,
    Cauchy,
    Geometric,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from reference_impl.distributions.discrete import Bernoulli, Categorical, Multinomial, OneHotCategorical
from reference_impl.distributions.distribution import Distribution, Independent
from reference_impl.distributions.gammas import Beta, Chi2, Dirichlet, Gamma, StudentT
from reference_impl.distributions.kl import kl_divergence, register_kl
from reference_impl.distributions.low_rank import LowRankMultivariateNormal
from reference_impl.distributions.mapped import (
    FisherSnedecor,
    HalfCauchy,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    NegativeBinomial,
    Pareto,
    Weibull,
)
from reference_impl.distributions.multivariate import MixtureSameFamily, MultivariateNormal
from reference_impl.distributions.registry import biject_to, transform_to
from reference_impl.distributions.transformed import (
    ExpRelaxedCategorical,
    Gumbel,
    HalfNormal,
    LogitRelaxedBernoulli,
    LogNormal,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    TransformedDistribution,
)
from reference_impl.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PowerTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from reference_impl.distributions.von_mises import VonMises
from reference_impl.namespace.addresses import give_addresses
from reference_impl.namespace.missing import loading

__getattr__ = loading(__name__)
FILES = {
    "normal": "Normal", "uniform": "Uniform", "exponential": "Exponential", "laplace": "Laplace",
    "bernoulli": "Bernoulli", "continuous_bernoulli": "ContinuousBernoulli",
    "categorical": "Categorical", "one_hot_categorical": "OneHotCategorical",
    "independent": "Independent", "beta": "Beta", "gamma": "Gamma", "chi2": "Chi2", "dirichlet": "Dirichlet",
    "studentT": "StudentT", "multivariate_normal": "MultivariateNormal", "poisson": "Poisson",
    "multinomial": "Multinomial",
    "geometric": "Geometric", "binomial": "Binomial", "cauchy": "Cauchy", "log_normal": "LogNormal",
    "half_normal": "HalfNormal", "gumbel": "Gumbel", "relaxed_bernoulli": "RelaxedBernoulli",
    "relaxed_categorical": "RelaxedOneHotCategorical", "mixture_same_family": "MixtureSameFamily",
    "transformed_distribution": "TransformedDistribution", "half_cauchy": "HalfCauchy",
    "inverse_gamma": "InverseGamma", "kumaraswamy": "Kumaraswamy", "pareto": "Pareto", "weibull": "Weibull",
    "logistic_normal": "LogisticNormal", "fishersnedecor": "FisherSnedecor", "von_mises": "VonMises",
    "negative_binomial": "NegativeBinomial", "lowrank_multivariate_normal": "LowRankMultivariateNormal",
}  # fmt: skip
"""PyTorch's files, and what they define."""
give_addresses(__name__, FILES, sys.modules[__name__])
sys.modules[f"{__name__}.relaxed_bernoulli"].LogitRelaxedBernoulli = LogitRelaxedBernoulli  # type: ignore[attr-defined]
sys.modules[f"{__name__}.relaxed_categorical"].ExpRelaxedCategorical = ExpRelaxedCategorical  # type: ignore[attr-defined]

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2",
    "ComposeTransform", "ContinuousBernoulli", "Dirichlet", "Distribution", "ExpTransform", "Exponential",
    "FisherSnedecor", "Gamma", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "IndependentTransform",
    "InverseGamma", "Kumaraswamy", "Laplace", "LogNormal", "LogisticNormal", "LowRankMultivariateNormal",
    "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial",
    "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson",
    "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical", "SigmoidTransform",
    "SoftmaxTransform", "SoftplusTransform", "StickBreakingTransform", "StudentT", "TanhTransform",
    "Transform", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "biject_to", "constraints",
    "identity_transform", "kl_divergence", "register_kl", "transform_to", "transforms",
]  # fmt: skip
