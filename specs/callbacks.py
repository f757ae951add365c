"""The hooks and custom functions that a program may use.

The list is fixed, so that programs can be printed, parsed and compared. A hook is the text of a lambda, a
custom function that of a class; the same text serves every implementation. The generator draws from these
lists.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from types import CodeType
from typing import Any

from specs.chapter import as_written, classes_of

TENSOR_HOOKS = (
    "lambda g: None", "lambda g: g * 2", "lambda g: -g", "lambda g: g / 2", "lambda g: g.detach()",
    "lambda g: g",
)  # fmt: skip
"""Hooks of tensors that follow the rules."""

WRITING_HOOKS = ("lambda g: g.mul_(2)", "lambda g: g.zero_()")
"""Hooks of tensors that write to the gradient."""

WRONG_HOOKS = (
    "lambda g: 3", "lambda g: g.sum()", "lambda g: g.double()", "lambda g: g.float()", "lambda g: 1 / 0",
    "lambda: None",
)  # fmt: skip
"""Hooks whose result or call is refused, unless the gradient happens to have that shape or dtype."""

POST_HOOKS = (
    "lambda x: None",
    "lambda x: x.grad.mul_(2)",
    "lambda x: setattr(x, 'grad', None)",
    "lambda x: x",
    "lambda x: 3",
)
"""Hooks of leaves, called after their grad was accumulated."""

BEFORE_NODE = ("lambda go: None", "lambda go: (go[0] * 2, *go[1:])", "lambda go: go + go", "lambda go: 3")
"""Pre-hooks of nodes, called with the gradients of the node's outputs."""

AFTER_NODE = (
    "lambda gi, go: None",
    "lambda gi, go: (gi[0] * 2, *gi[1:])",
    "lambda gi, go: gi + go",
    "lambda gi, go: 3",
)
"""Hooks of nodes, called with the gradients of the node's inputs and outputs."""

OF_ALL = ("lambda gs: None", "lambda gs: 1 / 0")
"""Hooks of several tensors, called once with all gradients."""

OF_ANY = ("lambda g: None", "lambda g: g * 2", "lambda g: g.mul_(2)", "lambda g: 1 / 0")
"""Hooks of several tensors, called with the first gradient to arrive."""

AROUND_SAVED = (
    ("lambda t: t", "lambda t: t"),
    ("lambda t: t.detach()", "lambda t: t"),
    ("lambda t: t.clone()", "lambda t: t.clone()"),
    ("lambda t: t * 2 if t.is_floating_point() else t", "lambda t: t"),
    ("lambda t: t", "lambda t: t * 2 if t.is_floating_point() else t"),
)
"""Pairs of saved-tensor hooks: pack and unpack."""

WRONG_AROUND_SAVED = (
    ("lambda t: t.mul_(2)", "lambda t: t"),
    ("lambda t: 3", "lambda t: t"),
    ("lambda t: t", "lambda t: 3"),
    ("lambda t: 1 / 0", "lambda t: t"),
    ("lambda t: t", "lambda t: 1 / 0"),
)
"""Pairs of saved-tensor hooks of which one is refused or fails."""

BEFORE_MODULE = (
    "lambda module, args: None", "lambda module, args: (args[0] * 2, *args[1:])",
    "lambda module, args: args[0] * 2", "lambda module, args: 1 / 0",
)  # fmt: skip
"""Forward pre-hooks of modules, called with the arguments."""

AFTER_MODULE = (
    "lambda module, args, out: None", "lambda module, args, out: out * 2",
    "lambda module, args, out: out.detach()", "lambda module, args, out: args[0]",
    "lambda module, args, out: 1 / 0",
)  # fmt: skip
"""Forward hooks of modules, called with the arguments and the result."""

BACKWARD_OF_MODULE = (
    "lambda module, gi, go: None", "lambda module, gi, go: gi", "lambda module, gi, go: go",
    "lambda module, gi, go: (None,)", "lambda module, gi, go: gi + go", "lambda module, gi, go: 1 / 0",
)  # fmt: skip
"""Full backward hooks of modules, called with the gradients of the arguments and of the result."""

