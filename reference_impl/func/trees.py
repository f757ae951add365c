"""Nested containers of tensors: their tensors in a row, and the container made anew of others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from reference_impl.core.tensor import Tensor


def flat(tree: Any) -> list[Any]:
    """Return the tensors in nested tuples, lists and dicts, in order."""
    if isinstance(tree, Tensor):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (tuple, list)) else ()
    return [x for part in parts for x in flat(part)]


def like(tree: Any, leaves: Sequence[Any]) -> Any:
    """Return a container of the same form with other values for its tensors."""
    return _like(tree, iter(leaves))


def _like(tree: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(tree, Tensor):
        return next(leaves)
    if isinstance(tree, dict):
        made = {key: _like(part, leaves) for key, part in tree.items()}
        return OrderedDict(made) if isinstance(tree, OrderedDict) else made
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_like(part, leaves) for part in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(_like(part, leaves) for part in tree)
    return tree
