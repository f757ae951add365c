"""A reference implementation of PyTorch's autograd in numpy: ``import reference_impl as torch``.

Read in this order: tensor, modes, graph, views, record, apply, write, dispatch, engine, autograd; rule_marks
says how a line is tied to the rule it embodies. The torch-shaped namespace (dtypes, factories, surface)
stands around that machine. It models one torch release at a time: `set_torch_release("2.13")`.
"""

from reference_impl import autograd
from reference_impl.dtypes import bool_ as bool
from reference_impl.dtypes import complex64, complex128, dtype, float32, float64, int32, int64
from reference_impl.factories import arange, empty, full, ones, ones_like, tensor, zeros, zeros_like
from reference_impl.modes import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from reference_impl.rule_marks import is_warn_always_enabled, set_warn_always
from reference_impl.surface import FUNCTIONS, install
from reference_impl.tensor import Tensor
from specs.force import set_torch_release, torch_release

install()

double = float64
float = float32
long = int64
cfloat = complex64
cdouble = complex128
__version__ = "0.1.0"

for _name, _function in FUNCTIONS.items():
    globals().setdefault(_name, _function)

__all__ = [
    "Tensor", "arange", "autograd", "bool", "complex64", "complex128", "dtype", "empty", "enable_grad",
    "float32", "float64",
    "full", "int32", "int64", "is_grad_enabled", "is_warn_always_enabled", "no_grad", "ones", "ones_like",
    "set_grad_enabled", "set_torch_release", "set_warn_always", "tensor", "torch_release", "zeros",
    "zeros_like",
]  # fmt: skip
