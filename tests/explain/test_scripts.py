"""Scripts as tutorials and forum posts have them: each is explained, and torch makes the same facts."""

from __future__ import annotations

import json
import os
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
import contextlib, io, json, os, runpy, sys, warnings
warnings.simplefilter("ignore")
which, out, *scripts = sys.argv[1:]
if which == "reference":
    from conformance.adapters.reference_state import stand_in_as_torch
    stand_in_as_torch()
import torch
import torch.distributions, torch.optim.swa_utils
torch.set_num_threads(1)
torch.optim.SGD([torch.zeros(1, requires_grad=True)])  # loads what the first optimizer loads
torch.cuda.is_available = lambda: False

def look(seen, name, value, depth=0):
    if isinstance(value, torch.Tensor):
        no_grad = value.grad is None if value.is_leaf else None
        facts = value.is_leaf, value.requires_grad, value.grad_fn is not None, no_grad
        version = None if value.is_inference() else value._version
        seen[name] = [*facts, list(value.shape), str(value.dtype), version]
    elif isinstance(value, torch.nn.Module):
        for n, x in [*value.named_parameters(), *value.named_buffers()]:
            look(seen, f"{name}.{n}", x, 3)
    elif isinstance(value, dict) and depth < 2:
        for n, x in value.items():
            look(seen, f"{name}[{n}]", x, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 2:
        for n, x in enumerate(value):
            look(seen, f"{name}[{n}]", x, depth + 1)

for script in scripts:
    if os.fork() == 0:
        seen, printed = {}, io.StringIO()
        with contextlib.redirect_stdout(printed):
            names = runpy.run_path(script, run_name="__main__")
        for name, value in sorted(names.items()):
            if not name.startswith("__"):
                look(seen, name, value)
        with open(os.path.join(out, os.path.basename(script)), "w") as file:
            json.dump([seen, printed.getvalue()], file)
        os._exit(0)
    os.wait()
"""


VERSIONS_DIFFER = {
    "early_stopping": "the numbers drawn decide how long it trains; torch counts a write to what it loads",
    "ema_weights": "torch counts a write to a deep copy",
    "fine_tuning": "torch counts a write to a deep copy",
    "second_order": "torch writes to gradients of select() in place",
    "seq2seq_gru": "torch transposes the results of batch_first in place",
}
"""Scripts whose versions are not compared, and why."""


@pytest.fixture(scope="module")
def facts(tmp_path_factory) -> dict[str, Path]:
    """The folder with what each script leaves, by who ran it; every script runs in a fork of its own."""
    pytest.importorskip("torch")
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    folders = {}
    for which in ("torch", "reference"):
        folders[which] = tmp_path_factory.mktemp(which)
        command = [sys.executable, "-c", FACTS, which, str(folders[which]), *map(str, SCRIPTS)]
        subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return folders


@pytest.mark.parametrize("path", SCRIPTS, ids=NAMES)
def test_torch_makes_the_same_facts(path, facts):
    """is_leaf, requires_grad, history, presence of a grad, shape, dtype and version of all named tensors."""
    (theirs, said), (ours, ours_said) = (
        json.loads((facts[which] / path.name).read_text("utf-8")) for which in ("torch", "reference")
    )
    if path.stem in VERSIONS_DIFFER:
        theirs, ours = ({name: fact[:-1] for name, fact in each.items()} for each in (theirs, ours))
    assert theirs == ours
    assert theirs
    assert said.count("\n") == ours_said.count("\n")


def test_the_names_of_pytorch_are_those_of_the_installed_one():
    """The list by which the reference says what it does not model is what the command makes."""
    pytest.importorskip("torch")
    code = "from benchmarks import torch_names; print(torch_names.text(), end='')"
    made = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout == (ROOT / "specs/torch_names.json").read_text("utf-8")


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
    assert "not modelled" == found.ending
    assert found.note.startswith(f"line 3: {MISSING[text]} is not modelled")


def test_names_that_pytorch_lacks_too_are_ordinary_errors():
    """A slip of the script's is no gap of the reference."""
    found = explain("import torch\nx = torch.ones(1)\ntorch.onez(1)\n")
    assert ("error", "AttributeError") == (found.ending, found.error.kind)
