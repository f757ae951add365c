"""gradcheck: gradients compared with small differences."""

import warnings

import torch

from specs.case import refused, warned
from specs.cases._functions_borders import GuessesSecond
from specs.cases._functions_checked import (
    CubedWithWrongTangent,
    OnesForUndefined,
    SingleGradient,
    SumOrOne,
    SumOrTwice,
)
from specs.cases._functions_forward import TripledTangent
from specs.cases._measures import error_kinds


def wrong_gradients_are_found():
    """A factor that was cut off makes one half of the gradient.

    Rules: gradcheck/mismatch, gradcheck/may-answer-false.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(lambda a: a * a, (x,)) is True
    with refused("gradcheck/mismatch"):
        check(lambda a: a.detach() * a, (x,))
    assert check(lambda a: a.detach() * a, (x,), raise_exception=False) is False


def wrong_tangents_are_found():
    """With check_forward_ad, those of forward mode are compared too, also of complex numbers.

    Rule: gradcheck/may-answer-false.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([1.0 + 1.0j, 2.0], dtype=torch.complex128, requires_grad=True)
    gradcheck = torch.autograd.gradcheck
    assert gradcheck(torch.exp, x, check_forward_ad=True)
    assert gradcheck(torch.exp, z, check_forward_ad=True)
    assert gradcheck(TripledTangent.apply, x)
    assert not gradcheck(TripledTangent.apply, x, check_forward_ad=True, raise_exception=False)
    assert torch.autograd.gradgradcheck(lambda x: x * x * x, x)


def plain_outputs_must_be_constant():
    """gradcheck finds an output without history that depends on an input.

    Rule: gradcheck/plain-outputs-are-constant.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    with refused("gradcheck/plain-outputs-are-constant"):
        check(lambda a: a.detach(), (x,))
    assert check(lambda a: (a * 2, torch.ones(2, dtype=torch.float64)), (x,)) is True


def backward_must_do_the_same_twice():
    """A hook that gives another result each time is found. Rule: gradcheck/same-twice."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    noise = [1e-6 * n for n in range(1000)]
    hooked = lambda a: [a, a.register_hook(lambda g: g * (1 + noise.pop()))][0]
    with refused("gradcheck/same-twice"):
        torch.autograd.gradcheck(lambda a: hooked(a * 2), (x,))


def nothing_comes_of_zeros():
    """A hook that adds is found by the gradient of zeros. Rule: gradcheck/nothing-comes-of-zeros."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    hooked = lambda a: [a, a.register_hook(lambda g: g + 1e-7)][0]
    with refused("gradcheck/nothing-comes-of-zeros"):
        torch.autograd.gradcheck(lambda a: hooked(a * 2), (x,))


def what_can_be_checked():
    """Something must require grad, in double precision, and no two elements may share memory.

    Rules: gradcheck/needs-an-input-that-requires-grad, gradcheck/needs-double-precision,
    gradcheck/inputs-do-not-overlap.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    one = torch.ones(1, dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    with refused("gradcheck/needs-an-input-that-requires-grad"):
        check(lambda a: a * 2, (x.detach(),))
    with warned("gradcheck/needs-double-precision"):
        check(lambda a: a * 2, (x,), eps=1e-2, atol=1e-2)
    with refused("gradcheck/inputs-do-not-overlap"):
        check(lambda a: a * 2, (one.expand(2),))
    assert x.grad is None


def undefined_gradients_count_as_zeros():
    """A backward that is given None for a gradient, since it asked for no zeros, takes it for zeros; so does
    a jvp. What makes something else of it is found, unless it is not looked for.

    Rule: gradcheck/may-answer-false.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert not check(OnesForUndefined.apply, (x,), raise_exception=False)
    assert check(OnesForUndefined.apply, (x,), check_undefined_grad=False)
    assert check(SumOrOne.apply, (x, y), check_forward_ad=True)
    assert not check(SumOrTwice.apply, (x, y), check_forward_ad=True, raise_exception=False)
    assert check(lambda a: (a * 2, a * 3), (x,))


def gradients_have_the_dtype_of_their_inputs():
    """A leaf that takes any dtype may get a gradient of another, which does not pass.

    Rule: gradcheck/may-answer-false.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y.grad_dtype = None
    check = torch.autograd.gradcheck
    assert check(SingleGradient.apply, (x,))
    assert not check(SingleGradient.apply, (y,), raise_exception=False)


def second_derivatives_are_checked_either_way():
    """Backward through the backward, and with check_fwd_over_rev forward through it; a saved result has its
    tangent there.

    Rules: gradcheck/may-answer-false, forward/jvp-computes-tangents.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradgradcheck
    assert check(lambda a: a.exp() * a, (x,), check_fwd_over_rev=True)
    assert check(CubedWithWrongTangent.apply, (x,))
    assert not check(CubedWithWrongTangent.apply, (x,), check_fwd_over_rev=True, raise_exception=False)
    assert not check(lambda a: a.detach() * a * a, (x,), raise_exception=False)


def arguments_that_are_no_tensors_are_handed_on():
    """And so are tensors that require no grad; several outputs are checked one by one.

    Rules: gradcheck/mismatch, gradcheck/may-answer-false.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0, 4.0], dtype=torch.float64)
    check, again = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    scaled = lambda a, n, b, name: (a * n * b, (a * a).sum())
    assert check(scaled, (x, 3, y, "name")) is True and again(scaled, (x, 3, y, "name")) is True
    late = lambda a, n: (a * n, a.detach() * a)
    with refused("gradcheck/mismatch"):
        check(late, (x, 3))
    assert check(late, (x, 3), raise_exception=False) is False
    assert check(lambda a: a * a, x, eps=1e-4, atol=1e-3, rtol=1e-2) is True
    assert check(lambda a: a.abs() ** 3, x, check_forward_ad=True) is True
    z = torch.tensor([1.0 + 2.0j], dtype=torch.complex128, requires_grad=True)
    assert (
        check(lambda a: a * a.conj() + a, z) is True
        and check(lambda a: a * a, z, check_forward_ad=True) is True
    )
    with refused("gradcheck/mismatch"):
        check(lambda a: a.detach().conj() * a, z)


