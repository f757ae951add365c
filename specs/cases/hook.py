"""Hooks of tensors, leaves and nodes: when they are called, and what their results do."""

import torch

from specs.case import refused
from specs.cases._functions import Nothing


def hook_result_replaces_the_gradient():
    """The hook's return value replaces the gradient. Rule: hook/result-replaces."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def hook_on_a_leaf_changes_its_grad():
    """A leaf's hook decides what is accumulated. Rule: hook/result-replaces."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: -g)
    x.sum().backward()
    assert x.grad.tolist() == [-1.0, -1.0]


def hook_without_result_changes_nothing():
    """A hook that returns None leaves the gradient as it is. Rule: hook/result-replaces."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: None)
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def hook_is_called_once_in_each_backward():
    """Two uses are one gradient, which the hook doubles once. Rule: hook/once-for-each-gradient."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g.mul_(2))
    y = x * 3 + x * 2
    y.backward(torch.ones(2), retain_graph=True)
    assert x.grad.tolist() == [10.0, 10.0]
    y.backward(torch.ones(2))
    assert x.grad.tolist() == [20.0, 20.0]


def hooks_run_in_the_order_of_registration():
    """The second hook gets what the first one made: it cannot keep the dtype that the first one broke.

    Rules: hook/in-order-of-registration, hook/keeps-dtype.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: 1 / 0)
    x.register_hook(lambda g: g.double())
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    y.register_hook(lambda g: g.double())
    y.register_hook(lambda g: 1 / 0)
    with refused("hook/error-ends-the-backward"):
        x.sum().backward()
    with refused("hook/keeps-dtype"):
        y.sum().backward()


def removed_hook_is_not_called():
    """After remove() the hook is gone; a second remove() does nothing. Rule: hook/removed-is-gone."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.register_hook(lambda g: g * 2)
    h.remove()
    h.remove()
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def the_other_hook_stays():
    """Of two hooks the one goes whose handle is removed. Rule: hook/removed-is-gone."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: -g)
    h.remove()
    x.sum().backward()
    assert x.grad.tolist() == [-1.0, -1.0]
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    y.register_hook(lambda g: g * 2)
    h = y.register_hook(lambda g: -g)
    h.remove()
    y.sum().backward()
    assert y.grad.tolist() == [2.0, 2.0]


def a_hook_lasts_as_long_as_its_block():
    """A handle is a context manager; other hooks stay. Rule: hook/handle-ends-with-its-block."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: -g)
    with x.register_hook(lambda g: g * 2):
        x.sum().backward()
    assert x.grad.tolist() == [-2.0, -2.0]
    x.sum().backward()
    assert x.grad.tolist() == [-3.0, -3.0]
    with x.register_hook(lambda g: g * 2) as handle:
        handle.remove()
        x.sum().backward()
    assert x.grad.tolist() == [-4.0, -4.0]


def removal_reaches_the_old_history():
    """A hook can be taken off after its tensor was written. Rule: hook/removed-is-gone."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    h = y.register_hook(lambda g: g * 2)
    y.mul_(3)
    h.remove()
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def hook_before_a_write_sees_the_old_values_gradient():
    """A write gives the tensor a new history; the hook stays with the old one and its retained grad moves on.

    Rule: hook/stays-with-old-history.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.mul_(3)
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [12.0, 12.0]


def hook_after_a_write_belongs_to_the_new_history():
    """Hooks from before and after a write are each called on their own gradient.

    Rule: hook/stays-with-old-history.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y.register_hook(lambda g: g * 2)
    y.mul_(3)
    y.register_hook(lambda g: g / 2)
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [0.5, 0.5]
    assert x.grad.tolist() == [3.0, 3.0]


def hook_of_an_unused_output_gets_none():
    """A node with several outputs runs when one gradient arrives; the others' hooks are called with None.

    Rules: hook/undefined-is-none, hook/error-ends-the-backward.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = (x * 2).unbind(0)
    a.register_hook(lambda g: 1 / 0)
    with refused("hook/error-ends-the-backward"):
        b.backward()


def retained_grad_is_what_the_hooks_left():
    """retain_grad() keeps the gradient after the hooks, whichever came first.

    Rule: hook/runs-before-retain. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    assert y.grad.tolist() == [2.0, 2.0]
    assert x.grad.tolist() == [4.0, 4.0]


def hook_needs_a_tensor_that_requires_grad():
    """Both kinds of hook are refused on a tensor without requires_grad. Rule: hook/needs-requires-grad."""
    x = torch.ones(2)
    with refused("hook/needs-requires-grad"):
        x.register_hook(lambda g: None)
    with refused("hook/needs-requires-grad"):
        x.register_post_accumulate_grad_hook(lambda x: None)


def hook_can_be_registered_under_no_grad():
    """Registering a hook records nothing; no_grad does not forbid it. Rule: hook/result-replaces."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        x.register_hook(lambda g: g * 2)
    x.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def hook_returns_a_tensor_or_nothing():
    """A number is no gradient. Rule: hook/returns-tensor."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: 3)
    with refused("hook/returns-tensor"):
        x.sum().backward()
    assert x.grad is None


def hook_keeps_the_shape():
    """A hook's result is not broadcast. Rule: hook/keeps-shape."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g.sum())
    with refused("hook/keeps-shape"):
        x.sum().backward()
    assert x.grad is None


