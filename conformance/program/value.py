"""A program as a value: a tuple of steps whose operations are spelled as PyTorch spells them.

Here live `Step`, `Program`, `Ref`, `Dtype`, `Device` and `Function`, and the questions a step answers about
itself. A program is printed in `printing`, read in `parsing`, and run in `execution`.

NB: steps compare as Python compares their arguments (`1 == 1.0 == True`); where programs must be told apart
to the letter, compare `to_text(program)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from specs.callbacks import AROUND_SAVED, MODULES, WRONG_AROUND_SAVED

REST = "*"
"""As the last name of `Step.out`: whatever else the operation returns is dropped (`g, *_ = ...`)."""

DELETE = "del"
"""The operation that unbinds its operands, as Python's `del` does."""

OPTIMIZERS = frozenset(["torch.optim.SGD", "torch.optim.Adam", "torch.optim.AdamW"])
"""Optimizers: each takes a list of tensors."""

MODULE_HOOKS = frozenset([
    "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook",
    "register_full_backward_pre_hook",
])  # fmt: skip
"""Methods that register a hook on a module."""

LAYERS = frozenset([
    *MODULES, *(f"torch.nn.{name}" for name in ("Sequential", "ReLU", "Flatten", "LayerNorm", "BatchNorm1d")),
])  # fmt: skip
"""Constructors of modules whose parameters are not random."""

OPAQUE = frozenset([
    ".grad_fn", "register_hook", "register_prehook", "register_post_accumulate_grad_hook", "numpy",
    "torch.autograd.graph.get_gradient_edge", "torch.autograd.graph.register_multi_grad_hook",
    *OPTIMIZERS, *LAYERS, *MODULE_HOOKS, "state_dict",
])  # fmt: skip
"""Operations that give nodes, edges, handles, arrays, optimizers, modules: things to go on with that show no
facts of their own.
"""

COPY = "copy.deepcopy"
"""The operation that copies a tensor or a module, and is no other's than Python's."""

OF_OTHERS = frozenset([
    "register_hook", "register_prehook", "remove", "step", "zero_grad", "requires_grad_", *MODULE_HOOKS,
    "train", "eval", "parameters", "buffers", "state_dict", "load_state_dict", "__call__",
])  # fmt: skip
"""Methods that belong to other things than tensors, or to those too."""

OF_MODULES = frozenset([".weight", ".bias", ".calls", ".training", ".weight=", ".bias=", ".running_mean"])
"""Attributes of modules."""

GRAD_MODES = (
    "no_grad", "enable_grad", "set_grad_enabled(True)", "set_grad_enabled(False)",
    "inference_mode", "inference_mode(False)",
)  # fmt: skip
"""The grad modes, and inference mode, that a step can be nested in; `"@" + mode`, as the last, runs it as a
decorated function."""


def around_saved(pack: str, unpack: str) -> str:
    """The mode in which a pair of hooks is called around what is saved."""
    return f"autograd.graph.saved_tensors_hooks({pack}, {unpack})"


SAVING_MODES = {around_saved(*pair): pair for pair in (*AROUND_SAVED, *WRONG_AROUND_SAVED)}
"""Those of all pairs on the menu."""

ANOMALY_MODES = ("autograd.set_detect_anomaly(True)", "autograd.set_detect_anomaly(False)")
"""Anomaly mode, which looks for NaN in gradients."""

DUAL_LEVEL = "autograd.forward_ad.dual_level"
"""The mode in which tensors may have tangents."""

MODES = (*GRAD_MODES, *SAVING_MODES, "autograd.graph.save_on_cpu", *ANOMALY_MODES, DUAL_LEVEL)
"""All that a step can be nested in."""


def grad_and_inference(mode: tuple[str, ...]) -> tuple[bool, bool]:
    """Tell whether grad mode, and inference mode, is on in such a nesting."""
    grad, inference = True, False
    for each in mode:
        word = each.lstrip("@")
        if word.startswith("inference_mode"):
            inference = word == "inference_mode"
            grad = not inference
        elif word in GRAD_MODES:
            grad = word in ("enable_grad", "set_grad_enabled(True)")
    return grad, inference


