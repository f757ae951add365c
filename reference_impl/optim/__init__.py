"""``torch.optim``: SGD, Adam, AdamW."""

from reference_impl.optim.adam import Adam, AdamW
from reference_impl.optim.optimizer import Optimizer
from reference_impl.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
