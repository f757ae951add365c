"""The inverse of max pooling, and pooling by powers: functions, and the modules of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from reference_impl.base.dtypes import int64
from reference_impl.core.tensor import Tensor
from reference_impl.nn.activation_functions import relu
from reference_impl.nn.module import Module
from reference_impl.nn.window_functions import avg_pool1d, avg_pool2d, avg_pool3d, for_each
from specs.dtype_names import SCALARS

_POOLS: dict[int, Callable[..., Tensor]] = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


def _sizes(
    input: Tensor, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], wanted: Any
) -> list[int]:
    """The sizes of the result: those wanted, if a pooling of them could have made the input's."""
    dims = len(kernel)
    shape = list(input.shape)[-dims:]
    usual = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(shape, stride, kernel, padding, strict=True)]
    if wanted is None:
        return usual
    wanted = list(wanted)[-dims:] if len(wanted) == dims + 2 else list(wanted)
    if len(wanted) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length "
            f"of '{len(wanted)}'"
        )
    for n, least, step in zip(wanted, usual, stride, strict=True):
        if not least - step < n < least + step:
            low, high = (
                [d - s for d, s in zip(usual, stride, strict=True)],
                [d + s for d, s in zip(usual, stride, strict=True)],
            )
            raise ValueError(
                f'invalid output_size "{tuple(wanted)}" (dim 0 must be between {low[0]} and {high[0]})'
            )
    return wanted


def _unpool(dims: int) -> Callable[..., Tensor]:
    def unpool(
        input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
        output_size: Any = None,
    ) -> Tensor:  # fmt: skip
        """Zeros, with the elements at the positions that pooling gave."""
        kernel, pads = for_each(kernel_size, dims), for_each(padding, dims)
        steps = kernel if stride is None else for_each(stride, dims)
        sizes = tuple(_sizes(input, kernel, steps, pads, output_size))
        if indices.dtype is not int64:
            got = SCALARS[indices.dtype.name]
            raise RuntimeError(f"elements in indices should be type int64 but got: {got}")
        if indices.shape != input.shape:
            raise RuntimeError(
                f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but "
                f"got indices tensor with shape: {list(indices.shape)}"
            )
        if dims == 1:
            wide = input.unsqueeze(-1)._max_unpool2d(indices.unsqueeze(-1), sizes=(*sizes, 1))
            return wide.squeeze(-1)
        return getattr(input, f"_max_unpool{dims}d")(indices, sizes=sizes)

    unpool.__name__ = unpool.__qualname__ = f"max_unpool{dims}d"
    return unpool


max_unpool1d, max_unpool2d, max_unpool3d = _unpool(1), _unpool(2), _unpool(3)


def _lp_pool(dims: int) -> Callable[..., Tensor]:
    def pool(
        input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Tensor:
        """The p-norm of each window over the last dimensions."""
        count = math.prod(for_each(kernel_size, dims))
        mean = _POOLS[dims](input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        return mean.sign().mul(relu(mean.abs())).mul(count).pow(1.0 / norm_type)

    pool.__name__ = pool.__qualname__ = f"lp_pool{dims}d"
    return pool


lp_pool1d, lp_pool2d, lp_pool3d = _lp_pool(1), _lp_pool(2), _lp_pool(3)


class _MaxUnpool(Module):
    dims = 2

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = for_each(kernel_size, self.dims)
        self.stride = self.kernel_size if stride is None else for_each(stride, self.dims)
        self.padding = for_each(padding, self.dims)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return _UNPOOLS[self.dims](input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


_UNPOOLS = {1: max_unpool1d, 2: max_unpool2d, 3: max_unpool3d}


class MaxUnpool1d(_MaxUnpool):
    """`max_unpool1d` as a module."""

    dims = 1


class MaxUnpool2d(_MaxUnpool):
    """`max_unpool2d` as a module."""


class MaxUnpool3d(_MaxUnpool):
    """`max_unpool3d` as a module."""

    dims = 3


class _LPPool(Module):
    dims = 2

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        pool = {1: lp_pool1d, 2: lp_pool2d, 3: lp_pool3d}[self.dims]
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """`lp_pool1d` as a module."""

    dims = 1


class LPPool2d(_LPPool):
    """`lp_pool2d` as a module."""


class LPPool3d(_LPPool):
    """`lp_pool3d` as a module."""

    dims = 3
