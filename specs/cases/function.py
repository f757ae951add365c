"""Custom functions: the history of a call, and the arguments and results of its backward."""

import torch

from specs.case import refused
from specs.cases._functions import (
    Apart,
    ApartSame,
    Asks,
    BothWays,
    Double,
    ForNumber,
    GivesNumber,
    KeepsOutput,
    Lazy,
    NoBackward,
    NoForward,
    Nothing,
    Once,
    Pair,
    Product,
    SavesNumber,
    Scale,
    Square,
    Surplus,
    Tenfold,
    TooMany,
    Written,
    WrongShape,
)


def backward_says_what_the_gradient_is():
    """The gradient is what backward returns, even if forward computes something else.

    Rules: function/backward-gives-the-gradients, function/is-recorded, function/names-its-node.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Tenfold.apply(x)
    assert y.tolist() == [2.0, 4.0]
    assert not y.is_leaf and y.grad_fn.name() == "TenfoldBackward"
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def plain_arguments_give_plain_results():
    """Without an argument that requires grad, or with grad mode off, nothing is recorded.

    Rule: function/is-recorded.
    """
    x = torch.tensor([1.0, 2.0])
    assert not Double.apply(x).requires_grad
    x.requires_grad_()
    with torch.no_grad():
        y = Double.apply(x)
    assert not y.requires_grad and y.grad_fn is None


def a_call_is_one_node():
    """A call leaves one node behind, whatever forward did. Rule: function/is-recorded."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = Written.apply(y)
    assert z.grad_fn.name() == "WrittenBackward"
    assert z.grad_fn.next_functions[0][0].name() == "MulBackward0"
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def a_node_is_held_by_itself():
    """A node whose results are gone is what it was. Rule: function/node-outlives-its-results."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    node = Double.apply(x).grad_fn
    node.register_hook(lambda gi, go: None).remove()
    assert node.name() == "DoubleBackward" and node.next_functions[0][0].variable is x


def second_gradient_goes_through_what_backward_did():
    """Under create_graph backward is recorded, and saved inputs have their history.

    Rules: function/backward-gives-the-gradients, double/create-graph-records.
    """
    x = torch.tensor(3.0, requires_grad=True)
    (g,) = torch.autograd.grad(Square.apply(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert g.item() == 6.0 and h.item() == 2.0


def saved_output_has_its_history():
    """An output that was saved comes back with the function as its history. Rule: save/output-is-saved."""
    x = torch.tensor(3.0, requires_grad=True)
    y = KeepsOutput.apply(x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x, retain_graph=True)
    assert g.item() == 6.0 and h.item() == 6.0
    y.mul_(2)
    with refused("save/modified-refused"):
        y.backward()


def saved_tensors_are_freed():
    """Saved tensors are freed by a backward; a function that saved nothing can be run through again.

    Rule: save/freed-refused.
    """
    x = torch.tensor(3.0, requires_grad=True)
    y = Square.apply(x)
    y.backward()
    with refused("save/freed-refused"):
        y.backward()
    z = Double.apply(x)
    z.backward()
    z.backward()
    assert x.grad.item() == 10.0


def written_saved_input_is_refused():
    """A saved input that was written to since is refused. Rule: save/modified-refused."""
    x = torch.tensor(3.0, requires_grad=True)
    y = x * 1
    z = Square.apply(y)
    y.add_(1)
    with refused("save/modified-refused"):
        z.backward()


def needs_input_grad_tells_who_wants_a_gradient():
    """A backward can ask which arguments want a gradient, and leave out the others.

    Rule: function/needs-input-grad.
    """
    x = torch.tensor(3.0, requires_grad=True)
    y = torch.tensor(2.0)
    Product.apply(x, y).backward()
    assert x.grad.item() == 2.0 and y.grad is None
    z = torch.tensor(3.0, requires_grad=True)
    Asks.apply(z, y).backward()
    assert z.grad.item() == 1.0
    Asks.apply(z, x).backward()
    assert z.grad.item() == 5.0


def number_gets_none():
    """A backward returns None for an argument that is no tensor. Rule: function/no-gradient-for-others."""
    x = torch.tensor(3.0, requires_grad=True)
    Scale.apply(x, 4).backward()
    assert x.grad.item() == 4.0
    with refused("function/no-gradient-for-others"):
        ForNumber.apply(x, 4).backward()


def unused_output_has_zeros():
    """Backward receives zeros for an output without gradient. Rule: function/undefined-becomes-zeros."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = Pair.apply(x)
    b.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
    assert a.output_nr == 0 and b.output_nr == 1


