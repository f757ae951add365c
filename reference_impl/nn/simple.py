"""Modules of functions of one tensor: activations, pooling, padding, resizing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import empty
from reference_impl.nn import functional
from reference_impl.nn.init import constant_
from reference_impl.nn.module import Module
from reference_impl.nn.own_names import in_force
from reference_impl.nn.parameter import Parameter
from reference_impl.nn.window_functions import for_each


def _module(
    name: str, function: Callable[..., Any], *defaults: tuple[str, Any], first: int = 0, shown: str = ""
) -> Any:
    """Make the module of a function of one tensor and the named settings.

    The first ``first`` of them are required; their defaults mean nothing. ``shown`` is what the repr tells of
    them; that it works in place is told besides.
    """
    names = [parameter for parameter, _ in defaults]

    class Simple(Module):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__()
            if len(given) > len(names):
                raise TypeError(f"{name} takes {len(names)} arguments, but {len(given)} were given")
            settings = dict(defaults) | dict(zip(names, given, strict=False))
            missing = [n for n in names[len(given) : first] if n not in named]
            unknown = [n for n in named if n not in names]
            if missing:
                raise TypeError(f"{name}.__init__() missing 1 required positional argument: {missing[0]!r}")
            if unknown:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument {unknown[0]!r}")
            self.__dict__.update(self.given(settings | named))

        def given(self, settings: dict[str, Any]) -> dict[str, Any]:
            """Return the settings as they are kept: a pool's stride is its size, unless told otherwise."""
            if "kernel_size" in names[:first] and settings["stride"] is None:
                settings["stride"] = settings["kernel_size"]
            if name == "AvgPool1d":
                settings |= {key: for_each(settings[key], 1) for key in ("kernel_size", "stride", "padding")}
            return settings

        def forward(self, input: Tensor) -> Any:
            return in_force(function)(input, **{key: self.__dict__[key] for key in names})

        def extra_repr(self) -> str:
            own = self.__dict__
            in_place = ["inplace=True"] if own.get("inplace") and name not in _SILENT else []
            return ", ".join([*([shown.format_map(own)] if shown else []), *in_place])

    Simple.__name__ = Simple.__qualname__ = name
    Simple.forward.__qualname__ = f"{name}.forward"
    Simple.__doc__ = f"`{getattr(function, '__name__', name)}` as a module."
    return Simple


_SILENT = ("Hardsigmoid", "Hardswish")
"""Modules whose repr does not tell that they work in place."""
_INPLACE = ("inplace", False)
ReLU = _module("ReLU", functional.relu, _INPLACE)
ReLU6 = _module("ReLU6", functional.relu6, _INPLACE)
Tanh = _module("Tanh", functional.tanh)
Sigmoid = _module("Sigmoid", functional.sigmoid)
LeakyReLU = _module(
    "LeakyReLU",
    functional.leaky_relu,
    ("negative_slope", 0.01),
    _INPLACE,
    shown="negative_slope={negative_slope}",
)
RReLU = _module(
    "RReLU",
    functional.rrelu,
    ("lower", 1.0 / 8),
    ("upper", 1.0 / 3),
    ("training", True),
    _INPLACE,
    shown="lower={lower}, upper={upper}",
)
ELU = _module("ELU", functional.elu, ("alpha", 1.0), _INPLACE, shown="alpha={alpha}")
SELU = _module("SELU", functional.selu, _INPLACE)
CELU = _module("CELU", functional.celu, ("alpha", 1.0), _INPLACE, shown="alpha={alpha}")
SiLU = _module("SiLU", functional.silu, _INPLACE)
Mish = _module("Mish", functional.mish, _INPLACE)
GELU = _module("GELU", functional.gelu, ("approximate", "none"), shown="approximate={approximate!r}")
GLU = _module("GLU", functional.glu, ("dim", -1), shown="dim={dim}")
Softplus = _module(
    "Softplus",
    functional.softplus,
    ("beta", 1.0),
    ("threshold", 20.0),
    shown="beta={beta}, threshold={threshold}",
)
Softshrink = _module("Softshrink", functional.softshrink, ("lambd", 0.5), shown="{lambd}")
Hardshrink = _module("Hardshrink", functional.hardshrink, ("lambd", 0.5), shown="{lambd}")
Hardsigmoid = _module("Hardsigmoid", functional.hardsigmoid, _INPLACE)
Hardswish = _module("Hardswish", functional.hardswish, _INPLACE)
Hardtanh = _module(
    "Hardtanh",
    functional.hardtanh,
    ("min_val", -1.0),
    ("max_val", 1.0),
    _INPLACE,
    shown="min_val={min_val}, max_val={max_val}",
)
Threshold = _module(
    "Threshold",
    functional.threshold,
    ("threshold", 0),
    ("value", 0),
    _INPLACE,
    first=2,
    shown="threshold={threshold}, value={value}",
)
LogSigmoid = _module("LogSigmoid", functional.logsigmoid)
Softsign = _module("Softsign", functional.softsign)
Tanhshrink = _module("Tanhshrink", functional.tanhshrink)
Softmax = _module("Softmax", functional.softmax, ("dim", None), shown="dim={dim}")
Softmin = _module("Softmin", functional.softmin, ("dim", None), shown="dim={dim}")
LogSoftmax = _module("LogSoftmax", functional.log_softmax, ("dim", None), shown="dim={dim}")
Softmax2d = _module("Softmax2d", lambda input: functional.softmax(input, -3))

