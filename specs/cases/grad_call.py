"""torch.autograd.grad."""

import torch

from specs.case import refused, warned


def grad_returns_gradients_and_fills_none():
    """autograd.grad returns a tuple and leaves .grad alone.

    Rule: grad_call/leaves-grad-alone. Source: seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a * a
    (g,) = torch.autograd.grad(b, a)
    assert g.tolist() == [27.0]
    assert a.grad is None


def grad_leaves_an_earlier_grad_alone():
    """autograd.grad does not change an existing .grad. Rule: grad_call/leaves-grad-alone."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    g = torch.autograd.grad((x * x).sum(), x)[0]
    assert g.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [3.0, 3.0]


def grad_of_several_inputs_keeps_their_order():
    """One gradient for each input, in order; a repeated input is answered twice.

    Rules: grad_call/leaves-grad-alone, grad_call/non-leaf-input.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    y = (x * u).sum()
    g, h, k = torch.autograd.grad(y, [u, x, u])
    assert g.tolist() == [1.0, 2.0] and h.tolist() == [3.0, 4.0] and k.tolist() == [1.0, 2.0]
    assert x.grad is None and u.grad is None


def grad_outputs_is_the_upstream_gradient():
    """grad_outputs weighs the outputs; left out, it is 1 for a scalar.

    Rules: backward/gradient-is-upstream, backward/implicit-one. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    g = torch.autograd.grad(y, x, grad_outputs=torch.tensor([1.0, 10.0]), retain_graph=True)[0]
    h = torch.autograd.grad(y.sum(), x)[0]
    assert g.tolist() == [2.0, 40.0]
    assert h.tolist() == [2.0, 4.0]


def grad_outputs_must_fit():
    """grad_outputs obeys the rules of gradient=.

    Rules: backward/gradient-shape, backward/gradient-type, backward/not-iterable.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    with refused("backward/gradient-shape"):
        torch.autograd.grad(y, x, torch.tensor([1.0]))
    with refused("backward/gradient-type"):
        torch.autograd.grad(y, x, [3])
    with refused("backward/not-iterable"):
        torch.autograd.grad(y, 3)


def grad_of_a_non_leaf():
    """A gradient with respect to a result needs no retain_grad(). Rule: grad_call/non-leaf-input."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    z = (y * y).sum()
    g, h = torch.autograd.grad(z, [y, x])
    assert g.tolist() == [6.0, 12.0] and h.tolist() == [18.0, 36.0]
    assert y.retains_grad is False and y.grad is None


def outputs_are_summed():
    """Several outputs give the gradient of their weighed sum. Rule: grad_call/outputs-are-summed."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = x * 3
    g = torch.autograd.grad([y, z], x, [torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])])[0]
    assert g.tolist() == [2.0, 3.0]
    h = torch.autograd.grad([x.sum(), (x * x).sum()], x)[0]
    assert h.tolist() == [3.0, 5.0]


def nodes_off_the_way_are_not_checked():
    """A saved tensor that was written to matters only if its node has to run.

    Rule: grad_call/only-needed-nodes-run.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    y = x * x
    z = u * w
    s = (y + z).sum()
    w.add_(1)
    g = torch.autograd.grad(s, x)[0]
    assert g.tolist() == [2.0, 4.0]
    with refused("save/modified-refused"):
        torch.autograd.grad(s, u)


def nodes_off_the_way_are_not_freed():
    """Nodes that were not needed for x can still run for u. Rule: grad_call/only-needed-nodes-run."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * x
    z = u * u
    s = (y + z).sum()
    torch.autograd.grad(s, x)
    g = torch.autograd.grad(s, u)[0]
    assert g.tolist() == [6.0, 8.0]
    with refused("save/freed-refused"):
        torch.autograd.grad(s, x)


def the_walk_ends_at_a_non_leaf_input():
    """Asking for a non-leaf's gradient does not run what made it. Rule: grad_call/only-needed-nodes-run."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    torch.autograd.grad(y.sum(), y)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def unused_input_is_refused():
    """An input that the output does not depend on is refused. Rule: grad_call/unused-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x.sum()
    with refused("grad_call/unused-refused"):
        torch.autograd.grad(y, [x, u])
    with refused("grad_call/unused-refused"):
        torch.autograd.grad(y, u)


def allow_unused_gives_none():
    """With allow_unused=True the unused input gets None. Rule: grad_call/allow-unused-gives-none."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    g, h = torch.autograd.grad(x.sum(), [x, u], allow_unused=True)
    assert g.tolist() == [1.0, 1.0]
    assert h is None


