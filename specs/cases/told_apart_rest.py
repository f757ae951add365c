"""Told apart, the rest: classes, places and moments in which one part of a condition decides alone."""

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def classes_of_parameters_take_their_own_keywords():
    """Those in a class statement go to the class that asks for them. Rule: nn/parameter-requires-grad."""
    made = []
    made.append(
        type(
            "Tagged",
            (torch.nn.Parameter,),
            {"__init_subclass__": classmethod(lambda cls, tag: setattr(cls, "tag", tag))},
        )
    )
    made.append(type("Named", (made[0],), {}, tag=5))
    p = made[1](torch.ones(2))
    assert p.tag == 5 and p.requires_grad is True and isinstance(p, torch.nn.Parameter)
    assert error_kinds([lambda: type("Plain", (torch.nn.Parameter,), {}, tag=5)]) == "T"
    assert error_kinds([lambda: type("Bare", (made[0],), {})]) == "T"


def decompositions_within_a_map_stand_for_many():
    """Their results, and their gradients, also where the upstream one is the same for all.

    Rule: functional/vmap-takes-no-numbers.
    """
    m = torch.tensor([[2.0, 4.0], [1.0, 2.0]], dtype=torch.float64)
    grad, vmap, vjp = torch.func.grad, torch.func.vmap, torch.func.vjp
    one = torch.ones((), dtype=torch.float64)
    rounded = lambda x: [[round(v, 4) + 0.0 for v in row] for row in x.tolist()]
    least = lambda x: torch.linalg.eigvalsh(x.diag()).prod()
    upper = lambda x: torch.linalg.qr(x.diag() + 1)[1].sum()
    log = lambda x: torch.linalg.slogdet(x.diag())[1]
    assert rounded(vmap(grad(least))(m)) == [[4.0, 2.0], [2.0, 1.0]]
    assert rounded(vmap(grad(log))(m)) == [[0.5, 0.25], [1.0, 0.5]]
    assert rounded(grad(lambda q: vmap(log)(q).sum())(m)) == [[0.5, 0.25], [1.0, 0.5]]
    assert rounded(vmap(grad(upper))(m)) == rounded(vmap(lambda x: vjp(upper, x)[1](one)[0])(m))
    assert rounded(vmap(lambda x: vjp(least, x)[1](one)[0])(m)) == [[4.0, 2.0], [2.0, 1.0]]
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda x: vjp(upper, x)[1](one)[0][0].item())(m)
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda x: log(x).item())(m)


def writes_through_views_within_a_map():
    """Gradients of what was written stand for as many as those that come in.

    Rules: functional/vmap-writes-into-batched, write/rewrites-the-base.
    """
    m = torch.tensor([[2.0, 3.0], [0.5, 1.0]])
    grad, vmap, vjp = torch.func.grad, torch.func.vmap, torch.func.vjp
    times = lambda x: (lambda c: (c[:1].mul_(x[1]), c)[1])(x.clone()).sum()
    taken = lambda x: (lambda c: (c.__setitem__(0, x[1] * 2), c)[1])(x.clone()).sum()
    strided = lambda x: (x * x).as_strided((2, 2), (0, 1)).prod()
    assert vmap(grad(times))(m).tolist() == [[3.0, 3.0], [1.0, 1.5]]
    assert vmap(grad(taken))(m).tolist() == [[0.0, 3.0], [0.0, 3.0]]
    assert vmap(grad(strided))(m).tolist() == [[2592.0, 1728.0], [0.5, 0.25]]
    assert grad(lambda q: vmap(times)(q).sum())(m).tolist() == [[3.0, 3.0], [1.0, 1.5]]
    assert vmap(lambda x: vjp(taken, x)[1](torch.ones(()))[0])(m).tolist() == [[0.0, 3.0], [0.0, 3.0]]
    with refused("functional/vmap-writes-into-batched"):
        vmap(lambda x: vjp(times, x)[1](torch.ones(()))[0])(m)


def strict_tangents_depend_on_each_input():
    """By double backward, where both derivatives are looked at. Rule: functional/strict-needs-dependence."""
    x = torch.tensor([1.0, 2.0])
    v = torch.ones(2)
    f = torch.autograd.functional
    with refused("functional/strict-needs-dependence"):
        f.jvp(lambda a, b: a * 2, (x, x), (v, v), strict=True)
    with refused("functional/strict-needs-dependence"):
        f.jvp(lambda a, b: b.detach() * a, (x, x), (v, v), strict=True)
    out, tangent = f.jvp(lambda a, b: a * b, (x, x), (v, v), strict=True)
    assert out.tolist() == [1.0, 4.0] and tangent.tolist() == [2.0, 4.0]
    assert f.jvp(lambda a, b: a * 2, (x, x), (v, v))[1].tolist() == [2.0, 2.0]


