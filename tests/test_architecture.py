"""The import directions hold, and no file has grown past a second look. What modules do is tested
elsewhere.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from reference_impl.core.tensor import Tensor

ROOT = Path(__file__).parent.parent
OURS = ("specs", "reference_impl", "conformance")
LONG = 410
"""Lines past which a file must be listed below with the reason why it is one thing."""

LONG_ALLOWED: dict[str, str] = {}

# The longest entry that a module's path starts with says which packages it may import besides the standard
# library.
PACKAGES = {
    "specs/": {"numpy", "specs"},
    "specs/cases/": {"torch", "numpy", "specs"},
    "reference_impl/": {"ml_dtypes", "numpy", "specs", "reference_impl"},
    "conformance/": {"numpy", "specs", "conformance"},
    "conformance/adapters/torch.py": {"torch", "numpy", "specs", "conformance"},
    "conformance/adapters/standin/": {"torch", "torchgen", "conformance"},
    "conformance/adapters/reference.py": {"reference_impl", "numpy", "specs", "conformance"},
    "conformance/adapters/micrograd.py": {"micrograd", "numpy", "specs", "conformance"},
    "conformance/generate/strategy.py": {"hypothesis", "numpy", "specs", "conformance"},
    "conformance/grading/sources.py": {"hypothesis", "numpy", "specs", "conformance"},
    "conformance/cli/": {"jsonschema", "typer", "rich", "specs", "conformance"},
    "conformance/report/terminal.py": {"rich", "specs", "conformance"},
}

# Inside a package a folder imports only the folders that it names here: no circle, also not of types.
ARROWS = {
    "conformance": {
        "program": set(),
        "execution": {"program"},
        "report": {"program", "execution", "comparison"},
        "adapters": {"program", "execution"},
        "generate": {"program", "execution"},
        "comparison": {"program", "execution", "adapters"},
        "grading": {"program", "execution", "report", "adapters", "generate", "comparison"},
        "recordings": {"program", "execution", "report", "adapters", "generate", "comparison", "grading"},
        "observer_effect": {
            "program",
            "execution",
            "report",
            "adapters",
            "generate",
            "comparison",
            "grading",
        },
        "cli": {
            "program",
            "execution",
            "report",
            "adapters",
            "comparison",
            "grading",
            "recordings",
            "observer_effect",
        },
    },
    "reference_impl": {
        "base": set(),
        "core": {"base"},
        "fidelity": {"base", "core"},
        "forward": {"base", "core"},
        "namespace": {"base", "core", "fidelity"},
        "autograd": {"base", "core", "forward", "namespace"},
        "nn": {"base", "core", "fidelity", "namespace"},
        "optim": {"base", "core", "namespace", "nn"},
        "utils": {"base", "core", "namespace", "nn", "autograd"},
        "mutants": {"base", "core", "autograd"},
    },
    "conformance/generate": {
        "state": set(),
        "ops": {"state"},
        "steps": {"state", "ops"},
        "guide": {"state", "ops", "steps"},
    },
}


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
def test_a_module_imports_only_the_packages_its_place_allows(path):
    """specs know numpy alone; the reference knows specs; torch and the reference are met in their adapters
    only.
    """
    allowed = PACKAGES[max((place for place in PACKAGES if name_of(path).startswith(place)), key=len)]
    tops = {name.partition(".")[0] for name in imports(path)}
    assert set() == tops - allowed - sys.stdlib_module_names


@pytest.mark.parametrize("folder", [f"{package}/{name}" for package in ARROWS for name in ARROWS[package]])
def test_a_folder_imports_only_the_folders_below_it(folder):
    """The folders of a package form layers: each names those that it stands on."""
    package, _, name = folder.rpartition("/")
    inside = package.replace("/", ".") + "."
    files = (ROOT / folder).rglob("*.py")
    taken = {
        i.removeprefix(inside).partition(".")[0] for p in files for i in imports(p) if i.startswith(inside)
    }
    assert ARROWS[package][name] | {name} >= taken & ARROWS[package].keys()


@pytest.mark.parametrize("package", ARROWS)
def test_the_layers_have_no_circle_and_leave_out_no_folder(package):
    """Arrows can be followed down to folders that import no other."""
    folders = {p.parent.name for p in (ROOT / package).glob("*/__init__.py")}
    assert folders == ARROWS[package].keys()
    tuple(TopologicalSorter(ARROWS[package]).static_order())


def test_no_files_of_the_reference_import_in_a_circle():
    """Not even for types: of two files one can be read without the other."""
    dotted = {
        name_of(p).removesuffix(".py").removesuffix("/__init__").replace("/", "."): p for p in modules()
    }
    arrows = {}
    for name, path in dotted.items():
        found = {i for i in imports(path) if i in dotted and i != name}
        arrows[name] = {i for i in found if not any(j.startswith(f"{i}.") for j in found)}
    TopologicalSorter({n: a for n, a in arrows.items() if n.startswith("reference_impl.")}).prepare()


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


AROUND = ("autograd", "forward", "namespace", "nn", "optim", "utils")
"""The folders of the reference that reach a tensor's raw state through ``core.access`` alone."""
ADAPTER = ROOT / "conformance/adapters/reference.py"


@pytest.mark.parametrize(
    "path", [*(p for f in AROUND for p in (ROOT / "reference_impl" / f).glob("*.py")), ADAPTER], ids=name_of
)
def test_raw_state_of_tensors_is_named_in_base_core_and_fidelity_alone(path):
    """Elsewhere no private attribute of `Tensor` is named, neither as an attribute nor in a string."""
    private = {name for name in Tensor.__slots__ if not name.startswith("__")} | {"_plain"}
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    named = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    named |= {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    assert set() == named & private


FILLED_ON_IMPORT = {
    "reference_impl/core/extension_points.py",
    "reference_impl/mutants/replacing.py",
    "reference_impl/namespace/install.py",
}
"""Files whose module-level containers are registries."""


@pytest.mark.parametrize("path", sorted((ROOT / "reference_impl").rglob("*.py")), ids=name_of)
def test_state_stands_in_the_session_alone(path):
    """No module rebinds its globals, and none but a registry begins with an empty container."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if name_of(path) in FILLED_ON_IMPORT:
        return
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Global)]
    values = [node.value for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))]
    assert not [
        ast.unparse(value)
        for value in values
        if (isinstance(value, (ast.List, ast.Set)) and not value.elts)
        or (isinstance(value, ast.Dict) and not value.keys)
        or (isinstance(value, ast.Call) and not value.args and ast.unparse(value.func).startswith("Weak"))
    ]
