"""Calls of layers, windows and activations, for any namespace shaped like torch."""

from __future__ import annotations

from typing import Any


def _f(name: str, *settings: Any, **more: Any) -> Any:
    """A function of ``nn.functional`` of one tensor."""
    return lambda t, x, shape=(3, 4): getattr(t.nn.functional, name)(x(*shape), *settings, **more)


def _image(name: str, *settings: Any, shape: Any = (2, 3, 6, 5), **more: Any) -> Any:
    return lambda t, x: getattr(t.nn.functional, name)(x(*shape), *settings, **more)


def _module(make: Any, *shapes: Any, **more: Any) -> Any:
    return lambda t, x: x.module(make(t.nn))(*(x(*shape) for shape in shapes), **more)


LAYERS: dict[str, Any] = {
    # activations
    **{
        n: _f(n)
        for n in (
            "relu",
            "relu6",
            "elu",
            "selu",
            "celu",
            "silu",
            "mish",
            "gelu",
            "leaky_relu",
            "hardtanh",
            "hardsigmoid",
            "hardswish",
            "softshrink",
            "hardshrink",
            "tanhshrink",
            "softsign",
            "logsigmoid",
            "softplus",
            "glu",
            "softmax",
            "log_softmax",
            "softmin",
        )
    },
    "gelu tanh": _f("gelu", approximate="tanh"),
    "celu alpha": _f("celu", 0.5),
    "softshrink wide": _f("softshrink", 0.2),
    "prelu": lambda t, x: t.nn.functional.prelu(x(2, 3, 2), x(3)),
    "prelu one": lambda t, x: x.module(t.nn.PReLU())(x(2, 3)),
    # windows
    "max_pool2d": _image("max_pool2d", 2),
    "max_pool2d strided": _image("max_pool2d", (3, 2), 2, padding=1),
    "max_pool2d ceil": _image("max_pool2d", 2, ceil_mode=True),
    "max_pool2d dilated": _image("max_pool2d", 2, 1, dilation=2),
    "max_pool2d indices": _image("max_pool2d", 2, return_indices=True),
    "max_pool1d": _image("max_pool1d", 2, shape=(2, 3, 7)),
    "max_pool2d unbatched": _image("max_pool2d", 2, shape=(3, 4, 4)),
    "avg_pool2d": _image("avg_pool2d", 2),
    "avg_pool2d padded": _image("avg_pool2d", 3, 2, padding=1),
    "avg_pool2d uncounted": _image("avg_pool2d", 3, 2, padding=1, count_include_pad=False),
    "avg_pool2d ceil": _image("avg_pool2d", 2, ceil_mode=True),
    "avg_pool2d divisor": _image("avg_pool2d", 2, divisor_override=3),
    "avg_pool1d": _image("avg_pool1d", 2, shape=(2, 3, 7)),
    "adaptive_avg": _image("adaptive_avg_pool2d", (3, 2)),
    "adaptive_avg one": _image("adaptive_avg_pool2d", 1),
    "adaptive_avg none": _image("adaptive_avg_pool2d", (None, 2)),
    "adaptive_avg 1d": _image("adaptive_avg_pool1d", 3, shape=(2, 3, 7)),
    "adaptive_max": _image("adaptive_max_pool2d", (3, 2)),
    "nearest": _image("interpolate", scale_factor=2),
    "nearest size": _image("interpolate", size=(4, 7)),
    "nearest 1d": _image("interpolate", scale_factor=1.5, shape=(2, 3, 7)),
    "bilinear up": _image("interpolate", scale_factor=2, mode="bilinear", align_corners=False),
    "bilinear corners": _image("interpolate", size=(7, 9), mode="bilinear", align_corners=True),
    "bilinear down": _image("interpolate", size=(3, 3), mode="bilinear"),
    "linear": _image("interpolate", size=9, mode="linear", shape=(2, 3, 7)),
    "reflect pad": _image("pad", (1, 2, 2, 0), mode="reflect"),
    "replicate pad": _image("pad", (1, 2, 2, 0), mode="replicate"),
    "circular pad": _image("pad", (1, 2, 2, 0), mode="circular"),
    "constant pad": _image("pad", (1, -1, 2, 0), value=0.5),
    "unfold": _image("unfold", (2, 3), padding=1, stride=2),
    "fold": _image("fold", (4, 5), (2, 2), shape=(2, 12, 12)),
    "pixel_shuffle": _image("pixel_shuffle", 2, shape=(2, 8, 3, 3)),
    # convolutions
    "conv2d same": lambda t, x: t.nn.functional.conv2d(x(1, 2, 4, 5), x(3, 2, 2, 3), padding="same"),
    "conv2d grouped": lambda t, x: t.nn.functional.conv2d(x(1, 4, 4, 4), x(4, 2, 2, 2), x(4), groups=2),
    "conv_transpose2d": lambda t, x: t.nn.functional.conv_transpose2d(
        x(1, 2, 3, 3), x(2, 3, 2, 2), x(3), stride=2
    ),
    "conv_transpose2d padded": lambda t, x: t.nn.functional.conv_transpose2d(
        x(1, 4, 3, 3), x(4, 1, 3, 3), stride=2, padding=1, output_padding=1, groups=2
    ),
    "conv_transpose1d": lambda t, x: t.nn.functional.conv_transpose1d(x(1, 2, 3), x(2, 3, 2), dilation=2),
    "Conv2d reflect": _module(lambda nn: nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), (1, 2, 4, 4)),
}
