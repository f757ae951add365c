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


def _parts(tree: Any) -> list[Any] | None:
    """Return the parts of a container, None for anything else."""
    if isinstance(tree, dict):
        return list(tree.values())
    return list(tree) if isinstance(tree, (tuple, list)) else None


def leaves(tree: Any) -> list[Any]:
    """Return whatever is no container in nested tuples, lists and dicts, in order."""
    parts = _parts(tree)
    return [tree] if parts is None else [x for part in parts for x in leaves(part)]


def rebuilt(tree: Any, values: Sequence[Any]) -> Any:
    """Return a container of the same form with other values for its `leaves`."""
    return _rebuilt(tree, iter(values))


def _rebuilt(tree: Any, values: Iterator[Any]) -> Any:
    parts = _parts(tree)
    if parts is None:
        return next(values)
    made = [_rebuilt(part, values) for part in parts]
    if isinstance(tree, dict):
        named = dict(zip(tree, made, strict=True))
        return OrderedDict(named) if isinstance(tree, OrderedDict) else named
    return type(tree)(*made) if hasattr(tree, "_fields") else type(tree)(made)


def broadcast(prefix: Any, tree: Any) -> list[Any] | None:
    """Return a value for each of the `leaves` of a tree: what stands in ``prefix`` for a container goes for
    all in it. None if the two do not fit.
    """
    given, parts = _parts(prefix), _parts(tree)
    if given is None:
        return [prefix] * len(leaves(tree))
    if parts is None or len(given) != len(parts) or isinstance(prefix, dict) != isinstance(tree, dict):
        return None
    if isinstance(prefix, dict) and prefix.keys() != tree.keys():
        return None
    each = [prefix[key] for key in tree] if isinstance(prefix, dict) else given
    found = [broadcast(one, part) for one, part in zip(each, parts, strict=True)]
    return None if any(one is None for one in found) else [x for one in found for x in one or ()]