def inputs_are_as_they_were():
    """Elements that were moved to take differences are put back, and a non-leaf retains no grad for it.

    Rule: gradcheck/needs-an-input-that-requires-grad.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = x * 3
    assert torch.autograd.gradcheck(lambda a: a * a, y) is True
    assert y.tolist() == [3.0, 6.0] and y.retains_grad is False and y._version == 0
    assert torch.autograd.gradcheck(lambda a: a * a, x, check_forward_ad=True) is True
    assert torch.autograd.gradgradcheck(lambda a: a * a * a, x) is True
    assert x.tolist() == [1.0, 2.0] and x.grad is None and x._version == 0
    with refused("gradcheck/needs-an-input-that-requires-grad"):
        torch.autograd.gradcheck(lambda a: a * a, x.detach())


def missing_tangents_are_checked_unless_told_not_to():
    """A jvp that takes a missing tangent for something else than zeros is found out.

    Rule: gradcheck/may-answer-false.
    """
    total = type(
        "Total",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, a, b: (ctx.set_materialize_grads(False), a + b)[1]),
            "backward": staticmethod(lambda ctx, g: (g, g)),
            "jvp": staticmethod(lambda ctx, s, t: t * 2 if s is None else s * 1 if t is None else s + t),
        },
    )
    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    how = {"check_forward_ad": True, "check_backward_ad": False, "raise_exception": False}
    assert torch.autograd.gradcheck(total.apply, (x, y), check_undefined_grad=False, **how) is True
    assert torch.autograd.gradcheck(total.apply, (x, y), **how) is False


def tolerances_are_absolute_and_relative():
    """Either may be enough, and both add up. Rule: gradcheck/may-answer-false."""
    inexact = type(
        "Inexact",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: x * 4),
            "backward": staticmethod(lambda ctx, g: g * 4.1),
        },
    )
    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    check = lambda **how: torch.autograd.gradcheck(inexact.apply, (x,), raise_exception=False, **how)
    assert check(atol=0.2, rtol=0.0) is True and check(atol=0.0, rtol=0.04) is True
    assert check(atol=0.05, rtol=0.0) is False and check(atol=0.0, rtol=0.02) is False
    assert check(atol=0.05, rtol=0.02) is True and check() is False


def plain_outputs_beside_others_are_passed_over():
    """They may depend on an input, unless there are no others. Rule: gradcheck/plain-outputs-are-constant."""
    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(lambda a, b: (a * b, a.detach() * 2), (x, y)) is True
    assert check(lambda a, b: (a.detach() * 2, a * b), (x, y)) is True
    with refused("gradcheck/plain-outputs-are-constant"):
        check(lambda a, b: a.detach() * 2, (x, y))
    with refused("gradcheck/plain-outputs-are-constant"):
        check(lambda a, b: (torch.ones(1, dtype=torch.float64), b.detach() * 2), (x, y))


def results_have_one_dtype_and_shape():
    """One that changes with small changes of the input is no mismatch of gradients, but an error.

    Rule: gradcheck/mismatch.
    """
    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    dtypes = lambda a: a * 2 if a.item() <= 1 else (a * 2).float()
    shapes = lambda a: a * 2 if a.item() <= 1 else (a * 2).view(1, 1)
    assert error_kinds([
        lambda: check(dtypes, (x,), raise_exception=False),
        lambda: check(shapes, (x,), raise_exception=False),
    ]) == "oo"  # fmt: skip
    with refused("gradcheck/mismatch"):
        check(lambda a: a.detach() * a, (x,))


def one_gradient_out_of_nothing_is_enough():
    """The gradient of each input must be zeros or undefined. Rule: gradcheck/may-answer-false."""
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(GuessesSecond.apply, (x, y), check_undefined_grad=False) is True
    assert check(GuessesSecond.apply, (x, y), raise_exception=False) is False


def second_derivatives_are_checked_one_way_at_least():
    """Forward through the backward alone, if undefined gradients are left out, backward alone, or both.

    Rule: gradcheck/may-answer-false.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    first, again = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    square = lambda a: a * a * a
    forward = {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False}
    assert again(square, x, **forward) is True and again(square, x, check_fwd_over_rev=True) is True
    assert again(CubedWithWrongTangent.apply, x, **forward, raise_exception=False) is False
    backward_alone = lambda: again(square, x, check_rev_over_rev=False)
    undefined = lambda: again(square, x, check_fwd_over_rev=True, check_rev_over_rev=False)
    neither = lambda: first(square, x, check_backward_ad=False)
    assert error_kinds([backward_alone, undefined, neither]) == "ooo"
    assert first(square, x, check_backward_ad=False, check_forward_ad=True) is True


