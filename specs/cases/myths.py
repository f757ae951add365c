"""False claims in circulation, each with the shortest program that refutes it."""

import torch

from specs.case import refused


def myth_leaves_have_nothing_to_do_with_populating_grad():
    """Myth: "leaves don't really have to do with populating grad; requires_grad is what governs that".

    Both x and y require grad, only the leaf is filled.
    rule: grad/only-leaves-are-filled. Source: seed 000_725a8afb72183ef2.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.sum().backward()
    assert x.requires_grad is True and y.requires_grad is True
    assert x.grad.tolist() == [2.0, 2.0]
    assert y.grad is None


def myth_plain_tensors_have_a_grad_fn_that_is_visited():
    """Myth: "the grad_fn of every tensor visited, even those with requires_grad False, is used".

    A tensor that does not require grad has no grad_fn, and the edge to it leads nowhere.
    rules: leaf/no-history-without-requires-grad, leaf/edges-end-in-accumulators.
    Source: seed 000_725a8afb72183ef2.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([3.0, 4.0]) * 2
    y = x * c
    assert c.grad_fn is None
    assert y.grad_fn.next_functions[1][0] is None


def myth_only_non_leaves_can_call_backward():
    """Myth: "only non-leaf tensors (grad_fn != None) can call backward()".

    A leaf that requires grad can; what cannot is a tensor that does not require grad.
    rules: backward/leaf-root, backward/root-needs-grad. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor(7.0, requires_grad=True)
    assert x.grad_fn is None
    x.backward()
    assert x.grad.item() == 1.0
    c = torch.tensor(7.0)
    with refused("backward/root-needs-grad"):
        c.backward()


def myth_grad_outputs_none_means_ones():
    """Myth: "grad_outputs: if left None, will use all ones".

    For an output of one element only; for others it is refused.
    rule: backward/implicit-needs-scalar. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("backward/implicit-needs-scalar"):
        torch.autograd.grad(y, x)
    g = torch.autograd.grad(y.sum(), x)[0]
    assert g.tolist() == [2.0, 2.0]


def myth_a_leaf_is_never_an_ops_result():
    """Myth: "any output tensor yielded from any operation is not leaf node".

    A result of plain tensors is a leaf, and so is one made under no_grad.
    rules: leaf/no-history-without-requires-grad, mode/no-grad-records-nothing.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0)
    b = a * a
    x = torch.tensor(2.0, requires_grad=True)
    with torch.no_grad():
        y = x * x
    assert b.is_leaf is True and y.is_leaf is True


def myth_the_method_frees_a_non_leaf_of_its_flag():
    """Myth: "requires_grad_ can do for non-leaf node, while requires_grad will have error".

    Neither drops the flag. True, which says nothing new, is taken by the method and refused to the attribute.
    rules: requires_grad/non-leaf-cannot-drop, requires_grad/only-leaf-flags-assigned.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("requires_grad/non-leaf-cannot-drop"):
        y.requires_grad_(False)
    with refused("requires_grad/non-leaf-cannot-drop"):
        y.requires_grad = False
    y.requires_grad_(True)
    with refused("requires_grad/only-leaf-flags-assigned"):
        y.requires_grad = True


def myth_retain_grad_is_for_non_leaves_only():
    """Myth: "x must be a non-leaf tensor to call" retain_grad().

    A leaf that requires grad takes the call and nothing happens.
    rule: retain/leaf-is-noop. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.retain_grad()
    x.sum().backward()
    assert x.retains_grad is False and x.grad.tolist() == [1.0, 1.0]


def myth_a_write_always_breaks_backward():
    """Myth: "the in-place operation will cause an error" in backward.

    Only where a saved tensor was written to.
    rule: save/only-what-a-formula-needs. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y + 1
    y += 1
    z += 1
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def myth_intermediate_gradients_are_not_computed():
    """Myth: "since c is not a leaf, de/dc doesn't need to be computed".

    It is computed and passed on, just not stored: asked for, it is there.
    rules: grad_call/non-leaf-input, grad/only-leaves-are-filled. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    c = a * 3
    e = c * 4
    g, h = torch.autograd.grad(e, [c, a])
    assert g.item() == 4.0 and h.item() == 12.0
