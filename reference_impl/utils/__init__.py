"""``torch.utils``: checkpointing, and the loading of data, which is loaded when it is asked for."""

from reference_impl.namespace.missing import loading
from reference_impl.utils import checkpoint
from reference_impl.utils.swapping import swap_tensors

__getattr__ = loading(__name__, "data")

__all__ = ["checkpoint", "swap_tensors"]
