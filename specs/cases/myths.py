"""False claims in circulation, each with the shortest program that refutes it."""

import torch

from specs.case import refused


def myth_leaves_have_nothing_to_do_with_populating_grad():
    """Myth: "leaves don't really have to do with populating grad; requires_grad is what governs that".

    Both x and y require grad, only the leaf is filled.
    Rule: grad/only-leaves-are-filled. Source: seed 000_725a8afb72183ef2.txt.
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
    Rules: leaf/no-history-without-requires-grad, leaf/edges-end-in-accumulators.
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
    Rules: backward/leaf-root, backward/root-needs-grad. Source: seed 001_ab61d14c9099960f.txt.
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
    Rule: backward/implicit-needs-scalar. Source: seed 001_ab61d14c9099960f.txt.
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
    Rules: leaf/no-history-without-requires-grad, mode/no-grad-records-nothing.
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
    Rules: requires_grad/non-leaf-cannot-drop, requires_grad/only-leaf-flags-assigned.
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
    Rule: retain/leaf-is-noop. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.retain_grad()
    x.sum().backward()
    assert x.retains_grad is False and x.grad.tolist() == [1.0, 1.0]


def myth_a_write_always_breaks_backward():
    """Myth: "the in-place operation will cause an error" in backward.

    Only where a saved tensor was written to.
    Rule: save/only-what-a-formula-needs. Source: seed 003_08ed0c2a945abd78.txt.
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
    Rules: grad_call/non-leaf-input, grad/only-leaves-are-filled. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    c = a * 3
    e = c * 4
    g, h = torch.autograd.grad(e, [c, a])
    assert g.item() == 4.0 and h.item() == 12.0


def myth_a_leaf_gets_a_grad_without_requiring_one():
    """Myth: a leaf's grad is filled by backward although its requires_grad is False.

    What is filled requires grad and is a leaf: either alone is not enough.
    Rules: grad/plain-leaves-get-none, grad/only-leaves-are-filled. Source: seed 000_725a8afb72183ef2.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0])
    y = x * w
    y.sum().backward()
    assert w.is_leaf is True and w.grad is None
    assert y.requires_grad is True and y.grad is None
    assert x.grad.tolist() == [3.0, 4.0]


def myth_a_leafs_grad_is_none_for_being_a_leaf():
    """Myth: a weight's "grad is None as it is a leaf".

    It is None because no backward has come by.
    Rule: grad/only-leaves-are-filled. Source: seed 000_725a8afb72183ef2.txt.
    """
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    assert w.is_leaf is True and w.grad is None
    w.sum().backward()
    assert w.is_leaf is True and w.grad.tolist() == [1.0, 1.0]


def myth_a_leaf_requires_grad():
    """Myth: leaves are the tensors that require grad.

    All that do not require grad are leaves as well.
    Rules: leaf/no-history-without-requires-grad, detach/cuts.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([1.0]) * 2
    d = (x * 2).detach()
    assert c.is_leaf is True and c.requires_grad is False
    assert d.is_leaf is True and d.requires_grad is False


def myth_backward_starts_from_zero():
    """Myth: each backward() sets .grad anew.

    It adds to what is there.
    Rule: grad/accumulates.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def myth_the_flag_of_a_result_stops_gradients():
    """Myth: y.requires_grad = False in the middle of a graph stops gradients there.

    It is refused; detach() is what stops them.
    Rules: requires_grad/non-leaf-cannot-drop, detach/cuts.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("requires_grad/non-leaf-cannot-drop"):
        y.requires_grad = False
    (y.detach() * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def myth_dropping_the_flag_forgets_the_past():
    """Myth: setting requires_grad=False on a leaf takes it out of what was recorded.

    The graph stays; the leaf takes nothing while the flag is down, and takes it again when it is up.
    Rule: grad/needs-the-flag-on-arrival.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2).sum()
    x.requires_grad_(False)
    assert y.requires_grad is True
    y.backward(retain_graph=True)
    assert x.grad is None
    x.requires_grad_(True)
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def myth_leaves_cannot_be_written_to():
    """Myth: a leaf that requires grad can never be written to.

    Under no_grad it can, and stays a leaf; that is how optimizers work.
    Rules: write/leaf-refused, write/allowed-under-no-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("write/leaf-refused"):
        x.add_(1)
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0]
    assert x.is_leaf is True and x.requires_grad is True


def myth_no_grad_protects_leaves():
    """Myth: what is written under no_grad does not matter to autograd.

    It is counted like any write: what had saved the leaf refuses to go on.
    Rules: write/allowed-under-no-grad, save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with torch.no_grad():
        x.mul_(2)
    with refused("save/modified-refused"):
        y.backward()


def myth_retained_grads_are_the_leafs_business():
    """Myth: retain_grad() must come before the operation.

    Any time before backward will do.
    Rule: retain/fills-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    y.retain_grad()
    z.backward()
    assert y.grad.tolist() == [4.0, 8.0]
