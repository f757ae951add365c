"""Nodes and contexts as objects: what is told to them, what they refuse, and hooks that a refusal leaves."""

import torch

from specs.case import refused
from specs.cases._functions import Double, Square
from specs.cases._measures import error_kinds


class _NoneSaved(torch.autograd.Function):
    """Saves nothing, its result and its input, and says itself how it is mapped."""

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(None, output, inputs[0])

    @staticmethod
    def backward(ctx, g):
        nothing, out, x = ctx.saved_tensors
        return g * out

    @staticmethod
    def vmap(info, in_dims, x):
        return _NoneSaved.apply(x), in_dims[0]


def a_node_keeps_what_it_is_told():
    """Its metadata is a dict of its own; it takes gradients by position, one for each output.

    Rule: backward/nodes-can-be-called.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * 2
    assert y.grad_fn.metadata == {}
    y.grad_fn.metadata["key"] = "told"
    z = y * 3
    assert z.grad_fn.next_functions[0][0].metadata == {"key": "told"} and z.grad_fn.metadata == {}
    assert (x * 2).grad_fn.metadata == {}
    assert y.grad_fn(torch.ones(2))[0].tolist() == [2.0, 2.0]
    assert error_kinds([lambda: y.grad_fn(torch.ones(2), a=1), lambda: y.grad_fn()]) == "TT"
    rows = torch.ones(2, 3, requires_grad=True).unbind()
    assert rows[0].grad_fn(None, None) is None
    assert rows[0].grad_fn(torch.ones(3), None).tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert "MulBackward0 object at 0x" in repr(y.grad_fn)


def a_context_is_not_called():
    """That of a custom function runs in a backward alone.

    Rules: function/backward-gives-the-gradients, backward/nodes-can-be-called.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = Square.apply(x)
    assert error_kinds([lambda: y.grad_fn(torch.ones(2)), lambda: (x * 1).grad_fn(torch.ones(2))]) == "T-"
    assert "SquareBackward object at 0x" in repr(y.grad_fn)
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


def versions_of_one_tensor_or_of_several_are_incremented():
    """One tensor, or several.

    Rule: version/increment-counts.
    """
    x = torch.tensor([2.0, 3.0])
    y = torch.tensor([2.0, 3.0])
    torch.autograd.graph.increment_version(x)
    torch.autograd.graph.increment_version([x, y])
    assert (x._version, y._version) == (2, 1)


def a_refused_hook_leaves_room_for_the_next():
    """The first one looks at a history that refuses; those that come after it do not.

    Rules: hook/first-alone-looks, view/stale-tag-refused.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * 1
    with torch.no_grad():
        v = y[:]
    y.mul_(2)
    with refused("view/stale-tag-refused"):
        v.register_hook(lambda g: g)
    handle = v.register_hook(lambda g: g)
    handle.remove()
    v.register_hook(lambda g: g)


def nothing_may_be_saved_beside_a_result():
    """None comes back in its place, in a map too; a function without a rule is refused there.

    Rules: functional/transforms-need-setup-context, function/saves-tensors.
    """
    m = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    with refused("functional/transforms-need-setup-context"):
        torch.func.vmap(Double.apply)(m)
    assert torch.func.vmap(_NoneSaved.apply)(m).tolist() == m.exp().tolist()
    slope = torch.func.vmap(torch.func.grad(lambda v: _NoneSaved.apply(v).sum()))
    assert slope(m).tolist() == m.exp().tolist()
    w = m.clone().requires_grad_()
    torch.func.vmap(_NoneSaved.apply)(w).sum().backward()
    assert w.grad.tolist() == m.exp().tolist()


def no_roots_give_no_gradients():
    """None for each input, if that is allowed.

    Rule: grad_call/allow-unused-gives-none.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    assert torch.autograd.grad([], [x], allow_unused=True) == (None,)
    with refused("grad_call/unused-refused"):
        torch.autograd.grad([], [x])
    torch.autograd.backward([])
    assert x.grad is None
