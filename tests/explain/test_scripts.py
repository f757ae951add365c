"""Scripts as tutorials and forum posts have them: each is explained, and torch makes the same facts."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from beside import beside
from conformance import explain
from conformance.explanation.explanation import Explanation
from conformance.explanation.on_torch import Beside
from explained import explained

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "tests/explain/scripts").glob("*.py"))
NAMES = [path.stem for path in SCRIPTS]


@cache
def told(path: Path) -> tuple[Explanation, Beside | None]:
    """The explanation of a script, with torch beside it where torch is installed."""
    text = path.read_text("utf-8")
    if find_spec("torch") is None:
        return explained(text, str(path)), None
    both = beside(text, str(path))
    return both.found, both


@pytest.fixture(scope="module", params=SCRIPTS, ids=NAMES)
def path(request):
    """Each script; its tests come one after another, in one process, which runs it once."""
    return request.param


def test_a_script_is_explained_to_its_end(path):
    """Nothing in it is not modelled, and no torch is needed."""
    found, _ = told(path)
    assert ("finished", "") == (found.ending, found.note)
    assert found.steps


def test_torch_agrees_at_every_line(path):
    """Each fact of each name after each line, with the random numbers that the reference drew."""
    torch = pytest.importorskip("torch", reason="needs torch")
    if "DataParallel" in path.read_text("utf-8") and torch.cuda.is_available():
        pytest.skip("torch moves it to the GPU here")
    _, both = told(path)
    assert () == tuple(both.disagreements)
    assert both.lines > 20


def test_the_names_of_pytorch_are_those_of_the_installed_one():
    """The list by which the reference says what it does not model is what the command makes."""
    pytest.importorskip("torch")
    code = "from benchmarks import torch_names; print(torch_names.text(), end='')"
    made = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout == (ROOT / "specs/torch_names.json").read_text("utf-8")


MISSING = {
    "torch.export.export(torch.nn.Linear(1, 1), (torch.ones(1),))": "torch.export",
    "torch.ones(1).to_sparse()": "torch.Tensor.to_sparse",
    "torch.nn.CrossMapLRN2d(2)": "torch.nn.CrossMapLRN2d",
    "from torch.nn import CrossMapLRN2d": "torch.nn.CrossMapLRN2d",
    "import torch.sparse": "torch.sparse",
    "torch.onnx.export(torch.nn.Linear(1, 1), (x,))": "torch.onnx",
    "torch.nested.nested_tensor([x])": "torch.nested",
    "torch.jit.script(torch.nn.Linear(1, 1)).save()": "torch.jit.ScriptModule.save",
    "from torch.distributions import Wishart": "torch.distributions.Wishart",
    "from torch.distributions import *; LKJCholesky": "torch.distributions.LKJCholesky",
    "torch.nn.Embedding(3, 2, sparse=True)": "torch.nn.Embedding(sparse=True)",
    "torch.optim.SparseAdam([torch.ones(1, requires_grad=True)])": "torch.optim.SparseAdam",
    "torch.nn.Linear(1, 1, device='meta')": "torch.device('meta')",
    "torch.nn.Linear(1, 1).xpu()": "torch.nn.Module.xpu",
}  # fmt: skip


@pytest.mark.parametrize("text", MISSING)
def test_what_is_not_modelled_is_named_with_its_line(text):
    """Names, submodules and arguments of PyTorch's that the reference lacks."""
    run = explain if text.startswith("import ") else explained  # what is imported here, a fork finds
    found = run(f"import torch\nx = torch.ones(1)\n{text}\n")
    assert "not modelled" == found.ending
    assert found.note.startswith(f"line 3: {MISSING[text]} is not modelled")


def test_names_that_pytorch_lacks_too_are_ordinary_errors():
    """A slip of the script's is no gap of the reference."""
    found = explained("import torch\nx = torch.ones(1)\ntorch.onez(1)\n")
    assert ("error", "AttributeError") == (found.ending, found.error.kind)
