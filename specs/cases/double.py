"""Gradients of gradients."""

import torch

from specs.case import refused, warned


def second_derivative_of_a_cube():
    """d2(a^3)/da2 at 3 is 18. Rule: double/create-graph-records. Source: seed 002_5576f5c856adb572.txt."""
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a * a
    db = torch.autograd.grad(b, a, create_graph=True)[0]
    assert db.requires_grad is True and db.is_leaf is False and db.tolist() == [27.0]
    d2b = torch.autograd.grad(db, a, create_graph=True)[0]
    assert d2b.item() == 18.0
    assert d2b.requires_grad is True


def derivatives_to_the_end():
    """The third derivative of a^3 is the constant 6; asking for the fourth is refused.

    Rules: double/create-graph-records, double/constant-root-grad. Source: seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a * a
    d1 = torch.autograd.grad(b, a, create_graph=True)[0]
    d2 = torch.autograd.grad(d1, a, create_graph=True)[0]
    d3 = torch.autograd.grad(d2, a, create_graph=True)[0]
    assert d3.tolist() == [6.0] and d3.requires_grad is False
    with refused("backward/root-needs-grad"):
        torch.autograd.grad(d3, a, create_graph=True)


def higher_derivatives_of_a_field():
    """The pattern of physics-informed networks: grad of a sum, elementwise, twice, then a loss of both.

    Rule: double/create-graph-records. Source: seed 002_5576f5c856adb572.txt.
    """
    t = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor(2.0, requires_grad=True)
    u = w * t * t * t
    du = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    d2u = torch.autograd.grad(du.sum(), t, create_graph=True)[0]
    assert du.tolist() == [6.0, 24.0] and d2u.tolist() == [12.0, 24.0]
    loss = (d2u - du).sum()
    loss.backward()
    assert w.grad.item() == 3.0


def normals_of_a_distance_field():
    """The normals pattern: inside set_grad_enabled(True), minus the gradient of a sum, kept in the graph.

    Rules: double/create-graph-records, mode/set-grad-enabled. Source: seed 001_ab61d14c9099960f.txt.
    """
    p = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    with torch.set_grad_enabled(True):
        sigma = (p * p * w).sum(dim=1)
        normal = -torch.autograd.grad(torch.sum(sigma), p, create_graph=True)[0]
    assert normal.tolist() == [[-4.0, -12.0], [-12.0, -24.0]]
    assert normal.requires_grad is True
    normal.sum().backward()
    assert w.grad.tolist() == [-8.0, -12.0]


def grad_outputs_are_differentiated_too():
    """The gradient depends on grad_outputs, so that gets one as well. Rule: double/create-graph-records."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = torch.tensor([1.0, 1.0], requires_grad=True)
    d = torch.autograd.grad(x * 3, x, g, create_graph=True)[0]
    assert d.requires_grad is True
    d.sum().backward()
    assert g.grad.tolist() == [3.0, 3.0]
    assert x.grad is None


def without_create_graph_gradients_are_plain():
    """A gradient made without create_graph cannot be differentiated.

    Rule: double/plain-without. Source: seed 002_5576f5c856adb572.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = torch.autograd.grad((x * x).sum(), x)[0]
    assert g.requires_grad is False and g.is_leaf is True and g.grad_fn is None
    s = g.sum()
    with refused("backward/root-needs-grad"):
        s.backward()


def a_tracked_gradient_argument_changes_nothing():
    """Even if gradient= requires grad, .grad does not, stolen or copied. Rule: double/plain-without."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).backward(g)
    assert x.grad.requires_grad is False and x.grad.is_leaf is True
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    y.backward(g)
    assert y.grad.requires_grad is False and y.grad.is_leaf is True


def create_graph_in_backward():
    """With create_graph=True a.grad requires grad and is no leaf; the root's own gradient, 1, does not.

    Rules: double/create-graph-records, double/constant-root-grad. Source: seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([5.0], requires_grad=True)
    b = a * a
    b.retain_grad()
    b.backward(create_graph=True)
    assert a.grad.requires_grad is True and a.grad.is_leaf is False
    assert a.grad.tolist() == [10.0]
    assert b.grad.requires_grad is False and b.grad.is_leaf is True


def derivatives_of_linear_functions_are_constant():
    """The gradient of 2x + x does not depend on x and does not require grad.

    Rule: double/constant-root-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2 + x).sum()
    g = torch.autograd.grad(y, x, create_graph=True)[0]
    assert g.tolist() == [3.0, 3.0] and g.requires_grad is False and g.is_leaf is True


def create_graph_counts_under_no_grad():
    """grad(create_graph=True) records under no_grad, and without it nothing is recorded in grad mode.

    Rules: double/create-graph-decides-the-mode, double/plain-without.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with torch.no_grad():
        g = torch.autograd.grad(y, x, create_graph=True)[0]
        h = g * 2
    assert g.requires_grad is True and g.is_leaf is False
    assert h.requires_grad is False
    k = torch.autograd.grad(y, x)[0]
    assert k.requires_grad is False


def accumulation_under_create_graph_makes_a_new_tensor():
    """backward(create_graph=True) binds .grad to the recorded sum and leaves the old gradient alone.

    Rule: double/accumulates-out-of-place.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    g = x.grad
    (x * x).sum().backward(create_graph=True)
    assert g.tolist() == [2.0, 4.0] and g.requires_grad is False
    assert x.grad.tolist() == [4.0, 8.0] and x.grad.requires_grad is True
    assert x.grad.grad_fn.name() == "AddBackward0"


