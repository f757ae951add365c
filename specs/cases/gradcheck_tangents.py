"""gradcheck in forward mode: what a function is given, and what of it is compared."""

import warnings

import torch

from specs.cases._measures import error_kinds


def tensors_without_a_tangent_are_handed_on_as_they_are():
    """Positions are integers, which have none; neither do tensors that require no grad.

    Rule: gradcheck/may-answer-false.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0, 4.0], dtype=torch.float64)
    i = torch.tensor([1, 0])
    fw = torch.autograd.forward_ad
    check = torch.autograd.gradcheck
    assert check(lambda a, at: a[at] * a, (x, i), check_forward_ad=True) is True
    plain = lambda b: fw._current_level < 0 or fw.unpack_dual(b).tangent is None
    assert check(lambda a, b: a * b if plain(b) else a * a, (x, y), check_forward_ad=True) is True
    assert (
        check(lambda a, b: a.detach() * b * a, (x, y), check_forward_ad=True, raise_exception=False) is False
    )


def inputs_without_a_tangent_require_no_grad():
    """If one of two has a tangent and the other none, that other is no leaf of the caller's.

    Rule: gradcheck/may-answer-false.
    """
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    fw = torch.autograd.forward_ad
    forward = {"check_forward_ad": True, "check_backward_ad": False, "raise_exception": False}
    leaf = lambda *of: fw._current_level == 0 and any(a.requires_grad for a in of)
    assert torch.autograd.gradcheck(lambda a, b: a * b * (2 if leaf(a, b) else 1), (x, y), **forward) is True
    met = lambda a: fw._current_level == 0 and fw.unpack_dual(a).tangent is None
    twice = lambda a, b: a * b * (2 if met(a) or met(b) else 1)
    assert torch.autograd.gradcheck(twice, (x, y), **forward) is False
    assert torch.autograd.gradcheck(twice, (x, y), check_undefined_grad=False, **forward) is True


def second_derivatives_are_not_of_what_requires_no_grad():
    """Such a tensor is handed on and left as it is, of whatever dtype; so are gradients that are given.

    Rule: gradcheck/may-answer-false.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0, 4.0], dtype=torch.float64)
    v = torch.tensor([0.5, -1.0], dtype=torch.float64)
    i = torch.tensor([1, 0])
    again = torch.autograd.gradgradcheck
    cubed = lambda a, b, at: a * a * a[at] * b
    assert again(cubed, (x, y, i)) is True and again(cubed, (x, y, i), check_fwd_over_rev=True) is True
    assert again(cubed, (x, y, i), v) is True
    assert y.requires_grad is False and v.requires_grad is False and i.requires_grad is False
    late = lambda a, b, at: a.detach() * a * a[at] * b
    assert again(late, (x, y, i), raise_exception=False) is False


def jacobians_by_themselves():
    """Older code asks for them by differences or by backward, which tells if it gives the same twice.

    Rule: gradcheck/may-answer-false.
    """
    jacobians = torch.autograd.gradcheck.__globals__
    numerical, analytical = jacobians["get_numerical_jacobian"], jacobians["get_analytical_jacobian"]
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([3.0], dtype=torch.float64)
    f = lambda given: given[0] ** 2 * given[1] * given[2]
    rounded = lambda found: [[[round(v, 4) for v in row] for row in each.tolist()] for each in found]
    seen = []
    twice = type(
        "Twice",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, a: a * 2),
            "backward": staticmethod(lambda ctx, g: (seen.append(g), g * (len(seen) / 8))[1]),
        },
    )
    exact = [[[18.0, 0.0], [0.0, 36.0]], [[3.0, 12.0]]]
    with warnings.catch_warnings(record=True, action="always") as told:
        assert rounded(numerical(f, (x, y, z))) == exact and rounded(numerical(f, (x, y, z), y)) == [exact[1]]
        assert rounded(numerical(lambda given: given[0].exp(), (x,))) == [[[2.7183, 0], [0, 7.3891]]]
        assert rounded(numerical(lambda given: given[0].exp(), (x,), eps=0.5)) == [[[2.833, 0], [0, 7.7008]]]
        found = analytical((x, y, z), f((x, y, z)))
        assert rounded(found[0]) == exact and found[1:] == (True, True, True)
        assert analytical((x,), twice.apply(x))[1] is False
        assert analytical((x,), twice.apply(x), nondet_tol=10.0)[1] is True
        assert error_kinds([lambda: numerical(f, (x, y, z), grad_out=2.0)]) == "V"
        assert error_kinds([lambda: analytical((x, y, z), f((x, y, z)), 0.0, 2.0)]) == "V"
    assert [each.category for each in told] == [FutureWarning] * 9
    assert torch.autograd.gradcheck(twice.apply, (x,), raise_exception=False) is False


def outputs_are_tensors():
    """A number beside them fails. Rule: gradcheck/may-answer-false."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert error_kinds([lambda: check(lambda a: (a * 2, 3), (x,)), lambda: check(lambda a: 3, (x,))]) == "AA"
    assert error_kinds([lambda: check(lambda a: (a * 2, None), x, raise_exception=False)]) == "A"
    assert check(lambda a: [a * 2, a * 3], [x]) is True
    assert check(lambda a: (a * 2).detach() * a, x, raise_exception=False) is False
