"""The environments in which targets live: which interpreter has a library, and in which version.

tox makes them, one for each, under `.tox`; whoever has others names the folder that they are in.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

DISTRIBUTIONS = {
    "micrograd": "micrograd", "mygrad": "mygrad", "autograd": "autograd", "jax": "jax", "mlx": "mlx",
    "tensorflow": "tensorflow-cpu", "paddle": "paddlepaddle", "tinygrad": "tinygrad",
    "minitorch": "minitorch", "torch": "torch",
}  # fmt: skip
"""The libraries, each with what its package index calls it."""

NODE = "js-pytorch"
"""The library that Node.js runs."""

_VERSION = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"


@dataclass(frozen=True, slots=True)
class Environment:
    """A command that runs a script where a library is installed, the library's version, and the variables
    that the command needs.
    """

    command: tuple[str, ...]
    version: str
    variables: dict[str, str] = field(default_factory=dict)


class Absent(Exception):
    """The library is not there, and why."""


@cache
def environment(library: str, folder: str = ".tox") -> Environment:
    """The environment of a library: that of its name in the folder, or this one. Raises Absent."""
    if library == NODE:
        return _node(Path(folder) / NODE)
    distribution = DISTRIBUTIONS[library]
    own = Path(folder) / library / "bin" / "python"
    for python in filter(None, (str(own.absolute()) if own.exists() else "", sys.executable)):
        command = [python, "-c", _VERSION, distribution]
        asked = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if asked.returncode == 0:
            return Environment((python, "-W", "ignore"), asked.stdout.strip())
    raise Absent(f"{distribution} is not installed (tox run -e {library})")


def _node(folder: Path) -> Environment:
    node = shutil.which("node")
    if node is None:
        raise Absent("there is no Node.js")
    package = folder / "node_modules" / NODE / "package.json"
    if not package.exists():
        raise Absent(f"{NODE} is not installed (tox run -e {NODE})")
    variables = {"NODE_PATH": str(folder.absolute() / "node_modules")}
    return Environment((node,), json.loads(package.read_text())["version"], variables)
