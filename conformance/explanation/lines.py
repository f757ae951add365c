"""Following a script line by line: a trace function that says when a line of it is done.

What is looked at then is another module's matter.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

from specs.active_rules import is_set_aside

NO_TEXT = "<exception str() failed>"
"""Python's words for an exception that has none."""
Emit = Callable[[dict[str, Any]], None]


def words_of_exception(error: BaseException) -> str:
    """Return the text of an exception, which a class of the script may fail to give."""
    try:
        return str(error)
    except Exception:
        return NO_TEXT


def _checked(frame: FrameType, script: str) -> bool:
    """Tell whether gradcheck() calls the function, as often as it sees fit."""
    caller = frame.f_back
    while caller is not None and caller.f_code.co_filename != script:
        if caller.f_code.co_filename.endswith("autograd/gradcheck.py"):
            return True
        caller = caller.f_back
    return False


class LineTracer:
    """Calls `line_done` after each line of a script that ran; ``emit`` takes one record at a time."""

    def __init__(self, filename: str, names: dict[str, Any], emit: Emit) -> None:
        self.filename, self.globals, self.emit = filename, names, emit
        self.frames: list[FrameType] = []
        self.at: tuple[int, str] | None = None
        """The line that runs, and its function."""
        self.depth = 0
        """The number of frames when it began: more of them mean that it has called a function."""
        self.passes: Counter[tuple[int, str]] = Counter()

    def line_done(self) -> None:
        """Look at what the line that ran until now did."""
        raise NotImplementedError

    def entered(self) -> None:
        """Note that a function of the script was called."""

    def left(self, index: int) -> None:
        """Note that the function of that frame returned."""

    def begun(self) -> None:
        """Note that a line begins."""

    def raised(self, error: BaseException, trace: TracebackType) -> None:
        """Note that an exception left a line, for another line of the script or for its end."""

    def execute(self, code: CodeType) -> None:
        """Execute the script under the trace function, which it cannot take away."""
        settrace = sys.settrace
        sys.settrace = threading.settrace = lambda function: None  # type: ignore[assignment]
        os.register_at_fork(after_in_child=self._be_silent)
        settrace(self._called)
        try:
            exec(code, self.globals)
        finally:
            settrace(None)

    def _be_silent(self) -> None:
        """Say nothing in a process that the script forks: its story is the parent's."""
        self.emit = lambda record: None

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != self.filename or is_set_aside() or _checked(frame, self.filename):
            return None
        self.entered()
        self.frames.append(frame)
        return self._traced

    def _traced(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._look()
            self.at = frame.f_lineno, frame.f_code.co_name
            self.depth = len(self.frames)
            self.passes[self.at] += 1
            self.begun()
        elif event == "return" and frame in self.frames:
            self._look()
            self.left(self.frames.index(frame))
            self.frames.remove(frame)
            above = self.frames[-1] if self.frames else None
            self.at = above and (above.f_lineno, above.f_code.co_name)
            self.depth = len(self.frames)
        elif event == "exception" and isinstance(argument[1], BaseException):
            self.raised(argument[1], argument[2])
        return self._traced

    def _look(self) -> None:
        """Look at what the line did; where that fails, the script goes on and is not blamed."""
        try:
            self.line_done()
        except (MemoryError, RecursionError):  # the script has used up both
            raise
        except Exception as error:
            line = self.at[0] if self.at else 0
            self.emit({"failed": f"{type(error).__name__}: {words_of_exception(error)}", "line": line})
            self.line_done = lambda: None  # type: ignore[method-assign]  # no more of it

    def roots(self) -> dict[str, Any]:
        """Return what the names of the script hold: the globals, and the locals of its functions that run."""
        roots = dict(self.globals)
        for frame in self.frames:
            if frame.f_locals is not self.globals and frame.f_code.co_name != "<module>":
                for name, value in frame.f_locals.items():
                    roots[name if name not in roots else f"{frame.f_code.co_name}.{name}"] = value
        return roots

    def calls_of(self, trace: TracebackType | None) -> list[int]:
        """Return the script's lines whose calls led to an exception, the outermost first."""
        lines = []
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.filename:
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        return lines[:-1]

    def line_of(self, trace: TracebackType | None) -> int:
        """Return the script's line at which an exception was raised, or that called what raised it."""
        line = 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.filename:
                line = trace.tb_lineno
            trace = trace.tb_next
        return line
