"""The facts that an adapter shows in a dict, checked against the contract."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np

from specs.fact import FACTS, GRAD_FACTS, POSITION, UNSEEN, refused

_VERSION = POSITION["version"]

PLAIN = frozenset([int, float, bool, str, complex, type(None), type(Ellipsis)])
"""Types of values that stand for themselves."""

MOST_ELEMENTS = 100_000
"""The elements and nested lists that a value may have; programs draw tensors of a few."""

LONGEST_WORD = 1_000
"""The characters of a dtype, a device or a node's name."""


class BadFact(Exception):
    """A fact that is none, or of a wrong type."""


class Shown:
    """The values of an adapter as it shows them, less the facts that it does not claim (``hidden``)."""

    def __init__(self, adapter: Any, session: Any) -> None:
        self._adapter, self._session = adapter, session
        claimed = getattr(getattr(adapter, "capabilities", None), "facts", FACTS)
        self.hidden, self._hidden_in_grads = _hidden(claimed)

    def version(self, value: Any) -> Any:
        """The version counter, UNSEEN where none is shown."""
        return self._facts(value)[_VERSION]

    def counted(self, value: Any) -> Any:
        """The version counter, or what asking an inference tensor for it shows."""
        counter = getattr(self._adapter, "counter", None) or self.version
        try:
            return counter(value)
        except (RuntimeError, AttributeError) as error:  # the latter of what is no tensor
            return self.uncounted(error)

    def uncounted(self, error: RuntimeError | AttributeError) -> Any:
        """Return what asking for a version counter shows that raised this error."""
        lacks = getattr(self._adapter, "lacks", None)
        if lacks is not None and lacks(error):
            return UNSEEN
        return refused(self._adapter.refusal(error) or str(error))

    def gradient(self, value: Any) -> tuple[Any, ...]:
        """The facts of a gradient that a function was given."""
        seen = self._facts(value)
        return tuple([seen[POSITION[fact]] for fact in GRAD_FACTS])

    def facts(self, value: Any, since: Any) -> tuple[Any, ...]:
        """The facts of a tensor whose version was ``since`` when it got its name."""
        seen = self._facts(value)
        version = seen[_VERSION]
        if type(version) is int and type(since) is int:
            seen = (*seen[:_VERSION], version - since, *seen[_VERSION + 1 :])
        return seen

    def _facts(self, value: Any) -> tuple[Any, ...]:
        try:
            return facts_of(self._adapter.facts(self._session, value))
        except NotImplementedError:
            return (UNSEEN,) * len(FACTS)

    def claimed(self, facts: Mapping[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        """The facts without those that are hidden."""
        return {name: self._claimed(seen) for name, seen in facts.items()}

    def _claimed(self, seen: tuple[Any, ...]) -> tuple[Any, ...]:
        """The facts of a tensor, and those of its grad, without those that are hidden."""
        seen = _without(seen, self.hidden)
        if type(seen[-1]) is tuple and len(seen[-1]) == len(GRAD_FACTS):
            seen = (*seen[:-1], _without(seen[-1], self._hidden_in_grads))
        return seen

    def given(self, value: Any, gradient: Callable[[Any], tuple[Any, ...]]) -> Any:
        """Return what a function was called with: tensors by the facts of a ``gradient`` less those that are
        hidden, modules by the name of their class, numbers as they are written.
        """
        if type(value) in (tuple, list):
            return tuple([self.given(item, gradient) for item in value])
        if value is None:
            return None
        if type(value) in PLAIN:
            return repr(value)
        if hasattr(value, "forward"):
            return type(value).__name__
        seen = gradient(value)
        return _without(seen, self._hidden_in_grads) if self.hidden else seen


def items(values: list[Any]) -> list[Any]:
    """A list as a fact: of what is not plain, the type's name."""
    return [items(x) if type(x) is list else x if type(x) in PLAIN else type(x).__name__ for x in values]


@cache
def _hidden(claimed: tuple[str, ...]) -> tuple[frozenset[int], frozenset[int]]:
    """The positions of facts that are not claimed: of a tensor, and of a gradient."""
    of_grads = (at for at, fact in enumerate(GRAD_FACTS) if fact not in claimed and fact in POSITION)
    return frozenset(POSITION[fact] for fact in FACTS if fact not in claimed), frozenset(of_grads)


def _without(seen: tuple[Any, ...], hidden: frozenset[int]) -> tuple[Any, ...]:
    return tuple([UNSEEN if at in hidden else fact for at, fact in enumerate(seen)])


def facts_of(shown: Any, names: tuple[str, ...] = FACTS, of: str = "") -> tuple[Any, ...]:
    """The facts in their order, UNSEEN where one is left out; raises BadFact for what is none."""
    if not isinstance(shown, Mapping):
        raise BadFact(f"facts{of} are {_said(shown)}, no dict")
    for name in shown:
        if name not in names:
            near = get_close_matches(str(name), names, 1, 0.5)
            raise BadFact(f"{name!r} is no fact{of}" + (f", did you mean {near[0]!r}?" if near else ""))
    return tuple([_checked(name, shown[name], of) if name in shown else UNSEEN for name in names])


def _checked(name: str, value: Any, of: str) -> Any:
    if value is UNSEEN or _is_failure(value):
        return value
    if name == "grad" and value is not None:
        return _grad(value)
    meant, kept = _KINDS[name]
    try:
        return kept(value)
    except (TypeError, ValueError):
        raise BadFact(f"{name!r}{of} is {_said(value)}, not {meant}") from None


def _grad(value: Any) -> tuple[Any, ...]:
    """A grad's facts from a dict of them, or from a tuple in the order of GRAD_FACTS."""
    if isinstance(value, tuple) and len(value) == len(GRAD_FACTS):
        value = dict(zip(GRAD_FACTS, value, strict=True))
    if not isinstance(value, Mapping):
        raise BadFact(f"'grad' is {_said(value)}, not None, a dict, or a tuple of {len(GRAD_FACTS)} facts")
    return facts_of(value, GRAD_FACTS, " of a grad")


def _is_failure(value: Any) -> bool:
    """Tell whether the fact is a failed reading, as `specs.fact.refused` shows it."""
    return isinstance(value, tuple) and len(value) == 2 and value[0] in ("refused", "crashed")


def _said(value: Any) -> str:
    try:
        return f"{type(value).__name__} {reprlib.repr(value):.40}"
    except Exception:
        return type(value).__name__


def _only(*kinds: type) -> Callable[[Any], Any]:
    def keep(value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if type(value) not in kinds or (type(value) is str and len(value) > LONGEST_WORD):
            raise TypeError
        return value

    return keep


_number, _whole = _only(bool, int, float, complex), _only(int)


def _elements(value: Any) -> Any:
    """The elements, as a number or nested lists; raises BadFact where there are too many."""
    size, first = 1, value
    while isinstance(first, (list, tuple)) and size <= MOST_ELEMENTS:
        size, first = size * max(len(first), 1) + 1, first[0] if first else None
    if size > MOST_ELEMENTS:
        raise BadFact(f"'value' is too large: more than {MOST_ELEMENTS:,} elements and lists")
    return _nested(value)


def _nested(value: Any) -> Any:
    return [_nested(item) for item in value] if isinstance(value, (list, tuple)) else _number(value)


def _sizes(value: Any) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError
    return tuple(map(_whole, value))


_FLAG, _WORD = ("True or False", _only(bool)), ("a str", _only(str))
_KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "value": ("a number (of a 0-d tensor) or nested lists of numbers", _elements),
    "dtype": _WORD,
    "shape": ("a tuple of ints", _sizes),
    "device": _WORD,
    "is_leaf": _FLAG,
    "requires_grad": _FLAG,
    "retains_grad": _FLAG,
    "grad_fn": ("the name of a node, or None", _only(str, type(None))),
    "output_nr": ("an int", _whole),
    "is_view": _FLAG,
    "version": ("an int", _whole),
    "grad": ("None", _only(type(None))),
}
"""The type of each fact in words, and the function that keeps such a value and refuses others."""
assert _KINDS.keys() == POSITION.keys()
