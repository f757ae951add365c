"""Several roots, inputs=, the order of nodes and what a failure leaves; the rest lives in backward."""

import torch

from specs.case import refused, warned
from specs.cases._functions_nested import Within


def several_roots_are_one_backward():
    """Two roots that share nodes run them once, so their saved tensors serve both.

    Rule: backward/several-roots.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    torch.autograd.backward([y.sum(), (y * 3).sum()])
    assert x.grad.tolist() == [8.0, 16.0]


def a_root_may_depend_on_another():
    """A root inside the graph of another root gets its own gradient and the other's, summed.

    Rule: backward/several-roots.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = y * 3
    y.retain_grad()
    g = torch.tensor([1.0, 1.0])
    torch.autograd.backward([z, y], [g, g])
    assert y.grad.tolist() == [4.0, 4.0]
    assert x.grad.tolist() == [8.0, 16.0]


def none_stands_for_an_implicit_gradient():
    """Among several gradients None means 1 for a root of one element.

    Rules: backward/several-roots, backward/implicit-one.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.autograd.backward([x.sum(), x * 2], [None, torch.tensor([1.0, 1.0])])
    assert x.grad.tolist() == [3.0, 3.0]


def only_the_inputs_are_filled():
    """inputs= names the only tensors that are filled. Rule: backward/inputs-only."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    y = (x * u).sum()
    y.backward(inputs=[u])
    assert x.grad is None
    assert u.grad.tolist() == [1.0, 2.0]


def only_nodes_on_the_way_to_the_inputs_run():
    """A node that does not lead to an input keeps its saved tensors. Rule: backward/inputs-only."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * x
    z = (y + u * 2).sum()
    z.backward(inputs=u)
    assert u.grad.tolist() == [2.0, 2.0] and x.grad is None
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def an_unconnected_input_is_passed_over():
    """An input that the root does not depend on stays None, without refusal. Rule: backward/inputs-only."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    x.sum().backward(inputs=[u])
    assert x.grad is None and u.grad is None


def inputs_must_not_be_empty():
    """An empty list of inputs is refused. Rule: backward/inputs-empty."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    s = x.sum()
    with refused("backward/inputs-empty"):
        s.backward(inputs=[])
    with refused("backward/inputs-empty"):
        torch.autograd.backward(s, inputs=[])
    assert x.grad is None


def a_non_leaf_input_retains_grad():
    """A non-leaf in inputs= is filled and retains grad from then on.

    Rule: backward/inputs-retain-non-leaf.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x + 2
    y.sum().backward(inputs=[y])
    assert y.grad.tolist() == [1.0, 1.0] and y.retains_grad is True
    assert x.grad is None
    y.sum().backward()
    assert y.grad.tolist() == [2.0, 2.0]


