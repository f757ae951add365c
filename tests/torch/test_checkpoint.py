"""``torch.utils.checkpoint``: the same script does the same on torch and on the reference."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import Any

import pytest
import torch.utils.checkpoint  # noqa: F401 -- the submodule, for the fixture

BOTH_WAYS = pytest.mark.parametrize("reentrant", [True, False])


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(list(values) or [1.0, 2.0], requires_grad=True)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Any) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self.function(*args, **kwargs)


def in_turn(*functions: Any) -> Any:
    """Each call goes to the next function."""
    left = list(functions)
    return lambda *args: left.pop(0)(*args)


@BOTH_WAYS
def test_it_is_computed_again(torch, reentrant):
    """Once a backward, with the same gradient."""
    x = leaf(torch)
    f = Counted(lambda x: (x.exp() * x).sin())
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant)
    assert f.calls == 1
    y.sum().backward()
    assert f.calls == 2
    z = leaf(torch)
    (z.exp() * z).sin().sum().backward()
    assert z.grad.tolist() == x.grad.tolist()


@BOTH_WAYS
def test_a_graph_that_is_kept_is_computed_each_time(torch, reentrant):
    """With retain_graph a second backward computes it a third time."""
    x = leaf(torch)
    f = Counted(lambda x: x * x)
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert ([4.0, 8.0], 3) == (x.grad.tolist(), f.calls)
    with pytest.raises(RuntimeError, match="already been freed"):
        y.backward()


def test_only_hooks_know_grad(torch):
    """The reentrant way is refused under grad() and with inputs, and works again after that."""
    x = leaf(torch)
    y = torch.utils.checkpoint.checkpoint(lambda x: x.exp(), x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError, match=r"torch\.utils\.checkpoint is incompatible"):
        torch.autograd.grad(y, x)
    z = torch.utils.checkpoint.checkpoint(lambda x: x * 3, x, use_reentrant=True).sum()
    z.backward()
    assert x.grad.tolist() == [3.0, 3.0]
    w = torch.utils.checkpoint.checkpoint(lambda x: x * x, x, use_reentrant=False).sum()
    assert torch.autograd.grad(w, x)[0].tolist() == [2.0, 4.0]


def test_second_derivatives(torch):
    """With hooks, recomputed values can be differentiated again."""
    x = leaf(torch)
    y = torch.utils.checkpoint.checkpoint(lambda x: x * x * x, x, use_reentrant=False).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    g.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_arguments(torch):
    """Numbers, None, keywords and several results go through; keywords by hooks only."""
    x, z = leaf(torch), leaf(torch, 3.0, 4.0)

    def f(x: Any, k: Any, nothing: Any, *, z: Any = None) -> Any:
        return x * k, "text", z if z is None else z.exp()

    a, word, b = torch.utils.checkpoint.checkpoint(f, x, 2, None, z=z, use_reentrant=False)
    (a.sum() + b.sum()).backward()
    assert ([2.0, 2.0], "text") == (x.grad.tolist(), word)
    assert z.grad.tolist() == z.exp().tolist()
    with pytest.raises(ValueError, match="Unexpected keyword arguments: z"):
        torch.utils.checkpoint.checkpoint(f, x, 2, None, z=z, use_reentrant=True)
    (a, word, b) = torch.utils.checkpoint.checkpoint(f, x, 2, None, use_reentrant=True)
    a.sum().backward()
    assert [4.0, 4.0] == x.grad.tolist()
    assert b is None


@BOTH_WAYS
def test_detached_inputs(torch, reentrant):
    """If no input requires grad, the reentrant way gives none; with hooks, closed-over tensors count."""
    w, x = leaf(torch), torch.tensor([1.0, 2.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = torch.utils.checkpoint.checkpoint(lambda x: x * w, x, use_reentrant=reentrant)
    assert reentrant == any("None of the inputs" in str(each.message) for each in caught)
    assert y.requires_grad is not reentrant


def test_no_output_requires_grad(torch):
    """A reentrant call whose second run loses the gradient says so."""
    x = leaf(torch)
    y = torch.utils.checkpoint.checkpoint(lambda x: x.detach(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.sum().backward()


def test_which_way_should_be_said(torch):
    """A warning for those who leave it open."""
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        torch.utils.checkpoint.checkpoint(lambda x: x * 2, leaf(torch))
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        torch.utils.checkpoint.checkpoint(
            lambda x: x, leaf(torch), use_reentrant=False, determinism_check="x"
        )
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        torch.utils.checkpoint.checkpoint(lambda x: x, leaf(torch), use_reentrant=True, debug=True)


@BOTH_WAYS
def test_the_same_random_numbers(torch, reentrant):
    """The second run draws what the first drew, and leaves the source as it was."""
    x = leaf(torch, *([1.0] * 8))
    drawn: list[Any] = []

    def f(x: Any) -> Any:
        noise = torch.rand(8)
        drawn.append(noise.tolist())
        return x * noise

    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant).sum()
    states = [torch.get_rng_state()]
    y.backward()
    states.append(torch.get_rng_state())
    before, after = (state.tolist() if hasattr(state, "tolist") else str(state) for state in states)
    assert (drawn[0], drawn[0]) == (drawn[1], x.grad.tolist())
    assert before == after


def test_functions_that_do_not_do_the_same_twice(torch):
    """Fewer or other tensors are an error; more only if the second run goes on to the end."""
    checkpoint = torch.utils.checkpoint

    def run(first: Any, second: Any, **how: Any) -> None:
        checkpoint.checkpoint(
            in_turn(first, second), leaf(torch), use_reentrant=False, **how
        ).sum().backward()

    two, three = lambda x: x.sin().exp(), lambda x: x.sin().exp().sin()
    with pytest.raises(checkpoint.CheckpointError, match="A different number of tensors was saved"):
        run(three, two)
    run(two, three)
    more = "trying to save more tensors during recomputation"
    with pytest.raises(checkpoint.CheckpointError, match=more):
        run(two, three, early_stop=False)
    with checkpoint.set_checkpoint_early_stop(False), pytest.raises(checkpoint.CheckpointError, match=more):
        run(two, three)
    wider = lambda x: x.sin() * torch.ones(3, 2)  # noqa: E731
    with pytest.raises(checkpoint.CheckpointError, match="have different metadata"):
        run(two, wider)
    with pytest.raises(RuntimeError, match="because you passed `debug=True` to checkpoint"):
        run(two, wider, debug=True)
    with checkpoint.set_checkpoint_debug_enabled(False), pytest.raises(RuntimeError, match="metadata"):
        run(two, wider, debug=True)


def test_early_stop(torch):
    """The second run ends with the last tensor that was saved, unless it shall not."""
    reached: list[str] = []

    def f(x: Any) -> Any:
        y = x.exp()
        reached.append("after exp")
        return y * 2

    for early_stop in (True, False):
        x = leaf(torch)
        y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False, early_stop=early_stop)
        y.sum().backward()
    assert len(reached) == 4 - 1


def test_saved_tensors_outside_of_a_backward(torch):
    """Each look computes it again; a backward then frees it."""
    x = leaf(torch)
    f = Counted(lambda x: x.exp())
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    kept = y.grad_fn._saved_result
    assert kept.tolist() == y.tolist()
    assert y.grad_fn._saved_result is not None
    assert f.calls == 3
    y.sum().backward()
    assert f.calls == 4
    with pytest.raises(
        RuntimeError, match="directly access saved tensors after they have already been freed"
    ):
        y.grad_fn._saved_result  # noqa: B018


@pytest.mark.parametrize("early_stop", [True, False])
def test_checkpoints_within_checkpoints(torch, early_stop):
    """Gradients are the same, and the inner one is computed by the outer's second run and by itself."""
    x = leaf(torch)
    inner, checkpoint = Counted(lambda x: x.sin().exp()), torch.utils.checkpoint.checkpoint

    def outer(x: Any) -> Any:
        return checkpoint(inner, x.cos(), use_reentrant=False).sin()

    with torch.utils.checkpoint.set_checkpoint_early_stop(early_stop):
        checkpoint(outer, x, use_reentrant=False).sum().backward()
    z = leaf(torch)
    z.cos().sin().exp().sin().sum().backward()
    assert x.grad.tolist() == z.grad.tolist()
    assert inner.calls == 3


