"""Functions that are given something else where they need a tensor fail as PyTorch's do."""

from __future__ import annotations

import copy
import operator

import pytest
import torch

import reference_impl

CALLS = {
    "nn.functional.relu": (3,),
    "nn.functional.elu": (None,),
    "nn.functional.dropout": ("s",),
    "linalg.det": (3,),
    "linalg.norm": (3,),
    "fft.fft": ([1.0],),
    "zeros_like": (3,),
    "isnan": (3,),
    "cartesian_prod": (None,),
}


@pytest.mark.parametrize(("name", "arguments"), CALLS.items(), ids=CALLS)
def test_what_is_no_tensor_is_refused_alike(name, arguments):
    """With an error of the same class."""
    kinds = []
    for library in (torch, reference_impl):
        with pytest.raises((TypeError, AttributeError, IndexError, RuntimeError)) as caught:
            operator.attrgetter(name)(library)(*arguments)
        kinds.append(next(kind for kind in caught.type.__mro__ if kind.__module__ == "builtins"))
    assert kinds[0] is kinds[1]


@pytest.mark.parametrize("library", [torch, reference_impl])
def test_a_copied_optimizer_steps_alone(library):
    """Also where a schedule watches the steps of the original."""
    x = library.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    optimizer = library.optim.SGD([x], lr=0.25)
    library.optim.lr_scheduler.StepLR(optimizer, 1)
    other = copy.deepcopy(optimizer)
    other.step()
    assert x.tolist() == [1.0, 2.0]
    assert other.param_groups[0]["params"][0].tolist() == [0.5, 1.0]
