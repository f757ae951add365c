"""Anomaly mode: a backward that gives nan, or fails, says where."""

import contextlib
import warnings

import torch

from specs.case import refused, warned
from specs.cases._functions_borders import Failing


def nan_ends_the_backward():
    """The node that gives it is named, and nothing arrives behind it; without the mode it goes through.

    Rule: anomaly/nan-refused.
    """
    x = torch.tensor([0.0], requires_grad=True)
    y = torch.sqrt(x) * 0
    with torch.autograd.set_detect_anomaly(True):
        with refused("anomaly/nan-refused"):
            y.backward(retain_graph=True)
    assert x.grad is None
    y.backward()
    assert str(x.grad.item()) == "nan"


def nan_may_pass():
    """check_nan=False is for errors alone. Rules: anomaly/nan-may-pass, anomaly/is-slow-warns."""
    x = torch.tensor([0.0], requires_grad=True)
    y = torch.sqrt(x) * 0
    with warned("anomaly/is-slow-warns"):
        mode = torch.autograd.detect_anomaly(check_nan=False)
    with mode:
        y.backward(retain_graph=True)
    assert str(x.grad.item()) == "nan"
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        y.backward()


def what_fails_is_told():
    """A warning names the node and shows this file if the mode was on when it was made.

    Rules: anomaly/tells-where, save/modified-refused.
    """
    x = torch.tensor([1.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x.exp()
    y.add_(1)
    with torch.autograd.set_detect_anomaly(True):
        with refused("save/modified-refused"), warnings.catch_warnings(record=True, action="always") as told:
            y.backward()
    text = str(told[-1].message)
    assert len(told) == 1 and "Error detected in ExpBackward0" in text and "x.exp()" in text


def what_was_made_before_is_named_alone():
    """Without the mode when it was made, the warning has nothing to show.

    Rules: anomaly/tells-where, anomaly/nan-refused.
    """
    x = torch.tensor([0.0], requires_grad=True)
    y = torch.sqrt(x) * 0
    with torch.autograd.set_detect_anomaly(True):
        with refused("anomaly/nan-refused"), warnings.catch_warnings(record=True, action="always") as told:
            y.backward()
    text = str(told[-1].message)
    assert "Error detected in SqrtBackward0" in text and "No forward pass information available" in text


def a_failed_backward_warns():
    """The error comes with a warning. Rules: anomaly/tells-where, anomaly/nan-refused."""
    x = torch.tensor([0.0], requires_grad=True)
    y = torch.sqrt(x) * 0
    with torch.autograd.set_detect_anomaly(True):
        with warned("anomaly/tells-where"), refused("anomaly/nan-refused"):
            y.backward()
    assert x.grad is None


def gradients_are_validated_before_they_are_looked_through():
    """A gradient of a wrong shape is refused for that, though it is nan as well.

    Rules: backward/gradient-shape-inside, anomaly/nan-refused.
    """
    x = torch.tensor([4.0, 1.0], requires_grad=True)
    v = x * 1  # the accumulator of x expects two elements from now on
    x.data = torch.tensor([0.0])
    y = torch.sqrt(x) * 0
    with torch.autograd.set_detect_anomaly(True):
        with refused("backward/gradient-shape-inside"):
            y.backward()
    assert v.is_leaf is False


def what_a_failing_node_was_made_by_is_told_too():
    """A node made in the backward of another names that one.

    Rules: anomaly/tells-where, anomaly/nan-refused.
    """
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x**1.5
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        with refused("anomaly/nan-refused"), warnings.catch_warnings(record=True, action="always") as told:
            (g * 0).sum().backward()
    first, second = (str(each.message) for each in told[-2:])
    assert "Error detected in PowBackward0" in first
    assert "Previous calculation was induced by PowBackward0" in second


def the_mode_before_comes_back():
    """Modes nest. Rule: anomaly/is-slow-warns."""
    with torch.autograd.set_detect_anomaly(True):
        with warned("anomaly/is-slow-warns"):
            inner = torch.autograd.detect_anomaly()
        with inner:
            assert torch.is_anomaly_enabled()
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()


def all_that_a_failing_node_was_made_by_is_told():
    """From the last derivative back to the first. Rules: anomaly/tells-where, anomaly/nan-refused."""
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x**2.5
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
        with refused("anomaly/nan-refused"), warnings.catch_warnings(record=True, action="always") as told:
            (h * 0).sum().backward()
    texts = [str(each.message).split(".")[0].strip() for each in told]
    assert texts == [
        "Error detected in PowBackward0",
        *["Previous calculation was induced by PowBackward0"] * 2,
    ]


def a_node_was_made_by_the_innermost_that_ran():
    """In a backward within a backward that is a node of the inner one.

    Rules: anomaly/tells-where, anomaly/nan-refused.
    """
    x = torch.tensor([0.0], requires_grad=True)
    y = torch.tensor([1.0], requires_grad=True)
    made = []
    with torch.autograd.set_detect_anomaly(True):
        z = (x**1.5).sum()
        outer = type(
            "Outer",
            (torch.autograd.Function,),
            {
                "forward": staticmethod(lambda ctx, a: a * 2),
                "backward": staticmethod(
                    lambda ctx, g: (made.append(torch.autograd.grad(z, x, create_graph=True)[0]), g * 2)[1]
                ),
            },
        )
        outer.apply(y).backward()
        with refused("anomaly/nan-refused"), warnings.catch_warnings(record=True, action="always") as told:
            (made[0] * 0).sum().backward()
    texts = [str(each.message).split(".")[0].strip() for each in told]
    assert texts == ["Error detected in PowBackward0", "Previous calculation was induced by PowBackward0"]


def a_trace_is_told_each_time():
    """The second failure of a node has its trace as well. Rule: anomaly/tells-where."""
    x = torch.tensor([1.0], requires_grad=True)
    told = []
    with torch.autograd.set_detect_anomaly(True):
        y = Failing.apply(x)
        with contextlib.suppress(ValueError), warnings.catch_warnings(record=True, action="always") as first:
            y.backward(retain_graph=True)
        with contextlib.suppress(ValueError), warnings.catch_warnings(record=True, action="always") as second:
            y.backward(retain_graph=True)
    told += [["No forward pass" in str(w.message) for w in each] for each in (first, second)]
    assert told == [[False], [False]]


def the_mode_goes_back_to_what_it_was_when_it_was_made():
    """That is when detect_anomaly looks, not where its block begins. Rule: anomaly/is-slow-warns."""
    with warned("anomaly/is-slow-warns"):
        outer = torch.autograd.detect_anomaly()
    inner = torch.autograd.detect_anomaly()
    states = []
    with outer:
        with inner:
            states.append(torch.is_anomaly_enabled())
        states.append(torch.is_anomaly_enabled())
    states.append(torch.is_anomaly_enabled())
    with torch.autograd.detect_anomaly():
        with torch.autograd.detect_anomaly():
            states.append(torch.is_anomaly_enabled())
        states.append(torch.is_anomaly_enabled())
    assert [*states, torch.is_anomaly_enabled()] == [True, False, False, True, True, False]


def one_nan_among_numbers_is_enough():
    """Saved tensors are freed by then. Rules: anomaly/nan-refused, save/freed-refused."""
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = (torch.sqrt(x) * 0).sum()
    with torch.autograd.set_detect_anomaly(True):
        with refused("anomaly/nan-refused"):
            y.backward()
        with refused("save/freed-refused"):
            y.backward()
        z = x.sum() * float("nan")
        with refused("anomaly/nan-refused"):
            z.backward()
        with refused("save/freed-refused"):
            z.backward()
    assert x.grad is None
