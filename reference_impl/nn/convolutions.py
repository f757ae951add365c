"""Convolutions and their transposes, as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import empty
from reference_impl.nn import functional
from reference_impl.nn.layers import reset_linear
from reference_impl.nn.module import Module
from reference_impl.nn.own_names import in_force, under_own_name
from reference_impl.nn.parameter import Parameter
from reference_impl.nn.window_functions import for_each

_FILLS = ("zeros", "reflect", "replicate", "circular")


def _need_padding(padding: Any, stride: Any) -> None:
    """Refuse padding by a word that is none, or that does not go with the stride."""
    if not isinstance(padding, str):
        return
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
    if padding == "same" and any(step != 1 for step in stride):
        raise ValueError("padding='same' is not supported for strided convolutions")


class _ConvNd(Module):
    """A kernel that moves over ``ndim`` dimensions."""

    ndim = 0
    function: Callable[..., Tensor]
    transposed = False
    weight: Parameter
    bias: Parameter | None

    def _set_up(self, kernel_size: Any, bias: bool, like: dict[str, Any], **settings: Any) -> None:
        super().__init__()
        self.__dict__.update(settings)
        inputs, outputs, groups = (settings[name] for name in ("in_channels", "out_channels", "groups"))
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if inputs % groups:
            raise ValueError("in_channels must be divisible by groups")
        if outputs % groups:
            raise ValueError("out_channels must be divisible by groups")
        if settings["padding_mode"] not in _FILLS:
            raise ValueError(
                f"padding_mode must be one of {set(_FILLS)}, but got "
                f"padding_mode='{settings['padding_mode']}'"
            )
        _need_padding(settings["padding"], settings["stride"])
        self.kernel_size = for_each(kernel_size, self.ndim)
        self.groups = groups
        channels = (inputs, outputs // groups) if self.transposed else (outputs, inputs // groups)
        self.weight = Parameter(empty(*channels, *self.kernel_size, **like))
        self.register_parameter("bias", Parameter(empty(outputs, **like)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the parameters."""
        reset_linear(self.weight, self.bias)

    def extra_repr(self) -> str:
        own = self.__dict__
        shown = [f"{own['in_channels']}, {own['out_channels']}"]
        shown.append(f"kernel_size={self.kernel_size}, stride={own['stride']}")
        zeros, ones = (0,) * self.ndim, (1,) * self.ndim
        for name, default in (("padding", zeros), ("dilation", ones), ("output_padding", zeros)):
            if name in own and own[name] != default:
                shown.append(f"{name}={own[name]}")
        shown += [f"groups={self.groups}"] * (self.groups != 1) + ["bias=False"] * (self.bias is None)
        shown += [f"padding_mode={own['padding_mode']}"] * (own["padding_mode"] != "zeros")
        return ", ".join(shown)


class _Conv(_ConvNd):
    """A convolution."""

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
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._set_up(
            kernel_size,
            bias,
            {"device": device, "dtype": dtype},
            in_channels=in_channels,
            out_channels=out_channels,
            stride=for_each(stride, self.ndim),
            padding=padding if isinstance(padding, str) else for_each(padding, self.ndim),
            dilation=for_each(dilation, self.ndim),
            groups=groups,
            padding_mode=padding_mode,
        )

    def forward(self, input: Tensor) -> Tensor:
        own = self.__dict__
        padding = own["padding"]
        if own["padding_mode"] != "zeros":
            input, padding = functional.pad(input, self._sides(padding), own["padding_mode"]), 0
        how = (own["stride"], padding, own["dilation"], self.groups)
        return in_force(type(self).function)(input, self.weight, self.bias, *how)

    def _sides(self, padding: Any) -> list[int]:
        """The padding of each side, the last dimension first."""
        if padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.__dict__["dilation"], self.kernel_size, strict=True)]
            return [side for total in reversed(totals) for side in (total // 2, total - total // 2)]
        each = (0,) * self.ndim if padding == "valid" else padding
        return [side for p in reversed(each) for side in (p, p)]


class Conv1d(_Conv):
    """A convolution along one dimension."""

    ndim = 1
    function = staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """A convolution over an image."""

    ndim = 2
    function = staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """A convolution over a volume."""

    ndim = 3
    function = staticmethod(functional.conv3d)


class _ConvTranspose(_ConvNd):
    """A transposed convolution."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._set_up(
            kernel_size,
            bias,
            {"device": device, "dtype": dtype},
            in_channels=in_channels,
            out_channels=out_channels,
            stride=for_each(stride, self.ndim),
            padding=for_each(padding, self.ndim),
            output_padding=for_each(output_padding, self.ndim),
            dilation=for_each(dilation, self.ndim),
            groups=groups,
            padding_mode=padding_mode,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        own = self.__dict__
        more = own["output_padding"] if output_size is None else self._more(input, list(output_size))
        how = (own["stride"], own["padding"], more, self.groups, own["dilation"])
        return in_force(type(self).function)(input, self.weight, self.bias, *how)

    def _more(self, input: Tensor, wanted: list[int]) -> tuple[int, ...]:
        """The sizes that are wanted, beyond the least that there may be."""
        own, first = self.__dict__, 2 if input.ndim == self.ndim + 2 else 1
        wanted = wanted[first:] if len(wanted) == first + self.ndim else wanted
        if len(wanted) != self.ndim:
            raise ValueError(
                f"ConvTranspose{self.ndim}D: for {input.ndim}D input, output_size must have {self.ndim} or "
                f"{first + self.ndim} elements (got {len(wanted)})"
            )
        settings = (own["stride"], own["padding"], own["dilation"], self.kernel_size)
        each = zip(array_of(input).shape[first:], *settings, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in each]
        most = [low + s - 1 for low, s in zip(least, own["stride"], strict=True)]
        if any(not low <= n <= high for n, low, high in zip(wanted, least, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to {most} (for an "
                f"input of {input.shape[2:]})"
            )
        return tuple(n - low for n, low in zip(wanted, least, strict=True))


class ConvTranspose1d(_ConvTranspose):
    """A transposed convolution along one dimension."""

    ndim = 1
    function = staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """A transposed convolution over an image."""

    ndim = 2
    function = staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """A transposed convolution over a volume."""

    ndim = 3
    function = staticmethod(functional.conv_transpose3d)


for _made in (Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d):
    under_own_name(_made, "__init__")
    under_own_name(_made, "forward")
