"""Gradients in programs being drawn: bounds on their elements, and which may be upstream gradients."""

from __future__ import annotations

from textwrap import dedent

import pytest

from conformance import adapters
from conformance.execution.run import Runner
from conformance.execution.trace import DONE
from conformance.generate.state.choices import Prng
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.oracle import RunnerOracle
from conformance.generate.state.tensor_info import Store
from conformance.generate.steps import backward
from conformance.program.parsing import parse

ORACLE = adapters.load("reference")


@pytest.mark.parametrize(
    ("made", "bits", "frac", "rough"),
    [
        ("torch.tensor([1.0, -9.0])", 4, 0, False),
        ("torch.tensor([0.5, 0.375], dtype=torch.bfloat16)", 2, 3, False),
        ("torch.tensor([complex(1.0, 0.25)])", 2, 2, False),
        ("torch.tensor([[1, 8], [2, 3]]).t()", 4, 0, False),
        ("torch.tensor([True])", 2, 0, False),
        ("torch.ones(0)", 2, 0, False),
        ("torch.tensor([1.0, float('nan')])", 99, 0, True),
        ("torch.tensor([complex(1.0, float('-inf'))])", 99, 0, True),
    ],
)
def test_bounds_of_a_gradient_are_read_off_its_elements(made, bits, frac, rough):
    """The bounds of a store cover its elements, and the bounds it had before."""
    with Runner(ORACLE) as runner:
        for step in parse(f"a = {made}\n"):
            assert runner.step(step).outcome is DONE
        state = GenState(Prng(0, 0), RunnerOracle(runner))
        store = state.measure("a")
        assert (bits, frac, rough, True) == (store.bits, store.frac, store.inexact, store.may_hold_grad)
        tensor = state.bind("a", Store(3, 2))
        state.remeasure(tensor)
        assert (max(bits, 3), max(frac, 2), rough) == (
            tensor.store.bits,
            tensor.store.frac,
            tensor.store.inexact,
        )


@pytest.mark.parametrize(
    ("given", "foreign", "back"), [("n", True, True), ("n", False, False), ("k", True, False)]
)
def test_no_gradient_feeds_the_grad_of_a_leaf_without_a_name(given, foreign, back):
    """A gradient that could be that grad's own memory through numpy is not drawn; others are."""
    text = """
        a = torch.ones(2, 2, requires_grad=True)
        f = a.transpose(0, 1)
        a.grad = torch.ones(2, 2)
        i = a.grad
        m = i.numpy()
        n = torch.from_numpy(m)
        k = n.clone()
        del a
    """
    with Runner(ORACLE) as runner:
        for step in parse(dedent(text)):
            assert runner.step(step).outcome is DONE
        state, store = GenState(Prng(0, 0), RunnerOracle(runner)), Store(3, may_hold_grad=True)
        store.shared_with_numpy = foreign
        assert backward.aliases_a_grad(state, state.bind(given, store)) is back


@pytest.mark.parametrize(
    ("number", "store", "drawn"),
    [
        ("2.0", Store(2), True),
        ("4096.0", Store(13), False),
        ("0.00390625", Store(1, 11), False),
        ("0.00390625", Store(1, 11, inexact=True), True),
        ("4096.0", Store(13, inexact=True), False),
    ],
)
def test_no_gradient_is_drawn_whose_products_may_round(number, store, drawn):
    """An upstream gradient leaves room in the mantissa for what it is multiplied by."""
    with Runner(ORACLE) as runner:
        for step in parse(
            f"a = torch.ones(2, requires_grad=True)\nb = a.mul(2.0)\ng = torch.full((2,), {number})\n"
        ):
            assert runner.step(step).outcome is DONE
        state = GenState(Prng(0, 0), RunnerOracle(runner))
        root, g = state.bind("b", Store(2)), state.bind("g", store)
        state.full_api, state.dtypes = True, ()
        assert backward.upstream_gradient(state, root) is (g if drawn else False)