_KERNEL = (("kernel_size", None), ("stride", None), ("padding", 0))
_MAX = (*_KERNEL, ("dilation", 1), ("return_indices", False), ("ceil_mode", False))
_MEAN = (*_KERNEL, ("ceil_mode", False), ("count_include_pad", True))
_SHOWN_MEAN = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
_SHOWN_MAX = _SHOWN_MEAN + ", dilation={dilation}, ceil_mode={ceil_mode}"
MaxPool1d = _module("MaxPool1d", functional.max_pool1d, *_MAX, first=1, shown=_SHOWN_MAX)
MaxPool2d = _module("MaxPool2d", functional.max_pool2d, *_MAX, first=1, shown=_SHOWN_MAX)
MaxPool3d = _module("MaxPool3d", functional.max_pool3d, *_MAX, first=1, shown=_SHOWN_MAX)
AvgPool1d = _module("AvgPool1d", functional.avg_pool1d, *_MEAN, first=1, shown=_SHOWN_MEAN)
AvgPool2d = _module(
    "AvgPool2d", functional.avg_pool2d, *_MEAN, ("divisor_override", None), first=1, shown=_SHOWN_MEAN
)
AvgPool3d = _module(
    "AvgPool3d", functional.avg_pool3d, *_MEAN, ("divisor_override", None), first=1, shown=_SHOWN_MEAN
)
_SIZE, _SHOWN_SIZE = ("output_size", None), "output_size={output_size}"
AdaptiveAvgPool1d = _module(
    "AdaptiveAvgPool1d", functional.adaptive_avg_pool1d, _SIZE, first=1, shown=_SHOWN_SIZE
)
AdaptiveAvgPool2d = _module(
    "AdaptiveAvgPool2d", functional.adaptive_avg_pool2d, _SIZE, first=1, shown=_SHOWN_SIZE
)
_INDICES = ("return_indices", False)
AdaptiveMaxPool1d = _module(
    "AdaptiveMaxPool1d", functional.adaptive_max_pool1d, _SIZE, _INDICES, first=1, shown=_SHOWN_SIZE
)
AdaptiveMaxPool2d = _module(
    "AdaptiveMaxPool2d", functional.adaptive_max_pool2d, _SIZE, _INDICES, first=1, shown=_SHOWN_SIZE
)

AdaptiveAvgPool3d = _module(
    "AdaptiveAvgPool3d", functional.adaptive_avg_pool3d, _SIZE, first=1, shown=_SHOWN_SIZE
)
AdaptiveMaxPool3d = _module(
    "AdaptiveMaxPool3d", functional.adaptive_max_pool3d, _SIZE, _INDICES, first=1, shown=_SHOWN_SIZE
)
PixelUnshuffle = _module(
    "PixelUnshuffle",
    functional.pixel_unshuffle,
    ("downscale_factor", None),
    first=1,
    shown="downscale_factor={downscale_factor}",
)
ChannelShuffle = _module(
    "ChannelShuffle", functional.channel_shuffle, ("groups", None), first=1, shown="groups={groups}"
)
PixelShuffle = _module(
    "PixelShuffle",
    functional.pixel_shuffle,
    ("upscale_factor", None),
    first=1,
    shown="upscale_factor={upscale_factor}",
)
_WINDOW = (("kernel_size", None), ("dilation", 1), ("padding", 0), ("stride", 1))
_SHOWN_WINDOW = "kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}"
Unfold = _module("Unfold", functional.unfold, *_WINDOW, first=1, shown=_SHOWN_WINDOW)
Fold = _module(
    "Fold",
    functional.fold,
    ("output_size", None),
    *_WINDOW,
    first=2,
    shown="output_size={output_size}, " + _SHOWN_WINDOW,
)
CosineSimilarity = _module("CosineSimilarity", functional.cosine_similarity, ("dim", 1), ("eps", 1e-8))
PairwiseDistance = _module(
    "PairwiseDistance", functional.pairwise_distance, ("p", 2.0), ("eps", 1e-6), ("keepdim", False)
)


def _of_pairs(module: Any, function: Callable[..., Tensor]) -> None:
    """Let the module of a function of two tensors take both."""

    def forward(self: Any, x1: Tensor, x2: Tensor) -> Tensor:
        names = list(inspect.signature(function).parameters)[2:]
        return function(x1, x2, **{name: self.__dict__[name] for name in names})

    module.forward = forward


_of_pairs(CosineSimilarity, functional.cosine_similarity)
_of_pairs(PairwiseDistance, functional.pairwise_distance)


class PReLU(Module):
    """A ReLU with a learned slope below zero, one for all or one for each channel."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        constant_(self.weight, init)

    def forward(self, input: Tensor) -> Tensor:
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class _Pad(Module):
    """Padding of the last ``dims`` dimensions."""

    dims, mode = 0, "constant"

    def __init__(self, padding: Any, value: float = 0.0) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        if self.mode == "constant":
            return functional.pad(input, self.padding, self.mode, self.value)
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        if type(self).__name__.startswith("Constant"):
            return f"padding={self.padding}, value={self.value}"
        return f"{self.padding}"


def _padding(name: str, dims: int, mode: str) -> Any:
    about = {"dims": dims, "mode": mode, "__module__": __name__}
    return type(name, (_Pad,), about | {"__doc__": f"Padding of {dims} dimensions, {mode}."})


_MODES = {"Constant": "constant", "Zero": "constant", "Reflection": "reflect", "Replication": "replicate",
          "Circular": "circular"}  # fmt: skip
globals().update({
    f"{name}Pad{dims}d": _padding(f"{name}Pad{dims}d", dims, mode)
    for name, mode in _MODES.items() for dims in (1, 2, 3)
})  # fmt: skip