def test_contexts(torch):
    """The first run and the second each stand in a context of their own."""
    entered: list[str] = []

    @contextmanager
    def noting(word: str) -> Any:
        entered.append(word)
        yield

    x = leaf(torch)
    y = torch.utils.checkpoint.checkpoint(
        lambda x: x.exp(), x, use_reentrant=False, context_fn=lambda: (noting("first"), noting("second"))
    )
    y.sum().backward()
    assert ["first", "second"] == entered
    with pytest.raises(ValueError, match="incompatible with non-default context_fn"):
        torch.utils.checkpoint.checkpoint(
            lambda x: x, x, use_reentrant=False, debug=True, context_fn=lambda: (noting("a"), noting("b"))
        )


@BOTH_WAYS
def test_sequences(torch, reentrant):
    """All stretches but the last are checkpointed."""
    x = leaf(torch)
    steps = [Counted(lambda x: x.sin()) for _ in range(5)]
    y = torch.utils.checkpoint.checkpoint_sequential(steps, 2, x, use_reentrant=reentrant)
    y.sum().backward()
    assert [2, 2, 1, 1, 1] == [step.calls for step in steps]
    z = leaf(torch)
    z.sin().sin().sin().sin().sin().sum().backward()
    assert x.grad.tolist() == z.grad.tolist()


def test_nothing_is_kept_without_recording(torch):
    """Under no_grad a checkpoint is a plain call."""
    f = Counted(lambda x: x.exp())
    with torch.no_grad():
        y = torch.utils.checkpoint.checkpoint(f, leaf(torch), use_reentrant=False)
    assert (1, False) == (f.calls, y.requires_grad)


def test_inputs_that_were_written_to(torch):
    """Backward through a checkpoint whose inputs were written to is refused."""
    x = leaf(torch) * 1
    y = torch.utils.checkpoint.checkpoint(lambda x: x.exp(), x, use_reentrant=False)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
