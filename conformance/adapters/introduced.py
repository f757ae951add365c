"""A built-in adapter that is known by what it told of itself in another process, where that is enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_TOLD = (
    "name", "version", "capabilities", "contract", "serves", "device", "lacking", "without", "other", "count",
    "cpu_alone", "stands_for_cuda", "whole", "unsupported", "asks_once",
)  # fmt: skip
"""The attributes that an adapter tells of itself, or that it has none of."""


class Introduced:
    """An adapter that tells what it told elsewhere, and is imported once more is asked of it."""

    def __init__(self, told: dict[str, Any], imported: Callable[[], Any]) -> None:
        vars(self).update(told)
        self._imported = imported

    def __getattr__(self, name: str) -> Any:
        if name in _TOLD:
            raise AttributeError(f"{self.name} has no {name}")
        return getattr(self._imported(), name)


def told_of(adapter: Any) -> dict[str, Any]:
    """Return what an adapter tells of itself, for another process."""
    return {name: getattr(adapter, name) for name in _TOLD if hasattr(adapter, name)}
