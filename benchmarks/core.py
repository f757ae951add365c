"""The core vocabulary: programs of plain autograd, to compare what a check costs from release to release.

Of everything that is drawn by now it has the op table, backward passes, grads, flags, cuts and grad modes,
on the dtypes that such programs live on; no hooks, no custom functions, no inference mode, no ways out of
the graph, no modules, no edges.
"""

from __future__ import annotations

from functools import cache

from conformance.adapters.capabilities import FEATURES, Capabilities
from conformance.generate.guide.vocabulary import Recipes, allows

DTYPES = frozenset(["float64", "float32", "complex128", "int64", "bool"])

STEPS = frozenset([
    "torch.tensor", "torch.ones", "torch.zeros", "double", "float", "to", "item", "__bool__", "__len__",
    "backward", "torch.autograd.backward", "torch.autograd.grad", ".grad", ".grad=", "retain_grad",
    "requires_grad_", ".requires_grad=", "detach", "detach_", ".data", ".data=", "torch.set_grad_enabled",
    "del", "torch.where",
])  # fmt: skip
"""The steps beside those of the op table, whose functions all begin with the tensor that has the method."""

LATER = frozenset([
    "hooks", "functions", "devices", "inference", "modules", "checkpoint", "functional", "forward_mode",
    "anomaly",
])  # fmt: skip
"""The features that came later."""


@cache
def core() -> Capabilities:
    """The core vocabulary: every op, as a method, an operator and a function."""
    recipes = Recipes(allows(None))
    named = {name for one in (*recipes.methods, *recipes.operators) for name in (one.spelled, one.torch)}
    return Capabilities(
        ops=STEPS | {name for name in named if name is not None},
        dtypes=DTYPES,
        features=FEATURES - LATER,
        refusals="rules",
    )
