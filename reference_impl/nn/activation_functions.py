"""The activations of ``torch.nn.functional``."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import levels_of
from reference_impl.namespace import composite
from reference_impl.namespace.install import FUNCTIONS
from reference_impl.namespace.random import rand
from specs.dtype_names import SCALARS
from specs.errors import LARGEST_NUMBERS, need_kernel
from specs.ops.helpers import axis_of


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(x, 0)``."""
    return input.relu_() if inplace else input.relu()


def _activation(name: str, settings: int) -> Callable[..., Tensor]:
    """Make the function of an op that takes ``settings`` positional settings and then ``inplace``."""

    def activate(input: Tensor, *how: Any, inplace: bool = False, **more: Any) -> Tensor:
        how, inplace = how[:settings], inplace or any(how[settings:])
        if inplace and not hasattr(input, name + "_"):
            raise NotModelled(f"torch.nn.functional.{name}(inplace=True)")
        return getattr(input, name + "_" if inplace else name)(*how, **more)

    activate.__name__ = name
    return activate


_elu_out_of_place = _activation("elu", 1)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The exponential linear unit."""
    if inplace:
        return input._elu_(alpha=alpha, scale=1.0, inner=1.0)
    return _elu_out_of_place(input, alpha)


leaky_relu = _activation("leaky_relu", 1)
_hardtanh = _activation("hardtanh", 2)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """``x`` held between two numbers."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input.dtype is dtypes.bool_:
        refuse_by("op/bool-arithmetic", name="hardtanh")
    if input.dtype is dtypes.uint8 and min(min_val, max_val) < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return _hardtanh(input, min_val, max_val, inplace=inplace)


threshold = _activation("threshold", 2)
silu = _activation("silu", 0)
softplus = FUNCTIONS["softplus"]
sigmoid = FUNCTIONS["sigmoid"]
tanh = FUNCTIONS["tanh"]
softmax_along = composite.BOTH["softmax"]
log_softmax_along = composite.BOTH["log_softmax"]


