"""An implementation in any language, over the standard input and output of a command: a line of JSON is a
message. `docs/protocol.md` and `specs/schema/stdio.schema.json` say which there are.

It is told what to do and never what should come of it. What it says is checked before it is believed: what
is no answer is a `WireError` with the reason, its death or silence a crash of the program it was at.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO, Any

from conformance.adapters.capabilities import Capabilities
from conformance.adapters.errors import BROKEN, MISNAMED, AdapterError
from conformance.execution.json_form import from_argument, to_json
from conformance.execution.shown import BadFact, facts_of
from conformance.execution.trace import (
    DONE,
    UNBOUND,
    Crashed,
    Observation,
    Outcome,
    Refused,
    Trace,
    Unsupported,
)
from conformance.execution.wire import LARGEST, WireError
from conformance.program import Program

STDIO = "stdio:"
PROTOCOL = 1
STARTING = 60.0
"""Seconds that the command may take to say what it is."""

LIMIT = 25.0
"""Seconds that it may take for a program."""

HINT = "see docs/protocol.md"


class _Gone(Exception):
    """The command ended or fell silent: how."""


class Stdio:
    """The adapter of a command; raises AdapterError where it is none."""

    def __init__(self, command: str) -> None:
        self.command, self.limit = command, LIMIT
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._buffer, self._asked = b"", 0
        try:
            held = self._start()
        except _Gone as gone:
            raise AdapterError(f"{command!r} does not start: {gone}{self._said()}", HINT, BROKEN) from None
        except WireError as error:
            self.close()
            raise AdapterError(f"{command!r} does not say what it is: {error}", HINT, BROKEN) from None
        self.name, self.version, self.capabilities = held

    # the contract asks for these, and `run_program` does their work

    def start(self) -> None: ...

    def perform(self, session: None, step: Any, operands: Any) -> Any:
        raise NotImplementedError("programs are sent whole")

    def facts(self, session: None, value: Any) -> dict[str, Any]:
        return {}

    def refusal(self, error: BaseException) -> None: ...

    def run_program(self, program: Program, density: str) -> Trace:
        """Run a program there. Where the command dies of it or says nothing, the last step crashed."""
        try:
            seen = self._asked_for(program, density)
        except _Gone as gone:
            self._forward()
            unbound = [Observation(UNBOUND, {}, None)] * (len(program) - 1)
            seen = [*unbound, Observation(Crashed(str(gone)), {}, None)]
            if len(program) > 1:
                before = Program(program.steps[:-1])
                with contextlib.suppress(_Gone):
                    seen[:-1] = self._asked_for(before, density)
        return Trace(program, self.name, density, tuple(seen), complete=False, loose=True)

    def _asked_for(self, program: Program, density: str) -> list[Observation]:
        if self._process is None or self._process.poll() is not None:
            self._start()
        self._asked += 1
        self._send({"type": "program", "id": self._asked, "density": density, "program": to_json(program)})
        answer = self._receive(self.limit, "observations")
        if answer.get("id") != self._asked:
            raise WireError(f"an answer to program {answer.get('id')!r:.40}, and {self._asked} was asked")
        listed = answer.get("observations")
        if not isinstance(listed, list) or len(listed) != len(program):
            count = len(listed) if isinstance(listed, list) else "no list of"
            raise WireError(f"{count} observations of a program of {len(program)} steps")
        return [_observation(f"observation {at}", held) for at, held in enumerate(listed)]

    # the process

    def _start(self) -> tuple[str, str, Capabilities]:
        words = shlex.split(self.command)
        self.close()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the command has ended
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
        except (OSError, IndexError, ValueError) as error:
            self._errors.close()
            problem = f"{self.command!r} cannot be started: {error}"
            raise AdapterError(problem, "stdio:COMMAND, such as 'stdio:node server.js'", MISNAMED) from None
        self._buffer = b""
        self._send({"type": "start", "protocol": PROTOCOL})
        held = self._receive(STARTING, "started")
        if held.get("protocol") != PROTOCOL:
            raise WireError(f"it speaks protocol {held.get('protocol')!r:.20}, and this is {PROTOCOL}")
        claimed = held.get("capabilities", {})
        if not isinstance(claimed, dict) or not all(
            isinstance(held.get(k), str) for k in ("name", "version")
        ):
            raise WireError("name and version are no text, or capabilities no object")
        sets = {k: frozenset(v) if k != "facts" else tuple(v) for k, v in claimed.items() if type(v) is list}
        try:
            return held["name"], held["version"], Capabilities(**{**claimed, **sets})
        except TypeError as error:
            raise WireError(f"capabilities that are none: {error}") from None

    def close(self) -> None:
        """End the command, with all that it has started, and forget what it has said."""
        self._stop()
        if self._errors is not None:
            self._errors.close()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise _Gone(self._ended("")) from None

    def _receive(self, seconds: float, kind: str) -> dict[str, Any]:
        """Wait for a message of a kind."""
        assert self._process is not None
        assert self._process.stdout is not None
        until = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            if len(self._buffer) > LARGEST:
                self._stop()
                raise WireError(f"an answer of more than {LARGEST:,} bytes")
            with selectors.DefaultSelector() as selector:
                selector.register(self._process.stdout, selectors.EVENT_READ)
                if not selector.select(max(until - time.monotonic(), 0)):
                    raise _Gone(self._ended(f"no answer for {seconds:g} s"))
            data = os.read(self._process.stdout.fileno(), 1 << 20)
            if not data:
                raise _Gone(self._ended(""))
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            held = json.loads(line)
        except (ValueError, RecursionError):
            self._stop()
            raise WireError(f"a line that is no JSON: {line[:60]!r}") from None
        if not isinstance(held, dict) or held.get("type") != kind:
            self._stop()
            raise WireError(f"a message that is no {kind!r}: {line[:60]!r}")
        return held

    def _ended(self, how: str) -> str:
        """End the command and say how it ended."""
        process = self._process
        assert process is not None
        if not how:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
        self._stop()
        code = process.returncode
        return how or (signal.Signals(-code).name if code < 0 else f"exit code {code}")

    def _said(self) -> str:
        """Return the last line on its standard error."""
        lines = self._written().decode("utf-8", "replace").split("\n")
        self.close()
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f" ({last[:200]})" if last else ""

    def _forward(self) -> None:
        """Print what it has written to its standard error."""
        sys.stderr.write(self._written().decode("utf-8", "replace")[-4000:])

    def _written(self) -> bytes:
        if self._errors is None or self._errors.closed:
            return b""
        self._errors.seek(0)
        return self._errors.read()[-20_000:]


def _observation(where: str, held: Any) -> Observation:
    """The observation of its JSON form; raises WireError for what is none."""
    try:
        outcome, shown = _outcome(held["outcome"]), held.get("facts", {})
        facts = {str(name): _facts(each) for name, each in shown.items()}
    except BadFact as error:
        raise WireError(f"{where}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WireError(f"{where} is none: {type(error).__name__}: {error}") from None
    return Observation(outcome, facts, None, (), None)


def _outcome(held: dict[str, Any]) -> Outcome:
    match held:
        case {"done": True}:
            return DONE
        case {"unbound": True}:
            return UNBOUND
        case {"refused": str(rule)}:
            return Refused(rule, str(held.get("message", "")))
        case {"unsupported": str(why)}:
            return Unsupported(why)
        case {"crashed": str(error)}:
            return Crashed(error)
    raise ValueError(f"{held!r:.60} is no outcome")


def _facts(held: dict[str, Any]) -> tuple[Any, ...]:
    if "plain" in held:
        return (from_argument(held["plain"]),)
    return facts_of({name: _fact(name, value) for name, value in held.items()})


def _fact(name: str, value: Any) -> Any:
    if isinstance(value, dict) and (word := next((w for w in ("refused", "crashed") if w in value), "")):
        return (word, str(value[word]))
    if name == "grad":
        return None if value is None else {key: _fact(key, each) for key, each in value.items()}
    return from_argument(value) if name == "value" else value
