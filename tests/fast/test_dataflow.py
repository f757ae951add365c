"""Rounding followed along a program, in the cases that `test_rounding` leaves out."""

from __future__ import annotations

import pytest

from conformance.comparison.tolerance.bounds import RoundingBounds
from conformance.comparison.tolerance.dataflow import DataFlow
from rounding import LEAF, reached, trace


def test_what_a_tensor_left_is_not_overwritten_as_a_whole() -> None:
    """A tensor whose data was assigned covers what that covers."""
    text = "a = torch.tensor([1.0, 3.0])\na.cos_()\nb, c = a.split(1, 0)\na.data = c\na.zero_()\n"
    assert reached(text)[0] == "a b c"


def test_what_is_kept_is_read_from_the_data_that_was_assigned() -> None:
    """A node keeps the tensor, which may look elsewhere by the time its gradient is computed."""
    text = (
        "a = torch.tensor([1.0, 2.0], requires_grad=True)\nb = a.matmul(a)\nc = torch.tensor([1.0, 2.0])\n"
        "c.cos_()\na.data = c\nd, = torch.autograd.grad(b, a)\n"
    )
    assert reached(text)[0] == "a c d"


def test_what_a_writing_function_gives_besides_is_not_what_it_wrote() -> None:
    """A second result of a writing function has a grad of its own."""
    text = "a = torch.tensor([1.0])\nb = -a\nc, d = WrittenPair.apply(b)\nc.sigmoid_()\nd.grad = c\n"
    assert reached(text) == ("b c d", "d")


def test_gradients_of_gradients_stay_few() -> None:
    """Gradients do not double with each run through a graph that holds its own gradients."""
    runs = "b.backward(b, create_graph=True)\n"
    seen = trace(LEAF + "b = a.exp()\n" + 14 * runs)
    taint = DataFlow(seen, lambda at, name: seen[at].facts.get(name), lambda step: step.op == "exp")
    taint.value(len(seen) - 1, "a")
    assert len(taint.roundings) < 50 * len(seen)


@pytest.mark.parametrize("run", ["b.backward(b, create_graph=True)", "b.backward(s)"])
def test_gradients_are_followed_where_something_keeps_them(run: str) -> None:
    """A tensor that was seen to be no leaf and to retain nothing has no grad, and a grad is no seed."""
    text = LEAF + "s = torch.ones(2, requires_grad=True)\nb = a.exp()\nc = b.neg().neg().sum()\n"
    seen = trace(text + 20 * f"{run}\n")
    taint = DataFlow(seen, lambda at, name: seen[at].facts.get(name), lambda step: step.op == "exp")
    taint.value(len(seen) - 1, "a")
    assert len(taint.roundings) <= 2 * len(seen)


@pytest.mark.parametrize(
    ("text", "grads"),
    [
        ("b = a.exp()\nb.retain_grad()\nc = b.exp()\nc.sum().backward()\n", "a b"),
        ("b = a.exp()\nb.detach_()\nb.requires_grad_()\nc = b.exp()\nc.sum().backward()\n", "b"),
        (
            "b = a * a\nb.sum().backward(create_graph=True)\nc = a.grad\nc.retain_grad()\n"
            "c.exp().sum().backward()\n",
            "a c",
        ),
        (
            "b = a.exp()\nc = Same.apply(b)\nc.retain_grad()\nd = c.exp()\nd.sum().backward()\n",
            "a c",
        ),
        ("b = a.exp()\nc = b.exp()\nc.sum().backward(inputs=[b])\n", "b"),
    ],
)
def test_what_passed_gradients_on_may_keep_them_later(text: str, grads: str) -> None:
    """A tensor that was no leaf and retained no grad may come to do either."""
    assert grads == reached(LEAF + text)[1]


@pytest.mark.parametrize("inputs", ["b, a", "a, b"])
def test_a_second_derivative_goes_from_one_gradient_to_another(inputs: str) -> None:
    """In one backward, the gradient of an earlier value is made from that of a later one."""
    one, other = ("g" if each == "b" else "h" for each in inputs.split(", "))
    text = LEAF + "b = a.exp()\nc = b * b\nd = c.sum()\n"
    text += f"{one}, {other} = torch.autograd.grad(d, [{inputs}], create_graph=True)\ne = h.sum()\n"
    assert ("b c d e g h i", "") == reached(text + "i, = torch.autograd.grad(e, g)\n")


