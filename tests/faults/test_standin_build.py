"""The stand-in is built once, by whoever comes first, and a build that dies, fails or hangs delays nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")

from conformance.adapters.errors import AdapterError
from conformance.adapters.standin import build

COMPILES = """
import os, sys, time
name, source, folder = sys.argv[1:]
with open(os.environ["LOG"], "a") as log:
    log.write("begun\\n")
time.sleep(float(os.environ.get("TAKES", "0")))
open(f"{folder}/{name}.so", "w").close()
"""
"""A compiler that takes its time and makes an empty file."""

BUILDER = f"""
from conformance.adapters.standin import build
build._COMPILE = {COMPILES!r}
print(build.library(may_build=True))
"""


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache of extensions, and a log of what was built in it."""
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setenv("CXX", "true")
    monkeypatch.setattr(build, "_COMPILE", COMPILES)
    return tmp_path


def builder(**environment: str) -> subprocess.Popen[str]:
    """Start another process that builds."""
    return subprocess.Popen(
        [sys.executable, "-c", BUILDER],
        env=os.environ | {"PYTHONPATH": os.getcwd()} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def begun(cache: Path) -> int:
    """Count the builds that have begun."""
    log = cache / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_it_is_built_once_and_then_found(cache):
    first = build.library(may_build=True)
    assert (first, 1) == (build.library(may_build=False), begun(cache))


def test_two_builders_build_once(cache):
    both = [builder(TAKES="2") for _ in range(2)]
    paths = {process.communicate(timeout=300)[0] for process in both}
    assert (1, 1, [0, 0]) == (len(paths), begun(cache), [process.returncode for process in both])


def test_a_killed_build_is_begun_anew(cache):
    killed = builder(TAKES="60")
    while not begun(cache):
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=300)
    found = build.library(may_build=True)
    assert ({found.name, "building.lock"}, 2) == (
        {path.name for path in found.parent.iterdir()},
        begun(cache),
    )


def test_a_build_that_hangs_is_ended(cache, monkeypatch):
    monkeypatch.setenv("TAKES", "60")
    monkeypatch.setattr(build, "TIME_LIMIT", 0.5)
    with pytest.raises(AdapterError, match=r"it takes more than 0\.5 s \(hint: choose the device cpu\)"):
        build.library(may_build=True)


def test_whoever_waits_too_long_for_another_says_so(cache, monkeypatch):
    other = builder(TAKES="60")
    while not begun(cache):
        time.sleep(0.05)
    monkeypatch.setattr(build, "TIME_LIMIT", 0.5)
    try:
        with pytest.raises(AdapterError, match="another process holds"):
            build.library(may_build=True)
    finally:
        other.kill()
        other.communicate()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "Error building extension:\nx.h:1: fatal error: no Python.h\nninja",
            "x.h:1: fatal error: no Python.h",
        ),
        ("RuntimeError: it went wrong", "RuntimeError: it went wrong"),
        ("", "exit code 1"),
    ],
)
def test_a_build_that_fails_says_why_in_one_line(cache, monkeypatch, written, said):
    monkeypatch.setattr(build, "_COMPILE", f"import sys; sys.exit({written!r} or 1)")
    with pytest.raises(AdapterError) as raised:
        build.library(may_build=True)
    assert f"{build.PROBLEM}: {said}" == raised.value.problem


def test_without_a_compiler_it_says_which(cache, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(AdapterError, match="there is no no-such-compiler"):
        build.library(may_build=True)


def test_a_cache_that_cannot_be_written_is_named(cache, monkeypatch):
    (cache / "file").write_text("")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(cache / "file"))
    with pytest.raises(AdapterError, match=r"cannot be built: .*set TORCH_EXTENSIONS_DIR"):
        build.library(may_build=True)


def test_an_isolated_process_never_builds(cache):
    with pytest.raises(AdapterError, match="is not built"):
        build.library(may_build=False)
    assert begun(cache) == 0
