"""Nodes by themselves: called with gradients, and what their hooks may return."""

import torch

from specs.case import refused
from specs.cases._functions import Double


def a_node_is_called_with_gradients():
    """It gives those of its inputs, calls no hook, and frees nothing; what is undefined stays so.

    Rule: backward/nodes-can-be-called.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    w = torch.tensor([5.0, 7.0], requires_grad=True)
    y = x * w
    seen = []
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_hook(lambda out, grads: seen.append("behind"))
    gx, gw = y.grad_fn(torch.tensor([1.0, 10.0]))
    assert gx.tolist() == [5.0, 70.0] and gw.tolist() == [2.0, 30.0] and seen == []
    assert gx.requires_grad is True and x.grad is None
    with torch.no_grad():
        assert y.grad_fn(torch.ones(2))[0].requires_grad is False
    assert y.grad_fn(None) == (None, None)
    g = x.exp().grad_fn(torch.tensor([1.0, 10.0]))
    assert g.tolist() == (x.exp() * torch.tensor([1.0, 10.0])).tolist()
    end = y.grad_fn.next_functions[0][0]
    end(torch.tensor([1.0, 2.0]))
    end(torch.tensor([1.0, 2.0]))
    assert x.grad.tolist() == [2.0, 4.0]
    y.sum().backward()
    assert x.grad.tolist() == [7.0, 11.0] and seen == ["tensor", "behind"]
    with refused("save/freed-refused"):
        y.grad_fn(torch.ones(2))


def hooks_of_nodes_keep_dtype_and_shape():
    """Each gradient that a hook gives replaces one of its dtype and shape, before and behind the node.

    Rules: hook/keeps-dtype, hook/keeps-shape, hook/node-returns-tuple, hook/node-returns-as-many.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * 2
    handles = []
    node = y.grad_fn
    handles.append(node.register_prehook(lambda grads: (grads[0].double(),)))
    with refused("hook/keeps-dtype"):
        y.sum().backward(retain_graph=True)
    handles.pop().remove()
    handles.append(node.register_prehook(lambda grads: (grads[0][:1],)))
    with refused("hook/keeps-shape"):
        y.sum().backward(retain_graph=True)
    handles.pop().remove()
    handles.append(node.register_hook(lambda out, grads: (out[0].double(), None)))
    with refused("hook/keeps-dtype"):
        y.sum().backward(retain_graph=True)
    handles.pop().remove()
    handles.append(node.register_hook(lambda out, grads: (out[0].sum(), None)))
    with refused("hook/keeps-shape"):
        y.sum().backward(retain_graph=True)
    handles.pop().remove()
    handles.append(node.register_hook(lambda out, grads: out[0]))
    with refused("hook/node-returns-tuple"):
        y.sum().backward(retain_graph=True)
    handles.pop().remove()
    handles.append(node.register_prehook(lambda grads: (grads[0], grads[0])))
    with refused("hook/node-returns-as-many"):
        y.sum().backward(retain_graph=True)
    handles.pop().remove()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def batched_gradients_of_several_outputs():
    """Each has as many rows, whatever the sizes of the outputs; missing ones are zeros or None.

    Rules: grad_call/batches-go-back-one-by-one, grad_call/batches-alike, grad_call/batch-shape.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = torch.tensor([1.0], requires_grad=True)
    y = x * x
    w = torch.cat([x, x[:1]]) * 3
    a = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    b = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    grad = torch.autograd.grad
    (g,) = grad((y, w), x, (a, b), is_grads_batched=True, retain_graph=True)
    assert g.tolist() == [[5.0, 0.0], [0.0, 7.0], [5.0, 4.0], [10.0, 3.0]]
    g, none = grad(y, (x, z), a, is_grads_batched=True, retain_graph=True, allow_unused=True)
    assert g.tolist() == [[2.0, 0.0], [0.0, 4.0], [2.0, 4.0], [4.0, 0.0]] and none is None
    g, zeros = grad(y, (x, z), a, is_grads_batched=True, retain_graph=True, materialize_grads=True)
    assert zeros.tolist() == [0.0]
    with refused("grad_call/batches-alike"):
        grad((y, w), x, (a, b[:2]), is_grads_batched=True, retain_graph=True)
    with refused("grad_call/batch-shape"):
        grad(y, x, b, is_grads_batched=True, retain_graph=True)
    (h,) = grad(y, x, a, is_grads_batched=True, create_graph=True)
    (s,) = grad(h.sum(), x)
    assert s.tolist() == [8.0, 4.0]
    (g,) = grad(y, x, a, is_grads_batched=True)
    with refused("save/freed-refused"):
        grad(y, x, a, is_grads_batched=True)


def several_roots_and_inputs():
    """Roots sum up, each with a gradient of its own; inputs may be repeated.

    Rules: backward/several-roots, grad_call/outputs-are-summed, backward/inputs-only.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * w
    z = x.sum()
    torch.autograd.backward([y, z], [torch.tensor([1.0, 10.0]), None], retain_graph=True)
    assert x.grad.tolist() == [4.0, 41.0] and w.grad.tolist() == [1.0, 20.0]
    x.grad = None
    w.grad = None
    torch.autograd.backward((z, y), (torch.tensor(2.0), torch.ones(2)), retain_graph=True, inputs=x)
    assert x.grad.tolist() == [5.0, 6.0] and w.grad is None
    y.backward(torch.ones(2), inputs=[w, w], retain_graph=True)
    assert w.grad.tolist() == [1.0, 2.0] and x.grad.tolist() == [5.0, 6.0]
    a, b, c = torch.autograd.grad(
        [y, z, y], [x, w, x], [torch.ones(2), None, torch.ones(2)], retain_graph=True
    )
    assert a.tolist() == [7.0, 9.0] and b.tolist() == [2.0, 4.0] and c.tolist() == [7.0, 9.0]
    e, f = torch.autograd.grad(z * 2, (z, x), retain_graph=True)
    assert e.item() == 2.0 and f.tolist() == [2.0, 2.0]
    y.retain_grad()
    (y * y).sum().backward(inputs=[y, x])
    assert (
        y.grad.tolist() == [6.0, 16.0] and x.grad.tolist() == [23.0, 70.0] and w.grad.tolist() == [1.0, 2.0]
    )


