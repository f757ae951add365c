"""Custom functions: what becomes of their outputs, be they inputs as they came, views, marked or written."""

import torch

from specs.case import refused, warned
from specs.cases._functions import (
    Flat,
    Forgotten,
    Marked,
    MarkedSame,
    MarksNumber,
    Pair,
    Same,
    Stranger,
    Twins,
    Written,
    WrittenPair,
)


def marked_output_has_no_gradient():
    """An output that was marked does not require grad; backward is given zeros for it.

    Rule: function/non-differentiable.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = Marked.apply(x)
    assert a.requires_grad and not b.requires_grad
    assert b.grad_fn is None and b.tolist() == [4.0, 8.0]
    a.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def input_comes_back_as_a_view():
    """An input that forward returns unchanged becomes a view of the input, with the function's own gradient.

    Rules: function/input-comes-back-as-view, function/views-are-tagged, write/function-view-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = Same.apply(y)
    assert z is not y and z._is_view() and z._base is y
    assert z.grad_fn.name() == "SameBackward"
    with refused("write/function-view-refused"):
        z.mul_(2)
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def view_of_an_input_is_tagged():
    """A view that forward made cannot be written to either.

    Rules: function/views-are-tagged, write/function-view-refused.
    """
    x = torch.tensor([[1.0], [2.0]], requires_grad=True)
    y = Flat.apply(x * 1)
    assert y._is_view() and y.grad_fn.name() == "FlatBackward"
    with refused("write/function-view-refused"):
        y.mul_(2)


def several_views_cannot_be_written():
    """Of several outputs, those that are views are refused as several views of one op.

    Rules: function/several-views-are-tagged, write/multi-output-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = Twins.apply(x * 1)
    with refused("write/multi-output-refused"):
        a.mul_(2)


def dirty_input_gets_the_history():
    """An input that was marked dirty and returned becomes the function's output, in place.

    Rules: function/dirty-is-rewritten, function/dirty-counts-as-written, write/history-becomes-the-write.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = Written.apply(y)
    assert z is y and y._version == 2
    assert y.grad_fn.name() == "WrittenBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def dirty_view_rewrites_its_base():
    """Written through a view, the base's history goes through the function too.

    Rule: write/rewrites-the-base.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    Written.apply(y[:1])
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 1.0]


def dirty_leaf_is_refused():
    """A leaf that requires grad is refused, and its data has changed all the same: forward records nothing.

    Rules: function/forward-records-nothing, write/leaf-refused, write/view-of-leaf-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("write/leaf-refused"):
        Written.apply(x)
    assert x.tolist() == [2.0, 4.0] and x._version == 2
    with refused("write/view-of-leaf-refused"):
        Written.apply(x[:1])
    assert x.tolist() == [4.0, 4.0]


def dirty_input_must_be_returned():
    """An input marked dirty must be returned. Rule: function/dirty-is-returned."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("function/dirty-is-returned"):
        Forgotten.apply(x * 1)


def dirty_view_must_be_alone():
    """A function that writes to a view returns nothing else. Rule: function/dirty-view-is-alone."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with refused("function/dirty-view-is-alone"):
        WrittenPair.apply(y[:1])
    a, b = WrittenPair.apply(y)
    assert a is y


def marking_another_tensor_dirty_warns():
    """Marking a tensor that is no input as dirty warns. Rule: function/dirty-is-an-input."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with warned("function/dirty-is-an-input"):
        y = Stranger.apply(x)
    assert y.grad_fn.name() == "StrangerBackward"


def only_tensors_are_marked():
    """Marking a number is refused, recorded or not. Rule: function/marks-tensors."""
    x = torch.tensor([1.0, 2.0])
    with refused("function/marks-tensors"):
        MarksNumber.apply(x)


def a_later_output_keeps_its_own_retained_grad():
    """Writing to the second of two results takes along what it retains, not what the first retains.

    Rules: retain/moves-by-its-own-number, retain/moves-with-write.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, z = Pair.apply(x)
    y.retain_grad()
    z.retain_grad()
    z *= 3
    w = y + z
    w.backward(torch.tensor([1.0, 10.0]))
    assert y.grad.tolist() == [1.0, 10.0]
    assert z.grad.tolist() == [1.0, 10.0]


