"""Grad mode and inference mode: the switches that decide if ops are recorded.

Context managers and decorators alike, as PyTorch's are.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE


def is_grad_enabled() -> bool:
    """Return True if ops on tensors that require grad are recorded."""
    return STATE.enabled


def is_inference_mode_enabled() -> bool:
    """Return True in inference mode."""
    return STATE.inference


def _despite(error: object = None, *_: object) -> bool:
    """Tell whether a block restores the mode before it although an error ended it, if one did."""
    return error is None or by("mode/restored-after-an-error")


class _Mode:
    """A grad mode for a block or a function; modes nest.

    As in PyTorch, one object remembers one mode: that in which it was entered last.
    """

    prev: bool

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled

    def __enter__(self) -> None:
        self.prev = STATE.enabled
        STATE.enabled = self._enabled

    def __exit__(self, *exc: object) -> None:
        if by("mode/restored-at-exit" if self.prev else "mode/off-again-at-exit") and _despite(*exc):
            STATE.enabled = self.prev

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(function, type):
            text = "Decorating classes is deprecated: only their __init__ runs in the mode"
            warnings.warn(text, FutureWarning, stacklevel=2)
            function.__init__ = self(function.__init__)  # type: ignore[misc]
            return function
        if inspect.isgeneratorfunction(function):
            return self._each_turn(function)

        @functools.wraps(function)
        def in_mode(*args: Any, **kwargs: Any) -> Any:
            if not by("mode/decorator"):
                return function(*args, **kwargs)
            with type(self)._again(self):
                return function(*args, **kwargs)

        return in_mode

    def _each_turn(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a generator function: its body runs in the mode, its caller does not."""

        @functools.wraps(function)
        def generating(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            resume, given = generator.send, None
            while True:
                try:
                    with type(self)._again(self):
                        made = resume(given)
                except StopIteration as end:
                    return end.value
                try:
                    resume, given = generator.send, (yield made)
                except GeneratorExit:
                    with type(self)._again(self):
                        generator.close()
                    raise
                except BaseException as error:
                    resume, given = generator.throw, error

        return generating

    @staticmethod
    def _again(mode: _Mode) -> _Mode:
        return _Mode(mode._enabled)

    def clone(self) -> Any:
        """Return another such mode that has not been entered."""
        again: Callable[[], Any] = type(self)
        return again()


class no_grad(_Mode):
    """Record nothing in the block."""

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__(not by("mode/no-grad-records-nothing"))
        self.prev = False

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return object.__new__(cls) if function is None else cls()(function)


class enable_grad(_Mode):
    """Record in the block, also inside ``no_grad``."""

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__(True if by("mode/enable-grad-inside") else STATE.enabled)

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return object.__new__(cls) if function is None else cls()(function)


class set_grad_enabled(_Mode):
    """Set the mode at once; as a context manager or a decorator, restore the old one.

    Raises TypeError for anything but a bool.
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            refuse_by("mode/must-be-bool", type=type(mode).__name__)
        super().__init__(bool(mode))
        self.prev = STATE.enabled
        if not by("mode/set-grad-enabled"):
            self._enabled = STATE.enabled
        if by("mode/set-grad-enabled-acts-at-once"):
            STATE.enabled = self._enabled

    def __enter__(self) -> None:
        STATE.enabled = self._enabled

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        STATE.enabled = self.prev
        return super().__call__(function)

    def clone(self) -> set_grad_enabled:
        """Return another one, which sets the mode at once."""
        return set_grad_enabled(self._enabled)


class set_multithreading_enabled(_Mode):
    """Store a flag for threads in backward; nothing here depends on it."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            refuse_by("mode/must-be-bool", type=type(mode).__name__, case="multithreading")
        super().__init__(bool(mode))
        self.prev = STATE.multithreading
        STATE.multithreading = self._enabled

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        STATE.multithreading = self.prev

    @staticmethod
    def _again(mode: Any) -> set_multithreading_enabled:
        return set_multithreading_enabled(mode._enabled)

    def clone(self) -> set_multithreading_enabled:
        """Return another one, which sets the flag at once."""
        return set_multithreading_enabled(self._enabled)


def is_multithreading_enabled() -> bool:
    """Return the flag that `set_multithreading_enabled` stored."""
    return STATE.multithreading


class inference_mode(_Mode):
    """Record nothing in the block; tensors made there can be neither saved nor tracked outside.

    ``inference_mode(False)`` turns grad mode on and inference mode off, whatever surrounds it.
    """

    def __init__(self, mode: Any = True) -> None:
        super().__init__(not mode if by("inference/sets-the-grad-mode") else STATE.enabled)
        self._inference = bool(mode)

    def __new__(cls, mode: Any = True) -> Any:
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __enter__(self) -> None:
        dropped = self.__dict__.get("_inference_mode_context")
        self._inference_mode_context: Any = STATE.enabled, STATE.inference
        STATE.enabled = self._enabled
        STATE.inference = self._inference if by("inference/blocks-nest") else True
        if dropped:  # the object was not left yet: PyTorch leaves that block here
            STATE.enabled, STATE.inference = dropped

    def __exit__(self, *exc: object) -> None:
        before, self._inference_mode_context = self._inference_mode_context, None
        if before and by("inference/ends-with-its-block") and _despite(*exc):
            STATE.enabled, STATE.inference = before

    def clone(self) -> inference_mode:
        """Return another such mode that has not been entered."""
        return inference_mode(self._inference)

    @staticmethod
    def _again(mode: Any) -> inference_mode:
        return inference_mode(mode._inference)
