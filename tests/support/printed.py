"""Expressions and what they print, on torch or on the reference: ``python printed.py torch|reference FILE``
gives the texts as JSON.

The reference's side is in a process of its own, where ``import torch`` gives the reference.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import warnings

import failing_calls

NAMES = """import copy, math, pickle
from collections import OrderedDict
import numpy as np
from torch import nn, optim
import torch.nn.functional as F
import torch.utils.data, torch.distributions
g = torch.ones(2, requires_grad=True)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.ReLU()) for _ in range(2)])
        self.act, self.none = nn.ReLU(), None
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("count", torch.zeros(1))
class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(1, 1)
    def extra_repr(self):
        return "x=1, y=2"
def stepped(kind, **how):
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = kind([x], **how)
    for _ in range(2):
        x.grad = torch.tensor([0.5, 0.25])
        optimizer.step()
    return optimizer.state_dict(), optimizer.state
"""
"""The names that the expressions use."""


ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def main():
    """Print each expression's value, or the class of its error."""
    which, file = sys.argv[1:]
    warnings.simplefilter("ignore")
    if which == "reference":
        from conformance.adapters.reference_state import stand_in_as_torch
        from specs.active_rules import set_torch_release

        stand_in_as_torch()
        set_torch_release("2.13")
    names = {"torch": importlib.import_module("torch")}
    exec(NAMES, names)
    printed = {}
    for expressions in failing_calls.sections(file).values():
        for expression in expressions:
            try:
                printed[expression] = ADDRESS.sub("", repr(eval(expression, names)))
            except Exception as error:
                printed[expression] = f"refused: {type(error).__name__}: {error}"
    print(json.dumps(printed))


if __name__ == "__main__":
    main()
