"""Edges of the graph as values, hooks of several tensors, and writes that autograd is told of."""

import torch

from specs.case import refused


def edge_as_an_input():
    """The gradient at an edge is that of the tensor it was taken of, also when the tensor is gone.

    Rule: edge/stands-for-the-tensor.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    e = torch.autograd.graph.get_gradient_edge(y)
    assert e.node.name() == "MulBackward0" and e.output_nr == 0
    del y
    g = torch.autograd.grad(z, e)[0]
    assert g.tolist() == [4.0, 8.0]
    assert x.grad is None


def edge_is_of_the_history_then():
    """A write gives the tensor another history; the edge stays with the old one.

    Rule: edge/stands-for-the-tensor.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    e = torch.autograd.graph.get_gradient_edge(y)
    y.mul_(10)
    s = y.sum()
    assert torch.autograd.grad(s, e, retain_graph=True)[0].tolist() == [10.0, 10.0]
    assert torch.autograd.grad(s, y)[0].tolist() == [1.0, 1.0]


def edge_of_a_leaf():
    """The edge of a leaf is its accumulator; as an input of backward it fills that leaf alone.

    Rules: edge/stands-for-the-tensor, backward/inputs-only.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    e = torch.autograd.graph.get_gradient_edge(x)
    assert e.node.name() == "torch::autograd::AccumulateGrad"
    torch.autograd.backward((x * w).sum(), inputs=[e])
    assert x.grad.tolist() == [3.0, 4.0]
    assert w.grad is None


def edge_as_a_root():
    """An edge can be differentiated, from a gradient or, with one element behind it, from 1.

    Rule: edge/is-a-root.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    e = torch.autograd.graph.get_gradient_edge(x * 3)
    assert torch.autograd.grad(e, x, torch.tensor([1.0, 10.0]))[0].tolist() == [3.0, 30.0]
    torch.autograd.backward(torch.autograd.graph.get_gradient_edge((x * 2).sum()))
    assert x.grad.tolist() == [2.0, 2.0]


def what_has_no_edge():
    """A plain tensor has no edge, nor has a view made without recording, and an edge that is not reached
    gives None, never zeros.

    Rules: edge/needs-requires-grad, edge/needs-a-node, edge/no-zeros-for-edges.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([1.0, 2.0])
    with refused("edge/needs-requires-grad"):
        torch.autograd.graph.get_gradient_edge(c)
    with torch.inference_mode():
        i = torch.tensor([1.0, 2.0])
    with refused("edge/needs-requires-grad"):
        torch.autograd.graph.get_gradient_edge(i)
    with torch.no_grad():
        v = x.view(2)
    with refused("edge/needs-a-node"):
        torch.autograd.graph.get_gradient_edge(v)
    e = torch.autograd.graph.get_gradient_edge(x * 2)
    z = (x * 3).sum()
    with refused("edge/no-zeros-for-edges"):
        torch.autograd.grad(z, e, retain_graph=True, materialize_grads=True)
    f = torch.autograd.graph.get_gradient_edge(x)
    assert torch.autograd.grad(z, f, retain_graph=True, materialize_grads=True)[0].tolist() == [3.0, 3.0]
    g = torch.autograd.grad(z, e, allow_unused=True)[0]
    assert g is None


def hook_of_all_gradients():
    """A hook of two tensors is called when the second gradient has come; what lies behind the first is done.

    Rules: edge/hook-of-all, edge/needs-a-node.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * 2
    v = w * 3
    z = (y + v).sum()
    torch.autograd.graph.register_multi_grad_hook([y, v], lambda gs: 1 / 0)
    with refused("hook/error-ends-the-backward"):
        z.backward()
    assert w.grad.tolist() == [3.0, 3.0] and x.grad is None
    with refused("edge/needs-a-node"):
        torch.autograd.graph.register_multi_grad_hook([x, x.detach()], lambda gs: None)


def hook_is_given_none_for_what_is_not_reached():
    """The hook does not wait for a tensor that is not reached, and is not called once its handle is removed.

    Rule: edge/hook-sees-what-is-missing.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    seen = []
    note = lambda gs: seen.append([g if g is None else g.tolist() for g in gs])
    handle = torch.autograd.graph.register_multi_grad_hook([x, w], note)
    (x * 2).sum().backward()
    assert seen == [[[2.0, 2.0], None]]
    (x * 2 + w).sum().backward()
    assert seen[1:] == [[[2.0, 2.0], [1.0, 1.0]]]
    handle.remove()
    (x + w).sum().backward()
    assert len(seen) == 2


def hook_of_the_root_is_called():
    """A backward from one tensor comes to that tensor, too. Rule: edge/hook-counts-the-root."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    torch.autograd.graph.register_multi_grad_hook([y], lambda gs: 1 / 0)
    with refused("hook/error-ends-the-backward"):
        y.backward(torch.tensor([1.0, 1.0]))
    assert x.grad is None


