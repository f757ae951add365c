"""Layers as modules; the computations are in `functional`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import empty, ones, tensor, zeros
from reference_impl.namespace.random import randn
from reference_impl.nn import functional, init
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter


class Identity(Module):
    """Return the input."""

    def forward(self, x: Any) -> Any:
        return x


class Linear(Module):
    """``x @ weight.T + bias``."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype, device=device))
        self.bias = Parameter(empty(out_features, dtype=dtype)) if bias else None
        if not bias:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the parameters."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={bias}"


def _reset(weight: Parameter, bias: Parameter | None) -> None:
    """Fill with uniform numbers bounded by ``1 / sqrt(fan_in)``."""
    init.kaiming_uniform_(weight, math.sqrt(5))
    if bias is not None:
        fan_in, _ = init.fans(weight)
        bound = 1 / math.sqrt(fan_in) if fan_in else 0
        init.uniform_(bias, -bound, bound)


class _Conv(Module):
    """A convolution over ``ndim`` dimensions."""

    ndim = 0
    function: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        kernel = (kernel_size,) * self.ndim if isinstance(kernel_size, int) else tuple(kernel_size)
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.weight = Parameter(empty(out_channels, in_channels // groups, *kernel, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, dtype=dtype)) if bias else None)
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )


class Conv1d(_Conv):
    """A convolution along one dimension."""

    ndim = 1
    function = staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """A convolution over an image."""

    ndim = 2
    function = staticmethod(functional.conv2d)


class Embedding(Module):
    """A lookup table of rows by index."""

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: Any = None) -> None:
        super().__init__()
        self.weight = Parameter(randn(num_embeddings, embedding_dim, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        return functional.embedding(input, self.weight)


class Dropout(Module):
    """Zero random elements in training; the identity in evaluation."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Flatten(Module):
    """Flatten dimensions into one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class MaxPool2d(Module):
    """The maximum of each window."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: int = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def forward(self, input: Tensor) -> Tensor:
        return functional.max_pool2d(input, self.kernel_size, self.stride, self.padding)


class LayerNorm(Module):
    """Normalise the last dimensions, then scale and shift."""

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps = shape, eps
        self.register_parameter("weight", Parameter(ones(shape)) if elementwise_affine else None)
        self.register_parameter("bias", Parameter(zeros(shape)) if elementwise_affine else None)

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class _Norm(Module):
    """Normalise channels over the batch, with running estimates for evaluation."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.register_parameter("weight", Parameter(ones(num_features)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(num_features)) if affine else None)
        self.register_buffer("running_mean", zeros(num_features) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", tensor(0) if track_running_stats else None)

    def forward(self, input: Tensor) -> Tensor:
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        return functional.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            self.momentum,
            self.eps,
        )


class BatchNorm1d(_Norm):
    """Batch normalisation of ``(N, C)`` or ``(N, C, L)``."""


class BatchNorm2d(_Norm):
    """Batch normalisation of ``(N, C, H, W)``."""


class InstanceNorm2d(_Norm):
    """Instance normalisation of ``(N, C, H, W)``."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, False)

    def forward(self, input: Tensor) -> Tensor:
        return functional.instance_norm(input, self.weight, self.bias, self.eps)


def _activation(name: str, function: Callable[..., Tensor], *defaults: tuple[str, Any]) -> type[Module]:
    """Make the module of a function of one tensor and the named settings."""
    names = [parameter for parameter, _ in defaults]

    class Activation(Module):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__()
            self.__dict__.update(dict(defaults) | dict(zip(names, given, strict=False)) | named)

        def forward(self, input: Tensor) -> Tensor:
            return function(input, **{key: self.__dict__[key] for key in names})

    Activation.__name__ = Activation.__qualname__ = name
    Activation.__doc__ = f"`{function.__name__}` as a module."
    return Activation


ReLU = _activation("ReLU", functional.relu, ("inplace", False))
Tanh = _activation("Tanh", functional.tanh)
Sigmoid = _activation("Sigmoid", functional.sigmoid)
LeakyReLU = _activation("LeakyReLU", functional.leaky_relu, ("negative_slope", 0.01), ("inplace", False))
ELU = _activation("ELU", functional.elu, ("alpha", 1.0), ("inplace", False))
SiLU = _activation("SiLU", functional.silu, ("inplace", False))
GELU = _activation("GELU", functional.gelu, ("approximate", "none"))
Softplus = _activation("Softplus", functional.softplus, ("beta", 1), ("threshold", 20))
Softmax = _activation("Softmax", functional.softmax, ("dim", None))
LogSoftmax = _activation("LogSoftmax", functional.log_softmax, ("dim", None))
