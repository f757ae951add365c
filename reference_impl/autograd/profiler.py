"""``torch.autograd.profiler``: the older address of ``torch.profiler``, where nothing is measured."""

from reference_impl.namespace.missing import loading
from reference_impl.profiler import profile, record_function

__getattr__ = loading(__name__)
__all__ = ["profile", "record_function"]