@dataclass(frozen=True, slots=True)
class Ref:
    """A name bound by an earlier step."""

    name: str

    def __repr__(self) -> str:
        return f"Ref({self.name!r})"


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype by its PyTorch name, as in `torch.float64`."""

    name: str

    def __repr__(self) -> str:
        return f"Dtype({self.name!r})"


@dataclass(frozen=True, slots=True)
class Device:
    """A device by its PyTorch name. `cuda` is symbolic: the implementation says what it stands for there."""

    name: str

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


_DEVICE = re.compile(r"(cpu|cuda)(:\d+)?")


def is_device(text: str) -> bool:
    """Tell whether a string names a device."""
    return _DEVICE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Function:
    """A function the program hands over, by its text: one of `specs.callbacks.MENU`."""

    text: str

    def __repr__(self) -> str:
        return f"Function({self.text!r})"


@lru_cache(maxsize=4096)
def ref(name: str) -> Ref:
    """The one shared `Ref` of a name (drawing makes millions of them)."""
    return Ref(name)


class Step(NamedTuple):
    """One operation of a program, applied to values and earlier names.

    `op` literally is the PyTorch text: `mul`, `backward`, `__add__` are methods of `args[0]`; a dotted path
    such as `torch.autograd.grad` starts at the namespace; `.grad` reads an attribute and `.grad=` assigns
    one; `del` unbinds. An argument is a `Ref`, a `Dtype`, a `Device`, a `Function`, a number, a bool, a str,
    None, Ellipsis, a slice, or a tuple or list of those.
    """

    op: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    out: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()


@dataclass(slots=True, unsafe_hash=True)
class Program:
    """A straight line of steps; dropping any of them leaves a program.

    NB: nobody changes one, but a frozen dataclass takes several times as long to make.
    """

    steps: tuple[Step, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, index: int) -> Step:
        return self.steps[index]


def program(*steps: Step) -> Program:
    """The program of these steps."""
    return Program(tuple(steps))


def decoration(mode: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """A step's nesting of `with` blocks, and the mode its own decorated function runs in (or None)."""
    if mode and mode[-1][0] == "@":
        return mode[:-1], mode[-1][1:]
    return mode, None


def refs(value: Any) -> Iterator[str]:
    """The names an argument mentions, in reading order."""
    if type(value) is Ref:
        yield value.name
    elif type(value) in (tuple, list):
        for item in value:
            yield from refs(item)
    elif type(value) is slice:
        for item in (value.start, value.stop, value.step):
            yield from refs(item)


def reads(step: Step) -> tuple[str, ...]:
    """The names a step mentions as operands, each once."""
    seen: dict[str, None] = {}
    for value in (*step.args, *(value for _, value in step.kwargs)) if step.kwargs else step.args:
        kind = type(value)
        if kind is Ref:
            seen[value.name] = None
        elif kind in _HOLDING:
            seen.update(dict.fromkeys(refs(value)))
    return tuple(seen)


_HOLDING = (tuple, list, slice)
"""Types of arguments that may hold names."""


def binds(step: Step) -> tuple[str, ...]:
    """The names a step binds when it succeeds."""
    return step.out[:-1] if step.out and step.out[-1] == REST else step.out


def is_path(op: str) -> bool:
    """Tell whether the operation is reached from the namespace (`torch.ones`), a custom function
    (`Double.apply`) or a module's class (`Affine`).
    """
    return "." in op[1:] or op in MODULES


def is_read(op: str) -> bool:
    """Tell whether the operation reads an attribute (`.grad`)."""
    return op[0] == "." and op[-1] != "="


def is_assignment(op: str) -> bool:
    """Tell whether the operation assigns an attribute (`.grad=`)."""
    return op[0] == "." and op[-1] == "="


def is_module(op: str) -> bool:
    """Tell whether the operation makes a module of `torch.nn`."""
    head, _, name = op.rpartition(".")
    return head == "torch.nn" and name[:1].isupper() and name != "Parameter"