def hook_of_a_leaf_that_grad_is_asked_for():
    """backward() knows the leaf, grad() does not, unless it is asked for something else.

    Rule: edge/hook-of-leaf-in-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y.sum()
    torch.autograd.graph.register_multi_grad_hook([x, y], lambda gs: None)
    with refused("edge/hook-of-leaf-in-grad"):
        torch.autograd.grad(z, x, retain_graph=True)
    (g,) = torch.autograd.grad(z, y, retain_graph=True)
    assert g.tolist() == [1.0, 1.0]
    z.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def hook_of_any_gradient():
    """With mode="any" the hook is called once a backward, with the gradient that comes first.

    Rules: edge/hook-of-any, edge/hook-mode.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * 2
    v = w * 3
    g = torch.tensor([1.0, 1.0])
    torch.autograd.graph.register_multi_grad_hook([y, v], lambda g: g.mul_(2), mode="any")
    z = y + v
    z.backward(g)
    assert g.tolist() == [2.0, 2.0]
    assert w.grad.tolist() == [6.0, 6.0] and x.grad.tolist() == [4.0, 4.0]
    with refused("edge/hook-mode"):
        torch.autograd.graph.register_multi_grad_hook([y, v], lambda gs: None, mode="some")


def write_that_autograd_is_told_of():
    """increment_version() counts like a write: what had saved the tensor refuses to go on.

    Rules: version/increment-counts, save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    torch.autograd.graph.increment_version(x)
    assert x._version == 1
    with refused("save/modified-refused"):
        y.backward()


def leaves_have_no_edge_in_inference_mode():
    """The edge of a leaf is found through a recorded view, and inference mode records none; a result has its.

    Rule: edge/none-in-inference-mode.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        with refused("edge/none-in-inference-mode"):
            torch.autograd.graph.get_gradient_edge(x)
        e = torch.autograd.graph.get_gradient_edge(y)
        i = torch.ones(2, requires_grad=True)
    with refused("edge/none-in-inference-mode"):
        torch.autograd.graph.get_gradient_edge(i)
    assert e.node.name() == "MulBackward0"
    f = torch.autograd.graph.get_gradient_edge(x)
    assert f.node.name() == "torch::autograd::AccumulateGrad"


def hook_of_a_root_that_leads_to_no_input_is_not_called():
    """Such a root does not run, so its hook counts nothing. Rule: edge/hook-sees-what-is-missing."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * 2
    torch.autograd.graph.register_multi_grad_hook([y], lambda gs: 1 / 0)
    y.backward(torch.tensor([1.0, 1.0]), inputs=[u])
    assert x.grad is None and u.grad is None


def a_hook_of_any_is_called_once_in_each_backward():
    """A backward within another counts by itself. Rules: edge/hook-of-any, backward/runs-within-another."""
    x = torch.tensor([2.0], requires_grad=True)
    a = x * 3
    b = x * 5
    seen = []
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda g: seen.append(g.item()), mode="any")
    again = torch.enable_grad()(
        lambda g: (seen.append("within"), (a * 7 + b).sum().backward(retain_graph=True))[1]
    )
    x.register_hook(lambda g: None if "within" in seen else again(g))
    (a + b).sum().backward(retain_graph=True)
    assert seen == [1.0, "within", 1.0]


def a_hook_of_any_leaves_plain_tensors_out():
    """Tensors that do not require grad may be among them; the handle takes all hooks away.

    Rule: edge/hook-of-any.
    """
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 3
    c = torch.tensor([2.0])
    seen = []
    watch = torch.autograd.graph.register_multi_grad_hook
    handle = watch((c, y, x), lambda g: seen.append(g.item()), mode="any")
    (y * c).backward(retain_graph=True)
    assert seen == [2.0]
    handle.remove()
    (y * c).backward()
    assert seen == [2.0] and x.grad.tolist() == [12.0]


def an_edge_of_a_later_output_is_a_root():
    """Its gradient goes to that output, none to the ones before. Rule: edge/is-a-root."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b, c = x.unbind(0)
    e = torch.autograd.graph.get_gradient_edge(c)
    g = torch.autograd.grad(e, x, grad_outputs=torch.tensor(5.0), retain_graph=True)[0]
    assert g.tolist() == [0.0, 0.0, 5.0]
    torch.autograd.backward(e, torch.tensor(7.0))
    assert x.grad.tolist() == [0.0, 0.0, 7.0]


def an_edge_of_a_view_stays_behind_its_write():
    """It stands for the view as it was, and gets what comes of that, not what comes of the write.

    Rules: edge/stands-for-the-tensor, write/rewrites-the-base.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    v = y[:1]
    e = torch.autograd.graph.get_gradient_edge(v)
    z = v * 3
    v.mul_(2)
    g, h = torch.autograd.grad(y.sum() + z.sum(), [e, x])
    assert g.tolist() == [3.0] and h.tolist() == [5.0, 1.0]