def hook_keeps_the_dtype():
    """A hook's result is not cast. Rule: hook/keeps-dtype."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g.double())
    with refused("hook/keeps-dtype"):
        x.sum().backward()
    assert x.grad is None


def hook_cannot_make_a_gradient_where_none_arrives():
    """Called with None, a hook may not answer with a tensor or a number. Rule: hook/undefined-stays."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = (x * 2).unbind(0)
    a.register_hook(lambda g: 3)
    with refused("hook/undefined-stays"):
        b.backward()


def post_accumulate_hook_needs_a_leaf():
    """A non-leaf accumulates nothing. Rule: hook/post-accumulate-needs-leaf."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("hook/post-accumulate-needs-leaf"):
        y.register_post_accumulate_grad_hook(lambda x: None)


def post_accumulate_hook_finds_the_grad():
    """The hook is called after each accumulation, and may change or clear the grad.

    Rule: hook/post-accumulate-sees-the-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda x: x.grad.mul_(2))
    with refused("hook/post-accumulate-returns-none"):
        x.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    y.register_post_accumulate_grad_hook(lambda x: setattr(x, "grad", None))
    y.sum().backward()
    assert y.grad is None
    (g,) = torch.autograd.grad(y.sum(), y)
    assert g.tolist() == [1.0, 1.0]


def post_accumulate_hook_is_called_for_nothing():
    """A path that brings no gradient still calls the hooks. Rule: hook/post-accumulate-sees-the-grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.tensor([1.0, 1.0])
    x.register_post_accumulate_grad_hook(lambda x: setattr(x, "grad", None))
    Nothing.apply(x).sum().backward()
    assert x.grad is None


def post_accumulate_hook_returns_none():
    """There is nothing for its result to replace; the leaf itself is let pass, a number refused as ever.

    Rules: hook/post-accumulate-returns-none, hook/returns-tensor.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda x: x)
    x.sum().backward()
    x.register_post_accumulate_grad_hook(lambda x: x.grad.mul_(2))
    with refused("hook/post-accumulate-returns-none"):
        x.sum().backward()
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    y.register_post_accumulate_grad_hook(lambda x: 3)
    with refused("hook/returns-tensor"):
        y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


def node_prehook_changes_what_arrives():
    """A node's prehook replaces the tuple of incoming gradients. Rule: hook/before-node-replaces."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    n = y.grad_fn
    n.register_prehook(lambda go: (go[0] * 2, *go[1:]))
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def node_hook_changes_what_leaves():
    """A node's hook replaces the tuple of outgoing gradients. Rule: hook/after-node-replaces."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    n = y.grad_fn
    n.register_hook(lambda gi, go: (gi[0] * 2, *gi[1:]))
    n.register_hook(lambda gi, go: None)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def node_hooks_return_tuples():
    """A node's hook returns None or a tuple. Rule: hook/node-returns-tuple."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    n = y.grad_fn
    n.register_prehook(lambda go: 3)
    with refused("hook/node-returns-tuple"):
        y.sum().backward()


def node_hooks_return_as_many():
    """The tuple is as long as the one it replaces. Rule: hook/node-returns-as-many."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    n = y.grad_fn
    n.register_hook(lambda gi, go: gi + go)
    with refused("hook/node-returns-as-many"):
        y.sum().backward()


def error_in_a_hook_ends_the_backward():
    """An error raised in a hook reaches the caller of backward; gradients that arrived before stay.

    Rule: hook/error-ends-the-backward.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x * 2
    a.register_hook(lambda g: 1 / 0)
    b = y * 2
    z = (a * b).sum()
    with refused("hook/error-ends-the-backward"):
        z.backward()
    assert x.grad is None
    assert y.grad.tolist() == [4.0, 8.0]


def captured_gradient_is_taken_where_hooks_may_not_have_run():
    """autograd.grad gives the hooked gradient of an input where its node need not run, and the unhooked one
    where it runs for another input.

    Rule: hook/result-replaces.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 2)
    z = y.sum()
    (g,) = torch.autograd.grad(z, y, retain_graph=True)
    assert g.tolist() == [2.0, 2.0]
    g, h = torch.autograd.grad(z, (y, x))
    assert g.tolist() == [1.0, 1.0]
    assert h.tolist() == [4.0, 4.0]
