"""A mutant stands in for a function of the machine exactly while its rule is not in force."""

from __future__ import annotations

import reference_impl as torch
from reference_impl import mutants
from reference_impl.core import graph, record
from specs.active_rules import knocked_out


def test_a_mutant_takes_its_place_and_leaves_it() -> None:
    """A mutant also replaces a function imported by name, and outlives the end of a nested block."""
    own = graph.gradient_edge
    assert own is record.gradient_edge
    with knocked_out("grad/plain-leaves-get-none"):
        assert mutants.core._edge_of_any_leaf is graph.gradient_edge is record.gradient_edge
        with knocked_out("grad/accumulates"):
            assert mutants.core._overwrite_grad is graph._add_to_grad
    assert own is graph.gradient_edge is record.gradient_edge


def test_a_mutant_does_without_its_rule() -> None:
    """Without accumulation the second gradient takes the place of the first."""
    x = torch.tensor(2.0, requires_grad=True)
    with knocked_out("grad/accumulates"):
        for _ in range(2):
            (x * 3).backward()
    assert x.grad is not None
    assert 3.0 == x.grad.item()
