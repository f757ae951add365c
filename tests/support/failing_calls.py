"""Calls that fail: ``python failing_calls.py torch|reference|alone FILE`` prints what each says, as JSON.

The reference's side is in a process of its own, since the guards of explanations patch it; ``alone`` is the
reference without them.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

NAMES = """import copy, pickle
import numpy as np
from torch import nn, optim
import torch.nn.functional as F
import torch.utils.checkpoint, torch.utils.data, torch.distributions
torch.manual_seed(0)
a = torch.arange(6.0).reshape(2, 3); b = torch.ones(4, 5); v2 = torch.ones(2); v3 = torch.ones(3)
t3 = torch.ones(2, 3, 4)
s = torch.tensor(2.0); i = torch.arange(4); i2 = torch.arange(6).reshape(2, 3)
m4 = torch.tensor([True, False, True, False])
c = torch.ones(2, dtype=torch.complex64); sq = torch.ones(3, 3); g = torch.ones(2, 3, requires_grad=True)
g2 = torch.ones(2, requires_grad=True)
lin = nn.Linear(3, 4); opt = optim.SGD(lin.parameters(), lr=0.1)
def if_(x):
    if x: pass
def for_in(x):
    for each in x: pass
def hash_dict(x): return {x: 1}[x.clone()]
def no_grad_view(x):
    with torch.no_grad(): return x.view_as(x)
def twice(x):
    y = (x * x).sum(); y.backward(); y.backward()
def modified(x):
    y = x.exp(); y += 1; y.sum().backward()
class BadInit(nn.Module):
    def __init__(self): self.fc = nn.Linear(3, 4)
class BadInit2(nn.Module):
    def __init__(self): super().__init__(); self.fc = nn.Linear(3, 4)
class BadFunction(torch.autograd.Function):
    pass
class BadFunction2(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
class BadFunction3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g, g
class BadFunction4(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g[:1, :1].expand(5, 5)
"""
"""The names that the calls use."""


def sections(file):
    """Return the calls by heading."""
    found = {}
    for line in Path(file).read_text("utf-8").splitlines():
        if line.startswith("# -- "):
            found[line.removeprefix("# -- ")] = calls = []
        elif line and not line.startswith("#"):
            calls.append(line)
    return found


def answers(script, which, file):
    """Run this script, or one like it, on torch or on the reference; return what it prints."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, script, which, str(file)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        check=True,
    )
    return json.loads(done.stdout)


def _speaking(which):
    """Return what stands for torch, and the function that gives the class and the text of an exception."""
    if which == "torch":
        return importlib.import_module("torch"), lambda error: (type(error).__name__, str(error))
    from conformance.adapters.reference_guard import guard
    from conformance.adapters.reference_state import stand_in_as_torch
    from conformance.adapters.torch_words import told_by_torch
    from conformance.explanation.arguments import known, why_refused
    from conformance.explanation.trace import _kind
    from specs.active_rules import set_torch_release

    stand_in_as_torch()
    set_torch_release("2.13")
    if which != "alone":
        guard(known(), why_refused)
    return importlib.import_module("torch"), lambda error: (_kind(error), told_by_torch(error))


def main():
    """Run the calls, each with names of its own."""
    which, file = sys.argv[1:]
    warnings.simplefilter("ignore")
    torch, say = _speaking(which)
    prepared = compile(NAMES, "<names>", "exec")
    said = {}
    for calls in sections(file).values():
        for call in calls:
            names = {"torch": torch}
            exec(prepared, names)
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(call, "<call>", "exec"), names)
                said[call] = None
            except BaseException as error:
                kind, text = say(error)
                said[call] = [kind, text.partition("\n")[0]]
    print(json.dumps(said))


if __name__ == "__main__":
    main()
