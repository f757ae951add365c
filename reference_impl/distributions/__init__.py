"""``torch.distributions``: the common ones, as compositions of ops; samples are numpy's random numbers."""

from reference_impl.distributions import constraints
from reference_impl.distributions.continuous import Exponential, Laplace, Normal, Uniform
from reference_impl.distributions.discrete import Bernoulli, Categorical, OneHotCategorical
from reference_impl.distributions.distribution import Distribution, Independent
from reference_impl.distributions.kl import kl_divergence, register_kl
from reference_impl.namespace.missing import loading

__getattr__ = loading(__name__)

__all__ = [
    "Bernoulli", "Categorical", "Distribution", "Exponential", "Independent", "Laplace", "Normal",
    "OneHotCategorical", "Uniform", "constraints", "kl_divergence", "register_kl",
]  # fmt: skip
