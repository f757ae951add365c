"""Levels, and what tangents share with the tensors that they belong to."""

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def _tangent(x):
    """Return the values of a tensor's tangent."""
    found = torch.autograd.forward_ad.unpack_dual(x).tangent
    return None if found is None else found.tolist()


def the_level_has_a_number():
    """Inside it is 0, outside there is none. Rule: forward/level-ends."""
    fw = torch.autograd.forward_ad
    assert fw._current_level == -1
    x = torch.tensor(1.0)
    with fw.dual_level() as level:
        d = fw.make_dual(x, x)
        assert level == 0 and fw._current_level == 0 and _tangent(d) == 1.0
    with fw.dual_level():
        assert _tangent(d) is None
    assert fw._current_level == -1
    assert fw.enter_dual_level() == 0
    assert error_kinds([fw.enter_dual_level, lambda: fw.exit_dual_level(level=1)]) == "oo"
    fw.exit_dual_level(level=0)
    assert error_kinds([fw.exit_dual_level, lambda: fw.exit_dual_level(level=0)]) == "oo"


def nothing_may_be_saved_for_forward():
    """None keeps its place among what jvp reads; a number is refused.

    Rule: forward/jvp-computes-tangents.
    """
    fw = torch.autograd.forward_ad
    square = type(
        "Square",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, a: (ctx.save_for_forward(None, a), a * a)[1]),
            "jvp": staticmethod(lambda ctx, t: ctx.saved_tensors[1] * t * (2 + len(ctx.saved_tensors))),
        },
    )
    with fw.dual_level():
        d = fw.make_dual(torch.tensor(3.0), torch.tensor(1.0))
        assert _tangent(square.apply(d)) == 12.0
    numbers = lambda ctx, a: (ctx.save_for_forward(3), a * a)[1]
    counted = type("Counted", (torch.autograd.Function,), {"forward": staticmethod(numbers)})
    assert error_kinds([lambda: counted.apply(torch.tensor(3.0))]) == "o"


def a_view_that_a_function_gives_shares_its_tangent_with_its_base():
    """An input without tangent gets that of the view. Rule: forward/written-views-reach-the-base."""
    fw = torch.autograd.forward_ad
    turned = type(
        "Turned",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, a, b: a.view(2, 1)),
            "jvp": staticmethod(lambda ctx, t, u: u.view(2, 1)),
        },
    )
    x = torch.tensor([1.0, 2.0])
    with fw.dual_level():
        b = fw.make_dual(torch.tensor([3.0, 4.0]), torch.tensor([5.0, 6.0]))
        y = turned.apply(x, b)
        assert _tangent(y) == [[5.0], [6.0]] and _tangent(x) == [5.0, 6.0]
        fw.unpack_dual(y).tangent.zero_()
        assert _tangent(x) == [0.0, 0.0] and _tangent(b) == [5.0, 6.0]


def tangents_without_elements_are_laid_out_anyhow():
    """They are kept as they are, where others are copied. Rule: forward/tangents-fit."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        t = torch.empty(3, 0).t()
        d = fw.make_dual(torch.empty(0, 3), t)
        s = torch.ones(2, 2).t()
        e = fw.make_dual(torch.ones(2, 2), s)
        t.add_(1), s.add_(1)
        assert fw.unpack_dual(d).tangent._version == 1 and _tangent(e) == [[1.0, 1.0], [1.0, 1.0]]
        with refused("forward/tangents-fit"):
            fw.make_dual(torch.empty(0, 3), torch.empty(3, 0))


def an_out_is_filled_inside_a_level_too():
    """As long as no operand has a tangent. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        a = torch.tensor([1.0, 2.0])
        out = torch.zeros(2)
        assert torch.add(a, a, out=out) is out and out.tolist() == [2.0, 4.0] and _tangent(out) is None
        d = fw.make_dual(a, a)
        assert error_kinds([lambda: torch.add(d, a, out=out)]) == "N" and _tangent(d + a) == [1.0, 2.0]


