"""``torch.autograd.graph``: the same script does the same on torch and on the reference."""

from __future__ import annotations

from typing import Any

import pytest


def leaf(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def test_what_is_saved_goes_through_the_hooks(torch):
    """Backward gets what the unpack hook makes of what the pack hook kept."""
    packed: list[Any] = []
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: packed.append(t.tolist()) or t * 2, lambda t: t * 5
    ):
        y = x * x
    y.sum().backward()
    assert [[1.0, 2.0], [1.0, 2.0]] == packed
    assert [20.0, 40.0] == x.grad.tolist()


def test_wrong_hooks_are_refused(torch):
    """A pack hook must not write, an unpack hook gives a tensor, and hooks can be disabled."""
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = leaf(torch)
    y = x * 1
    writes = pytest.raises(RuntimeError, match="pack hook is modifying its input in place")
    with writes, hooks(lambda t: t.add_(1), lambda t: t):
        y.exp()
    with hooks(lambda t: t, lambda t: 3):
        z = x.exp()
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor"):
        z.sum().backward()
    disabled = torch.autograd.graph.disable_saved_tensors_hooks("none here")
    with disabled, pytest.raises(RuntimeError, match="none here"), hooks(lambda t: t, lambda t: t):
        pass


def test_saved_tensors_may_be_written_to(torch):
    """Within the context backward gets the values from before the write."""
    x = leaf(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = (y * y).sum()
        y.mul_(10)
        z.backward()
    assert [2.0, 4.0] == x.grad.tolist()


def test_an_edge_stands_for_its_tensor(torch):
    """Gradients can be asked for at an edge, and begin at one."""
    x = leaf(torch)
    y = x * 3
    edge = torch.autograd.graph.get_gradient_edge(y)
    (g,) = torch.autograd.grad((y * y).sum(), edge, retain_graph=True)
    assert [6.0, 12.0] == g.tolist()
    torch.autograd.backward(edge, torch.ones(2))
    assert [3.0, 3.0] == x.grad.tolist()


@pytest.mark.parametrize("mode", ["all", "any"])
def test_one_hook_of_several_tensors(torch, mode):
    """A hook of several tensors is called once per backward: with every gradient, or with the first."""
    calls: list[Any] = []
    x, y = leaf(torch), leaf(torch)
    handle = torch.autograd.graph.register_multi_grad_hook((x, y), calls.append, mode=mode)
    (x * y).sum().backward()
    assert 1 == len(calls)
    handle.remove()
    (x * y).sum().backward()
    assert 1 == len(calls)


def test_a_node_shows_what_it_saved(torch):
    """A node shows what it saved under torch's names for operands and result, until it is freed."""
    x = leaf(torch)
    y = x * x
    assert [1.0, 2.0] == y.grad_fn._saved_self.tolist()
    assert [1.0, 2.0] == x.relu().grad_fn._saved_result.tolist()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._saved_self


def test_what_is_kept_for_mutation_is_seen(torch):
    """The context tells what is saved and what was copied, each as long as some node may ask for it."""
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:
        x = leaf(torch).clone()
        y, z = x**2, x**2
        assert (1, 0) == (len(context.tid_to_weakhandle), len(context.cloned))
        x.zero_()
        assert (1, 0) == (len(context.cloned), len(context.original))
        del y
        assert len(context.cloned) == 1
        z.sum().backward()
        assert (0, 0) == (len(context.cloned), len(context.tid_to_weakhandle))
        w = (x**2).sum()
        w.backward()
        x.zero_()
        assert len(context.cloned) == 0
    assert (0, 0, 0) == (len(context.original), len(context.sid_to_tid), len(context.tid_to_weakhandle))


def test_a_stale_view_is_replayed_where_the_dtype_changes(torch):
    """The new history of a stale view goes through view_as_real, step by step."""
    x = torch.ones(4, dtype=torch.complex128, requires_grad=True)
    base = x * 1
    reals = torch.view_as_real(base[:2])
    parts = reals.select(-1, 1)
    base.mul_(2)
    names, node = [], parts.grad_fn
    while node is not None and len(names) < 4:
        names.append(node.name())
        node = node.next_functions[0][0]
    assert names == ["AsStridedBackward0", "ViewAsRealBackward0", "AsStridedBackward0", "MulBackward0"]
    (g,) = torch.autograd.grad(parts.sum(), x)
    assert g.tolist() == [2j, 2j, 0, 0]


@pytest.mark.parametrize("joined", ["cat", "stack"])
def test_a_joined_tensors_node_gives_the_gradients_of_all_parts(torch, joined):
    """Hooks of a joined tensor's node also see the gradient of a part that requires none."""
    shown: list[Any] = []
    part = torch.tensor([3.0, 4.0])
    y = getattr(torch, joined)([part, leaf(torch)])
    y.grad_fn.register_hook(lambda inputs, outputs: shown.extend(g.tolist() for g in inputs))
    y.sum().backward()
    assert [[1.0, 1.0], [1.0, 1.0]] == shown


def test_a_leaf_that_was_moved_gets_its_history_anew_before_it_refuses(torch):
    """After each write to its base, a backward through the stale view numbers one node more."""

    def refused() -> int:
        before = (leaf(torch) * 1).grad_fn._sequence_nr()
        with pytest.raises(RuntimeError):
            y.backward(retain_graph=True)
        return (leaf(torch) * 1).grad_fn._sequence_nr() - before - 1

    a = torch.tensor([1.0, 2.0])
    v = a.view(1, 2)
    v.requires_grad_()
    y = v.sum()
    a.mul_(y)
    assert [refused(), refused()] == [1, 0]
    a.add_(a)
    assert [refused(), refused()] == [1, 0]


def test_a_hook_may_run_a_backward(torch):
    """Its grads are there when the hook goes on; later ones are added to them."""
    u = torch.tensor([3.0], requires_grad=True)
    inner = u * 5
    z = u * 2
    z.register_hook(lambda g: inner.backward() or u.grad * g)
    z.backward()
    assert u.grad.tolist() == [15.0]


def test_a_node_runs_by_itself_when_it_is_called(torch):
    """A node that is called runs without hooks and frees nothing; its arguments are checked."""
    x = leaf(torch)
    y = x * torch.tensor([3.0, 4.0])
    y.register_hook(lambda g: g * 100)
    g = torch.tensor([1.0, 10.0])
    for _ in range(2):
        first, second = y.grad_fn(g)
        assert [3.0, 40.0] == first.tolist()
        assert second is None
    assert () == y.grad_fn.next_functions[0][0](g)
    assert [1.0, 10.0] == x.grad.tolist()
    node = (x * 2).sum().grad_fn
    for given, words in (((), "expected 1 arguments, got 0"), ((g, g), "got 2"), ((3,), "argument 0 is not")):
        with pytest.raises(TypeError, match=words):
            node(*given)
    with pytest.raises(TypeError, match="keyword arguments"):
        node(grad=g)


def test_old_names_of_custom_functions(torch):
    """saved_variables warns, a context cannot be called, nor a function without apply."""

    class Doubled(torch.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            with pytest.warns(DeprecationWarning, match="saved_variables"):
                (x,) = ctx.saved_variables
            return g * 2 + 0 * x

    x = leaf(torch)
    y = Doubled.apply(x)
    y.sum().backward()
    assert [2.0, 2.0] == x.grad.tolist()
    with pytest.raises(TypeError, match="is not callable"):
        y.grad_fn(x)
    with (
        pytest.warns(DeprecationWarning, match="instantiated"),
        pytest.raises(RuntimeError, match="Legacy autograd function"),
    ):
        Doubled(inplace=True)(x)


def test_nobody_makes_a_saved_tensor(torch):
    """SavedTensor is a class to test for; it cannot be made from Python."""
    node = (leaf(torch) * leaf(torch)).grad_fn
    assert isinstance(node._raw_saved_self, torch.autograd.SavedTensor)
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
        torch.autograd.SavedTensor()


def test_arguments_by_name_take_their_places(torch):
    """An argument of a custom function that is given by name is an input, in the place that forward has."""
    if torch.__name__ == "torch" and int(torch.__version__.split(".")[1]) < 13:
        pytest.skip("PyTorch takes no arguments by name before 2.13")
    members = {
        "forward": staticmethod(lambda ctx, x, a=1, b=2: x * a * b),
        "backward": staticmethod(lambda ctx, g: (g * 5, None)),
    }
    scaled = type("Scaled", (torch.autograd.Function,), members)
    x = leaf(torch)
    y = scaled.apply(x, a=4)
    assert (True, False) == y.grad_fn.needs_input_grad
    y.sum().backward()
    assert [5.0, 5.0] == x.grad.tolist()
    assert (True, False) == scaled.apply(a=4, x=x).grad_fn.needs_input_grad
    for given, why in (
        ({"b": 3}, "missing required argument: 'a'"),
        ({"c": 3}, "unexpected keyword argument 'c'"),
        ({"x": x}, "multiple values for argument 'x'"),
    ):
        with pytest.raises(TypeError, match=why):
            scaled.apply(x, **given)


def test_users_note_what_they_like_at_a_node(torch):
    """Also in the context of a custom function, which is its node."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.metadata["a"] = 1
    assert y.grad_fn.metadata == {"a": 1}
    assert y.sum().grad_fn.metadata == {}
    y.sum().backward()