def unused_output_may_have_none():
    """Unless the function asked for None. Rule: function/undefined-may-stay-none."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = Lazy.apply(x)
    b.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def gradients_are_counted():
    """As many gradients as arguments; more only if they are None.

    Rules: function/gradients-count, function/surplus-none-is-dropped.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Surplus.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with refused("function/gradients-count"):
        TooMany.apply(x).sum().backward()


def gradient_is_a_tensor():
    """A number is no gradient, and a gradient of the wrong shape none either; None is one.

    Rules: function/gradient-type, backward/gradient-shape-inside.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("function/gradient-type"):
        GivesNumber.apply(x).sum().backward()
    with refused("backward/gradient-shape-inside"):
        WrongShape.apply(x).sum().backward()
    Nothing.apply(x).sum().backward()
    assert x.grad is None


def only_tensors_are_saved():
    """Anything else is refused when the call is recorded, and ignored otherwise.

    Rule: function/saves-tensors.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("function/saves-tensors"):
        SavesNumber.apply(x)
    assert SavesNumber.apply(x.detach()).tolist() == [2.0, 4.0]


def once_differentiable_refuses_the_second_time():
    """The gradient under create_graph looks differentiable and is not. Rule: function/once-differentiable."""
    x = torch.tensor(3.0, requires_grad=True)
    y = Once.apply(x)
    (g,) = torch.autograd.grad(y * y, x, create_graph=True)
    assert g.requires_grad and g.item() == 108.0
    with refused("function/once-differentiable"):
        g.backward()


def once_differentiable_refuses_before_anything_else_runs():
    """The refusal comes before a node that was made later and is ready as well.

    Rules: function/once-differentiable-fails-first, function/once-differentiable.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.ones(2, requires_grad=True)
    y = Once.apply(x)
    (g,) = torch.autograd.grad(y, x, v, create_graph=True)
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    z = w * 2
    with refused("function/once-differentiable"):
        torch.autograd.backward([g, z], [v, v])
    assert w.grad is None


def context_can_be_set_up_apart():
    """With setup_context, forward has no context, and arguments have defaults.

    Rule: function/backward-gives-the-gradients.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Apart.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    Apart.apply(x, 3).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def saved_input_is_not_returned_as_it_is():
    """With setup_context an input cannot be both saved and returned as it came.

    Rule: function/saved-input-returned.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("function/saved-input-returned"):
        ApartSame.apply(x)


def forward_and_backward_must_be_there():
    """A function without forward cannot be called, one without backward not differentiated.

    Rules: function/needs-a-forward, function/needs-a-backward, function/backward-or-vjp.
    """
    x = torch.tensor(1.0, requires_grad=True)
    with refused("function/needs-a-forward"):
        NoForward.apply(x)
    y = NoBackward.apply(x)
    with refused("function/needs-a-backward"):
        y.backward()
    z = BothWays.apply(x)
    with refused("function/backward-or-vjp"):
        z.backward()


def saved_input_may_be_detached_since():
    """A function's own saved input is given to it even if it was detached in place since; an op's is refused.

    Rule: save/detached-refused.
    """
    x = torch.tensor(3.0, requires_grad=True)
    y = x * 1
    z = Square.apply(y)
    w = y * y
    y.detach_()
    z.backward()
    assert x.grad.item() == 6.0
    with refused("save/detached-refused"):
        w.backward()


def write_that_is_marked_counts_in_inference_mode_too():
    """A tensor with a version counter counts the write, even if its memory was made in inference mode.

    Rule: function/dirty-counts-as-written.
    """
    x = torch.tensor(2.0)
    with torch.inference_mode():
        d = torch.tensor(4.0)
    x.data = d
    with torch.inference_mode():
        x.mul_(2)
        assert x._version == 0
        y = Written.apply(x)
    assert y.item() == 16.0 and x._version == 1


def a_backward_that_is_not_recorded_gives_plain_gradients():
    """Without create_graph once_differentiable changes nothing, though the incoming gradient requires grad.

    Rule: function/once-differentiable.
    """
    made = []
    once = torch.autograd.function.once_differentiable
    made += [
        type(
            "Doubled",
            (torch.autograd.Function,),
            {
                "forward": staticmethod(lambda ctx, x: x * 2),
                "backward": staticmethod(once(lambda ctx, g: g * 2)),
            },
        )
    ]
    x = torch.tensor([1.0], requires_grad=True)
    g = torch.tensor([3.0], requires_grad=True)
    (a,) = torch.autograd.grad(made[0].apply(x), x, g)
    assert a.tolist() == [6.0] and a.requires_grad is False
    (b,) = torch.autograd.grad(made[0].apply(x), x, g, create_graph=True)
    assert b.requires_grad is True and b.grad_fn.name() == "torch::autograd::Error"
    with refused("function/once-differentiable"):
        b.backward()
