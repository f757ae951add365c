"""A mutant stands in for a function of the machine exactly while its rule is not in force."""

from __future__ import annotations

import numpy as np

import reference_impl as torch
from conformance.adapters import load
from conformance.execution.run import run
from conformance.program.parsing import parse
from reference_impl import mutants
from reference_impl.core import graph, record
from specs.active_rules import knocked_out
from specs.fact import POSITION


def test_a_mutant_takes_its_place_and_leaves_it() -> None:
    """A mutant also replaces a function imported by name, and outlives the end of a nested block."""
    own = graph.gradient_edge
    assert own is record.gradient_edge
    with knocked_out("grad/plain-leaves-get-none"):
        assert mutants.core._edge_of_any_leaf is graph.gradient_edge is record.gradient_edge
        with knocked_out("grad/accumulates"):
            assert mutants.core._overwrite_grad is graph.AccumulateGrad.apply
    assert own is graph.gradient_edge is record.gradient_edge


def test_a_mutant_does_without_its_rule() -> None:
    """Without accumulation the second gradient takes the place of the first."""
    x = torch.tensor(2.0, requires_grad=True)
    with knocked_out("grad/accumulates"):
        for _ in range(2):
            (x * 3).backward()
    assert x.grad is not None
    assert 3.0 == x.grad.item()


def test_an_adapter_runs_the_mutant_and_then_the_function_again() -> None:
    """A function that the adapter has found before is not the one that it calls without its rule."""
    program = parse("a = torch.tensor(2.0)\nb = a.detach()\nb.mul_(2.0)\n")

    def version() -> int:
        return run(program, load("reference"))[-1].facts["a"][POSITION["version"]]

    assert version() == 1
    with knocked_out("version/shared-by-detach"):
        assert version() == 0
    assert version() == 1


def test_a_window_outside_its_storage_is_on_memory_of_its_own() -> None:
    """Without the rule that refuses it, a write to it overwrites nothing beside the storage."""
    lent = torch.from_numpy(np.ones(8)[::2])
    with knocked_out("view/window-outside-base"):
        beyond = lent.as_strided((2,), (1,), 64)
    beyond.fill_(3.0)
    assert not np.shares_memory(beyond._array, lent._storage)
    assert [3.0, 3.0] == beyond.tolist()
