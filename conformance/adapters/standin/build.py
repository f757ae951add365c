"""Builds the stand-in's library, once for each torch and source, under a lock that dies with its holder.

A build that is killed leaves nothing that anybody waits for: it takes place in a folder of its own, and only
what is finished is moved to where it is looked for.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from conformance.adapters.errors import AdapterError

SOURCES = tuple(Path(__file__).parent / name for name in ("device.h", "kernels.cpp"))
PROBLEM = "the stand-in device cannot be built"
TIME_LIMIT = 600.0
"""Seconds that a build, and waiting for another's, may take; it takes about 20 of CPU."""

_COMPILE = """
import os, signal, sys, threading
from torch.utils import cpp_extension

def end_with_the_parent():
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGTERM)

threading.Thread(target=end_with_the_parent, daemon=True).start()
name, source, folder = sys.argv[1:]
try:
    cpp_extension.load(
        name=name, sources=[source], extra_cflags=["-O1"], build_directory=folder, is_python_module=False
    )
except Exception as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    os._exit(1)
os._exit(0)
"""


def library(may_build: bool) -> Path:
    """Return the library's file, built now if need be and allowed; raises AdapterError."""
    import torch
    from torch.utils import cpp_extension

    text = " ".join([torch.__version__, *(source.read_text(encoding="utf-8") for source in SOURCES)])
    name = f"autograd_conformance_standin_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    root = Path(os.environ.get("TORCH_EXTENSIONS_DIR") or cpp_extension.get_default_build_root())
    found = root / name / f"{name}.so"
    if found.exists():
        return found
    if not may_build:
        raise AdapterError("the stand-in device is not built", "it is built before processes are started")
    compiler, path = cpp_extension.get_cxx_compiler(), _search_path()
    for tool, remedy in (("ninja", "pip install ninja"), (compiler, "install g++ or clang++")):
        if shutil.which(tool, path=path) is None:
            raise AdapterError(f"{PROBLEM}: there is no {tool}", remedy)
    try:
        found.parent.mkdir(parents=True, exist_ok=True)
        with _locked(found.parent / "building.lock"):
            if not found.exists():
                _build(name, found)
    except OSError as error:
        raise AdapterError(
            f"{PROBLEM}: {error.strerror or error} ({root})", "set TORCH_EXTENSIONS_DIR to a folder of yours"
        ) from None
    return found


def _search_path() -> str:
    """Return where tools are looked for: where Python lies, which is ninja's place, and PATH."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which the system takes from a process that dies."""
    import filelock

    lock, said = filelock.FileLock(path), _Progress("another process builds the stand-in device")
    while True:
        with contextlib.suppress(filelock.Timeout):
            lock.acquire(timeout=1)
            break
        if said.elapsed() > TIME_LIMIT:
            raise AdapterError(f"{PROBLEM}: another process holds {path} for {TIME_LIMIT:g} s", "end it")
    said.end()
    with lock:
        yield


def _build(name: str, found: Path) -> None:
    for left in found.parent.glob("build-*"):  # of one that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=found.parent, ignore_cleanup_errors=True) as folder:
        with open(Path(folder) / "build.log", "w+", encoding="utf-8") as log:
            code = _compile([name, str(SOURCES[-1]), folder], log.fileno())
            log.seek(0)
            lines = log.read().splitlines()
        built = Path(folder) / found.name
        if code != 0 or not built.exists():
            error = next((line for line in lines if "error:" in line), lines[-1] if lines else "")
            raise AdapterError(
                f"{PROBLEM}: {error or f'exit code {code}'}", "install what the compiler lacks"
            )
        os.replace(built, found)


def _compile(arguments: list[str], log: int) -> int:
    """Run the compiler in a process group of its own, which ends with this process; return its exit code."""
    said = _Progress("building the stand-in device, once for this torch")
    process = subprocess.Popen(
        [sys.executable, "-c", _COMPILE, *arguments],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        env=os.environ | {"PATH": _search_path()},
        start_new_session=True,
    )
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(1)
            if said.elapsed() > TIME_LIMIT:
                raise AdapterError(f"{PROBLEM}: it takes more than {TIME_LIMIT:g} s", "choose the device cpu")
    finally:
        said.end()
        if process.poll() is None:
            _end(process)
        if process.stdin is not None:
            process.stdin.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the compiler and what it has started; ninja ends its own children on SIGTERM."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return


class _Progress:
    """One line on stderr that counts seconds: on a terminal each, elsewhere every ten."""

    def __init__(self, doing: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._doing, self._clock, self._began = doing, clock, clock()
        self._terminal = sys.stderr.isatty()
        self._next = 0.0

    def elapsed(self) -> float:
        """Return the seconds since the beginning, and say them if it is time."""
        seconds = self._clock() - self._began
        if seconds >= self._next:
            self._next = seconds + (1 if self._terminal else 10)
            begin, end = ("\r", "") if self._terminal else ("", "\n")
            print(f"{begin}{self._doing}: {seconds:.0f} s", end=end, file=sys.stderr, flush=True)
        return seconds

    def end(self) -> None:
        """Finish the line."""
        if self._terminal and self._next:
            print(file=sys.stderr, flush=True)
