"""``torch.distributions``: the common ones, as compositions of ops; samples are numpy's random numbers."""

import sys

from reference_impl.distributions import constraints
from reference_impl.distributions.continuous import Exponential, Laplace, Normal, Uniform
from reference_impl.distributions.discrete import Bernoulli, Categorical, OneHotCategorical
from reference_impl.distributions.distribution import Distribution, Independent
from reference_impl.distributions.kl import kl_divergence, register_kl
from reference_impl.namespace.addresses import give_addresses
from reference_impl.namespace.missing import loading

__getattr__ = loading(__name__)
FILES = {
    "normal": "Normal", "uniform": "Uniform", "exponential": "Exponential", "laplace": "Laplace",
    "bernoulli": "Bernoulli", "categorical": "Categorical", "one_hot_categorical": "OneHotCategorical",
    "independent": "Independent",
}  # fmt: skip
"""PyTorch's files, and what they define."""
give_addresses(__name__, FILES, sys.modules[__name__])

__all__ = [
    "Bernoulli", "Categorical", "Distribution", "Exponential", "Independent", "Laplace", "Normal",
    "OneHotCategorical", "Uniform", "constraints", "kl_divergence", "register_kl",
]  # fmt: skip
