"""Torch's tensors, each in a wrapper subclass that passes every operation on unchanged."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map_only

from conformance.targets.torch_modes import Mode, Namespace


class Wrapper(torch.Tensor):
    """A tensor around another, with its metadata."""

    inner: Any

    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), storage_offset=inner.storage_offset(),
            dtype=inner.dtype, device=inner.device,
        )  # fmt: skip
        made.inner = inner
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        taken = tree_map_only(Wrapper, lambda x: x.inner, (args, kwargs))
        out = tree_map_only(torch.Tensor, cls, func(*taken[0], **taken[1]))
        return return_and_correct_aliasing(func, args, kwargs, out)


class Wrapped(Mode):
    """The adapter."""

    def __init__(self) -> None:
        super().__init__("wrapper subclass", Namespace(Wrapper))

    def start(self) -> None:
        super().start()
        self.listed = _inner_list


def _inner_list(x: Any) -> Any:
    return (x.inner if isinstance(x, Wrapper) else x).tolist()


def wrapper() -> Wrapped:
    """Tensors that are wrapped."""
    return Wrapped()