BEFORE_BACKWARD_OF_MODULE = (
    "lambda module, go: None", "lambda module, go: (go[0] * 2,)", "lambda module, go: go + go",
    "lambda module, go: 1 / 0",
)  # fmt: skip
"""Full backward pre-hooks of modules, called with the gradients of the result."""

OF_ONE = (
    "lambda t: t * t", "lambda t: (t * 2).relu() * t", "lambda t: t.clone().mul_(t)", "lambda t: t",
    "lambda t: t.sum() * t", "lambda t: t.detach() * t", "lambda t: t * 0 + 1", "lambda t: 1 / 0",
)  # fmt: skip
"""Functions of a tensor, to be run again or differentiated: by a checkpoint, by `autograd.functional`."""

OF_TWO = ("lambda t, u: t * u", "lambda t, u: t * t + u", "lambda t, u: u * u * u")
"""Functions of two tensors of one shape."""

TO_A_SUM = ("lambda t: (t * t).sum()", "lambda t: (t * t * t).sum()", "lambda t: t.sum()", "lambda t: t * t")
"""Functions of a tensor whose result is a single number, but for the last."""

MENU = frozenset([
    *BEFORE_MODULE, *AFTER_MODULE, *BACKWARD_OF_MODULE, *BEFORE_BACKWARD_OF_MODULE, *OF_ONE, *OF_TWO,
    *TO_A_SUM,
    *TENSOR_HOOKS, *WRITING_HOOKS, *WRONG_HOOKS, *POST_HOOKS, *BEFORE_NODE, *AFTER_NODE, *OF_ALL, *OF_ANY,
    *chain.from_iterable([*AROUND_SAVED, *WRONG_AROUND_SAVED]),
])  # fmt: skip


@cache
def compiled(text: str) -> Callable[..., Any]:
    """Return the function of a listed text; no other text is evaluated."""
    if text not in MENU:
        raise ValueError(f"{text!r} is none of the functions that a program may use")
    return eval(text, {"__builtins__": {"setattr": setattr, "__import__": __import__}})


def _classes(files: str) -> dict[str, str]:
    """The source of each class in these files of cases, by name."""
    found: dict[str, str] = {}
    for path in sorted(_CASES.glob(files)):
        lines = path.read_text(encoding="utf-8").split("\n")
        found |= {each.co_name: as_written(each, lines) for each in classes_of(path)}
    return found


_CASES = Path(__file__).parent / "cases"
CLASSES = _classes("_functions*.py")
"""Source of each custom function, by name."""

MODULES = _classes("_modules.py")
"""Source of each module, by name."""

PARAMETRIZED = frozenset(name for name, source in MODULES.items() if "torch.nn.Parameter(" in source)
"""Modules that make parameters of the tensors that they are given."""

WRITING_CLASSES = frozenset(["Written", "WrittenPair"])
"""Custom functions that write to their first argument."""


def class_of(op: str) -> str | None:
    """Return the name of the custom function that an operation such as `Double.apply` calls, or None."""
    name, _, method = op.partition(".")
    return name if method == "apply" and name in CLASSES else None


def source_of(op: str) -> tuple[str, str] | None:
    """Return name and source of the class on the menu that an operation needs, or None."""
    name = class_of(op) or op
    source = MODULES.get(name) if name is op else CLASSES[name]
    return None if source is None else (name, source)


def custom_function(name: str, namespace: Any) -> Any:
    """Build a custom function in a torch-shaped namespace."""
    return _built(CLASSES[name], name, namespace)


def module_class(name: str, namespace: Any) -> Any:
    """Build a module of the menu in a torch-shaped namespace."""
    return _built(MODULES[name], name, namespace)


def _built(source: str, name: str, namespace: Any) -> Any:
    scope = {"torch": namespace, "__name__": "functions"}
    exec(_code_of(source), scope)
    return scope[name]


@cache
def _code_of(source: str) -> CodeType:
    return compile(source, "<string>", "exec")