def inputs_by_name():
    """A dict of inputs gives a dict of gradients; backward() fills their grads.

    Rule: grad_call/named-inputs-name-the-result.
    """
    x = torch.tensor([1.0], requires_grad=True)
    w = torch.tensor([3.0], requires_grad=True)
    y = x * w
    found = torch.autograd.grad(y, {"b": w, "a": x}, retain_graph=True)
    assert {name: g.item() for name, g in found.items()} == {"b": 1.0, "a": 3.0} and list(found) == ["b", "a"]
    y.backward(inputs={"a": x})
    assert x.grad.tolist() == [3.0] and w.grad is None


def contexts_forget_what_they_are_told_not_to_keep():
    """A function's node is no more callable than its context, and a double call has two nodes.

    Rules: function/is-recorded, function/names-its-node.
    """
    x = torch.tensor([2.0], requires_grad=True)
    y = Double.apply(x)
    z = Double.apply(x)
    assert y.grad_fn is not z.grad_fn and y.grad_fn.name() == "DoubleBackward"
    assert y.grad_fn.next_functions == z.grad_fn.next_functions
    (y * z).backward()
    assert x.grad.tolist() == [16.0]


def saved_numbers_are_shown():
    """A number beside a tensor is saved as one, an exponent as it is.

    Rules: save/freed-refused, backward/nodes-can-be-called.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert (x * 3).grad_fn._saved_other.item() == 3 and (x / 2).grad_fn._saved_other.dtype == torch.int64
    assert (x**2).grad_fn._saved_exponent == 2 and (x**2).grad_fn._saved_self is x
    assert (x + 2).grad_fn._saved_alpha == 1
    y = x * 3
    y.sum().backward()
    with refused("save/freed-refused"):
        _ = y.grad_fn._saved_other


def a_view_that_is_read_anew_is_younger():
    """Its new node is made while the op that reads it is recorded, and counts from then.

    Rules: view/stale-regenerates, backward/nodes-can-be-called.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    v = b.view(-1)
    b.mul_(2)
    y = v * v
    assert y.grad_fn._sequence_nr() < v.grad_fn._sequence_nr()


def what_fills_a_leaf_has_the_largest_number():
    """It is younger than any node, so that it runs as soon as it can. Rule: backward/accumulate-first."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    assert y.grad_fn.next_functions[0][0]._sequence_nr() == 2**64 - 1


def a_callback_belongs_to_the_innermost_backward():
    """It is called at the end of that, while the outer one goes on.

    Rules: backward/callbacks-at-the-end, backward/callbacks-only-within.
    """
    queue = torch.autograd.Variable._execution_engine.queue_callback
    x, u = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    seen = []
    u.register_hook(lambda g: queue(lambda: seen.append("inner ends")))
    x.register_hook(lambda g: seen.append("outer goes on"))
    inner = torch.enable_grad()(lambda gs: (u * 3).backward())
    y = x * 2
    y.grad_fn.register_prehook(lambda gs: (inner(gs), seen.append("inner returned"))[0])
    y.backward()
    assert seen == ["inner ends", "inner returned", "outer goes on"]


def classes_of_nodes_are_built_in():
    """The module of each says so, and the name tells the op. Rule: leaf/edges-end-in-accumulators."""
    classes = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    end = y.grad_fn.next_functions[0][0]
    z = x.clone()
    z[:1].mul_(3)
    classes += [type(end), type(y.grad_fn), type(z.grad_fn)]
    assert [each.__name__ for each in classes] == ["AccumulateGrad", "MulBackward0", "CopySlices"]
    assert [each.__module__ for each in classes] == ["builtins", "builtins", "builtins"]
    assert (x + 1).grad_fn.next_functions[0][0] is end
