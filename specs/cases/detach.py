"""detach() and detach_()."""

import torch

from specs.case import refused
from specs.cases._functions import Pair


def detach_cuts_the_graph():
    """m = k.detach() is a leaf without grad_fn; k stays in the graph.

    Rule: detach/cuts. Source: seed 001_ab61d14c9099960f.txt, seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    k = x * 3
    m = k.detach()
    assert m.requires_grad is False and m.is_leaf is True and m.grad_fn is None
    assert m.tolist() == [3.0, 6.0]
    assert k.requires_grad is True and k.is_leaf is False


def no_gradient_flows_through_detach():
    """A detached factor is a constant. Rule: detach/cuts."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x.detach()
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]


def detach_and_flag_start_a_new_graph():
    """A result wrapped anew as a leaf cuts the graph: what is upstream gets no gradient.

    Rules: detach/cuts, requires_grad/flag-is-set-in-place. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.tensor([[1.0, 2.0]], requires_grad=True)
    x = torch.tensor([[3.0], [4.0]])
    f = (w @ x).detach().requires_grad_()
    f.sum().backward()
    assert f.is_leaf is True and f.grad.tolist() == [[1.0]]
    assert w.grad is None


def detached_leaf_needs_no_grad():
    """Of a leaf, too, the detached result requires no grad, and nothing is recorded from it.

    Rule: detach/needs-no-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d = x.detach()
    assert d.requires_grad is False and d.is_leaf is True
    y = d * 3
    assert y.requires_grad is False and y.grad_fn is None
    (x * d).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0] and d.grad is None


def detach_makes_a_new_tensor_under_no_grad_too():
    """The leaf stays as it is, and what is computed from the new tensor later is not recorded.

    Rules: detach/needs-no-grad, detach/cuts.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        d = x.detach()
    y = d * 3
    assert d is not x and d.requires_grad is False and x.requires_grad is True
    assert y.requires_grad is False and y.grad_fn is None


def detach_copies_no_data():
    """A write to either tensor is seen in both.

    Rule: detach/shares-storage. Source: seed 001_ab61d14c9099960f.txt, seed 003_08ed0c2a945abd78.txt.
    """
    b = torch.tensor([1.0, 2.0])
    d = b.detach()
    d.add_(1)
    assert b.tolist() == [2.0, 3.0]
    b.zero_()
    assert d.tolist() == [0.0, 0.0]


def a_leaf_can_be_written_to_through_detach():
    """A detached leaf takes writes, seen in the leaf, whose history does not change.

    Rules: detach/shares-storage, detach/is-no-view.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d = x.detach()
    d.mul_(2)
    assert x.tolist() == [2.0, 4.0] and x._version == 1
    assert x.is_leaf is True and x.grad_fn is None


def detach_is_no_view():
    """The result of detach has no base, and writing tracked values to it draws nobody in.

    Rule: detach/is-no-view.
    """
    b = torch.tensor([1.0, 1.0])
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d = b.detach()
    assert d._is_view() is False and d._base is None
    d.mul_(x)
    assert d.requires_grad is True and b.requires_grad is False
    assert b.tolist() == [1.0, 2.0]
    v = d.view(2)
    assert v._base is d


def detach_in_place_makes_a_leaf():
    """y.detach_() returns y, now a leaf that does not require grad; what came from it keeps its history.

    Rule: detach/in-place-makes-a-leaf. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y + 1
    r = y.detach_()
    assert r is y
    assert y.requires_grad is False and y.is_leaf is True and y.grad_fn is None
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def detach_in_place_of_a_leaf_drops_its_flag():
    """A leaf that requires grad can be detached in place. Rule: detach/in-place-makes-a-leaf."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.detach_()
    assert x.requires_grad is False and x.is_leaf is True


def detach_in_place_keeps_the_version():
    """detach_() is no write. Rule: detach/keeps-version."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.add_(1)
    y.detach_()
    assert y._version == 1


def a_view_cannot_be_detached_in_place():
    """Views refuse detach_(), also where nothing requires grad. Rule: detach/view-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y.view(2)
    with refused("detach/view-refused"):
        v.detach_()
    b = torch.tensor([1.0, 2.0])
    with refused("detach/view-refused"):
        b[:1].detach_()
    assert v.requires_grad is True and v.is_leaf is False


def a_detached_output_is_the_first_of_its_own():
    """detach_() forgets which output of its node the tensor was. Rule: detach/in-place-makes-a-leaf."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = Pair.apply(x)
    assert a.output_nr == 0 and b.output_nr == 1
    b.detach_()
    assert b.output_nr == 0 and b.is_leaf is True and a.is_leaf is False
    b.requires_grad_()
    (b * 2).sum().backward()
    assert b.grad.tolist() == [2.0, 2.0] and x.grad is None


def detach_in_place_gives_the_tensor_itself():
    """Also where it does nothing.

    Rules: detach/in-place-makes-a-leaf, inference/detach-in-place-is-nothing.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    a = y.detach_()
    assert a is y and y.requires_grad is False
    z = x * 3
    with torch.inference_mode():
        b = z.detach_()
    assert b is z and z.requires_grad is True


def detach_in_place_drops_the_tangent():
    """Of forward mode nothing is kept either.

    Rules: detach/in-place-makes-a-leaf, forward/ops-carry-tangents.
    """
    mode = torch.autograd.forward_ad
    x = torch.tensor([2.0], requires_grad=True)
    with mode.dual_level():
        y = mode.make_dual(x, torch.tensor([3.0])) * x
        assert mode.unpack_dual(y).tangent.tolist() == [6.0]
        y.detach_()
        assert y.is_leaf is True and y.requires_grad is False
        assert mode.unpack_dual(y).tangent is None and mode.unpack_dual(y * 2).tangent is None
