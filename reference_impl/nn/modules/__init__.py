"""``torch.nn.modules``: the modules under their longer address."""

from reference_impl.namespace.missing import loading
from reference_impl.nn.module import Module

__getattr__ = loading(__name__, "batchnorm", "conv", "loss")

__all__ = ["Module"]