def second_derivatives_are_checked_with_gradients_that_are_given():
    """One for each output, a single one as it is; an input that nothing depends on is passed over.

    Rules: gradcheck/may-answer-false, gradcheck/mismatch.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    again = torch.autograd.gradgradcheck
    assert again(lambda a, b: a * a, (x, y)) is True
    assert again(lambda a: a * a, x, v) is True and again(lambda a: (a * a, a.exp()), (x,), (v, v)) is True
    late = lambda a: a.detach() * a * a
    assert again(late, x, v, raise_exception=False) is False
    zeros = torch.zeros(2, dtype=torch.float64)
    assert again(lambda a: a * a, x, zeros) is True
    with refused("gradcheck/mismatch"):
        again(late, x, v)


def each_gradient_may_be_undefined_by_itself():
    """Of several outputs all gradients are left out, then each by itself, beside zeros.

    Rule: gradcheck/may-answer-false.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    forward = lambda ctx, a: (ctx.set_materialize_grads(False), a * 2, a * 3, a * 4)[1:]
    missing = lambda grads: [g is None for g in grads].count(True)
    total = lambda grads: sum(
        (g * n for g, n in zip(grads, (2, 3, 4), strict=True) if g is not None), torch.zeros(2).double()
    )
    handles = lambda ctx, *grads: None if missing(grads) == 3 else total(grads)
    fails = lambda ctx, *grads: handles(ctx, *grads).view(3) if missing(grads) == 1 else handles(ctx, *grads)
    counts = lambda ctx, *grads: handles(ctx, *grads) + 1 if missing(grads) == 1 else handles(ctx, *grads)
    made = lambda backward: type(
        "Made",
        (torch.autograd.Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward)},
    )
    assert check(made(handles).apply, x) is True
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert check(made(fails).apply, x, raise_exception=False) is False
        assert check(made(counts).apply, x, raise_exception=False) is False
    assert [warning.category for warning in told] == [UserWarning, UserWarning]
    assert check(made(fails).apply, x, check_undefined_grad=False) is True
    assert check(made(counts).apply, x, check_undefined_grad=False) is True
    assert check(lambda a: made(handles).apply(a)[:2], x) is True
    assert check(lambda a: made(fails).apply(a)[0], x) is True


def constants_need_no_history():
    """An output that depends on nothing passes. Rule: gradcheck/plain-outputs-are-constant."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(lambda a: torch.ones(2, dtype=torch.float64), x) is True
    assert check(lambda a: (a.detach() * 0, a.detach() * 0 + 1), x) is True
    with refused("gradcheck/plain-outputs-are-constant"):
        check(lambda a: (torch.ones(2), a.detach() * 2), x)
    row = torch.ones(3, dtype=torch.float64).as_strided((1, 3), (0, 1)).requires_grad_()
    assert check(lambda a: a * a, row) is True and row.stride() == (0, 1)
