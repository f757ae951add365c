"""``repr`` of a tensor, with the print options of the session."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import CPU, place_of
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of

if TYPE_CHECKING:
    from reference_impl.core.tensor import Tensor

Form = Callable[[Any], str]


def form_of(values: np.ndarray) -> tuple[Form, int]:
    """Choose a format for numbers, and the width of their column."""
    if values.dtype.kind == "c":
        (real, width), (imag, more) = form_of(values.real), form_of(values.imag)
        return lambda z: f"{real(z.real)}{'' if z.imag < 0 else '+'}{imag(z.imag).strip()}j", width + more + 1
    deciding = values
    form: Form = str
    if values.dtype.kind in dtypes.REAL:
        deciding = values[np.isfinite(values) & (values != 0)]
        form = _float_form(deciding)
    width = max((len(form(value)) for value in deciding.tolist()), default=1)
    return lambda value: form(value).rjust(width), width


def _float_form(values: np.ndarray) -> Form:
    """Format whole numbers with a bare point, others with four digits, a wide range with exponents."""
    sizes = np.abs(values.astype(np.float64))
    if not sizes.size:
        return lambda value: f"{value:.0f}." if math.isfinite(value) else str(value)
    low, high = sizes.min(), sizes.max()
    whole = bool(np.all(sizes == np.ceil(sizes)))
    wide, digits = STATE.printing.sci_mode, STATE.printing.precision
    if wide is None:
        wide = bool(high / low > 1000 or high > 1e8 or (not whole and low < 1e-4))
    if wide:
        written: Form = lambda value: f"{value:.{digits}e}"  # noqa: E731 -- one of three, side by side
    elif whole:
        written = lambda value: f"{value:.0f}."  # noqa: E731
    else:
        written = lambda value: f"{value:.{digits}f}"  # noqa: E731
    return lambda value: written(value) if math.isfinite(value) else str(value)


def _shown(array: np.ndarray) -> np.ndarray:
    """Cut each long dimension down to its ends."""
    edge = STATE.printing.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * edge:
            array = np.concatenate(
                [np.take(array, range(edge), axis), np.take(array, range(size - edge, size), axis)], axis
            )
    return array


def _rows(array: np.ndarray, form: Form, width: int, indent: int, cut: bool) -> str:
    """Write elements in nested brackets, with broken and indented lines."""
    if not array.ndim:
        return form(array.item())
    edge, size = STATE.printing.edgeitems, len(array)
    cut_here = cut and size > 2 * edge
    at = [*range(edge), None, *range(size - edge, size)] if cut_here else list(range(size))
    if array.ndim > 1:
        parts = ["..." if i is None else _rows(array[i], form, width, indent + 1, cut) for i in at]
        between = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
        return "[" + between.join(parts) + "]"
    words = [" ..." if i is None else form(array[i].item()) for i in at]
    fitting = max(1, (STATE.printing.linewidth - indent) // (width + 2))
    lines = [", ".join(words[n : n + fitting]) for n in range(0, len(words), fitting)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def tensor_repr(tensor: Tensor) -> str:
    """Write the elements, and device, size, dtype, history and tangent where they differ from the default."""
    array = array_of(tensor)
    suffixes = [] if place_of(tensor) is CPU else [f"device='{place_of(tensor)}'"]
    if not array.size and array.shape != (0,):
        suffixes.append(f"size={tuple(array.shape)}")
    if dtypes.printed(array.dtype) or (not array.size and array.dtype != dtypes.default().numpy):
        suffixes.append(f"dtype={dtypes.of(array.dtype)!r}")
    suffixes += _history(tensor)
    tangent = None if STATE.level is None else STATE.level.tangent(tensor)
    if tangent is not None:
        suffixes.append(f"tangent={tensor_repr(tangent)}")
    if array.size:
        cut = array.size > STATE.printing.threshold
        form, width = form_of((_shown(array) if cut else array).reshape(-1))
        body = _rows(array, form, width, len("tensor("), cut)
    else:
        body = "[]"
    return _joined(f"tensor({body}", suffixes)


def _history(tensor: Tensor) -> list[str]:
    """The suffix for ``grad_fn`` or ``requires_grad``."""
    try:
        node = tensor.grad_fn
    except RuntimeError:
        return ["grad_fn=<Invalid>"]  # a view that an in-place write invalidated
    if node is not None:
        return [f"grad_fn=<{node.name().rpartition('::')[2]}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def _joined(text: str, suffixes: list[str]) -> str:
    """Append the suffixes, on new lines where a line would be too long."""
    line = len(text) - text.rfind("\n") + 1  # NB: PyTorch counts two more here
    for suffix in suffixes:
        broken = line + len(suffix) + 2 > STATE.printing.linewidth
        text += ",\n       " + suffix if broken else ", " + suffix
        line = 7 + len(suffix) if broken else line + len(suffix) + 2
    return text + ")"
