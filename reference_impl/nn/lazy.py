"""Layers that learn the number of their inputs from the first batch; till then parameters have no shape."""

from __future__ import annotations

from typing import Any

from reference_impl.base.modes import no_grad
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import empty, tensor
from reference_impl.nn import convolutions, normalization, parameter
from reference_impl.nn.layers import Linear
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter

_ASKED = (
    "numel", "nelement", "sum", "mean", "norm", "clone", "detach", "abs", "pow", "add", "mul", "uniform_",
    "normal_", "fill_", "zero_",
)  # fmt: skip


class _Uninitialized:
    """A tensor that has no elements yet."""

    __slots__ = ()

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Get elements, which nothing has written yet."""
        plain = Parameter if isinstance(self, Parameter) else Tensor
        made = empty(*shape, device=device or self.device, dtype=dtype or self.dtype)
        self.__class__ = plain
        self.data = made

    @property
    def shape(self) -> Any:
        """Refuse: there is none."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> Any:
        """Refuse: there is no memory."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the "
            "parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _refusing(name: str) -> Any:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            f"Attempted to use an uninitialized parameter in <method '{name}' of 'torch._C.TensorBase' "
            "objects>. This error happens when you are using a `LazyModule` or explicitly manipulating "
            f"`torch.nn.parameter.{type(self).__name__}` objects. When using LazyModules Call `forward` with "
            "a dummy batch to initialize the parameters before calling torch functions"
        )

    return refuse


for _name in _ASKED:
    setattr(_Uninitialized, _name, _refusing(_name))


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is not known yet."""

    __slots__ = ()

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        Parameter.__init__(self, empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer whose shape is not known yet."""

    __slots__ = ()


def _buffer(**like: Any) -> Any:
    made = empty(0, **like)
    made.__class__ = UninitializedBuffer
    return made


def is_lazy(x: Any) -> bool:
    """Tell whether a tensor has no elements yet."""
    return isinstance(x, _Uninitialized)


for _found in (UninitializedBuffer, UninitializedParameter, is_lazy):
    setattr(parameter, _found.__name__, _found)  # scripts look for them in `torch.nn.parameter`


class LazyModuleMixin:
    """A layer's way to learn the number of its inputs from its first batch."""

    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        attach: Any = Module.register_forward_pre_hook.__get__(self)
        self._initialize_hook = attach(self._infer_parameters, with_kwargs=True)

    def has_uninitialized_params(self: Any) -> bool:
        """Tell whether a parameter or buffer has no elements yet."""
        return any(is_lazy(x) for x in (*self._parameters.values(), *self._buffers.values()))

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, by the arguments of the first call."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {type(module).__name__} has not been fully initialized")
        module._initialize_hook.remove()
        delattr(module, "_initialize_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


class LazyLinear(LazyModuleMixin, Linear):
    """`Linear`, whose number of inputs is that of the first batch."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Initialise the parameters, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters their shapes."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features "
                    f"from self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]


def _lazy_convolution(base: Any) -> Any:
    class Lazy(LazyModuleMixin, base):
        cls_to_become = base

        def __init__(self, out_channels: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
            middle = ("dilation", "groups", "bias")
            if base.transposed:
                middle = ("output_padding", "groups", "bias", "dilation")  # type: ignore[assignment]
            names = ("stride", "padding", *middle, "padding_mode")
            given = dict(zip(names, args, strict=False)) | kwargs
            like: dict[str, Any]
            bias, like = given.pop("bias", True), {n: given.get(n) for n in ("device", "dtype")}
            super().__init__(0, 0, kernel_size, bias=False, **given)
            self.weight = UninitializedParameter(**like)
            self.out_channels = out_channels
            if bias:
                self.bias = UninitializedParameter(**like)

        def reset_parameters(self) -> None:
            if not self.has_uninitialized_params() and self.in_channels != 0:
                super().reset_parameters()

        def initialize_parameters(self, input: Tensor, *more: Any) -> None:
            if not self.has_uninitialized_params():
                return
            with no_grad():
                spatial = self.ndim
                if input.ndim not in (spatial + 1, spatial + 2):
                    raise RuntimeError(
                        f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to "
                        f"{type(self).__name__}, but got input of size: {tuple(input.shape)}"
                    )
                self.in_channels = input.shape[-spatial - 1]
                if self.in_channels % self.groups:
                    raise ValueError("in_channels must be divisible by groups")
                outer, inner = self.out_channels, self.in_channels // self.groups
                if base.transposed:
                    outer, inner = self.in_channels, self.out_channels // self.groups
                self.weight.materialize((outer, inner, *self.kernel_size))
                if self.bias is not None:
                    self.bias.materialize((self.out_channels,))
                self.reset_parameters()

    Lazy.__name__ = Lazy.__qualname__ = f"Lazy{base.__name__}"
    Lazy.__doc__ = f"`{base.__name__}`, whose number of inputs is that of the first batch."
    return Lazy


def _lazy_norm(base: Any) -> Any:
    class Lazy(LazyModuleMixin, base):
        cls_to_become = base

        def __init__(
            self, eps: float = 1e-5, momentum: Any = 0.1, affine: bool = True,
            track_running_stats: bool = True, device: Any = None, dtype: Any = None,
        ) -> None:  # fmt: skip
            super().__init__(0, eps, momentum, False, False)
            self.affine, self.track_running_stats = affine, track_running_stats
            if affine:
                self.weight = UninitializedParameter(device=device, dtype=dtype)
                self.bias = UninitializedParameter(device=device, dtype=dtype)
            if track_running_stats:
                self.running_mean = _buffer(device=device, dtype=dtype)
                self.running_var = _buffer(device=device, dtype=dtype)
                self.num_batches_tracked = tensor(0)

        def reset_parameters(self) -> None:
            if not self.has_uninitialized_params() and self.__dict__["num_features"] != 0:
                super().reset_parameters()

        def initialize_parameters(self, input: Tensor) -> None:
            if not self.has_uninitialized_params():
                return
            self.num_features = input.shape[1]
            with no_grad():
                for x in (self.weight, self.bias, self.running_mean, self.running_var):
                    if x is not None:
                        x.materialize((input.shape[1],))
                self.reset_parameters()

    Lazy.__name__ = Lazy.__qualname__ = f"Lazy{base.__name__}"
    Lazy.__doc__ = f"`{base.__name__}`, whose number of features is that of the first batch."
    return Lazy


_CONVOLUTIONS = ("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
_NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d")
BY_NAME: dict[str, Any] = {
    "UninitializedBuffer": UninitializedBuffer,
    "UninitializedParameter": UninitializedParameter,
    "LazyLinear": LazyLinear,
    **{f"Lazy{name}": _lazy_convolution(getattr(convolutions, name)) for name in _CONVOLUTIONS},
    **{f"Lazy{name}": _lazy_norm(getattr(normalization, name)) for name in _NORMS},
}
"""The layers by name."""
