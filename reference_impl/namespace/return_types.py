"""``torch.return_types``: tuples of results with names, printed as PyTorch prints them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any


def return_type(name: str, fields: Iterable[str]) -> Any:
    """Make the class of a function's results, and bind it here."""

    def printed(self: Any) -> str:
        results = (f"{field}={result!r}" for field, result in zip(type(self)._fields, self, strict=True))
        return f"torch.return_types.{name}(\n" + ",\n".join(results) + ")"

    own = {"__slots__": (), "__repr__": printed, "__module__": "torch.return_types"}
    made = type(name, (namedtuple(name, tuple(fields)),), own)
    globals()[name] = made
    return made