def marked_dirty_is_an_input_of_a_function_with_tangents():
    """Something else that is marked is refused. Rule: forward/jvp-computes-tangents."""
    fw = torch.autograd.forward_ad
    members = lambda forward: {
        "forward": staticmethod(forward),
        "jvp": staticmethod(lambda ctx, t: t.mul_(2)),
    }
    made = lambda forward: type("Made", (torch.autograd.Function,), members(forward))
    stranger = made(lambda ctx, x: (lambda y: (ctx.mark_dirty(y), y)[1])(x * 2))
    written = made(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1])
    with fw.dual_level():
        d = fw.make_dual(torch.ones(2), torch.ones(2))
        assert error_kinds([lambda: stranger.apply(d)]) == "o"
        e = fw.make_dual(torch.ones(2), torch.ones(2))
        assert _tangent(written.apply(e)) == [2.0, 2.0]


def another_level_is_refused_where_there_is_a_tangent():
    """There is only level 0. A tensor without a tangent has none in any other. Rule: forward/level-ends."""
    fw = torch.autograd.forward_ad
    x = torch.tensor(1.0, requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(torch.tensor(1.0), torch.tensor(2.0))
        assert error_kinds([lambda: fw.unpack_dual(d, level=1), lambda: fw.make_dual(x, x, level=1)]) == "oo"
        plain = fw.unpack_dual(x, level=1)
        assert plain.tangent is None and plain.primal.item() == 1.0
        assert fw.unpack_dual(torch.tensor(3), level=2).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(d, level=1).tangent is None


def inference_mode_gives_no_tangents():
    """Not to normal tensors either, and results have none. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    x = torch.tensor(1.0)
    with torch.inference_mode(), fw.dual_level():
        d = fw.make_dual(x, torch.tensor(2.0))
        assert _tangent(d) is None and _tangent(d * 2) is None and d is not x
    with fw.dual_level():
        assert _tangent(fw.make_dual(x, torch.tensor(2.0)) * 2) == 4.0


def a_tangent_of_what_is_no_tensor_is_dropped():
    """A jvp may give one for a number that forward returns. Rule: forward/jvp-computes-tangents."""
    fw = torch.autograd.forward_ad
    counted = type(
        "Counted",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, a: (3, a * 2, None)),
            "jvp": staticmethod(lambda ctx, t: (t, t * 4, t)),
        },
    )
    with fw.dual_level():
        number, y, nothing = counted.apply(fw.make_dual(torch.tensor(3.0), torch.tensor(1.0)))
        assert number == 3 and _tangent(y) == 4.0 and nothing is None


def a_jvp_returns_tensors_or_none():
    """Several of them as a tuple, and no list. Rule: forward/jvp-fits-the-outputs."""
    fw = torch.autograd.forward_ad
    twice = lambda ctx, a: (a * 2, a * 3)
    number = {"forward": staticmethod(twice), "jvp": staticmethod(lambda ctx, t: (t, 3))}
    listed = {"forward": staticmethod(twice), "jvp": staticmethod(lambda ctx, t: [t, t])}
    with fw.dual_level():
        d = fw.make_dual(torch.tensor(3.0), torch.tensor(1.0))
        with refused("forward/jvp-fits-the-outputs"):
            type("Number", (torch.autograd.Function,), number).apply(d)
        with refused("forward/jvp-fits-the-outputs"):
            type("Listed", (torch.autograd.Function,), listed).apply(d)


def a_tangent_in_memory_of_another_size_is_copied():
    """Its own strides are not all that counts. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    x = torch.ones(4)[:2]
    alone = torch.ones(2)
    beside = torch.ones(4)[:2]
    with fw.dual_level():
        assert fw.unpack_dual(fw.make_dual(x, alone)).tangent.data_ptr() != alone.data_ptr()
        d = fw.make_dual(x, beside)
        assert fw.unpack_dual(d).tangent.data_ptr() == beside.data_ptr() and _tangent(d * 2) == [2.0, 2.0]


def a_jvp_gives_a_tangent_for_each_result_that_can_have_one():
    """None is refused there, and anything else for integers and truth values, marked or not.

    Rules: forward/jvp-fits-the-outputs, forward/jvp-computes-tangents.
    """
    fw = torch.autograd.forward_ad
    made = lambda forward, jvp: type(
        "Made", (torch.autograd.Function,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    )
    missing = made(lambda ctx, x: x * 2, lambda ctx, t: None)
    second = made(lambda ctx, x: (x * 2, x * 3), lambda ctx, t: (t * 2, None))
    written = made(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1], lambda ctx, t: None)
    ordered = made(lambda ctx, x: (x > 0, x * 2, x.long(), x * 3), lambda ctx, t: (None, t * 2, None, t * 3))
    of_integers = made(lambda ctx, x: (x * 2, x.long()), lambda ctx, t: (t * 2, t))
    with fw.dual_level():
        d = fw.make_dual(torch.tensor(1.0), torch.tensor(1.0))
        calls = [lambda: missing.apply(d), lambda: second.apply(d), lambda: written.apply(d)]
        assert error_kinds(calls) == "ooo"
        with refused("forward/jvp-fits-the-outputs"):
            of_integers.apply(d)
        e = fw.make_dual(torch.tensor(1.0), torch.tensor(1.0))
        a, b, c, g = ordered.apply(e)
        assert _tangent(a) is None and _tangent(b) == 2.0 and _tangent(c) is None and _tangent(g) == 3.0


def tensors_saved_for_forward_are_read_in_jvp_alone():
    """A later backward reads those that were saved for it. Rule: forward/jvp-computes-tangents."""
    fw = torch.autograd.forward_ad
    both = type(
        "Both",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(
                lambda ctx, x: (ctx.save_for_forward(x), ctx.save_for_backward(x * 10), x * x)[2]
            ),
            "jvp": staticmethod(lambda ctx, t: ctx.saved_tensors[0] * t),
            "backward": staticmethod(lambda ctx, g: ctx.saved_tensors[0] * g),
        },
    )
    x = torch.tensor(3.0, requires_grad=True)
    with fw.dual_level():
        y = both.apply(fw.make_dual(x, torch.tensor(1.0)))
        assert _tangent(y) == 3.0 and y.grad_fn.saved_tensors[0].item() == 30.0
        y.backward()
    assert x.grad.item() == 30.0


