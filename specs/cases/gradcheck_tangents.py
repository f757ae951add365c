"""gradcheck in forward mode: what a function is given, and what of it is compared."""

import torch


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
