"""The replacement of functions of the machine by mutants, while a rule is knocked out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Set
from typing import Any, NamedTuple, TypeVar

from reference_impl.core.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


class _Binding(NamedTuple):
    """A name of a module or class, and the function that is bound to it."""

    owner: Any
    name: str
    function: Any


_mutants: dict[str, list[_Binding]] = {}
"""The mutants by the rule that they do without."""
_replaced: list[_Binding] = []
"""The functions that mutants stand in for now, in the order of their replacement."""
_in_place: Set[str] = frozenset()
"""The rules whose mutants are in place."""
_found: dict[tuple[Any, str, int], tuple[_Binding, ...]] = {}
"""The bindings that were found, by the name that was searched for and the number of modules."""


def without(rule: str, owner: Any, name: str) -> Callable[[F], F]:
    """Have the decorated function replace ``owner.name``, also where modules of the reference imported it,
    while ``rule`` is not in force.
    """
    assert callable(getattr(owner, name))

    def register(function: F) -> F:
        _mutants.setdefault(rule, []).append(_Binding(owner, name, function))
        return function

    return register


def replace(off: Set[str]) -> None:
    """Put the mutants of the rules in ``off`` in their places, and take all others away."""
    global _in_place
    wanted = off & _mutants.keys()
    if wanted == _in_place:
        return
    while _replaced:
        owner, name, function = _replaced.pop()
        setattr(owner, name, function)
    for rule in sorted(wanted):
        for owner, name, mutant in _mutants[rule]:
            for place, alias, function in _bindings(owner, name):
                _replaced.append(_Binding(place, alias, function))
                setattr(place, alias, mutant)
    _in_place = wanted


def _is_ours(path: str) -> bool:
    """Return whether a module may hold what is to be replaced."""
    return path.startswith("reference_impl.") and not path.startswith("reference_impl.mutants.")


def _bindings(owner: Any, name: str) -> tuple[_Binding, ...]:
    """Find the names that are bound to the same function as ``owner.name``.

    They are searched for once, and again where modules were loaded since, or a mutant is in the function's
    place.
    """
    key = owner, name, len(sys.modules)
    found = _found.get(key, ())
    if not found or any(vars(place).get(alias) is not function for place, alias, function in found):
        _found[key] = found = tuple(_searched(owner, name))
    return found


def _searched(owner: Any, name: str) -> Iterable[_Binding]:
    function = vars(owner)[name]
    yield _Binding(owner, name, function)
    ours = [m for path, m in sys.modules.items() if _is_ours(path)]
    for place in (Tensor, *ours):
        for alias, value in vars(place).items():
            if value is function and (place, alias) != (owner, name):
                yield _Binding(place, alias, function)
