"""Hooks of nodes and leaves one after the other, and what a backward restores of what they change."""

import torch

from specs.case import refused
from specs.cases._functions import Pair


def prehooks_of_a_node_follow_one_another():
    """Each is given what the one before gave; None leaves that as it is, and a removed one is passed over.

    Rules: hook/before-node-replaces, hook/in-order-of-registration.
    """
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 3
    seen = []
    node = y.grad_fn
    node.register_prehook(lambda grads: (grads[0] * 2,))
    node.register_prehook(lambda grads: seen.append(grads[0].item()))
    third = node.register_prehook(lambda grads: (grads[0] + 1,))
    node.register_prehook(lambda grads: (grads[0] * 10,))
    y.backward(retain_graph=True)
    assert seen == [2.0] and x.grad.tolist() == [90.0]
    third.remove()
    y.backward()
    assert seen == [2.0, 2.0] and x.grad.tolist() == [150.0]


def hooks_behind_a_node_follow_one_another():
    """Each is given what the one before gave, and the gradients that arrived, by then replaced.

    Rules: hook/after-node-replaces, hook/in-order-of-registration.
    """
    x = torch.tensor([2.0], requires_grad=True)
    w = torch.tensor([5.0], requires_grad=True)
    y = x * w
    seen = []
    node = y.grad_fn
    node.register_prehook(lambda grads: (grads[0] * 2,))
    node.register_hook(lambda out, grads: (out[0] + 1, None))
    node.register_hook(lambda out, grads: seen.append((out[0].item(), out[1], grads[0].item(), len(grads))))
    last = node.register_hook(lambda out, grads: (out[0] * 10, out[1]))
    y.backward(retain_graph=True)
    assert seen == [(11.0, None, 2.0, 1)]
    assert x.grad.tolist() == [110.0] and w.grad is None
    last.remove()
    y.backward()
    assert x.grad.tolist() == [121.0] and len(seen) == 2


def an_accumulator_has_hooks_as_well():
    """A prehook may change what is accumulated; a hook behind gets nothing out, and what came in.

    Rules: hook/before-node-replaces, hook/post-accumulate-sees-the-grad.
    """
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 3
    end = y.grad_fn.next_functions[0][0]
    seen = []
    x.register_hook(lambda g: g + 1)
    end.register_prehook(lambda grads: (grads[0] * 2,))
    end.register_hook(lambda out, grads: seen.append((out, grads[0].item())))
    first = x.register_post_accumulate_grad_hook(lambda leaf: seen.append(("grad", leaf.grad.item())))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append("second"))
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [8.0] and seen == [("grad", 8.0), "second", ((), 8.0)]
    first.remove()
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [16.0] and seen[3:] == ["second", ((), 8.0)]
    (g,) = torch.autograd.grad(y, x)
    assert g.tolist() == [4.0] and len(seen) == 5 and x.grad.tolist() == [16.0]


