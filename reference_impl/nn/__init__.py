"""``torch.nn``: parameters, modules, common layers and losses."""

from reference_impl.nn import functional, init, utils
from reference_impl.nn.containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from reference_impl.nn.layers import (
    ELU,
    GELU,
    BatchNorm1d,
    BatchNorm2d,
    Conv1d,
    Conv2d,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    InstanceNorm2d,
    LayerNorm,
    LeakyReLU,
    Linear,
    LogSoftmax,
    MaxPool2d,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from reference_impl.nn.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter

__all__ = [
    "ELU", "GELU", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "Conv1d", "Conv2d",
    "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "HuberLoss", "Identity", "InstanceNorm2d",
    "L1Loss", "LayerNorm", "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "MaxPool2d", "Module",
    "ModuleDict", "ModuleList", "NLLLoss", "Parameter", "ParameterDict", "ParameterList", "ReLU",
    "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "Softplus", "Tanh", "functional", "init",
    "utils",
]  # fmt: skip
