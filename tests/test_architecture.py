"""The shape of the project: what may import what, what stays private, how names and docstrings are chosen.

What modules do is tested elsewhere.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from graphlib import TopologicalSorter
from importlib import import_module
from inspect import isfunction

import pytest

import conformance
import reference_impl as pytorch
from homonyms import SAME
from reference_impl.core.tensor import Tensor
from sources import (
    OURS,
    ROOT,
    documented,
    dotted,
    files,
    imported_modules,
    imports,
    modules,
    name_of,
    nodes,
    own_names,
    private_reads,
    public_names,
    strings,
    tree,
    used_elsewhere,
)

LONG = 350
"""Lines past which a file must be listed below with the reason why it is one thing."""

LONG_ALLOWED = {
    "specs/cases/_functions.py": "the menu of functions that programs may hand over",
    "specs/cases/inference.py": "a chapter is a file, and its name is part of each case's id",
    "tests/torch/test_once_differed.py": "the texts of programs",
}

# The longest entry that a module's path starts with says which packages it may import besides the standard
# library.
PACKAGES = {
    "specs/": {"numpy", "specs"},
    "specs/cases/": {"torch", "numpy", "specs"},
    "reference_impl/": {"ml_dtypes", "numpy", "specs", "reference_impl"},
    "conformance/": {"numpy", "specs", "conformance"},
    "conformance/adapters/torch.py": {"torch", "numpy", "specs", "conformance"},
    "conformance/adapters/standin/": {"filelock", "torch", "torchgen", "conformance"},
    "conformance/adapters/reference.py": {"reference_impl", "numpy", "specs", "conformance"},
    "conformance/adapters/reference_state.py": {"reference_impl", "specs", "conformance"},
    "conformance/adapters/reference_draws.py": {"reference_impl", "conformance"},
    "conformance/adapters/torch_lines.py": {"torch", "conformance"},
    "conformance/adapters/reference_watch.py": {"reference_impl", "specs", "conformance"},
    "conformance/adapters/reference_guard.py": {"reference_impl", "specs", "conformance"},
    "conformance/adapters/micrograd.py": {"micrograd", "numpy", "specs", "conformance"},
    "conformance/targets/torch_modes.py": {"torch", "specs", "conformance"},
    "conformance/targets/torch_wrapper.py": {"torch", "conformance"},
    "conformance/targets/torch_regions.py": {"torch", "specs", "conformance"},
    "conformance/targets/torch_func.py": {"torch", "specs", "conformance"},
    "conformance/targets/autograd.py": {"autograd", "numpy", "conformance"},
    "conformance/targets/jax.py": {"jax", "conformance"},
    "conformance/targets/mlx.py": {"mlx", "conformance"},
    "conformance/targets/tensorflow.py": {"tensorflow", "conformance"},
    "conformance/targets/tinygrad.py": {"tinygrad", "specs", "conformance"},
    "conformance/targets/minitorch.py": {"numpy", "specs", "conformance"},
    "conformance/targets/mygrad.py": {"mygrad", "numpy", "specs", "conformance"},
    "conformance/targets/paddle.py": {"paddle", "specs", "conformance"},
    "conformance/hypothesis_plugin.py": {"hypothesis"},
    "conformance/generate/backend.py": {"hypothesis", "conformance"},
    "conformance/generate/strategy.py": {"hypothesis", "numpy", "specs", "conformance"},
    "conformance/grading/sources.py": {"hypothesis", "numpy", "specs", "conformance"},
    "conformance/cli/": {"jsonschema", "typer", "rich", "specs", "conformance"},
    "conformance/pytest_plugin.py": {"pytest", "specs", "conformance"},
    "conformance/report/terminal.py": {"rich", "specs", "conformance"},
}

# A folder imports only the folders of its package that it names here.
_BELOW_GRADING = {"program", "execution", "report", "adapters", "generate", "comparison"}
ARROWS = {
    "conformance": {
        "program": set(),
        "execution": {"program"},
        "report": {"program", "execution", "comparison"},
        "adapters": {"program", "execution"},
        "targets": {"program", "execution", "adapters"},
        "generate": {"program", "execution"},
        "comparison": {"program", "execution", "adapters"},
        "grading": _BELOW_GRADING,
        "recordings": {*_BELOW_GRADING, "grading"},
        "observer_effect": {*_BELOW_GRADING, "grading"},
        "explanation": {"adapters"},
        "notebook": {"explanation"},
        "cli": {*_BELOW_GRADING, "grading", "recordings", "observer_effect", "explanation"} - {"generate"},
    },
    "conformance/generate": {
        "state": set(),
        "ops": {"state"},
        "steps": {"state", "ops"},
        "guide": {"state", "ops", "steps"},
    },
    "reference_impl": {
        "base": set(),
        "core": {"base"},
        "fidelity": {"base", "core"},
        "forward": {"base", "core"},
        "namespace": {"base", "core", "fidelity"},
        "autograd": {"base", "core", "fidelity", "forward", "namespace"},
        "nn": {"base", "core", "fidelity", "namespace", "autograd"},
        "optim": {"base", "core", "namespace", "nn"},
        "linalg": {"base", "core", "fidelity", "namespace", "autograd"},
        "func": {"base", "core", "fidelity", "namespace", "autograd", "nn"},
        "distributions": {"base", "core", "namespace", "autograd", "nn"},
        "utils": {"base", "core", "namespace", "nn", "autograd"},
        "mutants": {"base", "core", "autograd"},
    },
}

AROUND = ("autograd", "forward", "namespace", "nn", "optim", "utils")
"""The folders that reach a tensor's raw state through ``core.access`` alone."""
ADAPTER = ROOT / "conformance/adapters/reference.py"

