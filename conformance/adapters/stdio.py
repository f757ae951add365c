"""An implementation in any language, over the standard input and output of a command: a line of JSON is a
message. `docs/protocol.md` and `specs/schema/stdio.schema.json` say which there are.

It is told what to do and never what should come of it. What it says is checked before it is believed: what
is no answer is a `WireError` with the reason, its death or silence a crash of the program it was at. How
lines come and go lives in `command`, the other side for adapters in Python in `serve`.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from conformance.adapters.capabilities import Capabilities
from conformance.adapters.command import Command, Gone
from conformance.adapters.errors import BROKEN, AdapterError
from conformance.adapters.stdio_answers import answer_of, observations_of, regions_of, started_of, wiring_of
from conformance.execution.flight_recorder import isolated
from conformance.execution.json_form import to_json
from conformance.execution.trace import UNBOUND, Crashed, Observation, Trace
from conformance.execution.wire import WireError
from conformance.program import Program

STDIO = "stdio:"
PROTOCOL = 1
STARTING = 60.0
"""Seconds that the command may take to say what it is."""

LIMIT = 30.0
"""Seconds that it may take for a program."""

HINT = "see docs/protocol.md"

Answer = bytes | Gone | WireError


class Stdio:
    """The adapter of a command; raises AdapterError where it is none."""

    ahead = 16
    """Programs that may be under way before the one that is asked for."""

    def __init__(self, command: str) -> None:
        self.command, self.timeout = command, LIMIT
        self._running: Command | None = None
        self._asked = 0
        self._waiting: dict[int, bytes] = {}
        """The messages that are not answered, by their numbers, in their order."""
        self._answers: dict[int, Answer] = {}
        self._announced: dict[tuple[int, str], tuple[int, Program]] = {}
        self._hangs, self._longest, self._words = False, 0.0, ""
        try:
            self.name, self.version, self.capabilities = self._start()
            self.serves = self.name.removesuffix(" (stdio)")
        except Gone as gone:
            problem = f"{command!r} does not start: {gone}{gone.last}"
            raise AdapterError(problem, HINT, BROKEN) from None
        except WireError as error:
            raise AdapterError(f"{command!r} does not say what it is: {error}", HINT, BROKEN) from None
        finally:
            if self._running is None or not isolated():
                self.close()  # whoever asks for programs here has it started again

    # the contract asks for these, and `run_program` does their work

    def start(self) -> None: ...

    def perform(self, session: None, step: Any, operands: Any) -> Any:
        raise NotImplementedError("programs are sent whole")

    def facts(self, session: None, value: Any) -> dict[str, Any]:
        return {}

    def refusal(self, error: BaseException) -> None: ...

    # programs

    def announce(self, program: Program, density: str) -> None:
        """Let the command begin with a program that will be asked for; nobody waits for it."""
        if len(self._waiting) <= self.ahead:
            self._announced[id(program), density] = self._ask(program, density), program

    def run_program(self, program: Program, density: str) -> Trace:
        """Run a program there. Where the command dies or says nothing, the step it does so at crashed."""
        number, _ = self._announced.pop((id(program), density), (0, None))
        try:
            return self._trace(program, density, number)
        except Gone as gone:
            self._forward(gone)
            return self._died(program, density, gone)

    def _trace(self, program: Program, density: str, number: int = 0) -> Trace:
        number = number or self._ask(program, density)
        try:
            answer = answer_of(self._received(number), number)
            seen = observations_of(answer.get("observations"), len(program))
            hung, held = wiring_of(answer.get("wiring")), regions_of(answer.get("regions", []), len(program))
        except WireError:
            self.close()  # nobody knows where in its lines it is
            raise
        return Trace(program, self.name, density, seen, False, hung, held, loose=True)

    def _died(self, program: Program, density: str, gone: Gone) -> Trace:
        """The trace of a program that the command dies of: what comes before the step it dies at, by the
        shortest beginning that it dies of, and the crash.
        """
        lives, dies, before = 0, len(program), None
        while lives + 1 < dies:
            middle = (lives + dies) // 2
            try:
                before = self._trace(Program(program.steps[:middle]), density)
                lives = middle
            except Gone as again:
                gone, dies = again, middle
        seen = before.observations if before is not None else ()
        crash, unbound = Observation(Crashed(str(gone)), {}, None), Observation(UNBOUND, {}, None)
        after = [unbound] * (len(program) - lives - 1)
        return Trace(program, self.name, density, (*seen, crash, *after), complete=False, loose=True)

    # messages

    def _ask(self, program: Program, density: str) -> int:
        self._asked += 1
        asked = {"type": "program", "id": self._asked, "density": density, "program": to_json(program)}
        self._waiting[self._asked] = _line(asked)
        if self._running is not None:
            self._running.post(self._waiting[self._asked])
        return self._asked

    def _received(self, number: int) -> bytes:
        """Wait for the answer to a program; raises WireError where it has no end, Gone where none comes."""
        while number not in self._answers:
            self._take()
        answer = self._answers.pop(number)
        if not isinstance(answer, bytes):
            raise answer
        return answer

    def _take(self) -> None:
        """Take the next line, which answers the first of the programs that wait."""
        first = next(iter(self._waiting))
        if self._running is None:
            self._start()
        assert self._running is not None
        began = time.monotonic()
        try:
            self._answers[first] = self._running.line(self._patience())
            self._longest = max(self._longest, time.monotonic() - began)
        except Gone as gone:
            self._hangs |= str(gone).startswith("no answer")
            self._running, self._answers[first] = None, gone
        except WireError as error:
            self._stop()
            self._answers[first] = error
        del self._waiting[first]

    def _patience(self) -> float:
        """Seconds for a program; fewer after a silence, though plenty by what others have taken."""
        return min(self.timeout, 5.0 + 10 * self._longest) if self._hangs else self.timeout

    # the process

    def _start(self) -> tuple[str, str, Capabilities]:
        """Start the command, and send what is not answered; return what it says of itself."""
        running = Command(self.command)
        running.post(_line({"type": "start", "protocol": PROTOCOL}))
        try:
            held = started_of(running.line(STARTING), PROTOCOL)
        except WireError:
            running.close()
            raise
        self._running = running
        for message in self._waiting.values():
            running.post(message)
        return held

    def _stop(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None

    def close(self) -> None:
        """End the command, with all that it has started, and forget what it was asked."""
        self._stop()
        for held in (self._waiting, self._answers, self._announced):
            held.clear()

    def _forward(self, gone: Gone) -> None:
        """Print what the command has written to its standard error, once."""
        if gone.words != self._words:
            self._words = gone.words
            sys.stderr.write(gone.words)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
