"""The process of a script: ``python -m conformance.explanation.child RECORDS SCRIPT NAME SECONDS MEGABYTES
DRAWS ARGUMENTS``, where DRAWS is empty, or the release of torch that runs the script beside and is given the
random numbers drawn here (with "without CUDA" behind it if it has none).

Each record is a line of JSON in the file RECORDS, written at once: a script that dies takes none along.
"""

from __future__ import annotations

import builtins
import io
import json
import math
import sys
import time
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def main() -> None:
    """Run the script under the tracer, within limits."""
    import conformance.adapters.reference_draws
    import conformance.explanation.trace  # noqa: F401  before the limits: only the script's time counts

    records, script, name, seconds, megabytes, draws, *arguments = sys.argv[1:]
    limit(int(seconds), int(megabytes))
    emitter(Path(records))({"begun": True})
    play(Path(records), Path(script).read_bytes(), name, arguments, draws)


def play(records: Path, source: bytes, name: str, arguments: Sequence[str], draws: str = "") -> None:
    """Run a script in this process, which it may leave in any state, and write the records; with ``draws``
    those of the random numbers too, by the rules of that release of torch.
    """
    import numpy as np

    from conformance.adapters.reference_draws import Draws
    from conformance.adapters.reference_guard import guard
    from conformance.adapters.reference_state import (
        WITHOUT_CUDA,
        has_cast,
        has_compiled,
        stand_in_as_torch,
    )
    from conformance.adapters.torch_words import speak_as_torch
    from conformance.explanation.arguments import known, why_refused
    from conformance.explanation.trace import Tracer
    from specs.active_rules import set_torch_release

    emit = emitter(records)
    stand_in_as_torch(cuda=not draws.endswith(WITHOUT_CUDA))
    if draws:  # before the guards, which hide functions that other modules imported
        set_torch_release(draws.removesuffix(WITHOUT_CUDA).strip())
        seed_all()
        Draws(lambda shape, values: emit({"draw": [shape, values]}))
    guard(known(), why_refused)
    speak_as_torch()
    prepared = prepare(source, name, arguments, emit)
    if prepared is not None:
        code, names = prepared
        tracer = Tracer(name, names, emit)
        sys.stdout = Told(tracer.printed_by)
        with np.errstate(all="ignore"):
            tracer.run(code)
        emit({"end": True, "autocast": has_cast(), "compiled": has_compiled()})


def emitter(records: Path) -> Callable[[dict[str, Any]], None]:
    """Return the function that writes a record at once."""
    out = open(records, "a", encoding="utf-8", buffering=1)  # noqa: SIM115  open until the process ends

    def emit(record: dict[str, Any]) -> None:
        nonlocal out
        text = json.dumps(_plain(record)) + "\n"
        try:
            out.write(text)
        except (OSError, ValueError):  # the script closed every file
            out = open(records, "a", encoding="utf-8", buffering=1)  # noqa: SIM115
            out.write(text)

    return emit


def prepare(
    source: bytes, name: str, arguments: Sequence[str], emit: Callable[[dict[str, Any]], None]
) -> tuple[types.CodeType, dict[str, Any]] | None:
    """Make a script the main module; return its code and its names, or None if it is no Python."""
    sys.argv = [name, *arguments]
    sys.path.insert(0, str(Path(name).resolve().parent) if name not in ("-", "-c") else "")
    try:
        code = compile(source, name, "exec")
    except (SyntaxError, ValueError) as error:
        message = getattr(error, "msg", None) or str(error)
        emit({"syntax": message, "line": getattr(error, "lineno", None) or 0})
        return None
    main = types.ModuleType("__main__")
    main.__dict__.update({"__file__": name, "__builtins__": builtins})
    sys.modules["__main__"] = main
    return code, main.__dict__


def seed_all() -> None:
    """Seed Python's and numpy's generators, so that two runs of a script draw the same."""
    import random

    import numpy as np

    random.seed(0)
    np.random.seed(0)


class Told(io.TextIOBase):
    """Standard output that is told with the line that wrote it."""

    def __init__(self, take: Any) -> None:
        self.take = take

    def write(self, text: str) -> int:
        self.take(text)
        return len(text)


def limit(seconds: int, megabytes: int) -> None:
    """Bound processor time and memory, where the system can."""
    try:
        import resource
    except ImportError:
        return
    seconds += int(time.process_time()) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if megabytes:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: numbers that it lacks as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(x) for x in value]
    if isinstance(value, dict):
        return {str(key): _plain(x) for key, x in value.items()}
    return value


if __name__ == "__main__":
    main()
