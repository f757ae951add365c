"""Scripts as tutorials and forum posts have them: each is explained to its end, and torch makes the same facts."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import explain

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "tests/explain/scripts").glob("*.py"))
NAMES = [path.stem for path in SCRIPTS]


@pytest.mark.parametrize("path", SCRIPTS, ids=NAMES)
def test_a_script_is_explained_to_its_end(path):
    """Nothing in it is not modelled, and no torch is needed."""
    found = explain(path)
    assert ("finished", "") == (found.ending, found.note)
    assert found.steps


FACTS = """
import sys, runpy, warnings
warnings.simplefilter("ignore")
which, script = sys.argv[1:3]
if which == "reference":
    from conformance.adapters.reference_state import stand_in_as_torch
    stand_in_as_torch()
import torch
from collections import OrderedDict
torch.cuda.is_available = lambda: False
names = runpy.run_path(script, run_name="__main__")
seen = {}
def look(name, value, depth=0):
    if isinstance(value, torch.Tensor):
        grad = value.grad if value.is_leaf else None
        node = value.grad_fn is not None
        seen[name] = (value.is_leaf, value.requires_grad, node, grad is None, tuple(value.shape), str(value.dtype))
    elif isinstance(value, torch.nn.Module):
        for n, x in [*value.named_parameters(), *value.named_buffers()]:
            look(f"{name}.{n}", x, 3)
    elif isinstance(value, dict) and depth < 2:
        for n, x in value.items():
            look(f"{name}[{n}]", x, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 2:
        for n, x in enumerate(value):
            look(f"{name}[{n}]", x, depth + 1)
for name, value in sorted(names.items()):
    if not name.startswith("__"):
        look(name, value)
sys.stderr.write("FACTS\\n")
for name, fact in seen.items():
    sys.stderr.write(f"{name} {fact}\\n")
"""


def _facts(which: str, path: Path) -> tuple[list[str], str]:
    """The facts of all tensors that names reach in the end, and what the script printed."""
    done = subprocess.run(
        [sys.executable, "-c", FACTS, which, str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr.partition("FACTS\n")[2].splitlines(), done.stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=NAMES)
def test_torch_makes_the_same_facts(path):
    """is_leaf, requires_grad, history, presence of a grad, shape and dtype of all named tensors at the end."""
    pytest.importorskip("torch")
    (theirs, said), (ours, ours_said) = _facts("torch", path), _facts("reference", path)
    assert theirs == ours
    assert said.count("\n") == ours_said.count("\n")


def test_the_names_of_pytorch_are_those_of_the_installed_one():
    """The list by which the reference says what it does not model is what the command makes."""
    pytest.importorskip("torch")
    from benchmarks import torch_names

    with contextlib.redirect_stdout(io.StringIO()):
        expected = torch_names.text()
    assert expected == torch_names.FILE.read_text("utf-8")


MISSING = {
    "torch.compile(torch.ones(1))": "torch.compile",
    "torch.ones(1).to_sparse()": "torch.Tensor.to_sparse",
    "torch.nn.LPPool2d(2, 2)": "torch.nn.LPPool2d",
    "from torch.nn import CTCLoss": "torch.nn.CTCLoss",
    "import torch.fft": "torch.fft",
    "from torch.distributions import Gamma": "torch.distributions.Gamma",
    "torch.nn.Embedding(3, 2, sparse=True)": "torch.nn.Embedding(sparse=True)",
    "torch.optim.Adam([torch.ones(1, requires_grad=True)], differentiable=True)":
        "torch.optim.Adam(differentiable=True)",
    "torch.nn.Linear(1, 1).share_memory()": "torch.nn.Module.share_memory",
    "with torch.autocast('cpu'): pass": "torch.autocast",
}  # fmt: skip


@pytest.mark.parametrize("text", MISSING)
def test_what_is_not_modelled_is_named_with_its_line(text):
    """Names, submodules and arguments of PyTorch's that the reference lacks."""
    found = explain(f"import torch\nx = torch.ones(1)\n{text}\n")
    assert ("not modelled", f"line 3: {MISSING[text]} is not modelled") == (found.ending, found.note)


def test_names_that_pytorch_lacks_too_are_ordinary_errors():
    """A slip of the script's is no gap of the reference."""
    found = explain("import torch\nx = torch.ones(1)\ntorch.onez(1)\n")
    assert ("error", "AttributeError") == (found.ending, found.error.kind)