def a_tensor_that_is_laid_out_anew_takes_its_tangent_along():
    """So do its views; a view of the storage is one of the tangent's. What would need other memory is
    refused.

    Rules: forward/views-share-tangents, forward/written-views-reach-the-base.
    """
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.ones(2, 2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        e = d * 2
        e.t_()
        assert _tangent(e) == [[2.0, 6.0], [4.0, 8.0]] and _tangent(e * 2) == [[4.0, 12.0], [8.0, 16.0]]
        e.unsqueeze_(0)
        assert _tangent(e) == [[[2.0, 6.0], [4.0, 8.0]]]
        assert _tangent(d.as_strided((2,), (1,), 1)) == [2.0, 3.0]
        fw.unpack_dual(d.as_strided((2,), (1,), 1)).tangent.zero_()
        assert _tangent(d) == [[1.0, 0.0], [0.0, 4.0]]
        d.as_strided_((2,), (2,), 1)
        assert _tangent(d) == [0.0, 4.0] and d.tolist() == [1.0, 1.0]
        b = torch.ones(2, 2)
        v = b.view(2, 2)
        u = v[0]
        v.t_()
        v.mul_(fw.make_dual(torch.ones(2, 2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
        assert _tangent(v) == [[1.0, 2.0], [3.0, 4.0]] and _tangent(b) == [[1.0, 3.0], [2.0, 4.0]]
        assert _tangent(u) == [1.0, 3.0]
        calls = [lambda: e.resize_(4), lambda: e.set_(torch.ones(2)), lambda: torch.ones(2, 2).set_(e)]
        assert error_kinds(calls) == "oNN" and _tangent(e) == [[[2.0, 6.0], [4.0, 8.0]]]


def zeros_without_memory_have_some_as_a_tangent():
    """A product with them has a tangent that has none, recorded or not. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (z,) = torch.autograd.grad(g.sum(), x)
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]))
        e = fw.make_dual(torch.tensor([1.0, 2.0]), z)
        assert _tangent(e) == [0.0, 0.0] and _tangent(e * d) == [1.0, 6.0]
        with refused("op/zeros-are-not-read"):
            _tangent(d * z)
        with torch.no_grad():
            f = d * z
            assert _tangent(d + z) == [1.0, 3.0]
        with refused("op/zeros-are-not-read"):
            _tangent(f)


def dual_tensors_are_not_made_in_a_map():
    """Within vmap make_dual() is refused. Rule: functional/vmap-has-no-rule."""
    fw = torch.autograd.forward_ad
    m = torch.ones(2, 2)
    c = torch.ones(2)
    with fw.dual_level():
        with refused("functional/vmap-has-no-rule"):
            torch.func.vmap(lambda x: fw.make_dual(x, c).sum())(m)
        with refused("functional/vmap-has-no-rule"):
            torch.func.vmap(lambda x: fw.make_dual(c, x).sum())(m)


def a_tangent_is_kept_if_it_lies_as_its_tensor_does():
    """At the same place of memory of the same size; strides of single elements do not count, and of no
    elements none does.

    Rule: forward/ops-carry-tangents.
    """
    fw = torch.autograd.forward_ad
    halves = torch.ones(4)
    end = halves[2:]
    turned = torch.ones(2, 1).t()
    nothing = torch.empty(3, 0).t()
    kept = lambda x, t: fw.unpack_dual(fw.make_dual(x, t)).tangent.data_ptr() == t.data_ptr()
    with fw.dual_level():
        assert kept(torch.ones(4)[2:], end) and not kept(torch.ones(4)[:2], end)
        assert kept(torch.ones(1, 2), turned) and not kept(torch.ones(2, 2), torch.ones(2, 2).t())
        d = fw.make_dual(torch.empty(0, 3), nothing)
        nothing.add_(1).add_(1)
        assert fw.unpack_dual(d).tangent._version == 2
        e = fw.make_dual(torch.tensor([1.0]), torch.tensor([3.0]))
        assert _tangent(e * 2) == [6.0]


def a_dual_tensor_of_another_level_is_no_view():
    """It finds no tangent in the tensor that it was made of. Rule: forward/written-views-reach-the-base."""
    fw = torch.autograd.forward_ad
    p = torch.tensor([1.0, 2.0])
    with fw.dual_level():
        d = fw.make_dual(p, torch.tensor([3.0, 4.0]))
    with fw.dual_level():
        v = p[:1]
        v.mul_(fw.make_dual(torch.ones(1), torch.tensor([5.0])))
        assert _tangent(p) == [5.0, 0.0] and _tangent(v) == [5.0] and _tangent(d) is None
        d.mul_(fw.make_dual(torch.ones(2), torch.tensor([6.0, 7.0])))
        assert _tangent(d) == [6.0, 14.0] and _tangent(p) == [5.0, 0.0]


def a_tangent_of_a_saved_result_has_its_history():
    """It is differentiated through the result. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    w = torch.tensor([0.0], requires_grad=True)
    with fw.dual_level():
        t = fw.unpack_dual(fw.make_dual(x + 1, torch.tensor([1.0, 2.0])).reciprocal()).tangent
        u = fw.unpack_dual(fw.make_dual(w, torch.tensor([3.0])).exp()).tangent
    t[0].backward()
    assert t[0].item() == -1.0 and x.grad.tolist() == [2.0, 0.0]
    u.backward()
    assert u.tolist() == [3.0] and w.grad.tolist() == [3.0]
