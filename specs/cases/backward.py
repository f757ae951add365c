"""Roots, gradient=, inputs= and the life of the graph; the order of nodes lives in backward_order."""

import torch

from specs.case import refused


def root_must_require_grad():
    """backward() of a tensor that does not require grad is refused.

    Rule: backward/root-needs-grad. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0])
    with refused("backward/root-needs-grad"):
        x.backward()
    y = x * 2
    with refused("backward/root-needs-grad"):
        y.backward()
    with refused("backward/root-needs-grad"):
        torch.autograd.grad(y, x)


def every_root_must_require_grad():
    """One root that does not require grad is enough; nothing is filled. Rule: backward/root-needs-grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([1.0])
    with refused("backward/root-needs-grad"):
        torch.autograd.backward([x.sum(), c])
    assert x.grad is None


def root_of_one_element_starts_from_one():
    """A root of one element needs no gradient, whatever its number of dimensions.

    Rule: backward/implicit-one. Source: seed 003_08ed0c2a945abd78.txt, seed 004_fc81070469924520.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor([[3.0]], requires_grad=True)
    c = a * b
    c.retain_grad()
    c.backward()
    assert c.grad.tolist() == [[1.0]]
    assert a.grad.item() == 3.0 and b.grad.tolist() == [[2.0]]


def root_of_many_elements_needs_a_gradient():
    """A root of two elements without gradient= is refused, leaf or not.

    Rule: backward/implicit-needs-scalar. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("backward/implicit-needs-scalar"):
        y.backward()
    with refused("backward/implicit-needs-scalar"):
        x.backward()
    with refused("backward/implicit-needs-scalar"):
        torch.autograd.grad(y, x)
    assert x.grad is None


def complex_root_needs_a_gradient():
    """A complex root of one element without gradient= is refused. Rule: backward/implicit-needs-real."""
    c = torch.tensor([1.0 + 1.0j, 2.0], dtype=torch.complex128, requires_grad=True)
    s = c.sum()
    with refused("backward/implicit-needs-real"):
        s.backward()
    s.backward(torch.tensor(1.0 + 0.0j, dtype=torch.complex128))
    assert c.grad.tolist() == [1.0 + 0.0j, 1.0 + 0.0j]


def gradient_is_the_upstream_gradient():
    """With d(out)/d(y) passed as gradient=, the leaf gets d(out)/d(x).

    Rule: backward/gradient-is-upstream. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.backward(gradient=torch.tensor([0.5, 3.0]))
    assert x.grad.tolist() == [1.0, 12.0]


def gradient_of_a_scalar_root_counts_too():
    """A gradient given for a root of one element replaces the implicit 1.

    Rule: backward/gradient-is-upstream.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    s = x.sum()
    s.backward(torch.tensor(4.0))
    assert x.grad.tolist() == [4.0, 4.0]


def gradient_must_have_the_roots_shape():
    """A gradient is not broadcast to the root. Rule: backward/gradient-shape."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("backward/gradient-shape"):
        y.backward(torch.tensor([1.0, 1.0, 1.0]))
    with refused("backward/gradient-shape"):
        y.backward(torch.tensor(1.0))
    s = y.sum()
    with refused("backward/gradient-shape"):
        s.backward(torch.tensor([1.0]))
    assert x.grad is None


def complex_gradient_needs_a_complex_root():
    """Complex and real do not mix between a root and its gradient. Rule: backward/gradient-complex-dtype."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.sum()
    with refused("backward/gradient-complex-dtype"):
        y.backward(torch.tensor(1.0 + 0.0j))
    c = torch.tensor([1.0 + 1.0j], dtype=torch.complex128, requires_grad=True)
    with refused("backward/gradient-complex-dtype"):
        c.backward(torch.tensor([1.0], dtype=torch.float64))


def gradient_is_cast_to_the_roots_dtype():
    """A float64 or integer gradient of a float32 root is cast. Rule: backward/gradient-is-cast."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.backward(torch.tensor([1.0, 3.0], dtype=torch.float64))
    assert y.grad.dtype == torch.float32 and x.grad.dtype == torch.float32
    assert x.grad.tolist() == [2.0, 6.0]
    z = x.sum()
    z.backward(torch.tensor(2))
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [4.0, 8.0]


def each_root_needs_its_gradient():
    """Fewer gradients than roots are refused, surplus ones dropped. Rule: backward/gradients-count."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = x * 3
    g = torch.tensor([1.0, 1.0])
    with refused("backward/gradients-count"):
        torch.autograd.backward([y, z], [g])
    with refused("backward/gradients-count"):
        torch.autograd.backward([y, z], g)
    assert x.grad is None
    torch.autograd.backward([y, z], [g, g, g])
    assert x.grad.tolist() == [5.0, 5.0]


