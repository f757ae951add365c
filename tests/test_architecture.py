"""The import directions hold, and no file has grown past a second look. What modules do is tested
elsewhere.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("specs", "reference_impl", "conformance")
LONG = 400
"""Lines past which a file must be listed below with the reason why it is one thing."""

LONG_ALLOWED: dict[str, str] = {}

# The first entry that a module's path starts with says what it may import, besides the standard library and
# itself.
ALLOWED: tuple[tuple[str, frozenset[str]], ...] = (
    ("specs/cases/", frozenset({"torch", "numpy", "specs"})),
    ("specs/", frozenset({"numpy", "specs"})),
    ("reference_impl/", frozenset({"ml_dtypes", "numpy", "specs", "reference_impl"})),
    ("conformance/adapters/torch.py", frozenset({"torch", "numpy", "specs", "conformance"})),
    ("conformance/adapters/standin/", frozenset({"torch", "torchgen", "conformance"})),
    ("conformance/adapters/reference.py", frozenset({"reference_impl", "numpy", "specs", "conformance"})),
    ("conformance/adapters/micrograd.py", frozenset({"micrograd", "numpy", "specs", "conformance"})),
    ("conformance/adapters/", frozenset({"numpy", "specs", "conformance"})),
    ("conformance/draws.py", frozenset({"hypothesis", "numpy", "specs", "conformance"})),
    ("conformance/generate/strategy.py", frozenset({"hypothesis", "numpy", "specs", "conformance"})),
    ("conformance/cli/", frozenset({"jsonschema", "typer", "rich", "specs", "conformance"})),
    ("conformance/report/terminal.py", frozenset({"rich", "specs", "conformance"})),
    ("conformance/", frozenset({"numpy", "specs", "conformance"})),
)
# Inside conformance, the core knows no adapter, no check and no command line; these may.
BRIDGES = tuple(f"conformance/{name}" for name in (
    "__init__.py", "__main__.py", "adapters/", "campaign.py", "cli/", "draws.py", "grading.py", "looking.py",
    "observed.py", "recording.py", "replay.py", "witness.py",
))  # fmt: skip
ABOVE = tuple(f"conformance.{name}" for name in (
    "adapters", "campaign", "cli", "draws", "grading", "looking", "observed", "recording", "replay",
    "witness",
))  # fmt: skip
# Plain values that adapters hand to whoever asks; knowing them is knowing no adapter.
VALUES = ("conformance.adapters.capabilities", "conformance.adapters.errors")


def modules() -> list[Path]:
    """Every Python file of the three packages."""
    return sorted(path for package in OURS for path in (ROOT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def imports(path: Path) -> tuple[str, ...]:
    """The dotted names a file imports, also inside functions."""

    def walk() -> Iterator[str]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name_of(path)}:{node.lineno} imports relatively"
                yield node.module or ""
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    return tuple(walk())


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_imports_only_what_its_place_allows(path):
    """specs know numpy alone; the reference knows specs; torch and the reference are met in their adapters
    only.
    """
    allowed = next(names for prefix, names in ALLOWED if name_of(path).startswith(prefix))
    tops = {name.partition(".")[0] for name in imports(path)}
    assert set() == tops - allowed - sys.stdlib_module_names


@pytest.mark.parametrize("path", [p for p in modules() if name_of(p).startswith("conformance/")], ids=name_of)
def test_the_core_imports_no_adapter_no_check_and_no_command_line(path):
    """Whoever may import a bridge is named; the core could be used without any of them."""
    above = [name for name in imports(path) if name.startswith(ABOVE) and not name.startswith(VALUES)]
    assert [] == above or name_of(path).startswith(BRIDGES)


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_says_what_lives_in_it(path):
    """Each module that holds anything opens with a docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not tree.body or ast.get_docstring(tree)


def test_long_files_are_listed_with_a_reason():
    """A file past the limit has a reason on record, and a reason that is no longer needed is dropped."""
    files = [
        *modules(),
        *sorted((ROOT / "tests").rglob("*.py")),
        *sorted((ROOT / "benchmarks").rglob("*.py")),
    ]
    long = {name_of(p) for p in files if len(p.read_text(encoding="utf-8").splitlines()) > LONG}
    assert set(LONG_ALLOWED) == long


def test_adapters_are_the_only_way_to_torch():
    """Outside its adapter and the stand-in device torch is imported by the cases alone, its own text."""
    met = {name_of(p) for p in modules() if any(name.partition(".")[0] == "torch" for name in imports(p))}
    own = {"conformance/adapters/torch.py", "conformance/adapters/standin/__init__.py"}
    assert own >= {name for name in met if not name.startswith("specs/cases/")}
