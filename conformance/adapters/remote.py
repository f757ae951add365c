"""An implementation in a process of its own, as whoever judges it sees it.

What that process does at its end (`conformance.grading.host`) is known here by its answers alone. One that
dies, hangs or answers nonsense costs the program it was at, and is started again.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import selectors
import signal
import subprocess
import time
from typing import Any

from conformance.adapters.capabilities import Capabilities
from conformance.adapters.errors import BROKEN, AdapterError
from conformance.adapters.interpreter import interpreter_of
from conformance.adapters.stragglers import MARK, end_marked
from conformance.execution.flight_recorder import isolated
from conformance.execution.trace import UNBOUND, Crashed, Observation, Trace
from conformance.execution.waiting import Patience
from conformance.execution.wire import LARGEST, LENGTH, WireError, decode, in_whole_characters
from conformance.program import Program

STARTING = 120.0
"""Seconds that an implementation may take to be imported."""

BUILT_IN = ("reference", "torch", "null", "micrograd")
"""The adapters that are loaded where they are asked for."""

TIMEOUT = 30.0
"""Seconds that a program or a case may take."""

_CONTRACT = "see the contract in conformance.adapters"


class _Ended(Exception):
    """The process died or hung: how, and the number of steps that it had begun."""

    def __init__(self, how: str, begun: int) -> None:
        super().__init__(how, begun)
        self.how, self.begun = how, begun


class Remote:
    """The adapter of an implementation in a process of its own; raises AdapterError if that tells of none."""

    def __init__(self, spec: str) -> None:
        self.spec, self.timeout, self._interpreter = spec, TIMEOUT, interpreter_of(spec)
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._dies = self._hangs = False
        self._longest = 0.0
        kept = False
        try:
            self.name, self.version, claimed, self.shaped_like_torch, self.device = self._start()
            self.capabilities = _capabilities(claimed)
            if not (isinstance(self.name, str) and isinstance(self.version, str)):
                raise TypeError("name and version are no text")
            self.serves = self.name
            if self.name in BUILT_IN:  # and takes part under that name itself
                self.name = f"{self.name} ({self._interpreter.label})"
            kept = isolated()  # elsewhere whoever asks for programs has it started again
        except _Ended as ended:
            raise AdapterError(f"{spec} cannot be imported: {ended.how}", _CONTRACT, BROKEN) from None
        except (Raised, TypeError, ValueError, AttributeError) as error:
            raise AdapterError(f"{spec} does not say what it is: {error}", _CONTRACT, BROKEN) from None
        finally:
            if not kept:
                self.close()

    # what is asked of it

    def run_program(self, program: Program, density: str) -> Trace:
        """Run a program there; where the process dies of it, the trace has a crash at the step it died in.

        Raises what the adapter raised, AdapterError where it breaks its contract.
        """
        began = time.monotonic()
        try:
            answer = self._trace(program, density)
            self._longest = max(self._longest, time.monotonic() - began)
        except _Ended as ended:
            self._dies = hasattr(os, "fork")
            self._hangs |= ended.how.startswith("no answer")
            return self._died(program, density, ended)
        try:
            return decode(answer, program, self.name, density)
        except WireError as error:
            raise AdapterError(f"{self.spec} gives {error}", _CONTRACT, BROKEN) from None

    def _trace(self, program: Program, density: str) -> bytes:
        """Ask for a trace. After a hang programs get less time, though plenty by what others have taken."""
        seconds = min(self.timeout, 5.0 + 10 * self._longest) if self._hangs else self.timeout
        return self._ask("trace in a child" if self._dies else "trace", program, density, seconds)

    def stands(self) -> bool:
        """Tell whether cases run on it as they stand."""
        return bool(self.shaped_like_torch) and json.loads(self._ask("stands")) is True

    def witness(self, case: str) -> dict[str, Any]:
        """Run a case there as it stands; the fields of its result, or `DiedOfCase` where it dies of it."""
        try:
            found = json.loads(self._ask("witness", case))
        except _Ended as ended:
            raise DiedOfCase(ended.how) from None
        if not isinstance(found, dict):
            raise AdapterError(f"{self.spec} gives no result of a case", _CONTRACT, BROKEN)
        return found

    def _died(self, program: Program, density: str, ended: _Ended) -> Trace:
        """The trace of a program that the process died of: what came before, and the crash."""
        at = min(max(ended.begun - 1, 0), len(program) - 1)
        before: tuple[Observation, ...] = ()
        if at:
            cut = Program(program.steps[:at])
            with contextlib.suppress(_Ended, AdapterError):
                before = decode(self._trace(cut, density), cut, self.name, density).observations
        unbound = Observation(UNBOUND, {}, None)
        before = (*before, *(unbound for _ in range(at - len(before))))
        crash = Observation(Crashed(ended.how), {}, None)
        after = (unbound for _ in range(len(program) - at - 1))
        return Trace(program, self.name, density, (*before, crash, *after), complete=False, loose=True)

    # the process

    def _start(self) -> Any:
        self._mark = f"{os.getpid()}-{time.monotonic_ns()}"
        try:
            self._process = subprocess.Popen(
                self._interpreter.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._interpreter.environment | {MARK: self._mark},
                process_group=0,  # what it does to its group reaches nobody else
            )
        except OSError as error:
            started = self._interpreter.command[0]
            raise AdapterError(f"{started} cannot be started: {error}") from None
        self._buffer = b""
        return json.loads(self._answer(STARTING))

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)  # and what it has started
            process.kill()
            process.wait()
            end_marked(self._mark)  # and what has left its group
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _ask(self, verb: str, *arguments: Any) -> bytes:
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        data = pickle.dumps((verb, arguments))
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(LENGTH.pack(len(data)) + data)
            self._process.stdin.flush()
        seconds: float = arguments[-1] if verb.startswith("trace") else self.timeout
        if verb != "trace in a child":
            return self._answer(seconds)
        # The child answers, unless it dies; then its parent says how it ended.
        try:
            answer = self._answer(seconds, min(seconds, 10.0))  # its parent knows first
        except (AdapterError, Raised):
            if self._process is not None:
                self._answer(seconds)
            raise
        begun = self._begun
        ended = answer if _death_in(answer) is not None else self._answer(seconds)
        if (how := _death_in(ended)) is not None:
            raise _Ended(how, begun)
        return answer

    _begun = 0
    """The number of steps begun when the last answer came."""

    def _answer(self, seconds: float, more: float = 0.0) -> bytes:
        """Wait for a line, and some seconds more; raises _Ended, AdapterError, or what the adapter raised."""
        assert self._process is not None
        patience = Patience(seconds + more, self._process.pid)
        while True:
            dots, newline, rest = self._buffer.partition(b"\n")
            line, ended, left = rest.partition(b"\n")
            if newline and ended:
                self._buffer, self._begun = left, _begun(dots)
                break
            if len(self._buffer) > 2 * LARGEST:
                self.close()
                raise AdapterError(f"{self.spec} does not stop answering", _CONTRACT, BROKEN)
            data = self._read(patience)
            if not data:
                raise _Ended(self._end(f"no answer for {seconds:g} s" if data is None else ""), _begun(dots))
            self._buffer += data
        with contextlib.suppress(ValueError):  # who reads it tells what it is
            line = in_whole_characters(line)
        if line.startswith(b'{"broken":'):
            problem, hint, code = _checked(line, "broken", 3)
            raise AdapterError(str(problem), str(hint), int(code))
        if line.startswith(b'{"raised":'):
            kind, text = _checked(line, "raised", 2)
            raise type(str(kind) if str(kind).isidentifier() else "Exception", (Raised,), {})(str(text))
        return line

    def _read(self, patience: Patience) -> bytes | None:
        """Return what has come, nothing at the end of all, None if nothing came in time."""
        assert self._process is not None
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not selector.select(patience.glance()):
                if self._process.poll() is not None:  # something that it started holds the pipe
                    return b""
                if patience.left() <= 0:
                    return None
        return os.read(self._process.stdout.fileno(), 1 << 20)

    def _end(self, how: str) -> str:
        """End the process and say how it ended."""
        process = self._process
        assert process is not None
        if not how:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
        self.close()
        code = process.returncode
        return how or (signal.Signals(-code).name if code < 0 else f"exit code {code}")


def _capabilities(claimed: dict[str, Any]) -> Capabilities:
    """The capabilities of an answer; raises as `Capabilities` does, TypeError where it tells of none."""
    sets = {key: frozenset(each) for key, each in claimed.items() if type(each) is list and key != "facts"}
    return Capabilities(**{**claimed, **sets})


class Raised(Exception):
    """An exception of the adapter, where its contract allows none; it goes by the name that it had there."""


class DiedOfCase(Exception):
    """The process died of a case."""


def _begun(marks: bytes) -> int:
    """Return how many steps were begun, since the program was last begun anew."""
    return marks.rpartition(b"-")[2].count(b".")


def _death_in(line: bytes) -> str | None:
    """Return how a child died, if the line says so."""
    return str(_checked(line, "died", None)) if line.startswith(b'{"died":') else None


def _checked(line: bytes, key: str, count: int | None) -> Any:
    """The value of an answer that is no result."""
    try:
        found = json.loads(line)[key]
        if count is not None and len(found) != count:
            raise ValueError(key)
        return found
    except (ValueError, TypeError, KeyError):
        raise AdapterError("an answer that is none", _CONTRACT, BROKEN) from None