def gradient_must_be_a_tensor():
    """Numbers are no gradients. Rules: backward/gradient-type, backward/not-iterable."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("backward/gradient-type"):
        y.backward([1.0, 1.0])
    with refused("backward/not-iterable"):
        y.backward(3)
    assert x.grad is None


def roots_and_inputs_must_be_tensors():
    """A number is neither a root nor an input, alone or in a list.

    Rules: backward/not-iterable, backward/root-type, backward/inputs-type.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    s = x.sum()
    with refused("backward/not-iterable"):
        torch.autograd.backward(3)
    with refused("backward/root-type"):
        torch.autograd.backward([3])
    with refused("backward/inputs-type"):
        s.backward(inputs=[3])
    with refused("backward/inputs-type"):
        torch.autograd.grad(s, [3])
    assert x.grad is None


def second_backward_is_refused():
    """Without retain_graph what was saved is given up, and the second backward refused.

    Rules: backward/frees-saved, save/freed-refused. Source: seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a
    b.retain_grad()
    b.backward()
    with refused("save/freed-refused"):
        b.backward()
    assert a.grad.tolist() == [6.0]


def nodes_that_save_nothing_run_again():
    """A graph of additions can be run twice without retain_graph.

    Rules: backward/frees-saved, save/only-what-a-formula-needs.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x + x).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0]


def grad_frees_like_backward():
    """autograd.grad gives up what was saved, too. Rules: backward/frees-saved, save/freed-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    torch.autograd.grad(y, x)
    with refused("save/freed-refused"):
        torch.autograd.grad(y, x)


def retain_graph_keeps_the_graph():
    """With retain_graph=True the same graph can be run again.

    Rule: backward/retain-graph-keeps. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
    with refused("save/freed-refused"):
        y.backward()


def retain_graph_follows_create_graph():
    """create_graph=True retains the graph unless retain_graph says otherwise.

    Rule: backward/retain-follows-create-graph.
    Source: seed 002_5576f5c856adb572.txt, seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    torch.autograd.grad(y, x, create_graph=True)
    y.backward(create_graph=True, retain_graph=False)
    assert x.grad.tolist() == [2.0, 4.0]
    with refused("save/freed-refused"):
        y.backward()


def backward_keeps_the_graph_beside_the_one_it_creates():
    """After backward(create_graph=True), too, the same graph can run again.

    Rule: backward/retain-follows-create-graph.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward(create_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]


def an_op_outside_the_loop_fails_the_second_time():
    """f = w * x outside the loop belongs to the first graph, which is freed; inside it is recorded anew.

    Rules: backward/frees-saved, save/freed-refused. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.tensor([2.0], requires_grad=True)
    x = torch.tensor([1.0, 2.0])
    f = w * x
    f.sum().backward()
    loss = f.sum()
    with refused("save/freed-refused"):
        loss.backward()
    f = w * x
    f.sum().backward()
    assert w.grad.tolist() == [6.0]


def a_leaf_can_be_the_root():
    """A scalar leaf's backward gives 1, 2, 3 over three calls.

    Rules: backward/leaf-root, backward/implicit-one. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor(7.0, requires_grad=True)
    assert x.grad is None and x.is_leaf is True
    x.backward()
    assert x.grad.item() == 1.0
    x.backward()
    assert x.grad.item() == 2.0
    x.backward()
    assert x.grad.item() == 3.0 and x.is_leaf is True


def a_leaf_root_takes_a_gradient():
    """A leaf of many elements is a root like any other. Rule: backward/leaf-root."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.backward(torch.tensor([3.0, 4.0]))
    assert x.grad.tolist() == [3.0, 4.0]
    g = torch.autograd.grad(x, x, torch.tensor([5.0, 6.0]))[0]
    assert g.tolist() == [5.0, 6.0]


def complex_gradient_of_a_real_operand_is_refused():
    """fill_ of a complex tensor with a real one: the gradient of the latter would be complex.

    Rule: backward/gradient-complexity.
    """
    x = torch.tensor(2.0, requires_grad=True)
    f = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j])
    f.fill_(x)
    with refused("backward/gradient-complexity"):
        f.backward(torch.tensor([1.0 + 0.0j, 1.0 + 0.0j]))
    assert x.grad is None
