"""``torch.nn.modules.batchnorm``: the bases by which scripts find batch normalisation."""

from reference_impl.nn import normalization
from reference_impl.nn.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d

_BatchNorm = normalization.BatchNorm2d.__mro__[1]
_NormBase = normalization.BatchNorm2d.__mro__[2]

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]
