"""The interpreter in which an implementation lives, as the name of its adapter says: `isolated:SPEC` is a
process of this one's, `python:PATH:SPEC` one of another, whose libraries it then has.

Of the project such a process needs what drives an adapter: Python 3.11 and any numpy, and nothing else.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import rmtree, which
from weakref import finalize

from conformance.adapters.errors import MISNAMED, AdapterError

ISOLATED, PYTHON = "isolated:", "python:"
HOST = "conformance.grading.host"
PACKAGES = ("conformance", "specs", "reference_impl")
START = f"""
import sys
sys.path.append(sys.path.pop(0))
lacks = ""
if sys.version_info < (3, 11):
    lacks = "it is Python %d.%d, and the suite needs 3.11 there" % sys.version_info[:2]
    hint = "give another interpreter, or drive the library over stdin and stdout (docs/protocol.md)"
else:
    try:
        import numpy
    except ImportError as error:
        lacks = "it has no numpy (%s)" % error
    hint = "install numpy there (any version will do)"
if lacks:
    import json
    print("\\n" + json.dumps({{"broken": [sys.executable + ": " + lacks, hint, {MISNAMED}]}}), flush=True)
else:
    import runpy
    runpy.run_module({HOST!r}, run_name="__main__", alter_sys=True)
"""
"""The program that an interpreter runs, in words that any Python understands."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The interpreter of an implementation (nothing: this one), the name of its adapter there, and what is
    said of it in a report.
    """

    spec: str
    python: str = ""
    label: str = ""

    @property
    def command(self) -> list[str]:
        """The command that starts its process."""
        if self.python:
            return [self.python, "-c", START, self.spec]
        return [sys.executable, "-P", "-m", HOST, self.spec]

    @property
    def environment(self) -> dict[str, str]:
        """The variables of its process: another interpreter gets no library of this one.

        The current folder comes last: files in it may have the names of modules that the process needs.
        """
        paths = [str(_alone())] if self.python else [str(_root()), *filter(None, sys.path), os.getcwd()]
        kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONHOME", "PYTHONPATH")}
        if not self.python:
            kept = dict(os.environ)
        return kept | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def interpreter_of(spec: str) -> Interpreter:
    """Return the place that a name tells; raises AdapterError where there is no such interpreter."""
    if spec.startswith(ISOLATED):
        return Interpreter(spec.removeprefix(ISOLATED), label="isolated")
    if not spec.startswith(PYTHON):
        return Interpreter(spec, label=Path(spec).name[-40:])
    python, _, inner = spec.removeprefix(PYTHON).partition(":")
    found = which(os.path.expanduser(python))
    if found is None or not inner:
        hint = "python:PATH:SPEC, or --python PATH: the path of an interpreter, as `which python` prints it"
        raise AdapterError(f"there is no Python interpreter {python!r}", hint)
    return Interpreter(inner, found, "another Python")


def named_in(spec: str, python: str | None, isolated: bool) -> str:
    """Return the name by which an implementation is loaded in another interpreter, or in a process of this
    one's.
    """
    if python is None:
        return ISOLATED + spec if isolated else spec
    if os.pathsep in python or ":" in python:
        raise AdapterError(f"the path {python!r} holds a colon", "make a link to it that has none")
    return f"{PYTHON}{python}:{spec}"


def _root() -> Path:
    return Path(__file__).parents[2]


@cache
def _alone() -> Path:
    """Return a folder with the packages of the project and no other: its checkout, or one made of links."""
    root = _root()
    if not (root / "numpy").exists():
        return root
    folder = tempfile.mkdtemp(prefix="autograd-conformance-")
    finalize(_alone, rmtree, folder, ignore_errors=True)
    for package in PACKAGES:
        os.symlink(root / package, Path(folder) / package, target_is_directory=True)
    return Path(folder)
