"""Modules: callables that own parameters, buffers and other modules.

Lists and sequences of them are in ``containers``, the layers themselves in ``layers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reference_impl.base.device import device
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.access import grad_of
from reference_impl.core.hooks import RemovableHandle, attach
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.missing import refuse_name
from reference_impl.nn.backward_hooks import HOOKS, Watch, hook_last_node, need_one_kind
from reference_impl.nn.forward_hooks import after, attach_around, before, need_mode
from reference_impl.nn.parameter import Buffer, Parameter, clear_grads
from reference_impl.nn.parts import Parts
from reference_impl.nn.registration import need_float, need_name, note_buffer, refuse_as_property, type_name
from reference_impl.nn.state import STATE_HOOKS, Stateful

_OWN = ("_parameters", "_buffers", "_modules")


class Module(Parts, Stateful):
    """Base class of layers; parameters, buffers and modules are registered by assignment."""

    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        own: dict[str, Any] = {name: {} for name in (*_OWN, *HOOKS, *STATE_HOOKS)}
        self.__dict__.update(own | {"training": True, "_non_persistent_buffers_set": set()})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result of a call; subclasses define it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward_pre_hooks:
            args, kwargs = before(self, args, kwargs)
        watch = None
        if self._backward_hooks or self._backward_pre_hooks:
            watch = Watch(self, [*self._backward_hooks.values()], [*self._backward_pre_hooks.values()])
            args = watch.arguments(args)
        result = self.forward(*args, **kwargs)
        if self._forward_hooks:
            result = after(self, args, kwargs, result)
        hook_last_node(self, args, result)
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
        self.__dict__.pop(name, None)
        if kind == "_buffers":
            note_buffer(self, name, value)
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
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that belongs to the state and is not trained."""
        need_name(self, "buffer", name)
        if not (tensor is None or isinstance(tensor, Tensor)):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' (torch Tensor or "
                "None required)"
            )
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(
            name
        )

    def add_module(self, name: str, module: Module | None) -> None:
        """Register a module under a name."""
        if not (module is None or isinstance(module, Module)):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        need_name(self, "module", name)
        self._modules[name] = module

    register_module = add_module

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, **more: Any
    ) -> RemovableHandle:
        """Call ``hook(module, args, result)`` after `forward`; it may replace the result."""
        return attach_around(self._forward_hooks, hook, prepend, with_kwargs, **more)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before `forward`; it may replace the arguments."""
        return attach_around(self._forward_pre_hooks, hook, prepend, with_kwargs)

    def register_full_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_inputs, grad_outputs)`` in backward."""
        return attach(need_one_kind(self._backward_hooks, self._last_node_hooks), hook)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_inputs, grad_outputs)`` of the last node of the result alone."""
        return attach(need_one_kind(self._last_node_hooks, self._backward_hooks), hook)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_outputs)`` in backward, before the module's own."""
        return attach(self._backward_pre_hooks, hook)

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

    def named_modules(self, memo: set[int] | None = None, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Iterate over the module and its descendants with their dotted names, each once."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Module]:
        """Iterate over the module and its descendants."""
        return (module for _, module in self.named_modules())

    def _named(self, kind: str, prefix: str, recurse: bool, once: bool = True) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for at, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, tensor in module.__dict__[kind].items():
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

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Iterate over all buffers with their dotted names."""
        return self._named("_buffers", prefix, recurse)

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

    def _swap(self, change: Callable[[Tensor], Tensor]) -> Module:
        """Replace the data of every tensor; parameters stay the same leaves."""
        for module in self.modules():
            for name, parameter in module._parameters.items():
                if parameter is not None and not by("nn/to-swaps-data"):
                    module._parameters[name] = Parameter(change(parameter.data), parameter.requires_grad)
                elif parameter is not None:
                    parameter.data = change(parameter.data)
                    if (grad := grad_of(parameter)) is not None:
                        grad.data = change(grad.data)
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = change(buffer)
        return self

    def to(self, *wanted: Any, **more: Any) -> Module:
        """Move all tensors to a device, and cast floating-point ones to a dtype."""
        need_float(*wanted, *more.values())

        def change(x: Tensor) -> Tensor:
            given = more if x.ndim in (4, 5) else {n: v for n, v in more.items() if n != "memory_format"}
            if x.is_floating_point() or x.is_complex():
                return x.to(*wanted, **given)
            there = [value for value in (*wanted, *given.values()) if isinstance(value, (str, device))]
            return x.to(there[0]) if there else x

        return self._swap(change)

    def double(self) -> Module:
        """Cast floating-point tensors to float64."""
        return self._swap(lambda x: x.double() if x.is_floating_point() else x)

    def float(self) -> Module:
        """Cast floating-point tensors to float32."""
        return self._swap(lambda x: x.float() if x.is_floating_point() else x)

    def half(self) -> Module:
        """Cast floating-point tensors to float16."""
        return self._swap(lambda x: x.half() if x.is_floating_point() else x)

    def bfloat16(self) -> Module:
        """Cast floating-point tensors to bfloat16."""
        return self._swap(lambda x: x.bfloat16() if x.is_floating_point() else x)

    def type(self, dtype: Any) -> Module:
        """Cast all tensors to a dtype, or a tensor type by its name."""
        return self._swap(lambda x: x.type(dtype))

    def cpu(self) -> Module:
        """Move all tensors to the CPU."""
        return self._swap(lambda x: x.cpu())

    def cuda(self, index: Any = None) -> Module:
        """Move all tensors to a CUDA device."""
        return self._swap(lambda x: x.cuda(index))

    def extra_repr(self) -> str:
        """The module's own part of the repr."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        if not lines:
            return f"{type(self).__name__}({self.extra_repr()})"
        inner = [self.extra_repr(), *lines] if self.extra_repr() else lines
        return f"{type(self).__name__}(\n  " + "\n  ".join(inner) + "\n)"
