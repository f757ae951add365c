"""Layers, losses, linear algebra and functions that scripts use, against torch: values, first and second
gradients, is_leaf, requires_grad, and graphs.
"""

from __future__ import annotations

import pytest

import reference_impl
from both_torches import differences, outcome
from calls_functions import FUNCTIONS
from calls_layers import LAYERS
from calls_losses import LOSSES

torch = pytest.importorskip("torch")

CALLS = LAYERS | LOSSES | FUNCTIONS

ONCE = {
    "det batch", "max_pool2d indices", "svd", "svd wide", "qr", "hardsigmoid", "attention plain",
    "encoder layer", "encoder layer first", "decoder layer", "transformer", "cdist",
}  # fmt: skip
"""Calls whose second derivatives are not compared: torch refuses them, or they are ill-conditioned."""


@pytest.mark.parametrize("name", CALLS)
def test_an_addition_does_what_torch_does(name):
    """Values, gradients of first and second order, and facts are torch's to rounding."""
    theirs = outcome(torch, CALLS[name], name not in ONCE)
    ours = outcome(reference_impl, CALLS[name], name not in ONCE)
    assert [] == differences(theirs, ours, 1e-7)