def a_refused_function_leaves_the_hooks():
    """A tensor that a function wrote before it was refused is stale; its hooks stay, and another is added
    without a look at its history.

    Rules: hook/first-alone-looks, view/stale-tag-refused, function/views-are-tagged.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Flat.apply(x)
    y.register_hook(lambda g: g * 2)
    with refused("write/function-view-refused"):
        Written.apply(y)
    y.register_hook(lambda g: -g)
    with refused("view/stale-tag-refused"):
        y.grad_fn
    z = Flat.apply(x)
    with refused("write/function-view-refused"):
        Written.apply(z)
    with refused("view/stale-tag-refused"):
        z.register_hook(lambda g: -g)


def a_marked_input_is_left_as_it_is():
    """An input that comes back marked is detached in the result, and goes on as before.

    Rule: function/non-differentiable.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = MarkedSame.apply(y)
    assert z.requires_grad is False and z.grad_fn is None
    assert y.requires_grad is True and y.is_leaf is False
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    w = MarkedSame.apply(x)
    assert w.requires_grad is False and x.requires_grad is True


def a_written_input_loses_its_grad():
    """A retained grad was of the value before. Rules: function/dirty-is-rewritten, retain/fills-grad."""
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.backward()
    assert y.grad.tolist() == [1.0]
    z = Written.apply(y)
    assert z is y and y.grad is None


def an_unmarked_result_is_the_very_one():
    """A result with a history that forward marks as non-differentiable is detached in place.

    Rule: function/non-differentiable.
    """
    made = []
    recorded = torch.enable_grad()(lambda x: x.detach().requires_grad_() * 2)
    constant = type(
        "Constant",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(
                lambda ctx, x: (made.append(recorded(x)), ctx.mark_non_differentiable(made[0]), made[0])[2]
            ),
            "backward": staticmethod(lambda ctx, g: g),
        },
    )
    y = constant.apply(torch.tensor([1.0], requires_grad=True))
    assert made[0] is y and y.requires_grad is False and y.grad_fn is None and y.is_leaf is True


def outputs_that_are_no_tensors():
    """They are handed on as they are, and backward gets None in their places.

    Rules: function/backward-gives-the-gradients, function/undefined-becomes-zeros.
    """
    seen = []
    mixed = type(
        "Mixed",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: (x * 2, "text", 3, x * 5)),
            "backward": staticmethod(
                lambda ctx, *grads: (seen.append(grads), grads[0] * 2 + grads[3] * 7)[1]
            ),
        },
    )
    x = torch.tensor([1.0], requires_grad=True)
    a, text, number, b = mixed.apply(x)
    assert text == "text" and number == 3 and a.grad_fn is b.grad_fn and b.output_nr == 3
    a.backward(retain_graph=True)
    assert seen[0][1:3] == (None, None) and seen[0][3].tolist() == [0.0] and x.grad.tolist() == [2.0]
    b.backward()
    assert seen[1][0].tolist() == [0.0] and x.grad.tolist() == [9.0]


def two_outputs_that_were_written_retain_their_gradients():
    """Each goes on under its own number. Rules: retain/moves-with-write, function/dirty-is-rewritten."""
    seen = []
    pair = type(
        "Pair",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: (x * 1, x * 2)),
            "backward": staticmethod(lambda ctx, g, h: g + 2 * h),
        },
    )
    written = type(
        "Written",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, a, b: (ctx.mark_dirty(a, b), a.mul_(2), b.mul_(3))[1:]),
            "backward": staticmethod(lambda ctx, g, h: (seen.append(h.tolist()), g * 2, h * 3)[1:]),
        },
    )
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    p, q = pair.apply(x)
    p.retain_grad(), q.retain_grad()
    written.apply(p, q)
    (p + q * 10).sum().backward()
    assert seen == [[10.0, 10.0]]
    assert p.output_nr == 0 and q.output_nr == 1 and p.grad_fn is q.grad_fn
    assert (
        p.grad.tolist() == [1.0, 1.0] and q.grad.tolist() == [10.0, 10.0] and x.grad.tolist() == [62.0, 62.0]
    )


def an_output_that_was_saved_may_be_detached_in_place():
    """The node keeps what is saved, with its history. Rule: detach/in-place-makes-a-leaf."""
    seen = []
    kept = lambda ctx, out: (ctx.save_for_backward(out), out)[1]
    made = type(
        "Made",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(
                lambda ctx, a: (lambda out: (ctx.save_for_backward(out), out)[1])(a.exp())
            ),
            "backward": staticmethod(lambda ctx, g: (seen.append(g.item()), g * ctx.saved_tensors[0])[1]),
        },
    )
    x = torch.tensor([0.0], requires_grad=True)
    y = made.apply(x)
    z = y * 2
    y.detach_()
    g = torch.autograd.grad(z, x, create_graph=True)
    g[0].backward()
    assert seen[0] == 2.0 and g[0].tolist() == [2.0] and x.grad.tolist() == [2.0] and y.requires_grad is False
