"""Rules fire where the program calls: the engine's own calls neither mark a rule nor obey a knock-out."""

from __future__ import annotations

from textwrap import indent

import pytest

import reference_impl as torch
from reference_impl.base.rules import fired, knocked_out
from specs.active_rules import OF_CALLS, by, set_aside

SCRIPTS = {
    "copy/clone-shares-nothing": "a.clone()",
    "detach/cuts": "(a * a).detach()",
    "detach/is-no-view": "a.detach()",
    "detach/needs-no-grad": "a.detach()",
    "detach/shares-storage": "a.detach()",
    "inference/detached-counts": "b = in_inference_mode(lambda: torch.ones(2))\nb.detach()",
    "inference/tag-prevails": "b = in_inference_mode(lambda: a[:])\nb.unbind()",
    "inference/view-tag": "in_inference_mode(lambda: a[:])",
    "inference/views-are-none": "in_inference_mode(lambda: torch.ones(2)[:])",
    "version/shared-by-detach": "a.detach()",
    "version/shared-by-views": "a[:]",
    "view/base-is-the-root": "a[:][:]",
    "view/multi-output-tag": "a.unbind()",
    "view/no-grad-tag": "torch.no_grad()(lambda: a[:])()",
    "view/outputs-share-a-node": "a.unbind()",
    "view/reshape-copies-when-it-must": "torch.ones(2, 3).t().reshape(6)",
    "view/shares-storage": "a[:]",
    "view/tag-is-inherited": "a[:][:]",
    "write/returns-its-tensor": "torch.ones(2).add_(1)",
}
"""Scripts that make the call a rule is about themselves."""


def fired_by(text: str) -> frozenset[str]:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    fired()
    exec(text, {"torch": torch, "a": a, "in_inference_mode": lambda call: torch.inference_mode()(call)()})
    return fired()


def test_a_backward_fires_no_rule_of_views_or_detach():
    """Summing expands the gradient and a leaf detaches it, which is no concern of the program."""
    rules = fired_by("(a * a).sum().backward()")
    assert set() == rules & OF_CALLS
    assert "backward/inputs-only" not in rules


@pytest.mark.parametrize("rule", sorted(OF_CALLS))
def test_the_same_rule_fires_where_the_program_makes_the_call(rule: str):
    """Each rule that the engine's calls do not mark is marked by a script's own."""
    assert rule in fired_by(SCRIPTS[rule])


@pytest.mark.parametrize("rule", sorted(OF_CALLS))
def test_a_hook_makes_calls_of_its_own(rule: str):
    """Calls of a hook are the user's, even inside a backward."""
    hook = "def hook(g):\n    torch.set_grad_enabled(True)\n" + indent(SCRIPTS[rule], "    ")
    assert rule in fired_by(f"{hook}\na.register_hook(hook)\n(a * a).sum().backward()")


@pytest.mark.parametrize("rule", ["detach/shares-storage", "view/shares-storage", "version/shared-by-views"])
def test_the_machine_does_not_obey_what_is_knocked_out_of_calls(rule: str):
    """Knocking out a rule of views does not change gradients."""
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    with knocked_out(rule):
        (a * a).sum().backward()
    assert [2.0, 4.0] == a.grad.tolist()


def test_a_block_set_aside_fires_nothing_and_obeys_no_knock_out():
    """Shapes are inferred by calling bodies of ops, between the steps of programs."""
    fired()
    with knocked_out("op/t-dims"), set_aside():
        assert by("op/t-dims")
    assert frozenset() == fired()


def test_a_block_that_repeats_calls_obeys_knock_outs():
    """A map calls its function again for each element, as the first call was made."""
    fired()
    with knocked_out("op/t-dims"), set_aside(repeat=True):
        assert not by("op/t-dims")
    assert frozenset() == fired()
