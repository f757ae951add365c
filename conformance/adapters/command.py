"""A command that is spoken to over its standard input and output, a line at a time; `stdio` says which lines.

Nobody waits for anybody: what the command does not take yet is kept, and what it says is read when it is
asked for, so that many questions may be under way at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile

from conformance.adapters.errors import MISNAMED, AdapterError
from conformance.execution.waiting import Patience
from conformance.execution.wire import LARGEST, WireError

TAIL = 4_000
"""Bytes of its standard error that are shown when it dies."""

_DIES_WITH_PARENT = 1
"""The option of Linux's ``prctl`` by which a process asks for a signal at its parent's end."""

_READ = 1 << 20


class Gone(Exception):
    """The command ended or fell silent: how, and its last words on standard error."""

    def __init__(self, how: str, words: str = "") -> None:
        super().__init__(how)
        self.words = words

    @property
    def last(self) -> str:
        """The last line of its words, in brackets."""
        line = next((line.strip() for line in reversed(self.words.split("\n")) if line.strip()), "")
        return f" ({line[:200]})" if line else ""


class Command:
    """A running command; raises AdapterError where there is none of that name."""

    def __init__(self, command: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the command has ended
        self._unsent, self._come, self._searched = bytearray(), bytearray(), 0
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # what it does to its group reaches nobody else
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )
        except (OSError, IndexError, ValueError) as error:
            self._errors.close()
            problem = f"{command!r} cannot be started: {error}"
            raise AdapterError(problem, "stdio:COMMAND, such as 'stdio:node server.js'", MISNAMED) from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)

    def post(self, line: bytes) -> None:
        """Have a line sent, as soon as the command takes it."""
        self._unsent += line
        self._write()

    def line(self, seconds: float) -> bytes:
        """Wait for the next line; raises Gone where none comes, WireError where it has no end."""
        patience = Patience(seconds, self._process.pid)
        while (end := self._come.find(b"\n", self._searched)) < 0:
            self._searched = len(self._come)
            if self._searched > LARGEST:
                raise WireError(f"an answer of more than {LARGEST:,} bytes")
            if not self._wait(patience.glance()) and patience.left() <= 0:
                raise Gone(f"no answer for {seconds:g} s", self.close())
        line, self._searched = bytes(self._come[:end]), 0
        del self._come[: end + 1]
        if len(line) > LARGEST:
            raise WireError(f"an answer of more than {LARGEST:,} bytes")
        return line

    def _wait(self, seconds: float) -> bool:
        """Wait until something comes or goes; False if nothing does in that time. Raises Gone."""
        writes = [self._in] if self._unsent else []
        readable, writable, _ = select.select([self._out], writes, [], seconds)
        if writable:
            self._write()
        if readable:
            data = os.read(self._out, _READ)
            if not data:
                self._ended()
            self._come += data
        return bool(readable or writable)

    def _write(self) -> None:
        while self._unsent:
            try:
                del self._unsent[: os.write(self._in, self._unsent)]
            except BlockingIOError:
                return
            except OSError:  # nobody reads it: how it ended is seen where an answer is waited for
                self._unsent.clear()

    def _ended(self) -> None:
        """Raise Gone with how it ended, now that it says nothing more."""
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            raise Gone("it closed its standard output and went on", self.close()) from None
        words = self.close()
        code = self._process.returncode
        raise Gone(signal.Signals(-code).name if code < 0 else f"exit code {code}", words)

    def close(self) -> str:
        """End the command, with all that it has started; return its last words."""
        if self._errors.closed:
            return ""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(size - TAIL, 0))
        words = self._errors.read().decode("utf-8", "replace")
        self._errors.close()
        return words


def _end_with_parent() -> None:
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
