"""Anomaly mode, callbacks at the end of a backward, numbers of nodes, and what is kept for old scripts.

The same script does the same on torch and on the reference.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch.autograd._functions  # noqa: F401 -- the submodule, for the fixture


def leaf(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def nan_maker(torch: Any) -> Any:
    """A function whose second input gets nan for a gradient."""

    class Spoil(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, g * float("nan")

    return Spoil


def texts(caught: list[Any]) -> list[str]:
    return [str(each.message) for each in caught]


def test_nan_is_found(torch):
    """The node and its output are named, and a warning tells where the node was made, if it was noted."""
    x, y = leaf(torch), leaf(torch)
    spoil = nan_maker(torch)
    out = spoil.apply(x, y).sum()
    out.backward(retain_graph=True)
    expected = r"Function 'SpoilBackward' returned nan values in its 1th output\."
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match=expected):
            out.backward(retain_graph=True)
    on, told = texts(caught)
    assert "Anomaly Detection has been enabled" in on
    assert "Error detected in SpoilBackward" in told
    assert "No forward pass information" in told
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match=expected):
            spoil.apply(x, y).sum().backward()
    assert "Traceback of forward call that caused the error" in texts(caught)[1]
    assert "spoil.apply(x, y)" in texts(caught)[1]
    out.backward()


def test_nan_may_be_overlooked(torch):
    """With check_nan=False only errors are told; blocks nest."""
    x, y = leaf(torch), leaf(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly(check_nan=False):
            out = nan_maker(torch).apply(x, y).sum()
            out.backward(retain_graph=True)
            with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="returned nan values"):
                out.backward(retain_graph=True)
            out.backward()


def test_errors_are_told(torch):
    """A warning names the node that failed; the error is what it was."""
    x = leaf(torch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        modified = pytest.raises(RuntimeError, match="modified by an inplace operation")
        with torch.autograd.detect_anomaly(), modified:
            y = x + 1
            z = y**2
            y += 1
            z.sum().backward()
    assert "Error detected in PowBackward0" in texts(caught)[1]


def test_nodes_made_in_a_backward_are_told_with_their_parents(torch):
    """There is a further warning for the node in whose backward the failing one was made."""

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return nan_maker(torch).apply(g * 1, x * 1)

    x = leaf(torch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            (g,) = torch.autograd.grad(Outer.apply(x).sum(), x, create_graph=True)
            with pytest.raises(RuntimeError, match="SpoilBackward"):
                g.sum().backward()
    told = [text for text in texts(caught) if "Anomaly" not in text]
    assert "Error detected in SpoilBackward" in told[0]
    assert "OuterBackward" in told[1]
    assert len(told) == 2


def test_the_mode_can_be_set(torch):
    """Anomaly mode can be set by a call and as a block."""
    anomaly = torch.autograd
    assert not anomaly.anomaly_mode.set_detect_anomaly.__name__.startswith("_")
    with anomaly.set_detect_anomaly(True, check_nan=False):
        assert (True, False) == (torch_says(torch, "enabled"), torch_says(torch, "check_nan_enabled"))
    assert not torch_says(torch, "enabled")
    anomaly.set_detect_anomaly(True)
    assert torch_says(torch, "enabled")
    anomaly.set_detect_anomaly(False)
    assert not torch_says(torch, "enabled")


def torch_says(torch: Any, what: str) -> bool:
    return getattr(torch, f"is_anomaly_{what}")()


# -- callbacks -------------------------------------------------------------------------------------------
def queue(torch: Any, callback: Any) -> None:
    torch.autograd.Variable._execution_engine.queue_callback(callback)


def test_callbacks_come_at_the_end(torch):
    """Callbacks run after all nodes, in order, with those that callbacks add; elsewhere they are refused."""
    x, log = leaf(torch), []

    def last() -> None:
        log.append(("last", x.grad.tolist()))

    def first() -> None:
        log.append(("first", x.grad.tolist()))
        queue(torch, last)

    def hook(g: Any) -> None:
        log.append("hook")
        queue(torch, first)

    y = x * 3
    y.register_hook(hook)
    y.sum().backward()
    assert ["hook", ("first", [3.0, 3.0]), ("last", [3.0, 3.0])] == log
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        queue(torch, last)


def test_callbacks_belong_to_the_backward_that_runs(torch):
    """One begun by a hook calls its own before the outer one goes on; one that fails calls none."""
    log: list[str] = []

    def hook(g: Any) -> None:
        with torch.enable_grad():
            inner = leaf(torch) * 2
            root = inner.sum()
        inner.register_hook(lambda g: queue(torch, lambda: log.append("inner done")))
        root.backward()
        log.append("outer goes on")
        queue(torch, lambda: log.append("outer done"))

    y = leaf(torch) * 2
    y.register_hook(hook)
    y.sum().backward()
    assert ["inner done", "outer goes on", "outer done"] == log
    log.clear()

    def failing(g: Any) -> None:
        queue(torch, lambda: log.append("never"))
        raise ValueError("no")

    z = leaf(torch) * 2
    z.register_hook(failing)
    with pytest.raises(ValueError, match="no"):
        z.sum().backward()
    assert [] == log


def test_nodes_can_be_numbered(torch):
    """The higher number runs first among those that are ready."""
    x, y, z = leaf(torch), leaf(torch), leaf(torch)
    a, b = x + y, y + z
    c = a + b
    assert a.grad_fn._sequence_nr() < b.grad_fn._sequence_nr() < c.grad_fn._sequence_nr()
    a.grad_fn._set_sequence_nr(100)
    b.grad_fn._set_sequence_nr(99)
    assert (100, 99) == (a.grad_fn._sequence_nr(), b.grad_fn._sequence_nr())
    order: list[str] = []
    for name, tensor in (("a", a), ("b", b), ("c", c)):
        tensor.register_hook(lambda g, name=name: order.append(name))
    c.sum().backward()
    assert ["c", "a", "b"] == order


def test_the_flag_for_threads(torch):
    """The flag for threads is set at once, and restored by a block."""
    autograd = torch.autograd
    with autograd.set_multithreading_enabled(False):
        autograd.set_multithreading_enabled(True)
        assert autograd.is_multithreading_enabled()
    assert autograd.is_multithreading_enabled()
    with autograd.set_multithreading_enabled(False):
        assert not autograd.is_multithreading_enabled()
    autograd.set_multithreading_enabled(False)
    assert not autograd.is_multithreading_enabled()
    autograd.set_multithreading_enabled(True)
    assert autograd.is_multithreading_enabled()


def test_resize_as_a_function(torch):
    """The elements in another shape, with a gradient in the old one."""
    x = leaf(torch)
    y = torch.autograd._functions.Resize.apply(x, (2, 1))
    (y * torch.tensor([[3.0], [4.0]])).sum().backward()
    assert ([[1.0], [2.0]], [3.0, 4.0]) == (y.tolist(), x.grad.tolist())
    with pytest.raises(RuntimeError):
        torch.autograd._functions.Resize.apply(x, (3,))


def test_versions_can_be_kept(torch):
    """Writes within the block are not counted, so that what was saved passes."""
    x = leaf(torch)
    y = x * 1
    z = y * y
    with torch.autograd._unsafe_preserve_version_counter(y):
        y.mul_(10)
    assert y._version == 0
    z.sum().backward()
    assert [20.0, 40.0] == x.grad.tolist()


def test_distinct_elements_have_no_derivative(torch):
    """They require grad all the same, and what is counted beside them does not."""
    x = torch.tensor([2.0, 1.0, 2.0], requires_grad=True)
    nodes = {"unique": "Unique2Backward0", "unique_consecutive": "UniqueConsecutiveBackward0"}
    assert torch.unique(x, dim=0).grad_fn.name() == "UniqueDimBackward0"
    for name, node in nodes.items():
        found, where, counts = getattr(torch, name)(x, return_inverse=True, return_counts=True)
        assert node == found.grad_fn.name()
        assert (True, False, False) == (found.requires_grad, where.requires_grad, counts.requires_grad)
        with pytest.raises(RuntimeError, match=r"derivative for .* is not implemented"):
            found.sum().backward()