PYTORCHS_MODULES = {"reference_impl.autograd._functions", "reference_impl.autograd._is_checkpoint_valid"}
"""Private names of PyTorch's, which the reference has under the same address."""

ADAPTERS = ("conformance/adapters/", "conformance/targets/")

PYTORCHS_PRIVATE = {
    "_AutoDispatchBelowAutograd", "_C", "_base", "_cdata", "_disabled_torch_function_impl",
    "_enable", "_lazy", "_get_build_directory",
    "_is_view", "_make_wrapper_subclass", "_prev", "_register_device_module", "_sequence_nr", "_version",
}  # fmt: skip
"""Private names of PyTorch and micrograd that adapters read because there is no public one."""

PYTORCH = {
    name
    for space in (pytorch, pytorch.Tensor, pytorch.autograd, pytorch.autograd.graph, pytorch.nn.functional)
    for name in dir(space)
}
CALLED_ALIKE = ("reference_impl/", "specs/ops/", "conformance/generate/steps/")
"""A declaration, a function of the reference and the step that draws it are called as PyTorch's function."""

QUESTION = re.compile(r"\W*(What|Whether|Who|Whose|Where|How|Which|When|Why)(ever)?\b")
DOCUMENTED = (
    "conformance.check",
    "conformance.programs",
    "conformance.adapters.capabilities",
    "conformance.adapters.torch_shaped",
    "conformance.program.Step",
    "specs.fact",
    "reference_impl.autograd.backward",
    "reference_impl.nn.functional",
    "reference_impl.optim.SGD",
    "reference_impl.utils.checkpoint",
)
"""Imports that the documentation shows."""


def all_files():
    """The modules, the tests and the benchmarks."""
    return [*modules(), *files("tests"), *files("benchmarks")]


def those_with(found_in, paths):
    """Return by its name each file in which something is found, and what."""
    return {name_of(path): found for path in paths if (found := found_in(path))}


# -- imports -----------------------------------------------------------------------------------------
def test_a_module_imports_only_the_packages_its_place_allows():
    """specs know numpy alone; the reference knows specs; torch and the reference are met in their adapters
    only.
    """

    def beyond(path):
        allowed = PACKAGES[max((place for place in PACKAGES if name_of(path).startswith(place)), key=len)]
        return {name.partition(".")[0] for name in imports(path)} - allowed - sys.stdlib_module_names

    assert {} == those_with(beyond, modules())


@pytest.mark.parametrize("folder", [f"{package}/{name}" for package in ARROWS for name in ARROWS[package]])
def test_a_folder_imports_only_the_folders_below_it(folder):
    """The folders of a package form layers: each names those that it stands on."""
    package, _, name = folder.rpartition("/")
    inside = package.replace("/", ".") + "."
    met = [i.removeprefix(inside) for p in files(folder) for i in imports(p) if i.startswith(inside)]
    taken = {name.partition(".")[0] for name in met}
    assert ARROWS[package][name] | {name} >= taken & ARROWS[package].keys()


@pytest.mark.parametrize("package", ARROWS)
def test_the_layers_have_no_circle_and_leave_out_no_folder(package):
    """Arrows can be followed down to folders that import no other."""
    folders = {p.parent.name for p in (ROOT / package).glob("*/__init__.py")}
    assert folders == ARROWS[package].keys()
    tuple(TopologicalSorter(ARROWS[package]).static_order())


def test_no_modules_import_each_other():
    """There is no circle of files either, also not of imports for types alone or within functions."""
    tuple(TopologicalSorter({dotted(path): imported_modules(path) for path in modules()}).static_order())


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_documented_import_works(name):
    """Every name in the documentation can be imported."""
    module, _, attribute = name.rpartition(".")
    try:
        import_module(name)
    except ModuleNotFoundError:
        assert hasattr(import_module(module), attribute)


def test_no_folder_takes_the_name_of_a_public_function():
    """Importing ``conformance.programs`` as a folder would rebind the function of that name."""
    public = {name for name, value in vars(conformance).items() if isfunction(value)}
    assert {"check", "programs"} <= public
    assert set() == public & {path.stem for path in (ROOT / "conformance").iterdir()}


