"""``torch.utils``: checkpointing, and the loading of data, which is loaded when it is asked for."""

from reference_impl.namespace.missing import loading
from reference_impl.utils import checkpoint

__getattr__ = loading(__name__, "data")

__all__ = ["checkpoint"]