def second_derivatives_are_checked_in_one_way_at_least():
    """None at all is refused. Rule: gradcheck/may-answer-false."""
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradgradcheck
    neither = {"check_fwd_over_rev": False, "check_rev_over_rev": False}
    forward = {"check_fwd_over_rev": True, "check_rev_over_rev": False}
    assert error_kinds([lambda: check(torch.exp, (x,), **neither, check_undefined_grad=False)]) == "o"
    assert error_kinds([lambda: check(torch.exp, (x,), **forward)]) == "o"
    assert check(torch.exp, (x,), check_undefined_grad=False, **forward) is True
    assert check(lambda a: (a * 2).detach() * a, (x,), raise_exception=False) is False


def a_written_view_may_have_no_gradient():
    """Then its base has none either, and what was beside it in the write has its own.

    Rules: write/rewrites-the-base, function/dirty-is-rewritten.
    """
    of = lambda backward: type(
        "Tripled",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x, w: (ctx.mark_dirty(x), x.mul_(3))[1]),
            "backward": staticmethod(backward),
        },
    )
    kept = []
    kept += [of(lambda ctx, g: (None, g * 5)), of(lambda ctx, g: (g * 3, None))]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([1.0], requires_grad=True)
    b = x * 1
    kept[0].apply(b[:1], w)
    b.sum().backward()
    assert b.tolist() == [3.0, 2.0] and x.grad is None and w.grad.tolist() == [5.0]
    b = x * 1
    kept[1].apply(b[:1], w)
    b.sum().backward()
    assert x.grad.tolist() == [3.0, 1.0] and w.grad.tolist() == [5.0]


def a_sequence_number_can_be_set():
    """It decides which of two nodes that are ready runs first. Rule: backward/latest-first."""
    x = torch.tensor([1.0], requires_grad=True)
    a = x * 2
    b = x * 3
    y = a + b
    seen = []
    a.register_hook(lambda g: seen.append("a"))
    b.register_hook(lambda g: seen.append("b"))
    y.backward(retain_graph=True)
    number = b.grad_fn._sequence_nr()
    a.grad_fn._set_sequence_nr(number + 1)
    assert a.grad_fn._sequence_nr() == number + 1 and b.grad_fn._sequence_nr() == number
    y.backward()
    assert seen == ["b", "a", "a", "b"] and x.grad.tolist() == [10.0]


def masks_that_differ_choose_other_shapes():
    """Any operand may be the one that stands for many. Rule: functional/vmap-shapes-are-fixed."""
    x = torch.tensor([1.0, 2.0, 3.0])
    m = torch.tensor([[True, False, True], [True, True, False]])
    vmap = torch.func.vmap
    with refused("functional/vmap-shapes-are-fixed"):
        vmap(lambda k: torch.masked_select(x, k))(m)
    with refused("functional/vmap-shapes-are-fixed"):
        vmap(lambda k: x[k])(m)
    assert vmap(lambda q: q[m[0]])(torch.stack([x, x * 2])).tolist() == [[1.0, 3.0], [2.0, 6.0]]
    assert vmap(lambda k: torch.where(k, x, 0.0))(m).tolist() == [[1.0, 0.0, 3.0], [1.0, 2.0, 0.0]]


def differences_of_all_outputs_by_all_inputs():
    """An input without elements is passed over, and a condition has no difference.

    Rules: gradcheck/may-answer-false, op/bool-arithmetic.
    """
    none = torch.ones(0, dtype=torch.float64, requires_grad=True)
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    wrong = type(
        "Wrong",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, a, b: b * 2 + a.sum()),
            "backward": staticmethod(lambda ctx, g: (g.new_zeros(0), g * 5)),
        },
    )
    check = torch.autograd.gradcheck
    assert check(wrong.apply, (none, x), raise_exception=False) is False
    assert check(lambda a, b: b * 2 + a.sum(), (none, x)) is True
    assert check(lambda a: (a * 2, (a > 0).long()), (x,)) is True
    with refused("op/bool-arithmetic"):
        check(lambda a: (a * 2, a > 0), (x,))