def test_adapters_are_the_only_way_to_torch():
    """Outside its adapters and the stand-in device torch is imported by the cases alone, its own text."""
    met = {name_of(p) for p in modules() if any(name.partition(".")[0] == "torch" for name in imports(p))}
    own = (
        "conformance/adapters/torch.py",
        "conformance/adapters/torch_lines.py",
        "conformance/adapters/standin/",
        "conformance/targets/torch_",
        "specs/cases/",
    )
    assert set() == {name for name in met if not name.startswith(own)}


# -- privacy -----------------------------------------------------------------------------------------
def test_a_module_imports_no_private_name():
    """An underscore means: of this module."""

    def private(path):
        ours = {name for name in imports(path) if name.startswith(OURS)} - PYTORCHS_MODULES
        return {name for name in ours if name.rpartition(".")[2].startswith("_")}

    assert {} == those_with(private, modules())


def test_conformance_reads_no_private_state():
    """Implementations are observed through their adapters, and the reference is no exception."""

    def private(path):
        allowed = PYTORCHS_PRIVATE if name_of(path).startswith(ADAPTERS) else {"_exit"}
        allowed |= {"_replace", "_fields", "_asdict"}  # of named tuples
        return [(line, name) for line, name in private_reads(path) if name not in own_names(path) | allowed]

    assert {} == those_with(private, [p for p in modules() if name_of(p).startswith("conformance/")])


def test_raw_state_of_tensors_is_named_in_base_core_and_fidelity_alone():
    """Elsewhere no private attribute of `Tensor` is named, neither as an attribute nor in a string."""
    private = {name for name in Tensor.__slots__ if not name.startswith("__")} | {"_plain"}

    def named(path):
        attributes = {node.attr for node in nodes(path) if isinstance(node, ast.Attribute)}
        return (attributes | strings(tree(path))) & private

    assert {} == those_with(named, [*(p for f in AROUND for p in files(f"reference_impl/{f}")), ADAPTER])


FILLED_ON_IMPORT = {
    "reference_impl/core/extension_points.py",
    "reference_impl/mutants/replacing.py",
    "reference_impl/namespace/install.py",
}
"""Files whose module-level containers are registries."""


def test_state_stands_in_the_session_alone():
    """No module rebinds its globals, and none but a registry begins with an empty container."""

    def state(path):
        rebound = [ast.unparse(node) for node in nodes(path) if isinstance(node, ast.Global)]
        values = [node.value for node in tree(path).body if isinstance(node, (ast.Assign, ast.AnnAssign))]
        return rebound + [
            ast.unparse(value)
            for value in values
            if (isinstance(value, (ast.List, ast.Set)) and not value.elts)
            or (isinstance(value, ast.Dict) and not value.keys)
            or (isinstance(value, ast.Call) and not value.args and ast.unparse(value.func).startswith("Weak"))
        ]

    others = [path for path in files("reference_impl") if name_of(path) not in FILLED_ON_IMPORT]
    assert {} == those_with(state, others)


# -- names and prose ---------------------------------------------------------------------------------
def test_public_names_mean_one_thing():
    """No name that modules take from one another is defined in two of them, but for the tables and contracts
    above, and the steps and formulas that are called as the PyTorch function that they draw or define.
    """
    defined = defaultdict(set)
    for path in modules():
        for name in public_names(path) if "cases" not in path.parts else ():
            if f"{dotted(path)}.{name}" in used_elsewhere():
                defined[name].add(name_of(path))
    alike = {
        name: places
        for name, places in defined.items()
        if len(places) > 1
        and not (name in PYTORCH and all(place.startswith(CALLED_ALIKE) for place in places))
    }
    excused = {name: tuple(places.split()) for name, (_, places) in SAME.items()}
    beyond = {
        name: sorted(place for place in places if not place.startswith(excused.get(name, ())))
        for name, places in alike.items()
    }
    assert {} == {name: places for name, places in beyond.items() if places}
    for name, places in excused.items():
        assert [] == [place for place in places if not any(p.startswith(place) for p in alike.get(name, ()))]


def test_docstrings_open_with_a_verb_or_a_noun_phrase():
    """None opens with a question word, as a relative clause does."""

    def questions(path):
        return [f"{name}: {text}" for name, text in documented(path) if QUESTION.match(text)]

    assert {} == those_with(questions, all_files())


def test_a_module_says_what_lives_in_it():
    """Each module that holds anything opens with a docstring."""
    silent = [p for p in modules() if tree(p).body and not dict(documented(p)).get("the module")]
    assert [] == [name_of(path) for path in silent]


def test_long_files_are_listed_with_a_reason():
    """A file past the limit has a reason on record, and a reason that is no longer needed is dropped."""
    long = {name_of(p) for p in all_files() if len(p.read_text(encoding="utf-8").splitlines()) > LONG}
    assert set(LONG_ALLOWED) == long
