"""``torch.special``: functions that ``torch`` has too, under their names there."""

import math

from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.out_argument import taking_out
from reference_impl.namespace.composite import BOTH
from reference_impl.namespace.install import FUNCTIONS
from reference_impl.namespace.missing import loading


def _named(name: str) -> object:
    """The function of the namespace, which is filled by the time that this module is loaded."""
    return (BOTH | FUNCTIONS)[name]


erf, erfc, erfinv = _named("erf"), _named("erfc"), _named("erfinv")
exp2, expm1, log1p = _named("exp2"), _named("expm1"), _named("log1p")
expit, logit, xlogy = _named("sigmoid"), _named("logit"), _named("xlogy")
logsumexp, softmax, log_softmax = _named("logsumexp"), _named("softmax"), _named("log_softmax")

digamma, gammaln, polygamma = _named("digamma"), _named("lgamma"), _named("polygamma")
multigammaln, sinc, i0 = _named("mvlgamma"), _named("sinc"), _named("i0")
psi = digamma
i0e, i1, i1e = _named("_special_i0e"), _named("_special_i1"), _named("_special_i1e")
erfcx, log_ndtr, entr = _named("_special_erfcx"), _named("_special_log_ndtr"), _named("_special_entr")
xlog1py = _named("_special_xlog1py")


def ndtr(input: Tensor) -> Tensor:
    """The share of the normal distribution below ``input``."""
    return input.mul_scalar(math.sqrt(0.5)).erf().add_scalar(1).mul_scalar(0.5)


ndtr = taking_out(ndtr, casts=True)
__getattr__ = loading(__name__)
