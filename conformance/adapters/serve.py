"""The other side of the stdio protocol for any adapter: ``python -m conformance.adapters.serve IMPL``.

It needs what drives an adapter: Python 3.11 and any numpy. What the implementation prints goes to standard
error, since standard output carries the answers. docs/protocol.md has the messages.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, BinaryIO

from conformance import adapters
from conformance.adapters.errors import AdapterError
from conformance.adapters.stdio import PROTOCOL, STDIO
from conformance.execution.json_form import from_json, message_of
from conformance.execution.run import run
from conformance.execution.wire import WireError, sized

Message = dict[str, Any]


def serve(spec: str, questions: BinaryIO, answer: Callable[[str], None]) -> int:
    """Answer questions about an implementation until there are no more; return an exit code."""
    try:
        adapter = _loaded(spec)
        started = _described(adapter, spec)
    except AdapterError as error:
        answer(json.dumps({"type": "broken", "reason": f"{error.problem} ({error.hint})"}))
        return error.code
    for line in questions:
        asked = json.loads(line)
        kind = asked["type"]
        if kind == "stop":
            break
        answer(json.dumps(started) if kind == "start" else _observed(adapter, asked))
    return 0


def _loaded(spec: str) -> Any:
    if spec.startswith((STDIO, "isolated:", "python:")):
        raise AdapterError(f"{spec!r} is a process of its own already", "give the adapter itself")
    return adapters.load_here(spec)


def _described(adapter: Any, spec: str) -> Message:
    """Return what an adapter says of itself. What is built in keeps its name to itself."""
    claimed = asdict(adapters.capabilities(adapter))
    listed = {key: sorted(each) if isinstance(each, frozenset) else each for key, each in claimed.items()}
    name = f"{adapter.name} (stdio)" if spec in adapters.BUILT_IN else adapter.name
    return {"type": "started", "protocol": PROTOCOL, "name": name, "version": adapter.version,
            "capabilities": listed}  # fmt: skip


def _observed(adapter: Any, asked: Message) -> str:
    """Run a program; return the message with its observations, or with how the adapter broke its contract."""
    try:
        trace = run(from_json(asked["program"]), adapter, asked["density"])
        return sized(f'{{"type":"observations","id":{asked["id"]},{message_of(trace)[1:]}')
    except Exception as error:
        reason = str(error) if isinstance(error, WireError) else f"{type(error).__name__}: {error}"
        return json.dumps({"type": "broken", "id": asked["id"], "reason": reason})


def main(arguments: list[str] | None = None) -> int:
    """Serve the implementation that the command line names."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1 or given[0].startswith("-"):
        print(f"{__doc__}\nIMPL is as for `grade`: torch, module:attribute, a path.", file=sys.stderr)
        return 0 if given in (["-h"], ["--help"]) else 2
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)
    questions = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def answer(line: str) -> None:
        answers.write(line + "\n")
        answers.flush()

    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        return serve(given[0], questions, answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
