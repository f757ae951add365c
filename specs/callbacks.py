"""The hooks and custom functions that a program may use.

The list is fixed, so that programs can be printed, parsed and compared. A hook is the text of a lambda, a
custom function that of a class; the same text serves every implementation. The generator draws from these
lists.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

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

MENU = frozenset([
    *TENSOR_HOOKS, *WRITING_HOOKS, *WRONG_HOOKS, *POST_HOOKS, *BEFORE_NODE, *AFTER_NODE, *OF_ALL, *OF_ANY,
    *chain.from_iterable([*AROUND_SAVED, *WRONG_AROUND_SAVED]),
])  # fmt: skip


@cache
def compiled(text: str) -> Callable[..., Any]:
    """Return the function of a listed text; no other text is evaluated."""
    if text not in MENU:
        raise ValueError(f"{text!r} is none of the functions that a program may use")
    return eval(text, {"__builtins__": {"setattr": setattr}})


_FILES = sorted((Path(__file__).parent / "cases").glob("_functions*.py"))
_SOURCES = [path.read_text(encoding="utf-8") for path in _FILES]
CLASSES = {
    node.name: ast.get_source_segment(source, node) or ""
    for source in _SOURCES
    for node in ast.parse(source).body
    if isinstance(node, ast.ClassDef)
}
"""Source of each custom function, by name."""

WRITING_CLASSES = frozenset(["Written", "WrittenPair"])
"""Custom functions that write to their first argument."""


def class_of(op: str) -> str | None:
    """Return the name of the custom function that an operation such as `Double.apply` calls, or None."""
    name, _, method = op.partition(".")
    return name if method == "apply" and name in CLASSES else None


def custom_function(name: str, namespace: Any) -> Any:
    """Build a custom function in a torch-shaped namespace."""
    scope = {"torch": namespace, "__name__": "functions"}
    exec(CLASSES[name], scope)
    return scope[name]
