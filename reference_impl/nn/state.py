"""The state of modules: parameters and buffers by dotted name, to be saved and loaded."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from itertools import chain
from typing import Any, NoReturn

from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.hooks import RemovableHandle, attach
from reference_impl.core.tensor import Tensor
from reference_impl.nn.parameter import Parameter, detached, unshaped

STATE_HOOKS = ("_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks",
               "_load_state_dict_post_hooks")  # fmt: skip
"""The hooks around saving and loading, each kind by the name of its dict."""

_EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """The names that are missing, and those that are unknown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"

    __str__ = __repr__


class Stateful:
    """A tree of modules with parameters and buffers; `reference_impl.nn.Module` is one."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: dict[int, Any]
    _state_dict_hooks: dict[int, Any]
    _load_state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_post_hooks: dict[int, Any]
    named_children: Any

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the module's state is saved."""
        return attach(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after it; it may change the dict."""
        hook._from_public_api = True  # type: ignore[attr-defined]  # as PyTorch marks it
        return attach(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Do the same with a hook whose result, if any, replaces the dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously "
                "registered via register_state_dict_post_hook"
            )
        return attach(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, ...)`` with the arguments of ``_load_from_state_dict``
        before the module's state is loaded.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return attach(self._load_state_dict_pre_hooks, partial(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after it; it may change the lists of names."""
        return attach(self._load_state_dict_post_hooks, hook)

    def get_extra_state(self) -> Any:
        """Return what is to be saved beside parameters and buffers; subclasses define it."""
        _never_asked("get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take what ``get_extra_state`` returned; subclasses define it."""
        _never_asked("set_extra_state")

    def _own_state(self) -> dict[str, Tensor]:
        """The module's own parameters and buffers that belong to the state, by name."""
        saved = by("nn/buffers-belong-to-the-state")
        kept = (
            (n, b) for n, b in self._buffers.items() if saved and n not in self._non_persistent_buffers_set
        )
        return {name: x for name, x in chain(self._parameters.items(), kept) if x is not None}

    def _parts(self) -> Iterator[tuple[str, Any]]:
        """The modules below this one whose state is part of its own, by name."""
        modules = self._modules if by("nn/state-names-each-place") else dict(self.named_children())
        return ((name, module) for name, module in modules.items() if module is not None)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Put in what belongs to this module alone; subclasses may put in other things."""
        keep_vars = keep_vars or not by("nn/state-is-detached")
        for name, x in self._own_state().items():
            destination[prefix + name] = x if keep_vars else detached(x)
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(
        self, *given: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return parameters and buffers by dotted name, detached, on the same memory."""
        if given:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for "
                "details.",
                FutureWarning,
                stacklevel=2,
            )
            named: tuple[Any, ...] = (destination, prefix, keep_vars)
            destination, prefix, keep_vars = (*given, *named[len(given) :])[:3]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._parts():
            module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, metadata)
            if changed is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = changed
        return destination

    def load_state_dict(
        self, state_dict: Mapping[str, Tensor], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy values in by name, or put them in; with ``strict``, refuse missing and unknown names."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        given: Any = OrderedDict(state_dict)
        metadata = getattr(state_dict, "_metadata", None)
        if metadata is not None:
            given._metadata = metadata
        keys, wrong = _IncompatibleKeys([], []), list[str]()
        self._load(given, "", metadata, assign, keys, wrong)
        if strict:
            kinds = zip(("Missing", "Unexpected"), keys, strict=True)
            wrong[:0] = [f"{kind} key(s) in state_dict: {_quoted(names)}. " for kind, names in kinds if names]
        if wrong:
            why = "".join(f"\n\t{each}" for each in wrong)
            refuse_by("nn/state-that-does-not-fit-refused", module=type(self).__name__, why=why)
        return keys

    def _load(
        self, given: Any, prefix: str, metadata: Any, assign: bool, keys: _IncompatibleKeys, wrong: list[str]
    ) -> None:
        """Load this module and those below it, and call hooks behind each."""
        own = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            own["assign_to_params_buffers"] = assign
        self._load_from_state_dict(given, prefix, own, True, *keys, wrong)
        for name, module in self._parts():
            below = f"{prefix}{name}."
            part = {key: value for key, value in given.items() if key.startswith(below)}
            module._load(part, below, metadata, assign, keys, wrong)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return "
                    "new values, if incompatible_keys need to be modified, it should be done inplace."
                )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Take out what belongs to this module alone; subclasses may take out other things."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own, assign = self._own_state(), local_metadata.get("assign_to_params_buffers", False)
        missing, extra = [], prefix + _EXTRA
        with no_grad() if by("nn/state-is-copied-in") else nullcontext():
            for name, x in own.items():
                if prefix + name in state_dict:
                    error_msgs += self._loaded(name, prefix + name, x, state_dict[prefix + name], assign)
                else:
                    missing.append(prefix + name)
        takes_extra = type(self).set_extra_state is not Stateful.set_extra_state
        if takes_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif takes_extra:
            missing.append(extra)
        if strict:
            missing_keys += missing
            if not takes_extra and extra in state_dict:
                unexpected_keys.append(extra)
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first, *rest = key.removeprefix(prefix).split(".", 1)
                    if first not in (self._modules if rest else own):
                        unexpected_keys.append(key)

    def _loaded(self, name: str, key: str, x: Any, given: Any, assign: bool) -> list[str]:
        """Copy a value into a parameter or buffer, or put it in its place; say what is wrong, if anything."""
        if not isinstance(given, Tensor):
            return [
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                f"from checkpoint but received {type(given)}"
            ]
        if unshaped(x) and not unshaped(given):
            x.materialize(given.shape)
        if unshaped(given):
            return []
        if given.shape == (1,) and not x.ndim:
            given = given.select(0, 0)  # numbers were saved so before they had no dimensions
        if given.shape != x.shape:
            return [
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                f"the shape in current model is {x.shape}."
            ]
        try:
            if assign:
                setattr(self, name, _assignable(x, given))
            else:
                x.copy_(given)
        except RuntimeError as error:
            return [
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{x.size()} and whose dimensions in the checkpoint are {given.size()}, an exception "
                f"occurred : {error.args}."
            ]
        return []


def _assignable(old: Tensor, new: Tensor) -> Tensor:
    """Return a value that takes the place of an old one: a parameter that of a parameter."""
    if not isinstance(old, Parameter):
        return new
    if not isinstance(new, Parameter):
        return Parameter(new, old.requires_grad)
    return new.requires_grad_(old.requires_grad)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _never_asked(name: str) -> NoReturn:
    raise RuntimeError(
        f"Reached a code path in Module.{name}() that should never be called. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
    )
