"""Modules: callables that own parameters, buffers and other modules.

Lists and sequences of them are in ``containers``, the layers themselves in ``layers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.hooks import RemovableHandle, attach
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.missing import refuse_name
from reference_impl.nn.backward_hooks import HOOKS, Watch, hook_last_node, need_one_kind
from reference_impl.nn.forward_hooks import after, after_failure, before, flagged, need_mode
from reference_impl.nn.global_hooks import all_hooks, as_registered
from reference_impl.nn.moving import Moving
from reference_impl.nn.parameter import Buffer, Parameter, clear_grads
from reference_impl.nn.parts import Parts
from reference_impl.nn.registration import (
    need_name,
    need_no_arguments,
    note_buffer,
    refuse_as_property,
    type_name,
)
from reference_impl.nn.state import STATE_HOOKS, Stateful

_OWN = ("_parameters", "_buffers", "_modules")


class Module(Parts, Moving, Stateful):
    """Base class of layers; parameters, buffers and modules are registered by assignment."""

    training: bool
    dump_patches = False
    call_super_init = False
    _is_full_backward_hook: bool | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            need_no_arguments(self, args, kwargs)
        own: dict[str, Any] = {name: {} for name in (*_OWN, *HOOKS, *STATE_HOOKS)}
        self.__dict__.update(own | {"training": True, "_non_persistent_buffers_set": set()})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result of a call; subclasses define it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        backward = all_hooks(self, "_backward_hooks"), all_hooks(self, "_backward_pre_hooks")
        watch = None
        try:
            if hooks := all_hooks(self, "_forward_pre_hooks"):
                args, kwargs = before(self, hooks, args, kwargs)
            if any(backward):
                watch = Watch(self, *backward)
                args = watch.arguments(args)
            result = self.forward(*args, **kwargs)
        except Exception:
            after_failure(self, all_hooks(self, "_forward_hooks"), args, kwargs)
            raise
        if hooks := all_hooks(self, "_forward_hooks"):
            result = after(self, hooks, args, kwargs, result)
        if hooks := all_hooks(self, "_last_node_hooks"):
            hook_last_node(self, hooks, args, result)
        return result if watch is None else watch.result(result)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the attributes of a module that was copied or loaded; found on the class, as copy() asks."""
        self.__dict__.update(state)

    def __getattr__(self, name: str) -> Any:
        for kind in _OWN:
            owned = self.__dict__.get(kind, {})
            if name in owned:
                return owned[name]
        if isinstance(getattr(type(self), name, None), property):
            refuse_as_property(self, name)
        refuse_name("nn.Module", name, self)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self._kind_of(name, value)
        if kind is None:
            object.__setattr__(self, name, value)
            return
        if "_parameters" not in self.__dict__:
            what = {"_parameters": "parameters", "_modules": "module"}.get(kind, "buffer")
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if name in self._parameters and value is not None and not isinstance(value, Parameter):
            refuse_by("nn/only-a-parameter-takes-its-place", name=name, type=type_name(value))
        if kind == "_modules" and not (value is None or isinstance(value, Module)):
            raise TypeError(
                f"cannot assign '{type_name(value)}' as child module '{name}' "
                "(torch.nn.Module or None expected)"
            )
        self.__dict__.pop(name, None)
        if kind == "_buffers":
            note_buffer(self, name, value)
        value = as_registered(kind, self, name, value)
        for other in _OWN:
            if other != kind:
                self.__dict__[other].pop(name, None)
        self.__dict__[kind][name] = value

    def _kind_of(self, name: str, value: Any) -> str | None:
        if isinstance(value, Parameter) and by("nn/assigned-parameters-are-found"):
            return "_parameters"
        if isinstance(value, Module):
            return "_modules"
        if isinstance(value, Buffer):
            return "_buffers"
        for kind in _OWN:
            if name in self.__dict__.get(kind, {}):
                return kind
        return None

    def __delattr__(self, name: str) -> None:
        for kind in _OWN:
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter, or a placeholder, under a name."""
        need_name(self, "parameter", name)
        if not (param is None or isinstance(param, Parameter)):
            given = {"case": "registered", "name": name, "type": type_name(param)}
            refuse_by("nn/only-a-parameter-takes-its-place", **given)
        self._parameters[name] = as_registered("_parameters", self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that belongs to the state and is not trained."""
        need_name(self, "buffer", name)
        if not (tensor is None or isinstance(tensor, Tensor)):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' (torch Tensor or "
                "None required)"
            )
        self._buffers[name] = as_registered("_buffers", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(
            name
        )

    def add_module(self, name: str, module: Module | None) -> None:
        """Register a module under a name."""
        if not (module is None or isinstance(module, Module)):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        need_name(self, "module", name)
        self._modules[name] = as_registered("_modules", self, name, module)

    register_module = add_module

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, result)`` after `forward`; it may replace the result.

        With ``always_call`` it is called where `forward` or another hook fails, too.
        """
        return attach(self._forward_hooks, flagged(hook, with_kwargs, always_call), prepend)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before `forward`; it may replace the arguments."""
        return attach(self._forward_pre_hooks, flagged(hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_inputs, grad_outputs)`` in backward."""
        need_one_kind(self, full=True)
        return attach(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_inputs, grad_outputs)`` of the last node of the result alone."""
        need_one_kind(self, full=False)
        return attach(self._last_node_hooks, hook)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_outputs)`` in backward, before the module's own."""
        return attach(self._backward_pre_hooks, hook, prepend)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over direct children with their names, each once."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """Iterate over direct children."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over the module and its descendants with their dotted names, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(
                    memo, f"{prefix}.{name}" if prefix else name, remove_duplicate
                )

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Iterate over the module and its descendants."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def _named(self, kind: str, prefix: str, recurse: bool, once: bool = True) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        within = self.named_modules(prefix=prefix, remove_duplicate=once) if recurse else [(prefix, self)]
        for at, module in within:
            for name, tensor in getattr(module, kind).items():
                if tensor is not None and not (once and id(tensor) in seen):
                    seen.add(id(tensor))
                    yield f"{at}.{name}" if at else name, tensor

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over all parameters with their dotted names."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over all parameters."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over all buffers with their dotted names."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over all buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        """Call ``fn`` with every module, children first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def compile(self, *settings: Any, **more: Any) -> None:
        """Do nothing, as with ``TORCHDYNAMO_DISABLE=1``."""
        STATE.compiles = True

    def train(self, mode: bool = True) -> Module:
        """Set training mode in all modules."""
        need_mode(mode)
        if by("nn/train-is-a-flag-of-all-modules"):
            self.training = mode
            for module in self.children():
                module.train(mode)
        return self

    def eval(self) -> Module:
        """Set evaluation mode in all modules."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Set the ``requires_grad`` flag of every parameter."""
        for parameter in self.parameters():
            if by("nn/freezes-the-parameters-themselves"):
                parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients, or fill them with zeros."""
        clear_grads(self.parameters(), set_to_none)

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """The module's own part of the repr."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        if not lines and len(extra) < 2:
            return f"{self._get_name()}({''.join(extra)})"
        return f"{self._get_name()}(\n  " + "\n  ".join([*extra, *lines]) + "\n)"

    def __dir__(self) -> list[str]:
        own = [name for kind in _OWN for name in getattr(self, kind)]
        return sorted(name for name in [*super().__dir__(), *own] if not name[0].isdigit())
