"""Finding the tensors that the names of a script reach."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

_PLAIN = (int, float, str, bytes, bool, complex, type(None), type, ModuleType, FunctionType)
DEPTH, OBJECTS = 5, 2000
"""The depth to which names are followed, and the most objects that are looked at."""


def reached(
    roots: Mapping[str, Any], kind: type, is_library: Callable[[str], bool]
) -> Iterator[tuple[str, Any]]:
    """Give each tensor, an object of ``kind``, that a name, container, attribute or module reaches."""
    todo = [(name, value, 0) for name, value in roots.items() if not name.startswith("__")]
    met: set[int] = set()
    # It grows meanwhile: wide before deep, so that the shortest path is met first.
    for name, x, depth in todo:
        made_of = type(x)  # what `isinstance` asks as well, `__class__`, may be the script's, and raise
        if issubclass(made_of, kind):
            yield name, x
            continue
        if issubclass(made_of, _PLAIN) or id(x) in met or depth > DEPTH or len(met) > OBJECTS:
            continue
        met.add(id(x))
        with contextlib.suppress(Exception):  # an object of the script may refuse to be looked at
            todo += [(f"{name}{path}", value, depth + 1) for path, value in _parts(x, is_library)]


def _parts(x: Any, is_library: Callable[[str], bool]) -> Iterator[tuple[str, Any]]:
    if isinstance(x, dict):
        for key, value in list(x.items())[:OBJECTS]:
            yield f"[{key!r}]" if isinstance(key, (str, int)) else "[...]", value
    elif isinstance(x, (list, tuple)):
        names = getattr(type(x), "__match_args__", None)  # named tuples have them, torch's too
        for at, value in enumerate(x[:OBJECTS]):
            yield f".{names[at]}" if names else f"[{at}]", value
    elif isinstance(x, deque):
        yield from ((f"[{at}]", value) for at, value in enumerate(islice(x, OBJECTS)))
    elif isinstance(x, (set, frozenset)):
        for value in x:
            yield "{...}", value
    elif not is_library(type(x).__module__) or "_parameters" in getattr(x, "__dict__", ()):
        for name, value in [*getattr(x, "__dict__", {}).items(), *_in_slots(x)]:
            if name in ("_parameters", "_buffers", "_modules") and isinstance(value, dict):
                yield from ((f"[{key}]" if key.isdigit() else f".{key}", part) for key, part in value.items())
            elif not name.startswith("__"):
                yield f".{name}", value


def _in_slots(x: Any) -> Iterator[tuple[str, Any]]:
    """Give the attributes that a class keeps in slots and that are set."""
    for made_of in type(x).__mro__:
        slots = made_of.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            slot = made_of.__dict__.get(name)
            if isinstance(slot, MemberDescriptorType):
                with contextlib.suppress(AttributeError):
                    yield name, slot.__get__(x)
