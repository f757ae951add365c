"""The `with` blocks that are open while a program runs: grad modes and hooks on saved tensors."""

from __future__ import annotations

from typing import Any

from conformance.execution.trace import Outcome, Unsupported


class ModeStack:
    """The modes that an adapter's session is in, outermost first."""

    def __init__(self, adapter: Any, session: Any) -> None:
        self._adapter, self._session = adapter, session
        self.open: tuple[str, ...] = ()
        self._entered: list[Any] = []

    def switch(self, modes: tuple[str, ...]) -> Outcome | None:
        """Leave and enter blocks until exactly these are open; return an outcome if the adapter cannot."""
        shared = 0
        while shared < min(len(modes), len(self.open)) and modes[shared] == self.open[shared]:
            shared += 1
        self.leave(shared)
        for name in modes[shared:]:
            enter = getattr(self._adapter, "mode", None)
            if enter is None:
                return Unsupported(f"{self._adapter.name} has no grad modes")
            try:
                manager = enter(self._session, name)
                manager.__enter__()
            except NotImplementedError as error:
                return Unsupported(str(error))
            self._entered.append(manager)
            self.open = (*self.open, name)
        return None

    def leave(self, depth: int) -> None:
        """Leave the innermost blocks until so many are open."""
        while len(self._entered) > depth:
            self._entered.pop().__exit__(None, None, None)
        self.open = self.open[:depth]
