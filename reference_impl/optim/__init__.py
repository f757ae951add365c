"""``torch.optim``: optimizers; ``lr_scheduler`` and ``swa_utils`` are loaded when they are asked for."""

from reference_impl.namespace.missing import loading
from reference_impl.optim import grad_scaler
from reference_impl.optim.adam import Adam, AdamW
from reference_impl.optim.adaptive import Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop, Rprop
from reference_impl.optim.lbfgs import LBFGS
from reference_impl.optim.newer import ASGD, Adafactor, Muon
from reference_impl.optim.optimizer import Optimizer
from reference_impl.optim.sgd import SGD

__getattr__ = loading(__name__, "lr_scheduler", "swa_utils")

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam",
    "Optimizer", "RAdam", "RMSprop", "Rprop", "grad_scaler",
]  # fmt: skip
