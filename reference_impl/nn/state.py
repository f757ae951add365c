"""The state of modules: parameters and buffers by dotted name, to be saved and loaded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import by
from reference_impl.core.tensor import Tensor
from reference_impl.nn.parameter import Parameter, detached
from reference_impl.nn.registration import copied_in


class Stateful:
    """A tree of modules with parameters and buffers; `reference_impl.nn.Module` is one."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    named_children: Any
    get_submodule: Any
    get_extra_state: Any

    def _state(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Give parameters and buffers by dotted name, and modules themselves for what they keep besides."""
        for name in ("_save_to_state_dict", "_load_from_state_dict"):
            if hasattr(type(self), name):
                raise NotModelled(f"torch.nn.Module.{name}")
        saved = by("nn/buffers-belong-to-the-state")
        kept = [
            (n, b) for n, b in self._buffers.items() if saved and n not in self._non_persistent_buffers_set
        ]
        for name, tensor in chain(self._parameters.items(), kept):
            if tensor is not None:
                yield prefix + name, tensor
        if hasattr(type(self), "get_extra_state"):
            yield f"{prefix}_extra_state", self
        modules = self._modules
        if not by("nn/state-names-each-place"):
            modules = dict(self.named_children())
        for name, module in modules.items():
            if module is not None:
                yield from module._state(f"{prefix}{name}.")

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> OrderedDict[str, Tensor]:
        """Return parameters and buffers by dotted name, detached, on the same memory."""
        keep_vars = keep_vars or not by("nn/state-is-detached")
        made: OrderedDict[str, Any] = OrderedDict()
        for name, x in self._state():
            if isinstance(x, Stateful):
                made[prefix + name] = x.get_extra_state()
            else:
                made[prefix + name] = x if keep_vars else detached(x)
        return made

    def load_state_dict(
        self, state_dict: Mapping[str, Tensor], strict: bool = True, assign: bool = False
    ) -> Any:
        """Copy values in by name, or put them in; with ``strict``, refuse missing and unknown names."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        put = self._put_in if assign else None
        return copied_in(dict(self._state()), state_dict, strict, type(self).__name__, put)

    def _put_in(self, name: str, old: Tensor, new: Tensor) -> None:
        path, _, last = name.rpartition(".")
        owner = self.get_submodule(path)
        if isinstance(old, Parameter) and not isinstance(new, Parameter):
            new = Parameter(new, old.requires_grad)
        elif isinstance(old, Parameter):
            new.requires_grad_(old.requires_grad)
        owner.__dict__["_parameters" if last in owner._parameters else "_buffers"][last] = new
