"""A reference implementation of PyTorch's autograd in numpy: ``import reference_impl as torch``.

Read the folders from the bottom up; each imports only folders below it.

* ``base``: `session` (all mutable state), `modes`, `rules` (ties lines to the rules they embody), dtypes,
  devices.
* ``core``: autograd itself. Read `tensor`, `graph`, `saved`, `record`, `apply`, `views`, `inplace`, `hooks`,
  `graph_task`, `ready_queue`, `engine`. Fidelity fills `extension_points`; the folders named after it read a
  tensor's raw state through `access`.
* ``fidelity``: PyTorch's rarer conduct, one theme a file. ``forward``: forward mode.
* ``namespace``: the public methods, factories and functions; `install` binds their names.
* ``autograd``, ``nn``, ``optim``, ``utils``: PyTorch's packages of these names.

`mutants` holds what replaces functions while a rule is knocked out. One torch release is modelled at a time:
`set_torch_release("2.13")`.
"""

import math
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from reference_impl import autograd
from reference_impl.autograd import aminmax as _aminmax
from reference_impl.autograd import var_mean as _var_mean
from reference_impl.autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled
from reference_impl.base.device import device
from reference_impl.base.dtypes import (
    bfloat16,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from reference_impl.base.dtypes import bool_ as bool
from reference_impl.base.dtypes import default as get_default_dtype
from reference_impl.base.dtypes import set_default as set_default_dtype
from reference_impl.base.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from reference_impl.base.rules import is_warn_always_enabled, set_warn_always
from reference_impl.base.size import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)  # fmt: skip
from reference_impl.core.engine import queue_callback
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import (
    compiler,
    cuda,
    foreach,
    jit,
    legacy,
    random,
    return_types,
    settings,
    testing,
)
from reference_impl.namespace.addresses import give_addresses
from reference_impl.namespace.asarray import asarray
from reference_impl.namespace.compiler import compile
from reference_impl.namespace.complex_views import complex_ as complex
from reference_impl.namespace.factories import (
    as_tensor,
    empty,
    empty_like,
    empty_strided,
    eye,
    from_numpy,
    full,
    full_like,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from reference_impl.namespace.install import FUNCTIONS, install
from reference_impl.namespace.missing import bind_missing, loading
from reference_impl.namespace.random import (
    Generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    multinomial,
    normal,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    seed,
    set_rng_state,
)
from reference_impl.namespace.ranges import arange, linspace, logspace
from reference_impl.namespace.serialization import load, save
from reference_impl.namespace.tensor_arguments import tell_of_tensors
from specs.active_rules import set_torch_release, torch_release

install()
Tensor.backward = autograd.backward_from  # type: ignore[attr-defined]
FUNCTIONS |= _var_mean.FUNCTIONS | {"aminmax": _aminmax.aminmax}
Tensor.aminmax = _aminmax.aminmax  # type: ignore[attr-defined]

double = float64
float = float32
half = float16
long = int64
int = int32
short = int16
cfloat = complex64
cdouble = complex128
e, inf, nan, pi = math.e, math.inf, math.nan, math.pi
__version__ = "0.1.0"

_FROM_NN = (
    "bilinear", "celu", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_similarity", "ctc_loss", "pairwise_distance",
    "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "selu", "dropout", "alpha_dropout", "layer_norm",
    "group_norm", "rms_norm", "prelu", "rrelu", "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d",
    "adaptive_avg_pool1d", "selu_", "celu_", "rrelu_", "hardshrink",
)  # fmt: skip
"""Functions of ``nn.functional`` that PyTorch has in its root too."""

autograd.torch = sys.modules[__name__]

newaxis = None
for _name, _function in (legacy.FUNCTIONS | settings.FUNCTIONS | foreach.FUNCTIONS | FUNCTIONS).items():
    globals().setdefault(_name, _function)

# These need the namespace's functions.
from reference_impl import fidelity, linalg, mutants, nn, optim, utils  # noqa: E402, F401
from reference_impl.autograd import functional, gradcheck  # noqa: E402, F401
from reference_impl.namespace import special  # noqa: E402

GradScaler = optim.grad_scaler.GradScaler
for _name in _FROM_NN:
    globals()[_name] = getattr(nn.functional, _name)
for _name in ("hardshrink", "prelu"):
    setattr(Tensor, _name, getattr(nn.functional, _name))
for _module in (cuda, random, return_types, special, testing):  # for `import torch.random`
    sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module

for _name, _module in {"": settings.backends, **vars(settings.backends)}.items():
    sys.modules[f"{__name__}.backends" + f".{_name}" * (_name != "")] = _module
give_addresses(f"{__name__}.autograd", {"variable": "Variable"}, legacy)
give_addresses(
    __name__, {"amp": "GradScaler autocast custom_bwd custom_fwd is_autocast_available"}, optim.grad_scaler
)
autocast = optim.autocast.autocast
is_autocast_enabled, get_autocast_dtype = (
    optim.autocast.is_autocast_enabled,
    optim.autocast.get_autocast_dtype,
)
give_addresses(f"{__name__}.cuda", {"amp": "GradScaler autocast"}, optim.grad_scaler.FOR_CUDA)

for _name, _function in linalg.OLD_NAMES.items():
    globals()[_name] = _function
    setattr(Tensor, _name, _function)


def vmap(*given: Any, **named: Any) -> Any:
    """`torch.func.vmap`, under its older address."""
    return import_module(f"{__name__}.func").vmap(*given, **named)


autograd.gradgradcheck = gradcheck.gradgradcheck
autograd.gradcheck = gradcheck.gradcheck  # type: ignore[assignment]  # hides its module, as in PyTorch
legacy.Variable._execution_engine = SimpleNamespace(  # type: ignore[attr-defined]
    queue_callback=queue_callback
)
autograd.Variable = legacy.Variable

__getattr__ = loading(
    __name__, "distributions", "fft", "func", "profiler"
)  # other names of PyTorch's are refused by name
bind_missing(Tensor, "Tensor")
tell_of_tensors(globals(), __name__)

__all__ = [
    "Generator", "Size", "Tensor", "arange", "as_tensor", "asarray", "autograd", "bfloat16", "bool",
    "channels_last", "channels_last_3d", "compile", "compiler", "complex", "complex64", "complex128",
    "contiguous_format", "cuda",
    "device", "dtype", "empty", "empty_like", "empty_strided", "enable_grad", "eye", "float16", "float32",
    "float64", "from_numpy",
    "full", "full_like", "get_default_dtype", "get_rng_state", "inference_mode", "initial_seed", "int8",
    "int16", "int32", "int64", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled",
    "is_inference_mode_enabled", "is_warn_always_enabled", "jit", "layout", "linalg", "linspace", "load",
    "logspace",
    "manual_seed", "memory_format", "multinomial", "nn", "no_grad", "normal", "ones", "ones_like", "optim",
    "preserve_format", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "random",
    "randperm", "save", "seed", "set_default_dtype", "set_grad_enabled", "set_rng_state", "set_torch_release",
    "set_warn_always", "strided", "tensor", "testing", "torch_release", "uint8", "utils", "zeros",
    "zeros_like",
]  # fmt: skip