def the_node_of_a_non_leaf_input_runs():
    """backward(inputs=[y]) runs, and frees, the node that made y; autograd.grad does not.

    Rules: backward/frees-saved, backward/inputs-retain-non-leaf.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.sum().backward(inputs=[y])
    assert x.grad is None
    s = y.sum()
    with refused("save/freed-refused"):
        s.backward()


def the_latest_node_runs_first():
    """b, recorded after a, has run when a fails, on either side of the addition.

    Rule: backward/latest-first.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    v = torch.tensor([5.0, 6.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    a = x * w
    b = u + 3
    z = (a + b).sum()
    c = v + 3
    y = (c + a).sum()
    w.add_(1)
    with refused("save/modified-refused"):
        z.backward()
    assert x.grad is None
    assert u.grad.tolist() == [1.0, 1.0]
    with refused("save/modified-refused"):
        y.backward()
    assert v.grad.tolist() == [1.0, 1.0]


def the_earlier_node_is_left_out_by_a_failure():
    """b, recorded before a, has not run when a fails, on either side of the addition.

    Rule: backward/latest-first.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    b = u + 3
    a = x * w
    z = (a + b).sum()
    y = (b + a).sum()
    w.add_(1)
    with refused("save/modified-refused"):
        z.backward()
    assert x.grad is None and u.grad is None
    with refused("save/modified-refused"):
        y.backward()
    assert u.grad is None


def a_leaf_is_filled_before_any_other_node_runs():
    """u is filled before the node of a, which fails, gets its turn. Rule: backward/accumulate-first."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    a = x * w
    z = (a * u).sum()
    w.add_(1)
    with refused("save/modified-refused"):
        z.backward()
    assert u.grad.tolist() == [1.0, 2.0]
    assert x.grad is None


def a_failure_undoes_nothing():
    """After a backward that failed, filled leaves stay filled and nodes that have run are freed.

    Rule: backward/failure-leaves-what-was-done.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    a = x * w
    b = u * u
    z = (a + b).sum()
    w.add_(1)
    with refused("save/modified-refused"):
        z.backward()
    assert u.grad.tolist() == [6.0, 8.0]
    s = b.sum()
    with refused("save/freed-refused"):
        s.backward()
    assert u.grad.tolist() == [6.0, 8.0]


def a_failed_node_has_not_given_up_what_it_saved():
    """A node that refused to run refuses for the same reason the next time.

    Rule: backward/failure-leaves-what-was-done.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    a = x * w
    w.add_(1)
    g = torch.tensor([1.0, 1.0])
    with refused("save/modified-refused"):
        a.backward(g)
    with refused("save/modified-refused"):
        a.backward(g)
    assert x.grad is None


def unused_outputs_count_as_zeros():
    """Unused outputs of unbind contribute zeros.

    Rule: backward/undefined-passes-on. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b, c = x.unbind()
    y = b * 5
    y.backward()
    assert x.grad.tolist() == [0.0, 5.0, 0.0]


def unused_pieces_count_as_zeros():
    """The same for a piece of a split. Rule: backward/undefined-passes-on."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    a, b = y.split(2)
    b.backward(torch.tensor([3.0]))
    assert x.grad.tolist() == [0.0, 0.0, 6.0]


def shapes_inside_are_those_recorded():
    """A root whose data was swapped for another shape does not fit its own node any more.

    Rule: backward/gradient-shape-inside.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.data = torch.tensor([1.0, 2.0, 3.0])
    g = torch.tensor([1.0, 1.0, 1.0])
    with refused("backward/gradient-shape-inside"):
        y.backward(g)
    assert x.grad is None


def a_leaf_that_got_a_history_is_not_filled():
    """x was recorded as a leaf and has been written to since: its old accumulator refuses.

    Rule: backward/leaf-moved-inside.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([1.0, 1.0], requires_grad=True)
    y = (x * 2).sum()
    x.requires_grad_(False)
    x.add_(u)
    with refused("backward/leaf-moved-inside"):
        y.backward()


def grad_variables_is_the_old_name():
    """grad_variables= still works, with a warning, but not beside grad_tensors=.

    Rules: backward/grad-variables-deprecated, backward/grad-variables-twice.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    g = torch.tensor([1.0, 2.0])
    with warned("backward/grad-variables-deprecated"):
        torch.autograd.backward(y, grad_variables=g)
    assert x.grad.tolist() == [2.0, 4.0]
    z = x * 2
    with refused("backward/grad-variables-twice"):
        torch.autograd.backward(z, g, grad_variables=g)
    assert x.grad.tolist() == [2.0, 4.0]


def backward_may_run_within_another():
    """A backward within a custom function's backward is done before the outer one goes on.

    Rule: backward/runs-within-another.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Within.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    (g,) = torch.autograd.grad(Within.apply(x).sum(), x, create_graph=True)
    assert g.tolist() == [2.0, 4.0]


def leaves_of_one_node_are_filled_in_the_order_of_a_heap():
    """The first goes first, then the heap decides: among four the third is next, among five the last follows.

    Rule: backward/latest-first.
    """
    x = torch.tensor([1.0], requires_grad=True)
    u = torch.tensor([2.0], requires_grad=True)
    v = torch.tensor([3.0], requires_grad=True)
    w = torch.tensor([4.0], requires_grad=True)
    s = torch.tensor([5.0], requires_grad=True)
    u.register_hook(lambda g: 1 / 0)
    four = torch.cat([x, u, v, w]).sum()
    five = torch.cat([x, u, v, w, s]).sum()
    with refused("hook/error-ends-the-backward"):
        four.backward()
    assert x.grad.tolist() == [1.0] and v.grad.tolist() == [1.0]
    assert w.grad is None
    with refused("hook/error-ends-the-backward"):
        five.backward()
    assert x.grad.tolist() == [2.0] and v.grad.tolist() == [2.0] and s.grad.tolist() == [1.0]
    assert w.grad is None


def of_six_leaves_the_last_is_filled_third():
    """The heap has the last leaf where the second child of a node would be. Rule: backward/latest-first."""
    x = torch.tensor([1.0], requires_grad=True)
    u = torch.tensor([2.0], requires_grad=True)
    v = torch.tensor([3.0], requires_grad=True)
    w = torch.tensor([4.0], requires_grad=True)
    s = torch.tensor([5.0], requires_grad=True)
    t = torch.tensor([6.0], requires_grad=True)
    s.register_hook(lambda g: 1 / 0)
    six = torch.cat([x, u, v, w, s, t]).sum()
    with refused("hook/error-ends-the-backward"):
        six.backward()
    assert x.grad.tolist() == [1.0] and v.grad.tolist() == [1.0] and t.grad.tolist() == [1.0]
    assert u.grad is None and w.grad is None and s.grad is None


def callbacks_are_called_when_all_nodes_have_run():
    """Also one that another queues; outside of any backward none can be queued.

    Rules: backward/callbacks-at-the-end, backward/callbacks-only-within.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    told = []
    queue = torch.autograd.Variable._execution_engine.queue_callback
    y.register_hook(lambda g: queue(lambda: queue(lambda: told.append(x.grad.tolist()))))
    y.sum().backward()
    assert told == [[3.0, 3.0]]
    with refused("backward/callbacks-only-within"):
        queue(lambda: told.append(1))
    (x * 2).sum().backward()
    assert told == [[3.0, 3.0]]