def _usual_dim(name: str, ndim: int) -> int:
    """The dimension that PyTorch takes if none is given, with a warning."""
    text = f"Implicit dimension choice for {name} has been deprecated. "
    warnings.warn(f"{text}Change the call to include dim=X as an argument.", stacklevel=3)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Exponentials over their sum along a dimension."""
    return softmax_along(input, _usual_dim("softmax", input.ndim) if dim is None else dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of the softmax."""
    return log_softmax_along(input, _usual_dim("log_softmax", input.ndim) if dim is None else dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The softmax of ``-x``."""
    return softmax_along(input.neg(), _usual_dim("softmin", input.ndim) if dim is None else dim, dtype)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A softmax of logits with Gumbel noise; ``hard`` gives one-hot values with the soft gradient."""
    noise = logits.detach().clone().exponential_().log().neg()
    soft = softmax(logits.add(noise).div(tau), dim)
    if not hard:
        return soft
    index = soft.max(dim, True)[1]
    one = soft.detach().mul(0).scatter_(dim, index, 1.0)
    return one.sub(soft.detach()).add(soft)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """``x`` times the normal distribution function, exact or approximated by tanh."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return input.gelu() if approximate == "none" else input._gelu_tanh()


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``x`` clamped to [0, 6]."""
    return hardtanh(input, 0, 6, inplace=inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The scaled exponential linear unit."""
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    if inplace:
        return input._elu_(alpha=alpha, scale=scale, inner=1.0)
    return input._scaled_elu(alpha=alpha, scale=scale)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The continuously differentiable exponential linear unit."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    if inplace:
        return input._celu_write_(alpha=alpha, scale=1.0, inner=1 / alpha)
    return input._celu(alpha=alpha)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * tanh(softplus(x))``."""
    return (input._mish_ if inplace else input._mish)()


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A line between 0 at -3 and 1 at 3."""
    forward = STATE.level is not None or any(each.forward for each in STATE.transforms)
    if forward and not inplace:  # its gradient has no derivative that could carry the tangent
        return relu6(input.add(3)).div(6)
    return (input._hardsigmoid_ if inplace else input._hardsigmoid)()


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x`` times the hard sigmoid."""
    return (input._hardswish_ if inplace else input._hardswish)()


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``x`` moved towards zero."""
    if lambd < 0:
        most = LARGEST_NUMBERS.get(input.dtype.name, sys.float_info.max)
        raise RuntimeError(
            f"lambda must be in range [0, {most:g}] for input dtype {SCALARS[input.dtype.name]}, but found "
            f"{lambd:g}"
        )
    return input._softshrink(lambd=lambd)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``x``, zero near zero."""
    return input._hardshrink(lambd=lambd)


def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of the sigmoid."""
    return input._log_sigmoid()


def softsign(input: Tensor) -> Tensor:
    """``x / (1 + abs(x))``."""
    return input.div(input.abs().add(1))


def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``."""
    return input.sub(input.tanh())


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension times the sigmoid of the second."""
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    axis_of(dim, input.ndim)
    if input.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % input.ndim} is size {input.shape[dim]}"
        )
    return input._glu(dim=(dim,))


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``x`` where it is positive, else a learned multiple of it, one for all or one for each channel."""
    if input.dtype != weight.dtype:
        got = " and ".join(SCALARS[each.dtype.name] for each in (input, weight))
        raise RuntimeError(f"prelu: Type promoting not supported. Got {got}")
    if not input.ndim and weight.numel() != 1:
        raise RuntimeError("Not allow zero-dim input tensor.")
    if weight.numel() != 1 and input.ndim and weight.numel() != (input.shape[1] if input.ndim > 1 else 1):
        raise RuntimeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{weight.numel()} and channel size = {input.shape[1] if input.ndim > 1 else 1}."
        )
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if input.ndim != weight.ndim:
        weight = weight.reshape((1, -1, *(1,) * (input.ndim - 2))[: input.ndim])
    return input._prelu(weight)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """A leaky ReLU whose slope is drawn for each element in training."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    need_kernel("leaky_relu", array_of(input), "biuc")
    if STATE.transforms and levels_of(input):
        raise RuntimeError("vmap: we do not yet support aten::rrelu. Please file an issue")
    x = input.detach()
    if training:
        need_kernel("rrelu_with_noise_out", array_of(input), "e")
        slopes = rand(tuple(x.shape), dtype=x.dtype, device=x.device).mul(upper - lower).add(lower)
    else:
        wide = dtypes.float32 if x.dtype.itemsize == 2 else x.dtype
        slopes = x.new_full(tuple(x.shape), (lower + upper) / 2, dtype=wide)
    return (input._rrelu_ if inplace else input._rrelu)(slopes.masked_fill(x.gt(0), 1))


def need_probability(p: float) -> None:
    """Refuse what is no probability."""
    if not 0 <= p <= 1 or math.isnan(p):
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def check_linear(input: Tensor, weight: Tensor) -> None:
    """Refuse a scalar, or what is no tensor, for the input or the weight of a linear layer."""
    for at, (name, x) in enumerate((("input", input), ("weight", weight)), 1):
        if not isinstance(x, Tensor):
            raise TypeError(
                f"linear(): argument '{name}' (position {at}) must be Tensor, not {type(x).__name__}"
            )
    if not input.ndim or not weight.ndim:
        refuse_by("nn/linear-takes-dimensions", input=input.ndim, weight=weight.ndim)


def _written(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make the in-place form of an activation."""

    def write(input: Tensor, *how: Any, **more: Any) -> Tensor:
        return function(input, *how, **more, inplace=True)

    write.__name__, write.__doc__ = f"{function.__name__}_", f"`{function.__name__}` in place."
    return write


relu_, leaky_relu_, elu_, hardtanh_, threshold_, selu_, celu_, rrelu_ = (
    _written(function) for function in (relu, leaky_relu, elu, hardtanh, threshold, selu, celu, rrelu)
)
