"""``torch.special``: functions that ``torch`` has too, under their names there."""

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

__getattr__ = loading(__name__)
