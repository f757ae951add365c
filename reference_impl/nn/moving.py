"""Casting and moving all tensors of a module."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, Self

from reference_impl.base.device import device
from reference_impl.base.dtypes import dtype
from reference_impl.base.rules import by
from reference_impl.core.access import grad_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import empty_like
from reference_impl.nn.parameter import Parameter


class Moving:
    """A module whose tensors are cast and moved together; `reference_impl.nn.Module` is one."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def children(self) -> Iterator[Any]:
        """Iterate over direct children; modules know theirs."""
        raise NotImplementedError

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the data of every tensor; parameters stay the same leaves."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None and not by("nn/to-swaps-data"):
                self._parameters[name] = Parameter(fn(parameter.data), parameter.requires_grad)
            elif parameter is not None:
                parameter.data = fn(parameter.data)
                if (grad := grad_of(parameter)) is not None:
                    grad.data = fn(grad.data)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *wanted: Any, **more: Any) -> Self:
        """Move all tensors to a device, and cast floating-point ones to a dtype."""
        _need_float(*wanted, *more.values())

        def change(x: Tensor) -> Tensor:
            given = more if x.ndim in (4, 5) else {n: v for n, v in more.items() if n != "memory_format"}
            if x.is_floating_point() or x.is_complex():
                return x.to(*wanted, **given)
            there = [value for value in (*wanted, *given.values()) if isinstance(value, (str, device))]
            return x.to(there[0]) if there else x

        return self._apply(change)

    def double(self) -> Self:
        """Cast floating-point tensors to float64."""
        return self._apply(lambda x: x.double() if x.is_floating_point() else x)

    def float(self) -> Self:
        """Cast floating-point tensors to float32."""
        return self._apply(lambda x: x.float() if x.is_floating_point() else x)

    def half(self) -> Self:
        """Cast floating-point tensors to float16."""
        return self._apply(lambda x: x.half() if x.is_floating_point() else x)

    def bfloat16(self) -> Self:
        """Cast floating-point tensors to bfloat16."""
        return self._apply(lambda x: x.bfloat16() if x.is_floating_point() else x)

    def type(self, dst_type: Any) -> Self:
        """Cast all tensors to a dtype, or a tensor type by its name."""
        return self._apply(lambda x: x.type(dst_type))

    def cpu(self) -> Self:
        """Move all tensors to the CPU."""
        return self._apply(lambda x: x.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move all tensors to a CUDA device."""
        return self._apply(lambda x: x.cuda(device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Put tensors that nothing has written yet, on a device, in the place of all."""
        return self._apply(lambda x: empty_like(x, device=device), recurse)

    def share_memory(self) -> Self:
        """Move all tensors to memory that processes share, which shows in nothing."""
        return self._apply(lambda x: x.share_memory_())


def _need_float(*wanted: Any) -> None:
    """Refuse dtypes that parameters cannot have; warn of complex ones."""
    for asked in wanted:
        if isinstance(asked, dtype) and not (asked.is_floating_point or asked.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={asked}"
            )
        if isinstance(asked, dtype) and asked.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development whose design may change, and "
                "some modules might not work as expected when using complex tensors as parameters or "
                "buffers. Please file an issue at "
                "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module "
                "does not work as expected.",
                stacklevel=3,
            )