def accumulation_without_it_stays_in_place():
    """A later plain backward adds to a recorded gradient in place, unrecorded.

    Rules: grad/accumulates-in-place, double/create-graph-decides-the-mode.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward(create_graph=True)
    g = x.grad
    (x * x).sum().backward()
    assert g is x.grad
    assert g.tolist() == [4.0, 8.0] and g.requires_grad is True


def the_first_gradient_is_copied():
    """Under create_graph a first gradient is a recorded copy, on leaves and where it is retained.

    Rule: double/first-grad-is-a-copy.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.retain_grad()
    (y * y).sum().backward(create_graph=True)
    assert x.grad.grad_fn.name() == "torch::autograd::CopyBackwards"
    assert y.grad.grad_fn.name() == "CloneBackward0"


def nothing_is_stolen_under_create_graph():
    """A gradient that a plain backward would take over is copied. Rule: double/first-grad-is-a-copy."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = torch.tensor([[1.0], [2.0]])
    x.view(2, 1).backward(g, create_graph=True)
    g.zero_()
    assert x.grad.tolist() == [1.0, 2.0]


def backward_with_create_graph_warns():
    """backward(create_graph=True) warns of the cycle it makes; autograd.grad gives the same without.

    Rule: double/create-graph-cycle-warns. Source: seed 002_5576f5c856adb572.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with warned("double/create-graph-cycle-warns"):
        y.backward(create_graph=True)
    assert x.grad.requires_grad is True


# -- zeros without memory --------------------------------------------------------------------------
def the_second_derivative_of_abs_has_no_memory():
    """The gradient of a sign is zeros that cannot be listed, and so are views of them and products with them.

    Rules: op/gradient-of-sign-has-no-memory, op/zeros-are-not-read, op/zeros-pass-on.
    """
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    with refused("op/zeros-are-not-read"):
        h.tolist()
    with refused("op/zeros-are-not-read"):
        h.view(2, 1).tolist()
    with refused("op/zeros-are-not-read"):
        h.mul(x.detach()).tolist()
    assert h.add(1.0).tolist() == [1.0, 1.0]
    assert h.clone().tolist() == [0.0, 0.0]
    assert torch.tensor([True, False]).sub(h).tolist() == [1.0, 0.0]
    p = torch.nn.Parameter(torch.ones(2))
    p.data = h
    with refused("op/zeros-are-not-read"):
        p.tolist()


def zeros_without_memory_are_not_accumulated_into():
    """A grad without memory is handed out once and cannot be added to. Rule: write/zeros-without-memory."""
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    g.sum().backward()
    y = x * 2
    with refused("write/zeros-without-memory"):
        y.sum().backward()
    x.grad = None
    z = x * 2
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def zeros_without_memory_are_not_squeezed_by_name():
    """In place they are squeezed as a whole, and unsqueezed, but not squeezed along a dimension.

    Rule: write/zeros-without-memory.
    """
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.unsqueeze_(0).shape == (1, 2)
    with refused("write/zeros-without-memory"):
        h.squeeze_(0)
    with refused("write/zeros-without-memory"):
        h.squeeze_((1,))
    assert h.squeeze_().shape == (2,)


def zeros_without_memory_are_laid_out_by_rows():
    """Their sum is, also where there is no element, so that no layout is warned of.

    Rules: op/zeros-pass-on, grad/layout-warns.
    """
    x = torch.tensor([], requires_grad=True)
    ones = torch.ones_like(x)
    (g,) = torch.autograd.grad(x.abs(), x, ones, create_graph=True)
    g.backward(ones)
    with warned("double/create-graph-cycle-warns"):
        x.backward(x.grad, create_graph=True)
    assert x.grad.stride() == (1,)


def a_quotient_by_a_count_has_memory():
    """The zeros that the second derivative of abs is come out of a mean as ordinary ones.

    Rule: op/zeros-pass-on.
    """
    x = torch.tensor([1.0, -3.0], requires_grad=True)
    y = x.mean()
    (g,) = torch.autograd.grad(y.abs(), y, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert h.tolist() == [0.0, 0.0]


def zeros_without_memory_give_no_layout():
    """They have strides, and what is computed of them does not: it is laid out as if they had none.

    Rule: op/zeros-pass-on.
    """
    x = torch.tensor([[1.0, -3.0], [2.0, 4.0]], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    z = h.t()
    assert z.stride() == (1, 2) and z.clone().stride() == (1, 2)
    assert z.sin().stride() == (2, 1) and z.mul(z).stride() == (2, 1)
    assert h.maximum(x.detach().t()).stride() == (1, 2)


def zeros_without_memory_that_are_leaves_refuse_as_leaves():
    """Recorded, a write is refused for the leaf; under no_grad for the memory that is not there.

    Rules: write/leaf-refused, write/zeros-without-memory.
    """
    x = torch.tensor([1.0], requires_grad=True)
    (z,) = torch.autograd.grad(x.sgn(), x, torch.ones(1))
    z.requires_grad_()
    with refused("write/leaf-refused"):
        z.add_(1)
    with torch.no_grad():
        with refused("write/zeros-without-memory"):
            z.add_(1)
