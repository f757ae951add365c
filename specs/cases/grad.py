"""The values that land in .grad and how they accumulate; assigning it lives in grad_assign."""

import torch

from specs.case import warned


def only_leaves_are_filled():
    """backward fills the leaf, the non-leaf keeps None.

    Rule: grad/only-leaves-are-filled. Source: seed 002_5576f5c856adb572.txt, seed 000_725a8afb72183ef2.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a
    b.backward()
    assert a.grad.tolist() == [6.0]
    assert b.grad is None


def reading_a_non_leafs_grad_warns():
    """Reading .grad of a non-leaf gives None and a warning.

    Rule: grad/non-leaf-read-warns. Source: seed 001_ab61d14c9099960f.txt, seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a
    with warned("grad/non-leaf-read-warns"):
        g = b.grad
    assert g is None


def plain_operand_gets_no_grad():
    """loss = 10 - (a @ b).sum(): a is filled, b, which does not require grad, is not.

    Rule: grad/plain-leaves-get-none. Source: seed 000_725a8afb72183ef2.txt.
    """
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    b = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    loss = 10 - (a @ b).sum()
    loss.backward()
    assert a.grad.tolist() == [[-6.0, -15.0], [-6.0, -15.0], [-6.0, -15.0]]
    assert b.grad is None


def plain_weight_gets_no_grad():
    """w is a leaf but does not require grad, so it gets none.

    Rule: grad/plain-leaves-get-none. Source: seed 000_725a8afb72183ef2.txt.
    """
    x = torch.tensor(1.0, requires_grad=True)
    w = torch.tensor(3.0)
    o = x * w
    o.backward()
    assert w.is_leaf is True and w.grad is None
    assert x.grad.item() == 3.0


def dropping_the_flag_before_backward_keeps_the_grad_away():
    """A leaf that no longer requires grad when its gradient arrives gets none.

    Rule: grad/needs-the-flag-on-arrival.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    assert y.requires_grad is True
    assert x.grad is None


def grads_accumulate():
    """Three backwards through one graph give 6, 12, 18.

    Rules: grad/accumulates, backward/retain-graph-keeps. Source: seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a
    b.retain_grad()
    b.backward(retain_graph=True)
    assert a.grad.tolist() == [6.0]
    b.backward(retain_graph=True)
    assert a.grad.tolist() == [12.0]
    b.backward(retain_graph=False)
    assert a.grad.tolist() == [18.0]


def grads_accumulate_over_graphs():
    """Gradients of different graphs add up as well. Rule: grad/accumulates."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]


def grads_accumulate_in_place():
    """Other references to .grad see what a further backward adds. Rule: grad/accumulates-in-place."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.sum().backward()
    g = x.grad
    (x * 3).sum().backward()
    assert g is x.grad
    assert g.tolist() == [4.0, 4.0]


def lone_gradient_is_stolen():
    """.grad takes over a gradient that is a view of the given tensor and that nobody holds, memory and all.

    Rule: grad/stolen-when-alone.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = torch.tensor([[1.0], [2.0]])
    x.view(2, 1).backward(g)
    assert x.grad.tolist() == [1.0, 2.0]
    g.zero_()
    assert x.grad.tolist() == [0.0, 0.0]


def held_gradient_is_copied():
    """.grad does not share memory with the tensor passed as gradient=. Rule: grad/copied-when-shared."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = torch.tensor([1.0, 2.0])
    x.backward(g)
    g.zero_()
    assert x.grad.tolist() == [1.0, 2.0]


def gradient_of_two_leaves_is_copied_for_both():
    """x and u of x + u get the same gradient, and yet their .grad do not share memory.

    Rule: grad/copied-when-shared.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    g = torch.tensor([5.0, 6.0])
    (x + u).backward(g)
    h = x.grad
    h.zero_()
    assert u.grad.tolist() == [5.0, 6.0] and g.tolist() == [5.0, 6.0]


def gradient_that_a_hook_keeps_is_copied():
    """Also where the accumulator has a hook of its own that runs before it.

    Rule: grad/copied-when-shared.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    kept = []
    x.register_hook(lambda g: kept.append(g))
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda g: None)
    y.backward(torch.tensor([1.0, 1.0]))
    kept[0].zero_()
    assert x.grad.tolist() == [3.0, 3.0]


def gradient_of_other_layout_is_copied():
    """A transposed gradient is copied into the leaf's own layout. Rule: grad/copied-when-layout-differs."""
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    g = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    m.t().backward(g)
    g.zero_()
    assert m.grad.tolist() == [[1.0, 3.0], [2.0, 4.0]]


def uses_are_summed():
    """A leaf used several times gets the sum over its uses.

    Rule: grad/sums-paths. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    z = x * 4
    w = y + z + x
    w.sum().backward()
    assert x.grad.tolist() == [8.0, 8.0]


def uses_of_a_result_are_summed_before_it_runs():
    """A result used twice sends one summed gradient on.

    Rule: grad/sums-paths. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = y * y + y
    z.sum().backward()
    assert x.grad.tolist() == [6.0, 36.0]


