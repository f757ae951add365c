"""Containers of parameters: lists and dicts, which may hold other values too."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from typing import Any, Self

from reference_impl.core.tensor import Tensor
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter

_OLD = {"float32": "FloatTensor", "float64": "DoubleTensor", "float16": "HalfTensor"}


def position(at: Any, size: int) -> int:
    """Return a position counted from the front; refuse one out of range."""
    at = operator.index(at)
    if not -size <= at < size:
        raise IndexError(f"index {at} is out of range")
    return at % size


def pairs_of(kind: str, given: Any) -> list[tuple[Any, Any]]:
    """Return names with values of a mapping, or of pairs; refuse what is neither."""
    if not isinstance(given, Iterable):
        called = {"ParameterDict": "ParametersDict"}.get(kind, kind)  # as PyTorch misspells it
        raise TypeError(
            f"{called}.update should be called with an iterable of key/value pairs, but got "
            f"{type(given).__name__}"
        )
    if hasattr(given, "items"):
        return list(given.items())
    for at, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{kind} update sequence element #{at} should be Iterable; is{type(pair).__name__}"
            )
        if len(pair) != 2:  # type: ignore[arg-type]
            raise ValueError(
                f"{kind} update sequence element #{at} has length {len(pair)}; "  # type: ignore[arg-type]
                "2 is required"
            )
    return list(given)


def _lines(named: Iterable[tuple[Any, Any]], old: bool) -> str:
    """A line for each value: of a tensor with its dtype, or the old name of its type."""
    lines = []
    for name, x in named:
        what = f"Object of type: {type(x).__name__}"
        if isinstance(x, Tensor):
            kind: Any = f"torch.{_OLD.get(x.dtype.name, 'Tensor')}" if old else x.dtype
            if old and isinstance(x, Parameter) and x.dtype.name not in _OLD:
                kind = x.type()
            place = "" if x.is_cpu else f" ({x.device})"
            size = "x".join(map(str, x.shape))
            what = f"{'Parameter' if isinstance(x, Parameter) else 'Tensor'} containing: "
            what += f"[{kind} of size {size}{place}]"
        lines.append(f"  ({name}): {what}")
    return "\n".join(lines)


def _as_parameter(value: Any) -> Any:
    """Return a tensor as a parameter, and any other value as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """A list of registered parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def append(self, value: Any) -> Self:
        """Append a parameter; a tensor becomes one."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Append all of ``values``."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return type(self)(self[each] for each in range(*at.indices(len(self))))
        return getattr(self, str(position(at, len(self))))

    def __setitem__(self, at: int, value: Any) -> None:
        setattr(self, str(position(at, len(self))), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")

    def extra_repr(self) -> str:
        return _lines(enumerate(self), False)


class ParameterDict(Module):
    """A dict of registered parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _need_string(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, _need_string(key), _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, _need_string(key))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __or__(self, other: ParameterDict) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """The parameters."""
        return (self[key] for key in self._keys)

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and parameters."""
        return ((key, self[key]) for key in self._keys)

    def copy(self) -> ParameterDict:
        """Return another dict with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def update(self, parameters: Any) -> None:
        """Add the parameters of a mapping, those of a plain one by their names' order, or of pairs."""
        pairs = pairs_of("ParameterDict", parameters)
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs.sort()
        for key, value in pairs:
            self[key] = value

    def get(self, key: str, default: Any = None) -> Any:
        """Return a parameter by its name, or the default."""
        return self[key] if key in self else default  # noqa: SIM401

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return a parameter by its name; if there is none, add the default."""
        if key not in self:
            self[key] = default
        return self[key]

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return another dict with one parameter under all names."""
        return ParameterDict([(key, default) for key in keys])

    def pop(self, key: str) -> Any:
        """Remove a parameter and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last parameter and return it with its name."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove all parameters."""
        for key in list(self._keys):
            del self[key]

    def extra_repr(self) -> str:
        return _lines(self.items(), True)


def _need_string(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
            f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
        )
    return key