def test_a_hook_may_be_given_the_grad_that_the_one_before_it_returned() -> None:
    """Rounding that reaches a leaf's grad reaches the calls of its hooks."""
    hooked = "a.register_post_accumulate_grad_hook"
    seen = trace(
        f"a = torch.tensor(2.0, requires_grad=True)\n{hooked}(lambda x: x.grad.mul_(2))\na.backward()\n"
        f"b = a.grad\nb.cos_()\n{hooked}(lambda x: x)\na.backward()\n"
    )
    rounding = RoundingBounds(seen)
    assert [bool(rounding.of_call(step, 0).terms) for step in (2, len(seen) - 1)] == [False, True]


def test_a_refused_set_has_taken_the_memory() -> None:
    """An inference tensor takes it before its version is asked for."""
    text = (
        "a = torch.tensor([1.0, 2.0])\nwith torch.inference_mode():\n    b = torch.tensor(2.0)\n"
        "b.set_(a)\na.tanh_()\n"
    )
    assert reached(text)[0] == "a b"


def test_a_step_that_fails_may_have_changed_what_it_holds() -> None:
    """Rounding in a grad reaches the parameter, even if the step is refused in the end."""
    text = (
        "with torch.inference_mode():\n    a = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "b = torch.tensor([1.0, 0.5])\na.backward(b)\nc = a.grad\nc.cos_()\n"
        "d = torch.optim.SGD([a])\nd.step()\n"
    )
    assert reached(text)[0] == "a b c d"


def test_what_a_function_gives_of_what_it_wrote_may_be_another_tensor() -> None:
    """A result without a grad says nothing about the grad of the tensor that was written."""
    text = (
        "a = torch.tensor([-1.0, 3.0], requires_grad=True)\nb = torch.sigmoid(a)\n"
        "with torch.no_grad():\n    c = Written.apply(a)\nb.backward(torch.tensor([2.0, -1.0]))\n"
    )
    seen = trace(text)
    assert RoundingBounds(seen).of_grad(len(seen) - 1, "a").terms


@pytest.mark.parametrize("op", ["prod(0)", "cumprod(0)", "fmod(2.0)", "addcmul(s, s)"])
def test_an_op_that_keeps_values_may_hand_on_the_very_gradient_it_got(op: str) -> None:
    """A product does so of one element, a remainder always, and a fused op to what it adds to."""
    text = "a = torch.tensor(1.0, requires_grad=True)\ns = torch.tensor(2.0)\n"
    text += f"b = a.{op}\ng, = torch.autograd.grad(b, a, s)\ng.sin_()\n"
    assert reached(text)[0] == "g s"


def test_hooks_on_saved_tensors_are_given_what_was_saved() -> None:
    """Rounding that reached a saved tensor reaches the calls of its hooks in backward, and no other calls."""
    saving = "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):\n"
    seen = trace(
        "a = torch.tensor(2.0, requires_grad=True)\na.register_hook(lambda g: None)\n"
        f"b = torch.tensor(2.0)\nb.sin_()\nb.requires_grad_()\n{saving}    c = b * b\na.backward()\n"
    )
    rounding = RoundingBounds(seen)
    assert [False, True] == [bool(rounding.of_call(6, at).terms) for at in (1, 5)]


def test_functions_are_given_what_a_step_reads_and_makes() -> None:
    """A function that is called outside the engine sees the roundings of the operands, and nobody else's."""
    seen = trace(
        "a = torch.tensor([1.0, 2.0])\n"
        "b = a.sin()\n"
        "c = torch.utils.checkpoint.checkpoint(lambda t: t * t, a, use_reentrant=False)\n"
        "d = torch.utils.checkpoint.checkpoint(lambda t: t * t, b, use_reentrant=False)\n"
    )
    rounding = RoundingBounds(seen)
    assert [False, True] == [bool(rounding.of_call(step, step).terms) for step in (2, 3)]
