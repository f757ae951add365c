"""Hooks common to all modules, as ``torch.nn.modules.module`` registers them: called before their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.session import STATE
from reference_impl.core.hooks import RemovableHandle, attach
from reference_impl.nn.forward_hooks import flagged

Hook = Callable[..., Any]


def all_hooks(module: Any, kind: str) -> list[Hook]:
    """Return the hooks of one kind for a module: those common to all, and its own."""
    own: dict[int, Hook] = getattr(module, kind)
    return [*STATE.module_hooks.get(kind, {}).values(), *own.values()]


def as_registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """Let the hooks of registrations replace what a module is about to register."""
    if value is None and kind == "_parameters":
        return None
    for hook in [*STATE.module_hooks.get(kind, {}).values()]:
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


def _attach(kind: str, hook: Hook) -> RemovableHandle:
    return attach(STATE.module_hooks.setdefault(kind, {}), hook)


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, args)`` before each module's ``forward``; it may replace the arguments."""
    return _attach("_forward_pre_hooks", hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, result)`` after each module's ``forward``; it may replace the result."""
    return _attach("_forward_hooks", flagged(hook, with_kwargs, always_call))


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_inputs, grad_outputs)`` in each module's backward."""
    _need_none("_last_node_hooks")
    return _attach("_backward_hooks", hook)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_outputs)`` in backward, before each module's own."""
    return _attach("_backward_pre_hooks", hook)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_inputs, grad_outputs)`` of the last node of each module's result alone."""
    _need_none("_backward_hooks")
    return _attach("_last_node_hooks", hook)


def _need_none(kind: str) -> None:
    """Refuse to go on with one kind of backward hooks where the other was ever used."""
    if kind in STATE.module_hooks:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please "
            "use only one of them."
        )


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` before each parameter is registered; it may replace it."""
    return _attach("_parameters", hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` before each buffer is registered; it may replace it."""
    return _attach("_buffers", hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` before each module is registered; it may replace it."""
    return _attach("_modules", hook)


PUBLIC = [name for name in dict(vars()) if name.startswith("register_module_")]
"""The names that PyTorch has beside ``Module``."""
