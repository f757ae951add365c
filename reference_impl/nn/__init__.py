"""``torch.nn``: parameters, modules, common layers and losses."""

from reference_impl.namespace.missing import loading
from reference_impl.nn import fractional_pools, functional, init, losses, simple, unpooling, utils
from reference_impl.nn.adaptive_softmax import AdaptiveLogSoftmaxWithLoss
from reference_impl.nn.attention import (
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from reference_impl.nn.containers import ModuleDict, ModuleList, Sequential
from reference_impl.nn.convolutions import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from reference_impl.nn.layers import (
    AlphaDropout,
    Bilinear,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    Embedding,
    EmbeddingBag,
    Flatten,
    Identity,
    Linear,
    Unflatten,
)
from reference_impl.nn.lazy import BY_NAME as _LAZY
from reference_impl.nn.module import Module
from reference_impl.nn.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    LocalResponseNorm,
    RMSNorm,
    SyncBatchNorm,
)
from reference_impl.nn.parallel import DataParallel
from reference_impl.nn.parameter import Buffer, Parameter
from reference_impl.nn.parameter_containers import ParameterDict, ParameterList
from reference_impl.nn.recurrent import GRU, LSTM, RNN, RNNBase
from reference_impl.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from reference_impl.nn.resizing import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d

globals().update(_LAZY)
for _space in (simple, losses, unpooling, fractional_pools):
    globals().update({_n: _m for _n, _m in vars(_space).items() if _n[0].isupper() and isinstance(_m, type)})

__getattr__ = loading(__name__, "modules")

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "AdaptiveLogSoftmaxWithLoss",
    "AlphaDropout",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "DataParallel",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "Flatten",
    "GRUCell",
    "GroupNorm",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "LocalResponseNorm",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "RMSNorm",
    "RNNBase",
    "RNNCell",
    "Sequential",
    "SyncBatchNorm",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "Unflatten",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "functional",
    "init",
    "utils",
]  # fmt: skip