def hooks_of_each_output_see_their_own_gradient():
    """Of a node with several; grad() calls them for what it captures, and for nothing beyond.

    Rules: hook/result-replaces, hook/once-for-each-gradient, grad_call/only-needed-nodes-run.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    h = x * 1
    a, b = h.unbind()
    seen = []
    x.register_hook(lambda g: seen.append(("x", g.tolist())))
    h.register_hook(lambda g: seen.append(("h", g.tolist())))
    a.register_hook(lambda g: (seen.append(("a", g.item())), g * 2)[1])
    b.register_hook(lambda g: (seen.append(("b", g.item())), g * 10)[1])
    (a * 3 + b * 4).backward(retain_graph=True)
    assert seen == [("a", 3.0), ("b", 4.0), ("h", [6.0, 40.0]), ("x", [6.0, 40.0])]
    assert x.grad.tolist() == [6.0, 40.0]
    (g,) = torch.autograd.grad(a * 3 + b * 4, h, retain_graph=True)
    assert g.tolist() == [6.0, 40.0] and seen[4:] == [("a", 3.0), ("b", 4.0), ("h", [6.0, 40.0])]
    c = (h * 5).sum()
    gh, gc = torch.autograd.grad(c, (h, c))
    assert gh.tolist() == [5.0, 5.0] and gc.item() == 1.0 and seen[7:] == [("h", [5.0, 5.0])]


def a_backward_leaves_modes_as_they_were():
    """Grad mode, and hooks of saved tensors, that a hook switches on or leaves, end with the backward.

    Rules: double/create-graph-decides-the-mode, hook/result-replaces, saved_hooks/pack-and-unpack.
    """
    x = torch.tensor([2.0], requires_grad=True)
    packed = []
    context = torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t)
    y = x * 3
    modes = []
    y.register_hook(lambda g: modes.append(torch.is_grad_enabled()))
    y.register_hook(lambda g: torch.set_grad_enabled(not torch.is_grad_enabled()) and None)
    y.register_hook(lambda g: context.__enter__())
    y.backward(retain_graph=True)
    assert torch.is_grad_enabled() is True and modes == [False]
    z = x * x
    assert packed == [] and z.requires_grad is True
    with torch.no_grad():
        torch.autograd.grad(y, x, create_graph=True)
        assert torch.is_grad_enabled() is False
    assert modes == [False, True]
    x * x
    assert packed == []


def a_failed_backward_leaves_modes_as_they_were():
    """So does one that a hook ends by an error, and the next backward begins anew.

    Rule: hook/returns-tensor.
    """
    x = torch.tensor([2.0], requires_grad=True)
    packed = []
    context = torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t)
    y = x * 3
    y.register_hook(lambda g: context.__enter__())
    handle = y.register_hook(lambda g: "text")
    with refused("hook/returns-tensor"):
        y.backward(retain_graph=True)
    assert torch.is_grad_enabled() is True and x.grad is None
    z = x * x
    assert packed == [] and z.requires_grad is True
    handle.remove()
    y.backward()
    assert x.grad.tolist() == [3.0]


def retained_grads_of_several_outputs():
    """Each keeps its own. Rule: retain/fills-grad."""
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    a, b = Pair.apply(x)
    a.retain_grad()
    b.retain_grad()
    (a * 5 + b * 7).sum().backward()
    assert a.grad.tolist() == [5.0, 5.0] and b.grad.tolist() == [7.0, 7.0]


def a_hook_of_one_output_runs_before_it_retains():
    """The others are left alone. Rules: hook/runs-before-retain, retain/fills-grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = x.unbind(0)
    a.retain_grad()
    b.retain_grad()
    a.register_hook(lambda g: g * 2)
    (a * 3 + b).backward()
    assert a.grad.item() == 6.0 and b.grad.item() == 1.0
    assert x.grad.tolist() == [6.0, 1.0]


def of_many_nodes_that_are_ready_the_latest_runs_first():
    """The order in which their results were put together is no matter.

    Rules: backward/latest-first, hook/once-for-each-gradient.
    """
    seen = []
    x = torch.tensor([1.0], requires_grad=True)
    a, b, c, d, e, f, g = (x * 1, x * 2, x * 3, x * 4, x * 5, x * 6, x * 7)
    a.register_hook(lambda grad: seen.append("a"))
    b.register_hook(lambda grad: seen.append("b"))
    c.register_hook(lambda grad: seen.append("c"))
    d.register_hook(lambda grad: seen.append("d"))
    e.register_hook(lambda grad: seen.append("e"))
    f.register_hook(lambda grad: seen.append("f"))
    g.register_hook(lambda grad: seen.append("g"))
    torch.cat([g, f, e, d, c, b, a]).sum().backward(retain_graph=True)
    torch.cat([c, f, a, g, e, b, d]).sum().backward(retain_graph=True)
    torch.cat([a, b, c, d, e, f, g]).sum().backward()
    assert "".join(seen) == "gfedcba" * 3 and x.grad.tolist() == [84.0]
