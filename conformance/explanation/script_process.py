"""A script's process: its time begins when it is ready, and what it leaves behind ends with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

TO_START = 120
"""Seconds of wall time for imports; a busy machine takes long for them."""
TO_END = 5
"""Seconds for what happens after the last line: threads and exit handlers of the script."""
KEPT = 65_536
"""Bytes of standard error that are kept, the last ones."""
ENDED = b'{"end":'


def run_to_its_end(command: Sequence[str], records: Path, seconds: int) -> tuple[int | None, str]:
    """Run a process that writes records; return its exit code, None if it took too long, and the end of its
    standard error. ``seconds`` of processor time may take twice as long and a bit by the clock.
    """
    before = _processor_time()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=_environment(),
        start_new_session=True,
    )
    complaint = bytearray()
    reader = threading.Thread(target=_keep_the_end, args=(process.stderr, complaint), daemon=True)
    reader.start()
    try:
        in_time = _wait(process, records, 2 * seconds + 10)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    reader.join(1)  # a process of the script's that left the session may hold the pipe for ever
    code: int | None = process.returncode if in_time else None
    if code == -signal.SIGXCPU or (code == -signal.SIGKILL and _processor_time() - before >= seconds):
        code = None  # its processor time was used up
    return code, bytes(complaint).decode(errors="replace")


def _processor_time() -> float:
    """Return the processor time of the processes that have ended."""
    used = os.times()
    return used.children_user + used.children_system


def _wait(process: subprocess.Popen[bytes], records: Path, limit: float) -> bool:
    """Wait for the end of a process; return whether it came in time. After its last record it has little."""
    begun = ended = False
    until = time.monotonic() + TO_START
    while True:
        try:
            process.wait(timeout=0.2)
            return True
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            if not begun and records.stat().st_size:
                begun, until = True, now + limit
            if not ended and _told_its_end(records):
                ended, until = True, now + TO_END
            if now > until:
                return ended


def _told_its_end(records: Path) -> bool:
    """Tell whether the last record is that of the end."""
    with open(records, "rb") as file:
        file.seek(max(0, records.stat().st_size - 200))
        return file.read().rstrip().rpartition(b"\n")[2].startswith(ENDED)


def _keep_the_end(pipe: IO[bytes], kept: bytearray) -> None:
    with pipe:
        while part := os.read(pipe.fileno(), 1 << 16):
            kept += part
            del kept[:-KEPT]


def _environment() -> dict[str, str]:
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def command_of(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package, whatever lies in the current folder."""
    return [sys.executable, "-P", "-m", f"conformance.explanation.{module}", *arguments]
