"""The base of optimizers: parameter groups with settings, and a state for each parameter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from copy import deepcopy
from typing import Any, NamedTuple

from reference_impl.base.device import place_of
from reference_impl.base.modes import enable_grad, no_grad
from reference_impl.base.rules import UnspecifiedOrder, by, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, is_inference, share_memory
from reference_impl.core.hooks import RemovableHandle as Handle
from reference_impl.core.hooks import attach
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.missing import refuse_name
from reference_impl.nn.parameter import clear_grads
from reference_impl.optim.settings import LATER, PATHS, with_numbers
from reference_impl.optim.step_hooks import called_on, hooked

MIXED = frozenset({"float32", "float64"})
"""Dtypes of gradients and states that a parameter of any dtype accepts."""


class _RequiredParameter:
    """The default of a setting that must be given, in old optimizers."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


class Update(NamedTuple):
    """A parameter to change, its gradient, and the optimizer's state for it."""

    x: Tensor
    g: Tensor
    state: dict[str, Any]


class Optimizer:
    """Updates parameters in place from their gradients."""

    order: tuple[str, ...] = ()
    """All settings in PyTorch's order, in which they are printed."""
    later: tuple[tuple[str, Any], ...] = ()
    """Those of its own that old states lack, beside `LATER`."""
    fixed: tuple[tuple[str, Any], ...] = ()
    """Settings that it has whatever a loaded state says."""
    together = False
    """True while a step updates all parameters at once, as it does on devices."""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            refuse_by("optim/needs-a-list")
            params = [params]
        given = list(params)
        if not given:
            refuse_by("optim/needs-parameters")
        if not getattr(type(self).step, "hooked", False):
            type(self).step = hooked(type(self).step)  # type: ignore[method-assign]  # as PyTorch does
        self._begin_hooks()
        known = PATHS | defaults
        self.defaults = {name: known[name] for name in self.order or defaults}
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def _begin_hooks(self) -> None:
        self._optimizer_step_pre_hooks: dict[int, Any] = {}
        self._optimizer_step_post_hooks: dict[int, Any] = {}
        self._optimizer_state_dict_pre_hooks: dict[int, Any] = {}
        self._optimizer_state_dict_post_hooks: dict[int, Any] = {}
        self._optimizer_load_state_dict_pre_hooks: dict[int, Any] = {}
        self._optimizer_load_state_dict_post_hooks: dict[int, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has: neither hooks, nor the schedule that watches the steps."""
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._begin_hooks()
        vars(self).update(state)

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may replace the arguments."""
        return attach(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return attach(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(optimizer)`` before each `state_dict`."""
        return attach(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(optimizer, state_dict)`` after each `state_dict`; it may replace the result."""
        return attach(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(optimizer, state_dict)`` before each `load_state_dict`; it may replace the state."""
        return attach(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(optimizer)`` after each `load_state_dict`."""
        return attach(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with settings of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of "
                "tensors in sets will change between runs. Please use a list instead."
            )
        params, names = _without_names([given] if isinstance(given, Tensor) else list(given))
        if any(bool(names) is not ("param_names" in other) for other in self.param_groups):
            refuse_by("optim/all-have-names-or-none")
        for parameter in params:
            if not isinstance(parameter, Tensor):
                refuse_by("optim/needs-tensors", type=type(parameter).__name__)
            recorded = self.defaults.get("differentiable")
            if not (recorded or parameter.is_leaf or parameter.retains_grad):
                refuse_by("optim/needs-leaves")
        if len(set(params)) < len(params):
            warn("optim/same-parameter-twice-warns")
        if any(set(params) & set(other["params"]) for other in self.param_groups):
            refuse_by("optim/one-group-each")
        own = param_group if by("optim/groups-have-their-own-settings") else {}
        more = {name: value for name, value in self.defaults.items() if name not in own}
        named = {"param_names": names} if names else {}
        self.param_groups.append(own | {"params": params} | named | more)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients, or fill them with zeros."""
        for group in self.param_groups:
            clear_grads(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take one step; ``closure``, if given, computes the loss first and its result is returned."""
        loss = None
        if closure is not None:
            with enable_grad() if by("optim/closure-records") else nullcontext():
                loss = closure()
        recorded = self.defaults.get("differentiable") or not by("optim/step-is-not-recorded")
        with nullcontext() if recorded else no_grad():
            for group in map(with_numbers, self.param_groups):
                self.begin()
                updates = list(self._updates(group))
                self.prepare(updates, group)
                self.together = _on_devices(updates)
                if self.together:
                    _need_alike(updates)
                    _check_order(updates)
                    for alike in _grouped(updates):
                        self.change(alike, group)
                else:
                    for update in updates:
                        self.change([update], group)
                self.end()
        return loss

    def _updates(self, group: dict[str, Any]) -> Iterator[Update]:
        """The updates of a group. All gradients are read before the first parameter changes."""
        for x in group["params"]:
            if (g := x.grad) is None:
                if by("optim/skips-what-has-no-grad"):
                    continue
                g = x.detach().mul(0)
            if x.requires_grad or by("optim/steps-what-it-was-given"):
                # NB: PyTorch's fused kernels count no write.
                counts = not group.get("fused") and by("optim/step-is-a-write")
                target = x if counts else x.data
                yield Update(target, g, self.state[x] if self.keeps_state(group) else {})

    def keeps_state(self, group: dict[str, Any]) -> bool:
        """Tell whether an update of the group needs what earlier ones left."""
        return True

    def prepare(self, updates: list[Update], group: dict[str, Any]) -> None:
        """Make what all updates of a group need; refuse what none of them can do."""

    def begin(self) -> None:
        """Prepare for the updates of a group."""

    def end(self) -> None:
        """Finish the updates of a group, if none was refused."""

    def change(self, updates: list[Update], group: dict[str, Any]) -> None:
        """Apply the updates, each part of the computation to all of them before the next."""
        raise NotImplementedError

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for at, group in enumerate(self.param_groups):
            text += f"\nParameter Group {at}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    def __getattr__(self, name: str) -> Any:
        refuse_name("optim.Optimizer", name, self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def state_dict(self) -> dict[str, Any]:
        """Return settings and states; parameters are numbered in order."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        params = [x for group in self.param_groups for x in group["params"]]
        number = {id(x): at for at, x in enumerate(params)}  # of one that is there twice, the last
        groups = [
            {name: value for name, value in group.items() if name != "params"}
            | {"params": [number[id(x)] for x in group["params"]]}
            for group in self.param_groups
        ]
        state = {number[id(x)] if isinstance(x, Tensor) else x: kept for x, kept in self.state.items()}
        made = {"state": state, "param_groups": groups}
        return called_on(self._optimizer_state_dict_post_hooks, self, made)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned, for the present parameters."""
        given = called_on(self._optimizer_load_state_dict_pre_hooks, self, state_dict.copy())
        groups = deepcopy(given["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        sizes = [(len(a["params"]), len(b["params"])) for a, b in zip(self.param_groups, groups, strict=True)]
        if any(own != saved for own, saved in sizes):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        params: dict[int, Tensor] = {}
        for own, saved in zip(self.param_groups, groups, strict=True):
            params |= zip(saved["params"], own["params"], strict=True)
            saved["params"] = own["params"]
            names = {"param_names": own["param_names"]} if "param_names" in own else {}
            later = {name: value for name, value in LATER.items() if name in self.order} | dict(self.later)
            for name, value in (names | later).items():
                saved.setdefault(name, value)
            saved.update(self.fixed)
        self.param_groups = groups
        self.state = defaultdict(dict)
        if by("optim/state-comes-back"):
            for number, kept in given["state"].items():
                known = number in params
                self.state[params.get(number, number)] = _fitted(params[number], kept) if known else kept
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)


def _fitted(x: Tensor, kept: Any, key: Any = None) -> Any:
    """Copy what a state keeps of a parameter: tensors go to its device and, if it is no count, its dtype."""
    if isinstance(kept, Tensor):
        if key == "step":
            return kept
        return kept.to(dtype=x.dtype if x.is_floating_point() else kept.dtype, device=x.device)
    if isinstance(kept, dict):
        return {name: _fitted(x, value, name) for name, value in kept.items()}
    if isinstance(kept, Iterable):
        return type(kept)(_fitted(x, value) for value in kept)  # type: ignore[call-arg]
    return kept


def _without_names(given: list[Any]) -> tuple[list[Any], list[str]]:
    """Return the parameters of pairs as `named_parameters` gives them, and their names; refuse a mixture."""
    names = [each[0] for each in given if isinstance(each, tuple)]
    if names and len(names) < len(given):
        refuse_by("optim/all-have-names-or-none", case="mixed")
    return [each[1] if isinstance(each, tuple) else each for each in given], names


def _on_devices(updates: list[Update]) -> bool:
    """Return True if there are updates and all are on devices: PyTorch takes such a step for all at once."""
    return (
        STATE.devices > 0  # cheap to ask; memory that an earlier program left counts too
        and bool(updates)
        and all(not update.x.is_cpu for update in updates)
        and by("device/steps-are-taken-together")
    )


def _check_order(updates: list[Update]) -> None:
    """Raise `UnspecifiedOrder` where it shows in which order a device writes to them."""
    if share_memory([x for x, _, _ in updates]):
        raise UnspecifiedOrder("memory is stepped twice")
    if len(updates) > 1 and not STATE.inference and any(is_inference(x) for x, _, _ in updates):
        raise UnspecifiedOrder("CUDA steps all, then refuses inference tensors among them")


def _need_alike(updates: list[Update]) -> None:
    """Refuse a gradient or a state whose dtype or device differs from the parameter's.

    The dtypes in `MIXED` pass, for step counts and states; on the CPU they pass too, and the update itself
    fails.
    """
    beside = MIXED | {"bfloat16"} if by("device/bfloat16-states-mix") else MIXED
    for x, g, state in updates:
        for kept in (g, *state.values()):
            if isinstance(kept, Tensor):
                dtype, place = str(array_of(kept).dtype), place_of(kept)
                if place is place_of(x):
                    alike = dtype in beside or array_of(kept).dtype == array_of(x).dtype
                else:
                    alike = kept.is_cpu and dtype in MIXED
                if not alike:
                    refuse_by("device/step-needs-them-alike")


def _grouped(updates: list[Update]) -> list[list[Update]]:
    """Group updates by device and dtype, last group first.

    PyTorch's hash table yields the groups in reverse order, which shows where the step of one fails.
    """
    groups: dict[Any, list[Update]] = {}
    for update in updates:
        groups.setdefault((place_of(update.x), array_of(update.x).dtype), []).append(update)
    return list(groups.values())[::-1]
