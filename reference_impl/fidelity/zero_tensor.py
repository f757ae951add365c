"""ZeroTensor: PyTorch's zeros without storage, returned for example as the gradient of ``sign``.

Views and products of a ZeroTensor, and sums of several, are ZeroTensors; other results have memory. Its
elements can be neither read nor written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.apply import call, call_view
from reference_impl.core.extension_points import fill
from reference_impl.core.inplace import call_in_place, check_recorded
from reference_impl.core.kernel import Kernel
from reference_impl.core.tensor import Tensor, hold, wrap
from specs.layout import laid_out_like
from specs.op import Op

PRODUCTS = ("product", "passes")
SUMS = ("addition", "subtraction")


class ZeroTensor(Tensor):
    """A tensor of zeros without memory.

    NB: it has an array, which is never shown.
    """

    __slots__ = ()


@fill
def on_read(tensor: Tensor, how: str = "tolist") -> None:
    """Refuse to read the elements of a ZeroTensor; to list those on a device none are read."""
    if not isinstance(tensor, ZeroTensor) or (how == "tolist" and not tensor.is_cpu):
        return
    if how == "pickle" or (tensor._storage if how == "deepcopy" else tensor._array).size:
        refuse_by("op/zeros-are-not-read", case=how)


@fill
def on_numpy(tensor: Tensor) -> None:
    """Refuse to share a ZeroTensor with numpy."""
    if isinstance(tensor, ZeroTensor) and (tensor.is_cpu or not by("device/numpy-takes-the-cpu-s")):
        refuse_by("copy/zeros-refuse-numpy")


ZeroTensor._plain = ZeroTensor


@fill
def zero_gradient(like: Tensor) -> Tensor:
    """A ZeroTensor of the shape and dtype of ``like``."""
    kind = ZeroTensor if by("op/gradient-of-sign-has-no-memory") else Tensor
    return wrap(np.zeros(like._array.shape, like._array.dtype), kind=kind)


def runner_for(op: Op, types: tuple[type, ...]) -> Callable[..., Any] | None:
    """The function that runs an op on operands of these types if there are such zeros among them."""
    if not any(issubclass(each, ZeroTensor) for each in types):
        return None
    return compose_with_zeros if op.composite else call_with_zeros


def call_with_zeros(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op that was given such zeros."""
    zero = kernel.op.zero
    if kernel.op.mutates:
        if isinstance(operands[0], ZeroTensor):
            check_recorded(kernel, operands, attributes)
            refuse_by("write/zeros-without-memory")
        if kernel.copies:  # NB: whatever the shapes
            with _shown(operands[1:], _one_zero):
                return call_in_place(kernel, operands, attributes)
        return call_in_place(kernel, operands, attributes)
    if zero in (*PRODUCTS, *SUMS, "quotient"):
        operands = tuple([_unwrapped(operand) for operand in operands])
    if zero == "subtraction":
        operands = tuple(map(_counted, operands))
    if kernel.op.view:
        result = call_view(kernel, operands, attributes)
    else:
        # A clone is laid out as the tensor itself says.
        with _shown(operands if zero != "copy" else (), _one_for_all):
            result = call(kernel, operands, attributes)
    if zero in SUMS and (other := _only_other(operands)) is not None:
        whole, shape = other._array, result._array.shape
        if whole.shape != shape:  # NB: numpy gives a dimension of one element stride 0 all the same
            whole = np.broadcast_to(whole, shape)
        made = np.empty_like(whole, result._array.dtype)
        made[...] = result._array
        hold(result, laid_out_like(made, whole))
    if zero == "quotient" and isinstance(operands[1], ZeroTensor):
        # PyTorch looks at no element, nor at its sign.
        filled = np.nan if isinstance(operands[0], ZeroTensor) else np.inf
        hold(result, np.full(result._array.shape, filled, result._array.dtype))
    if _passes(kernel, operands) and by("op/zeros-pass-on"):
        for made in result if isinstance(result, tuple) else (result,):
            made.__class__ = ZeroTensor
            if not kernel.op.view:
                hold(made, np.zeros(made._array.shape, made._array.dtype))
    return result


@contextmanager
def _shown(operands: tuple[Any, ...], as_what: Callable[[np.ndarray], np.ndarray]) -> Iterator[None]:
    """Have zeros looked at otherwise than they say that they are laid out."""
    zeros = {x: x._array for x in operands if isinstance(x, ZeroTensor)}
    for x, array in zeros.items():
        x._array = as_what(array)
    try:
        yield
    finally:
        for x, array in zeros.items():
            x._array = array


def _one_zero(array: np.ndarray) -> np.ndarray:
    return np.zeros((), array.dtype)


def compose_with_zeros(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Take an op apart that was given such zeros.

    NB: in inference mode PyTorch gives them memory first, of one element.
    """
    if STATE.inference and kernel.op.zero == "filled":
        operands = tuple([wrap(_one_for_all(x._array)) if isinstance(x, ZeroTensor) else x for x in operands])
    return kernel.op.body(*operands, **attributes)


def _one_for_all(array: np.ndarray) -> np.ndarray:
    """One zero in memory, shown in that shape."""
    return as_strided(np.zeros((), array.dtype), array.shape, (0,) * array.ndim)


def _only_other(operands: tuple[Any, ...]) -> Tensor | None:
    """Of two tensors the one that has memory, which a sum is a copy of."""
    others = [x for x in operands if isinstance(x, Tensor) and not isinstance(x, ZeroTensor)]
    return others[0] if len(others) == 1 < len(operands) else None


def _unwrapped(operand: Any) -> Any:
    """A float or complex number as the 0-d tensor that these ops get for it, which yields to others less."""
    return wrap(np.asarray(operand)) if isinstance(operand, (float, complex)) else operand


def _counted(operand: Any) -> Any:
    """A bool as a number: PyTorch subtracts it from, or subtracts from it, what it does not look at."""
    if isinstance(operand, Tensor):
        return wrap(operand._array.astype(np.uint8)) if operand._array.dtype.kind == "b" else operand
    return int(operand) if isinstance(operand, bool) else operand


def _passes(kernel: Kernel, operands: tuple[Any, ...]) -> bool:
    """Return True if the result is a ZeroTensor, too."""
    zero = kernel.op.zero
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    if zero == "quotient":
        return isinstance(operands[0], ZeroTensor) and not isinstance(operands[1], ZeroTensor)
    if zero in SUMS:
        return len(tensors) == len(operands) and all(isinstance(tensor, ZeroTensor) for tensor in tensors)
    return bool(kernel.op.view) or zero in PRODUCTS
