"""Modules as objects: layers, calls, hooks, flags, parameters, buffers, state and deep copies.

Their classes are in ``specs.callbacks.MODULES``: they begin with parameters that the program gives, so that
nothing is random. Training loops live in ``training_loops``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import NN_MODULES
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import CAP, Store, TensorInfo, backward_ready, can_require_grad
from conformance.generate.steps import backward, leaves
from conformance.program import COPY, Function, Ref, ref
from specs import callbacks

_ALL = ("Affine", "__call__", "parameters")
"""The operations without which modules are of no use."""

_WIDTHS = weighted({(2, 2): 4, (2, 1): 1, (1, 2): 1, (2, 3): 1, (3, 2): 1})
_MOST_BITS = 3
_AROUND = weighted({"Residual": 2, "Twice": 2, "Detached": 2, "torch.nn.Sequential": 4})
_HOOKS = {
    "register_forward_hook": callbacks.AFTER_MODULE,
    "register_forward_pre_hook": callbacks.BEFORE_MODULE,
    "register_full_backward_hook": callbacks.BACKWARD_OF_MODULE,
    "register_full_backward_pre_hook": callbacks.BEFORE_BACKWARD_OF_MODULE,
}
_HOOKS_OF = weighted({
    "register_forward_hook": 3, "register_forward_pre_hook": 2, "register_full_backward_hook": 3,
    "register_full_backward_pre_hook": 1,
})  # fmt: skip
_WRONG = 1
"""The last hook of each list fails; it is drawn where validity does not matter."""


class Module:
    """A module: the widths it takes and gives, its layers that multiply, its parameters as far as they are
    named, and the keys of its state. ``prefix`` leads to its first layer.
    """

    def __init__(
        self, name: str, widths: tuple[int, int], dtype: str, gains: list[Store], keys: list[str]
    ) -> None:
        self.ref = ref(name)
        self.widths, self.dtype, self.gains, self.keys = widths, dtype, gains, keys
        self.named: list[TensorInfo] = []
        self.buffers = 0

    def bounds(self, x: TensorInfo) -> tuple[int, int]:
        """Bits and fractional bits of the result of a call."""
        bits, frac = x.store.bits, x.store.frac
        for gain in self.gains:
            bits, frac = bits + gain.bits + self.widths[0].bit_length(), frac + gain.frac
        return bits + 1, frac


def _a_module(state: GenState) -> Module | None:
    """A module, mostly a late one; None where there is none on the device."""
    return state.modules[-1 - state.below(2) * state.below(len(state.modules))] if state.modules else None


def _enter(state: GenState, module: Module) -> None:
    state.modules.append(module)
    if state.below(4):
        state.schedule(read_parameters, module)
    else:
        state.schedule(call_module, module)


@step(10, NN_MODULES, emits=_ALL)
def new_module(state: GenState, about: Any = None) -> bool:
    """A layer of a weight and mostly a bias, or one around modules that there are."""
    if state.modules and state.below(3):
        return _around(state)
    if state.device != "cpu":
        return False
    dtype = state.dtype
    scaling = state.below(4) == 0
    widths = state.pick(_WIDTHS)
    if scaling:
        widths = (widths[0], widths[0])
    weight = leaves.make_leaf(
        state, (widths[0],) if scaling else widths[::-1], "any", dtype, state.below(4) == 0
    )
    bias = None
    if not scaling and state.below(4):
        bias = leaves.make_leaf(state, (widths[1],), "any", dtype)
    operands = (weight,) if bias is None else (weight, bias)
    name = state.fresh_name()
    args = tuple(one.ref for one in operands)
    if state.emit("Scaling" if scaling else "Affine", args, (), (name,)):
        keys = ["weight", "calls"] if scaling else ["weight", "bias"][: len(operands)]
        module = Module(name, widths, dtype, [weight.store], keys)
        module.buffers = int(scaling)
        module.named = list(operands)
        _enter(state, module)
    return True


def _around(state: GenState) -> bool:
    """A module around another, or several in a row."""
    inner = _a_module(state)
    if inner is None:
        return False
    kind = state.pick(_AROUND)
    if kind != "torch.nn.Sequential" and inner.widths[0] != inner.widths[1]:
        kind = "torch.nn.Sequential"
    parts, gains, widths = [inner], list(inner.gains), inner.widths
    args: list[Any] = [inner.ref]
    if kind == "torch.nn.Sequential":
        if state.below(2):
            relu = state.fresh_name()
            kwargs: Kwargs = (("inplace", True),) if state.below(3) == 0 else ()
            if not state.emit("torch.nn.ReLU", (), kwargs, (relu,)):
                return True
            args.append(ref(relu))
        other = _a_module(state)
        if (
            other is not None
            and other.widths[0] == widths[1]
            and other.dtype == inner.dtype
            and state.below(2)
        ):
            args.append(other.ref)
            parts.append(other)
            gains, widths = gains + other.gains, (widths[0], other.widths[1])
    elif kind == "Twice":
        gains = gains * 2
    if len(gains) > _MOST_BITS:
        return False
    name = state.fresh_name()
    if state.emit(kind, tuple(args), (), (name,)):
        prefix = "0." if kind == "torch.nn.Sequential" else "module."
        module = Module(name, widths, inner.dtype, gains, [prefix + key for key in inner.keys])
        module.named = [one for part in dict.fromkeys(parts) for one in part.named]
        module.buffers = sum(part.buffers for part in dict.fromkeys(parts))
        _enter(state, module)
    return True


@step(14, NN_MODULES, emits=_ALL)
def call_module(state: GenState, about: Module | None = None) -> bool:
    """``m(x)``; a backward follows."""
    module = about or _a_module(state)
    if module is None or state.device != "cpu":
        return False
    x = _argument(state, module)
    bits, frac = module.bounds(x)
    if not state.unchecked and bits + frac > CAP.get(x.dtype, 20):
        return False
    name = state.result_name()
    if state.emit("__call__", (module.ref, x.ref), (), (name,)):
        live = [one for one in module.named if not one.deleted]
        inexact = x.store.inexact or any(gain.inexact for gain in module.gains)
        out = state.bind(name, Store(bits, frac, inexact), (x, *live))
        if out is not None and backward_ready(out):
            state.schedule(backward.backward, out)
            state.prioritise((out, *live))
    return True


def _argument(state: GenState, module: Module) -> TensorInfo:
    """A tensor that the module takes, or mostly does; one is made where there is none."""
    if state.unchecked and state.below(4) == 0:
        return state.any_tensor()
    width = module.widths[0]
    for x in reversed(state.tensors):
        if x.shape and x.shape[-1] == width and x.dtype == module.dtype and x not in module.named:
            bits, frac = module.bounds(x)
            if bits + frac <= CAP.get(x.dtype, 20) and state.below(3):
                return x
    shape = (2, width) if state.below(2) else (width,)
    return leaves.make_leaf(state, shape, "any", module.dtype, bool(state.below(3)))


@step(6, NN_MODULES, emits=_ALL)
def read_parameters(state: GenState, about: Module | None = None) -> bool:
    """``p, q = m.parameters()``, the buffers, or one of them as an attribute."""
    module = about or _a_module(state)
    if module is None:
        return False
    tensors = list(dict.fromkeys(module.named))
    attribute = state.below(4) == 0 and "." not in module.keys[0]
    if attribute:
        at = state.below(len(module.keys))
        name = state.fresh_name()
        if state.emit(f".{module.keys[at]}", (module.ref,), (), (name,)):
            store = tensors[at].store if at < len(tensors) else Store(8, 0)
            _bound(state, module, (name,), [store])
        return True
    if module.buffers == 1 and state.below(3) == 0:
        name = state.fresh_name()
        if state.emit("buffers", (module.ref,), (), (name,)):
            _bound(state, module, (name,), [Store(8, 0)])
        return True
    names = tuple(state.fresh_name() for _ in range(_count(module)))
    if state.emit("parameters", (module.ref,), (), names):
        stores = [one.store for one in tensors] if len(tensors) == len(names) else [Store(4, 1)] * len(names)
        _bound(state, module, names, stores)
        if about is not None:
            state.schedule(call_module, module)
    return True


def _count(module: Module) -> int:
    """The number of the parameters of a module, each counted once."""
    return len(dict.fromkeys(module.named))


def _bound(state: GenState, module: Module, names: tuple[str, ...], stores: list[Store]) -> None:
    for name, store in zip(names, stores, strict=True):
        if name not in state.env:
            return
        tensor = state.bind(name, store)
        if tensor is not None:
            state.remeasure(tensor)
            state.prioritise((tensor,))


@step(6, NN_MODULES, emits=("register_forward_hook", "register_full_backward_hook"))
def module_hook(state: GenState, about: Any = None) -> bool:
    """A hook on a module, sometimes with a handle that removes it later."""
    module = _a_module(state)
    if module is None:
        return False
    kind = state.pick(_HOOKS_OF)
    menu = _HOOKS[kind]
    text = state.pick(menu if state.unchecked else menu[:-_WRONG])
    handle = state.fresh_name() if state.below(3) == 0 else None
    if state.emit(kind, (module.ref, Function(text)), (), (handle,) if handle else ()):
        # What a hook multiplies by two is a bit larger, each time.
        module.gains = [*module.gains[:1], *module.gains[1:], Store(1, 0)] if "* 2" in text else module.gains
        state.schedule(call_module, module)
        if handle:
            state.schedule(_remove, ref(handle))
    return True


def _remove(state: GenState, handle: Ref) -> bool:
    return state.emit("remove", (handle,))


@step(4, NN_MODULES, emits=("train", "eval", ".training"))
def module_flags(state: GenState, about: Any = None) -> bool:
    """``train()``, ``eval()``, ``requires_grad_()`` and ``zero_grad()``; a call follows."""
    module = _a_module(state)
    if module is None:
        return False
    kind = state.below(8)
    if kind < 2:
        state.emit("eval", (module.ref,))
    elif kind == 2:
        state.emit("train", (module.ref,), (("mode", bool(state.below(2))),) if state.below(2) else ())
    elif kind == 3:
        state.emit(".training", (module.ref,), (), (state.fresh_name(),))
    elif kind < 6:
        state.emit("requires_grad_", (module.ref, False) if state.below(3) else (module.ref,))
    else:
        state.emit("zero_grad", (module.ref,), (("set_to_none", False),) if state.below(2) else ())
    for one in module.named:
        if not one.deleted:
            state.refresh_aliases(one)
    if state.below(2):
        state.schedule(call_module, module)
    return True


@step(4, NN_MODULES, emits=("state_dict", "load_state_dict"))
def module_state(state: GenState, about: Any = None) -> bool:
    """``state_dict()``: an entry is read, or all of them are loaded into another module, or again."""
    module = _a_module(state)
    if module is None:
        return False
    name = state.fresh_name()
    kwargs: Kwargs = (("keep_vars", True),) if state.below(4) == 0 else ()
    if not state.emit("state_dict", (module.ref,), kwargs, (name,)):
        return True
    if state.below(2):
        entry = state.fresh_name()
        at = state.below(len(module.keys))
        if state.emit("__getitem__", (ref(name), module.keys[at]), (), (entry,)):
            tensors = module.named
            _bound(state, module, (entry,), [tensors[at].store if at < len(tensors) else Store(8, 0)])
        return True
    alike = [one for one in state.modules if one.keys == module.keys and one.widths == module.widths]
    other = state.pick(alike) if not state.unchecked else _a_module(state) or module
    if other.keys != module.keys:
        return False
    if state.emit("load_state_dict", (other.ref, ref(name))):
        for one in other.named:
            if not one.deleted:
                state.remeasure(one)
    return True


@step(4, NN_MODULES, emits=(COPY,))
def deep_copy(state: GenState, about: Any = None) -> bool:
    """``copy.deepcopy`` of a module, or of a tensor, which only a leaf allows."""
    module = _a_module(state)
    if module is None or state.below(3) == 0:
        x = state.any_tensor()
        name = state.fresh_name()
        if state.emit(COPY, (x.ref,), (), (name,)):
            old = x.store
            state.bind(name, Store(old.bits, old.frac, old.inexact))
        return True
    name = state.fresh_name()
    if state.emit(COPY, (module.ref,), (), (name,)):
        copied = Module(name, module.widths, module.dtype, [*module.gains], module.keys)
        copied.buffers = module.buffers
        names = tuple(state.fresh_name() for _ in range(_count(module)))
        if state.emit("parameters", (copied.ref,), (), names):
            _bound(state, copied, names, [Store(3, 1) for _ in names])
            copied.named = [one for one in state.tensors if one.name in names]
            copied.gains = [one.store for one in copied.named if len(one.shape) > 1] or copied.gains
            if len(copied.gains) < len(module.gains):
                copied.gains = copied.gains + module.gains[len(copied.gains) :]
            state.modules.append(copied)
            state.schedule(call_module, copied)
    return True


@step(3, NN_MODULES, emits=(".weight=", "torch.nn.Parameter"))
def assign_parameter(state: GenState, about: Any = None) -> bool:
    """``m.weight = p`` for a new parameter, or for a tensor that is none, which is refused."""
    module = _a_module(state)
    if module is None or "." in module.keys[0] or not module.named or module.named[0].deleted:
        return False
    old = module.named[0]
    new = state.like(old, excluding=old)
    if new is None or new.shape != old.shape or new.dtype != old.dtype or not can_require_grad(new):
        new = leaves.make_leaf(state, old.shape, "any", module.dtype)
    wrong = state.unchecked and state.below(2)
    if not wrong:
        name = state.fresh_name()
        if not state.emit("torch.nn.Parameter", (new.ref,), (), (name,)):
            return True
        bound = state.bind(name, new.store)
        if bound is None:
            return True
        new = bound
    if state.emit(".weight=", (module.ref, new.ref)):
        module.gains[0] = new.store
        module.named[0] = new
        state.schedule(call_module, module)
    return True
