"""``torch.nn.utils.parametrize``: parameters that are computed from others whenever they are read."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.missing import loading
from reference_impl.nn.containers import ModuleDict, ModuleList
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter

_WANTED = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...)."


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once within the block."""
    STATE.parametrizations_cached += 1
    try:
        yield
    finally:
        STATE.parametrizations_cached -= 1
        if not STATE.parametrizations_cached:
            STATE.parametrized.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, with what it is computed from: ``original``, or ``original0`` and
    so on.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            new: Any = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        continue
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(f"{_WANTED} Got {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        was, shape = original.dtype, original.shape
        if isinstance(new, Tensor):
            if new.dtype != was:
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: "
                    f"{was}\nright_inverse(original).dtype: {new.dtype}"
                )
            with no_grad():
                _set(original, new)
            _register(self, "original", original)
        else:
            for at, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        f"{_WANTED} Got element {at} of the sequence with type {type(part).__name__}."
                    )
                kept = Parameter(part, original.requires_grad) if isinstance(original, Parameter) else part
                kept.requires_grad_(original.requires_grad)
                _register(self, f"original{at}", kept)
        if not unsafe:
            _same_form(self(), was, shape)

    def right_inverse(self, value: Any) -> None:
        """Set what the tensor is computed from, so that it becomes ``value``."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            for own, new in zip(self.originals(), self._checked(value), strict=True):
                _set(own, new)

    def _checked(self, value: Any) -> Sequence[Tensor]:
        """Return what a `right_inverse` gave, as many as there are originals; refuse what cannot be set."""
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            if value.dtype != self.original.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has "
                    f"dtype {self.original.dtype}"
                )
            return [value]
        if not isinstance(value, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}."
            )
        if len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a "
                f"sequence of length {len(value)}."
            )
        for at, (own, new) in enumerate(zip(self.originals(), value, strict=True)):
            if own.dtype != new.dtype:
                raise ValueError(
                    f"Tensor {at} returned by `right_inverse` has dtype {new.dtype} while `original{at}` has "
                    f"dtype {own.dtype}"
                )
        return value

    def originals(self) -> list[Tensor]:
        """Return what the tensor is computed from."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{at}") for at in range(self.ntensors)]

    def forward(self) -> Tensor:
        first, *others = list(self)
        x: Tensor = first(*self.originals())
        for module in others:
            x = module(x)
        return x


def _set(x: Tensor, value: Tensor) -> None:
    """Let a tensor show the elements of another one."""
    with no_grad():
        x.set_(value)


def _same_form(x: Any, dtype: Any, shape: Any) -> None:
    if not isinstance(x, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(x).__name__}.")
    for what, is_, was in (("dtype", x.dtype, dtype), ("shape", x.shape, shape)):
        if is_ != was:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` "
                f"flag is enabled.\nunparametrized {what}: {was}\nparametrized {what}: {is_}"
            )


def _same_form_beside(x: Any, value: Tensor, name: str) -> None:
    """Refuse what a further parametrization makes of a value, if it is of another form."""
    if not isinstance(x, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(x).__name__}.")
    for what, is_, was in (("dtype", x.dtype, value.dtype), ("shape", x.shape, value.shape)):
        if is_ != was:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` "
                f"flag is enabled.\nmodule.{name}.{what}: {was}\nparametrization(module.{name}).{what}: {is_}"
            )


def _same_form_back(parametrization: Any, x: Tensor, value: Tensor, name: str) -> None:
    """Refuse a `right_inverse` that gives something of another form."""
    try:
        back = parametrization.right_inverse(x)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what, is_, was in (("dtype", back.dtype, value.dtype), ("shape", back.shape, value.shape)):
        if is_ != was:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as "
                f"module.{name}, unless the `unsafe` flag is enabled.\nmodule.{name}.{what}: {was}\n"
                f"returned {what}: {is_}"
            )


def _register(module: Module, name: str, x: Tensor) -> None:
    if isinstance(x, Parameter):
        module.register_parameter(name, x)
    else:
        module.register_buffer(name, x)


def _property(name: str) -> property:
    def read(self: Any) -> Tensor:
        parametrization = self.parametrizations[name]
        if not by("nn/parametrized-is-computed"):
            return parametrization.originals()[0]
        if not STATE.parametrizations_cached:
            return parametrization()
        key = id(self), name
        if key not in STATE.parametrized:
            STATE.parametrized[key] = parametrization()
        return STATE.parametrized[key]

    def write(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Have a parameter or buffer computed by a module, from what was there before."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        many: Any = module.parametrizations[tensor_name]
        if not unsafe:
            value = getattr(module, tensor_name)
            made = parametrization(value)
            _same_form_beside(made, value, tensor_name)
            if hasattr(parametrization, "right_inverse"):
                _same_form_back(parametrization, made, value, tensor_name)
        many.append(parametrization)
        many.unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    original: Any = getattr(module, tensor_name)
    parametrizations = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        kind = type(module)
        own = {"__deepcopy__": _deepcopied, "__getstate__": _refused_state}
        module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), own)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = parametrizations
    return module


def _deepcopied(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        memo[id(self)] = made = self.__new__(type(self))
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
    return memo[id(self)]


def _refused_state(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def type_before_parametrizations(module: Module) -> type:
    """Return the class that a module had before it had parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Tell whether a module has a parametrization, or one of that name."""
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a tensor a parameter or buffer again: what was computed, or what it was computed from."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    many: Any = module.parametrizations[tensor_name]
    if many.is_tensor:
        original = many.original
        if leave_parametrized:
            with no_grad():
                _set(original, getattr(module, tensor_name))
    elif leave_parametrized:
        computed = getattr(module, tensor_name).detach()
        original = Parameter(computed) if many.original0.requires_grad else computed
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
            "of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    _register(module, tensor_name, original)
    return module


__getattr__ = loading(__name__)
