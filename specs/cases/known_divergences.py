"""Behaviour of torch that its issue tracker calls a defect, stated as torch does it in
the releases that the rules are for; the reference does the same.

Where a rule says otherwise than torch does, the rule has its departure (retain/moves-by-its-own-number); a
crash has its record in known.toml.
"""

import torch

from specs.case import refused
from specs.cases._functions import KeepsOnCtx, Written


def retained_grad_of_a_view_that_nobody_uses():
    """A view that retains its grad is left with none if its base is edited, and differentiated, later.

    Rules: retain/fills-grad, write/rewrites-the-base, view/stale-regenerates. Source: issue pytorch#8874.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    v = b[:1]
    v.retain_grad()
    b.mul_(3)
    b.sum().backward()
    assert v.retains_grad is True
    assert v.grad is None
    assert x.grad.tolist() == [3.0, 3.0]


def retained_grad_of_a_view_that_is_used():
    """The same view retains its grad where it is used itself, before the base is edited or after.

    Rules: retain/moves-with-write, view/stale-regenerates. Source: issue pytorch#8874.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    v = b[:1]
    v.retain_grad()
    b.mul_(3)
    y = v * 5
    y.sum().backward()
    assert v.grad.tolist() == [5.0]
    assert x.grad.tolist() == [15.0, 0.0]


def grads_that_share_memory():
    """Two leaves take pieces of one gradient for their grad, so that a write to it changes both.

    Rule: grad/stolen-when-alone. Source: issue pytorch#34082.
    """
    x = torch.tensor([1.0], requires_grad=True)
    y = torch.tensor([1.0], requires_grad=True)
    g = torch.tensor([1.0, 1.0])
    torch.cat([x, y]).backward(g)
    g.add_(7)
    assert x.grad.tolist() == [8.0]
    assert y.grad.tolist() == [8.0]


def grad_does_not_know_a_leaf_that_was_set():
    """After set_() backward through an older graph fills the grad, and grad() says the leaf is unused.

    Rule: resize/set-begins-a-new-end. Source: issue pytorch#110780.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x + 0).sum()
    with torch.no_grad():
        x.set_(torch.tensor([3.0, 4.0]))
    (g,) = torch.autograd.grad(y, x, retain_graph=True, allow_unused=True)
    assert g is None
    y.backward()
    assert x.grad.tolist() == [1.0, 1.0]
    (h,) = torch.autograd.grad((x + 0).sum(), x)
    assert h.tolist() == [1.0, 1.0]


def hooks_of_a_leaf_s_end_are_gone_when_it_is_set():
    """Hooks registered on the node stay with the old one; the tensor's own hooks are called.

    Rule: resize/set-begins-a-new-end. Source: issue pytorch#139742.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda x: seen.append("after"))
    node = torch.autograd.graph.get_gradient_edge(x).node
    node.register_hook(lambda *grads: seen.append("node"))
    with torch.no_grad():
        x.set_(torch.tensor([3.0, 4.0]))
    x.sum().backward()
    assert seen == ["tensor", "after"]


def intermediates_kept_on_ctx():
    """A tensor that forward keeps on ctx has no history, so the second derivative is silently wrong.

    Of exp(x) ** 2 with exp(x) kept, the second derivative at 0 is 2, and not 4.

    Rule: function/forward-records-nothing. Source: issue pytorch#76185.
    """
    x = torch.tensor([0.0], requires_grad=True)
    y = KeepsOnCtx.apply(x)
    (g,) = torch.autograd.grad(y * y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert g.tolist() == [2.0]
    assert h.tolist() == [2.0]


def a_view_of_a_leaf_marked_dirty():
    """Refused, as every write to a view of a leaf is, and has been done by then; torch 2.6 let it pass.

    Rules: write/view-of-leaf-refused, function/forward-records-nothing. Source: issue pytorch#152773.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = x[:1]
    with refused("write/view-of-leaf-refused"):
        Written.apply(v)
    assert x.tolist() == [2.0, 2.0]
    assert x._version == 2
