"""The functions that a program may hand over: a menu, so that a program stays a value that can be printed,
parsed and compared.

A hook is the text of a Python lambda on tensors alone, a custom function that of a class: one text serves
every implementation. Which of them is drawn where is the generator's business.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

TENSOR_HOOKS = (
    "lambda g: None",
    "lambda g: g * 2",
    "lambda g: -g",
    "lambda g: g / 2",
    "lambda g: g.detach()",
    "lambda g: g",
)
"""Hooks of tensors that keep to what is allowed."""

WRITING_HOOKS = ("lambda g: g.mul_(2)", "lambda g: g.zero_()")
"""Hooks that write to the gradient they are given."""

WRONG_HOOKS = (
    "lambda g: 3",
    "lambda g: g.sum()",
    "lambda g: g.double()",
    "lambda g: g.float()",
    "lambda g: 1 / 0",
    "lambda: None",
)
"""Hooks whose result, or call, is refused (unless the gradient has that shape or dtype anyway)."""

POST_HOOKS = (
    "lambda x: None",
    "lambda x: x.grad.mul_(2)",
    "lambda x: setattr(x, 'grad', None)",
    "lambda x: x",
    "lambda x: 3",
)
"""Hooks of leaves, called after their grad was accumulated."""

BEFORE_NODE = ("lambda go: None", "lambda go: (go[0] * 2, *go[1:])", "lambda go: go + go", "lambda go: 3")
"""Hooks of nodes, called with what arrives."""

AFTER_NODE = (
    "lambda gi, go: None",
    "lambda gi, go: (gi[0] * 2, *gi[1:])",
    "lambda gi, go: gi + go",
    "lambda gi, go: 3",
)
"""Hooks of nodes, called with what they give and what they were given."""

OF_ALL = ("lambda gs: None", "lambda gs: 1 / 0")
"""Hooks of several tensors, called with all their gradients at once."""

OF_ANY = ("lambda g: None", "lambda g: g * 2", "lambda g: g.mul_(2)", "lambda g: 1 / 0")
"""Hooks of several tensors, called with the first gradient."""

AROUND_SAVED = (
    ("lambda t: t", "lambda t: t"),
    ("lambda t: t.detach()", "lambda t: t"),
    ("lambda t: t.clone()", "lambda t: t.clone()"),
    ("lambda t: t * 2 if t.is_floating_point() else t", "lambda t: t"),
    ("lambda t: t", "lambda t: t * 2 if t.is_floating_point() else t"),
)
"""Pairs of hooks around what is saved: the first makes something of it, the second a tensor of that."""

WRONG_AROUND_SAVED = (
    ("lambda t: t.mul_(2)", "lambda t: t"),
    ("lambda t: 3", "lambda t: t"),
    ("lambda t: t", "lambda t: 3"),
    ("lambda t: 1 / 0", "lambda t: t"),
    ("lambda t: t", "lambda t: 1 / 0"),
)
"""Pairs one of which is refused, or fails."""

MENU = frozenset([
    *TENSOR_HOOKS, *WRITING_HOOKS, *WRONG_HOOKS, *POST_HOOKS, *BEFORE_NODE, *AFTER_NODE, *OF_ALL, *OF_ANY,
    *chain.from_iterable([*AROUND_SAVED, *WRONG_AROUND_SAVED]),
])  # fmt: skip


@cache
def compiled(text: str) -> Callable[..., Any]:
    """The function of a text on the menu; nothing else is ever evaluated."""
    if text not in MENU:
        raise ValueError(f"{text!r} is none of the functions a program may hand over")
    return eval(text, {"__builtins__": {"setattr": setattr}})


_FILES = sorted((Path(__file__).parent / "cases").glob("_functions*.py"))
_SOURCES = [path.read_text(encoding="utf-8") for path in _FILES]
CLASSES = {
    node.name: ast.get_source_segment(source, node) or ""
    for source in _SOURCES
    for node in ast.parse(source).body
    if isinstance(node, ast.ClassDef)
}
"""The text of each custom function, by name."""

WRITING_CLASSES = frozenset(["Written", "WrittenPair"])
"""Those that write to their first argument."""


def class_of(op: str) -> str | None:
    """The custom function that an operation such as `Double.apply` calls, or None where it calls none."""
    name, _, method = op.partition(".")
    return name if method == "apply" and name in CLASSES else None


def custom_function(name: str, namespace: Any) -> Any:
    """A custom function of the menu, built in a torch-shaped namespace."""
    scope = {"torch": namespace, "__name__": "functions"}
    exec(CLASSES[name], scope)
    return scope[name]
