"""``torch.nn.modules``: the modules under their longer address."""

from reference_impl import nn
from reference_impl.namespace.addresses import give_addresses
from reference_impl.namespace.missing import loading
from reference_impl.nn import global_hooks
from reference_impl.nn.module import Module
from reference_impl.nn.modules import batchnorm, conv, lazy, loss
from reference_impl.nn.window_functions import for_each

FILES = {
    "module": "Module",
    "linear": "Identity Linear Bilinear",
    "container": "Sequential ModuleList ModuleDict ParameterList ParameterDict",
    "activation": (
        "ReLU ReLU6 Sigmoid Tanh Softmax LogSoftmax Softmin Softmax2d ELU SELU CELU GELU GLU SiLU Mish "
        "LeakyReLU PReLU RReLU Softplus Softshrink Softsign Hardtanh Hardsigmoid Hardswish Hardshrink "
        "Tanhshrink Threshold LogSigmoid MultiheadAttention"
    ),
    "dropout": "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout",
    "normalization": "LayerNorm GroupNorm LocalResponseNorm RMSNorm",
    "instancenorm": "InstanceNorm1d InstanceNorm2d",
    "pooling": (
        "MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d "
        "AdaptiveMaxPool1d AdaptiveMaxPool2d"
    ),
    "rnn": "RNN LSTM GRU RNNBase RNNCell LSTMCell GRUCell",
    "sparse": "Embedding EmbeddingBag",
    "transformer": (
        "Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer"
    ),
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "distance": "CosineSimilarity PairwiseDistance",
    "pixelshuffle": "PixelShuffle",
    "upsampling": "Upsample UpsamplingNearest2d UpsamplingBilinear2d",
    "padding": (
        "ConstantPad1d ConstantPad2d ZeroPad1d ZeroPad2d ReflectionPad1d ReflectionPad2d ReplicationPad1d "
        "ReplicationPad2d CircularPad1d CircularPad2d"
    ),
    "utils": "",
}
"""PyTorch's files, and what they define."""

give_addresses(__name__, FILES, nn)
for _name in global_hooks.PUBLIC:
    setattr(module, _name, getattr(global_hooks, _name))  # type: ignore[name-defined]  # noqa: F821
for _name, _ndim in (("_single", 1), ("_pair", 2), ("_triple", 3), ("_quadruple", 4)):
    setattr(utils, _name, lambda value, _ndim=_ndim: for_each(value, _ndim))  # type: ignore[name-defined]  # noqa: F821

__getattr__ = loading(__name__)

__all__ = ["Module", "batchnorm", "conv", "lazy", "loss"]