def chain_of_products():
    """a = 2, b = 3, c = a*b, d = 4, e = c*d: the gradients are 12, 8 and 6.

    Rules: grad/only-leaves-are-filled, leaf/op-result-is-no-leaf. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    c = a * b
    d = torch.tensor(4.0, requires_grad=True)
    e = c * d
    e.backward()
    assert a.grad.item() == 12.0
    assert b.grad.item() == 8.0
    assert d.grad.item() == 6.0
    assert c.grad is None and e.grad is None


def the_long_example():
    """c becomes a leaf that requires grad, h and i are used twice, i retains its gradient, m is detached.

    Rules: grad/sums-paths, grad/plain-leaves-get-none, retain/fills-grad, detach/cuts,
    requires_grad/flag-is-set-in-place. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0)
    b = torch.tensor(2.0)
    c = a * b
    assert c.requires_grad is False
    c.requires_grad = True
    d = torch.tensor(2.0)
    e = c * d
    f = torch.tensor(2.0)
    g = e * f
    h = torch.tensor(2.0, requires_grad=True)
    i = g / h
    i.retain_grad()
    j = i + h
    k = j * i
    assert k.item() == 80.0 and k.is_leaf is False
    assert k.grad_fn.name() == "MulBackward0" and j.grad_fn.name() == "AddBackward0"
    assert i.grad_fn.name() == "DivBackward0"
    k.backward()
    m = k.detach()
    assert i.grad.item() == 18.0
    assert c.grad.item() == 36.0
    assert h.grad.item() == -64.0
    assert a.grad is None and b.grad is None and d.grad is None and f.grad is None
    assert m.item() == 80.0 and m.is_leaf is True and m.grad_fn is None


def broadcast_operands_get_grads_of_their_shape():
    """The gradient of what was broadcast is summed back to its shape. Rule: grad/reduces-broadcast."""
    s = torch.tensor([[1.0], [2.0]], requires_grad=True)
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    c = torch.tensor(2.0, requires_grad=True)
    y = s * x * c
    y.sum().backward()
    assert s.grad.tolist() == [[12.0], [12.0]]
    assert x.grad.tolist() == [6.0, 6.0, 6.0]
    assert c.grad.item() == 18.0


def grads_have_the_leafs_dtype():
    """A float32 leaf in float64 arithmetic gets a float32 gradient. Rule: grad/casts-to-leaf-dtype."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    y = x * a
    assert y.dtype == torch.float64
    y.sum().backward()
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [3.0, 4.0]
    assert a.grad.dtype == torch.float64


def a_grad_is_a_leaf_that_requires_none():
    """The gradient itself is a tensor, a leaf, and requires no grad.

    Rule: double/plain-without. Source: seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a
    b.retain_grad()
    b.backward()
    assert a.grad.requires_grad is False and a.grad.is_leaf is True
    assert b.grad.requires_grad is False and b.grad.is_leaf is True


def a_grad_is_a_plain_tensor():
    """The grad of a leaf and a retained one are tensors: leaves that neither require nor retain a grad.

    Rules: double/plain-without, retain/fills-grad. Source: seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a
    b.retain_grad()
    b.backward()
    assert isinstance(a.grad, torch.Tensor) and isinstance(b.grad, torch.Tensor)
    assert a.grad.requires_grad is False and a.grad.retains_grad is False and a.grad.is_leaf is True
    assert b.grad.requires_grad is False and b.grad.retains_grad is False and b.grad.is_leaf is True


def a_gradient_that_a_hook_saw_is_taken_over():
    """A hook behind the end of the graph is shown the gradient afterwards, which does not make it shared.

    Rule: grad/stolen-when-alone.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    seen = []
    y.grad_fn.next_functions[0][0].register_hook(lambda before, behind: seen.append(behind[0]))
    y.sum().backward()
    assert x.grad._version == 0
    x.grad.add_(1)
    assert seen[0].tolist() == [3.0, 3.0]


def a_copied_first_gradient_has_been_written():
    """A copy begins at version 1, a gradient that was taken over at 0.

    Rules: grad/copied-when-shared, grad/copied-when-layout-differs, grad/stolen-when-alone.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = torch.tensor([3.0, 4.0])
    x.backward(g)
    assert x.grad._version == 1 and g._version == 0
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    (y * 2).sum().backward()
    assert y.grad._version == 0
    z = torch.tensor([1.0, 2.0], requires_grad=True)
    z.sum().backward()
    assert z.grad._version == 1


def infinite_complex_gradients_are_multiplied_by_one():
    """A zero beside infinity is nan where two of them meet. Rule: grad/sums-paths."""
    x = torch.tensor([complex(1.0, 1.0)], requires_grad=True)
    g = torch.tensor([complex(float("inf"), 0.0)])
    h = torch.tensor([1j])
    torch.autograd.backward([x.clone(), x.clone()], [g, h])
    assert str(x.grad.tolist()) == "[(inf+nanj)]"
    y = torch.tensor([complex(1.0, 1.0)], requires_grad=True)
    torch.autograd.backward([y.clone(), y.clone()], [h, h])
    assert y.grad.tolist() == [2j]
