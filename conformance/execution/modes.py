"""The `with` blocks that are open while a program runs: grad modes and hooks on saved tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.execution.trace import Outcome, Unsupported
from conformance.program import SAVING_MODES

Recorded = Callable[[str], Callable[..., Any]]
"""Makes a function of its text, whose calls are recorded."""


class ModeStack:
    """The modes that an adapter's session is in, outermost first.

    ``unrecorded`` is true once an adapter took hooks on saved tensors by their name: how it calls those is
    not seen.
    """

    def __init__(self, adapter: Any, session: Any) -> None:
        self._adapter, self._session = adapter, session
        self.unrecorded = False
        self.open: tuple[str, ...] = ()
        self._entered: list[Any] = []

    def switch(self, modes: tuple[str, ...], recorded: Recorded) -> Outcome | None:
        """Leave and enter blocks until exactly these are open; return an outcome if the adapter cannot."""
        shared = 0
        while shared < min(len(modes), len(self.open)) and modes[shared] == self.open[shared]:
            shared += 1
        self.leave(shared)
        for name in modes[shared:]:
            try:
                manager = self._manager(name, recorded)
                manager.__enter__()
            except NotImplementedError as error:
                return Unsupported(str(error))
            self._entered.append(manager)
            self.open = (*self.open, name)
        return None

    def _manager(self, name: str, recorded: Recorded) -> Any:
        if name in SAVING_MODES:
            saving = getattr(self._adapter, "saving", None)
            if saving is not None:
                return saving(self._session, *map(recorded, SAVING_MODES[name]))
            self.unrecorded = True
        mode = getattr(self._adapter, "mode", None)
        if mode is None:
            raise NotImplementedError(f"{self._adapter.name} has no grad modes")
        return mode(self._session, name)

    def leave(self, depth: int) -> None:
        """Leave the innermost blocks until so many are open."""
        while len(self._entered) > depth:
            self._entered.pop().__exit__(None, None, None)
        self.open = self.open[:depth]
