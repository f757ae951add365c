"""``torch.nn.modules.loss``: the base by which scripts find losses."""

from reference_impl.nn.losses import CrossEntropyLoss, MSELoss

_Loss = MSELoss.__mro__[1]

__all__ = ["CrossEntropyLoss", "MSELoss"]