def materialize_grads_gives_zeros():
    """With materialize_grads=True the unused input gets zeros of its shape.

    Rule: grad_call/materialize-gives-zeros.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([[3.0, 4.0]], requires_grad=True)
    g, h = torch.autograd.grad(x.sum(), [x, u], materialize_grads=True)
    assert g.tolist() == [1.0, 1.0]
    assert h.tolist() == [[0.0, 0.0]] and h.requires_grad is False
    g, h = torch.autograd.grad(x.sum(), [x, u], materialize_grads=True, create_graph=True)
    assert h.tolist() == [[0.0, 0.0]] and h.requires_grad is True


def materialize_contradicts_allow_unused_false():
    """materialize_grads=True and allow_unused=False do not go together.

    Rule: grad_call/materialize-conflict.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.sum()
    with refused("grad_call/materialize-conflict"):
        torch.autograd.grad(y, x, allow_unused=False, materialize_grads=True)


def input_must_require_grad():
    """An input that does not require grad is refused, used or not, allowed or not.

    Rule: grad_call/input-needs-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([3.0, 4.0])
    y = (x * c).sum()
    with refused("grad_call/input-needs-grad"):
        torch.autograd.grad(y, c)
    with refused("grad_call/input-needs-grad"):
        torch.autograd.grad(y, c, allow_unused=True)


def inputs_must_not_be_empty():
    """No inputs are refused. Rule: grad_call/inputs-empty."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.sum()
    with refused("grad_call/inputs-empty"):
        torch.autograd.grad(y, [])


def inputs_are_counted_before_anything_else():
    """If several things are wrong, the missing inputs are reported.

    Rules: grad_call/inputs-counted-first, grad_call/inputs-empty.
    """
    x = torch.tensor([1.0, 2.0])
    with refused("grad_call/inputs-empty"):
        torch.autograd.grad(x, [])


def only_inputs_is_ignored():
    """only_inputs=False warns and fills nobody all the same. Rule: grad_call/only-inputs-deprecated."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    y = (x * u).sum()
    with warned("grad_call/only-inputs-deprecated"):
        g = torch.autograd.grad(y, x, only_inputs=False)[0]
    assert g.tolist() == [3.0, 4.0]
    assert x.grad is None and u.grad is None


def batches_of_gradients_go_back_row_by_row():
    """The rows of the unit matrix give the Jacobian; what is not reached gets no batch of zeros.

    Rules: grad_call/batches-go-back-one-by-one, grad_call/batch-shape, grad_call/batches-alike.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = torch.tensor([3.0], requires_grad=True)
    y = x * x
    g, h = torch.autograd.grad(y, [x, z], torch.eye(2), is_grads_batched=True, materialize_grads=True)
    assert g.tolist() == [[2.0, 0.0], [0.0, 4.0]] and h.tolist() == [0.0]
    with refused("save/freed-refused"):
        torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)
    y = x * x
    with refused("grad_call/batch-shape"):
        torch.autograd.grad(y, x, torch.ones(2), is_grads_batched=True)
    with refused("grad_call/batches-alike"):
        torch.autograd.grad([y, x.sum()], x, [torch.eye(2), torch.ones(3)], is_grads_batched=True)
    with refused("grad_call/batches-alike"):
        torch.autograd.grad(x.sum(), x, is_grads_batched=True)


def a_batch_may_be_of_one():
    """Gradients come in a row for each row of the batch. Rule: grad_call/batches-go-back-one-by-one."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    (g,) = torch.autograd.grad(y, x, torch.ones(1, 2), is_grads_batched=True, retain_graph=True)
    assert g.tolist() == [[2.0, 4.0]]
    (h,) = torch.autograd.grad(y, x, torch.tensor([[1.0, 0.0], [0.0, 1.0]]), is_grads_batched=True)
    assert h.tolist() == [[2.0, 0.0], [0.0, 4.0]]
