"""The source distribution holds what the repository does, and its tests find what they import."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from sources import ROOT

MADE = ("PKG-INFO", "setup.cfg", "autograd_conformance.egg-info/")


def tracked() -> list[str]:
    """The files of the repository."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no git repository")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
    )
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    """The source distribution of a clean copy, unpacked."""
    folder = tmp_path_factory.mktemp("distribution")
    for name in tracked():
        (folder / "clean" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / "clean" / name)
    build = "from setuptools import setup; setup()"
    subprocess.run(
        [sys.executable, "-c", build, "-q", "sdist"], cwd=folder / "clean", check=True, capture_output=True
    )
    (archive,) = (folder / "clean" / "dist").glob("*.tar.gz")
    safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since Python 3.11.4
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "unpacked", **safely)
    (top,) = (folder / "unpacked").iterdir()
    return top


def test_it_holds_what_the_repository_holds(unpacked):
    """A file that is added to the repository is in it, and nothing else is."""
    files = (path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file())
    assert sorted(tracked()) == sorted(name for name in files if not name.startswith(MADE))


def test_its_tests_find_what_they_import(unpacked):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=unpacked, stdout=subprocess.PIPE, text=True)
    assert 0 == done.returncode, done.stdout[-3000:]
