"""Forward mode of custom functions: what jvp is given, and the views that it gives."""

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def _tangent(x):
    """Return the values of a tensor's tangent."""
    found = torch.autograd.forward_ad.unpack_dual(x).tangent
    return None if found is None else found.tolist()


def _made(forward, jvp):
    """Return a custom function."""
    members = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    return type("Made", (torch.autograd.Function,), members)


def integers_have_no_tangent_of_zeros():
    """A jvp is given None for them, as for a number. Rule: forward/jvp-computes-tangents."""
    seen = []
    fw = torch.autograd.forward_ad
    scaled = _made(
        lambda ctx, x, i, n, y: x * i * n + y, lambda ctx, *given: (seen.append(given), given[0] * 2)[1]
    )
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        y = scaled.apply(d, torch.tensor([2, 3]), 5, torch.ones(2))
        assert _tangent(y) == [6.0, 8.0] and y.tolist() == [11.0, 31.0]
    assert seen[0][1] is None and seen[0][2] is None and seen[0][3].tolist() == [0.0, 0.0]


def a_jvp_returns_a_view_of_whichever_argument_forward_returns_one():
    """It need not be the first one. An argument without a tangent gets that of its view.

    Rules: forward/jvp-fits-the-outputs, forward/written-views-reach-the-base.
    """
    fw = torch.autograd.forward_ad
    numbered = _made(lambda ctx, n, x: x.view(2, 1), lambda ctx, n, t: t.view(2, 1))
    copied = _made(lambda ctx, x, y: y.view(2, 1), lambda ctx, t, u: u.view(2, 1) * 1)
    cloned = _made(lambda ctx, x, y: y.view(2, 1), lambda ctx, t, u: u.clone().view(2, 1))
    crossed = _made(lambda ctx, x, y: y.view(2, 1), lambda ctx, t, u: t.view(2, 1))
    p = torch.tensor([7.0, 8.0])
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        e = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([5.0, 6.0]))
        assert _tangent(numbered.apply(3, d)) == [[3.0], [4.0]]
        with refused("forward/jvp-fits-the-outputs"):
            copied.apply(d, e)
        with refused("forward/jvp-fits-the-outputs"):
            cloned.apply(d, e)
        with refused("forward/jvp-fits-the-outputs"):
            crossed.apply(d, e)
        y = crossed.apply(d, p)
        assert _tangent(y) == [[3.0], [4.0]] and _tangent(p) == [3.0, 4.0]
        fw.unpack_dual(y).tangent.zero_()
        assert _tangent(p) == [0.0, 0.0] and _tangent(d) == [3.0, 4.0]


def a_view_of_what_is_no_argument_has_a_tangent_of_its_own():
    """Its base gets none, and views of it find that of their own source.

    Rules: forward/jvp-computes-tangents, forward/views-share-tangents.
    """
    fw = torch.autograd.forward_ad
    b = torch.tensor([7.0, 8.0])
    aside = _made(lambda ctx, x: b.view(2, 1), lambda ctx, t: t.view(2, 1))
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        y = aside.apply(d)
        z = y[0]
        assert _tangent(y) == [[3.0], [4.0]] and _tangent(b) is None
        assert _tangent(z) == [3.0] and _tangent(y[1] * 2) == [8.0]
        fw.unpack_dual(y).tangent.zero_()
        assert _tangent(z) == [0.0]


def a_dual_tensor_is_made_of_two_plain_ones():
    """Of floats or complex numbers, in a level that there is. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    x, t, i = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), torch.tensor([1, 2])
    with fw.dual_level():
        d = fw.make_dual(x, t, level=0)
        assert _tangent(d * 2) == [6.0, 8.0] and fw.unpack_dual(d, level=0).tangent.tolist() == [3.0, 4.0]
        assert fw.unpack_dual(d, level=-1).tangent is None
        calls = [lambda: fw.make_dual(t, d), lambda: fw.make_dual(x, t, level=-1), lambda: fw.make_dual(i, t)]
        calls += [lambda: fw.make_dual(x, i), lambda: fw.make_dual(x, t, level=1)]
        assert error_kinds(calls) == "ooVVo" and _tangent(x) is None
    assert error_kinds([lambda: fw.make_dual(x, t), lambda: fw.make_dual(x, t, level=0)]) == "oo"


def dual_tensors_within_transforms():
    """They are made of what does not stand for many, and a map over others keeps the tangents of outside.

    Rules: forward/ops-carry-tangents, functional/vmap-has-no-rule.
    """
    fw = torch.autograd.forward_ad
    c, p = torch.tensor([5.0, 6.0]), torch.tensor([1.0, 2.0])
    m = torch.tensor([[1.0, 1.0], [2.0, 2.0]])
    with fw.dual_level():
        d = fw.make_dual(c, p)
        mapped = torch.func.vmap(lambda x: x * d)(m)
        assert _tangent(mapped) == [[1.0, 2.0], [2.0, 4.0]]
        assert torch.func.vmap(lambda x: x * fw.make_dual(p, c))(m).tolist() == [[1.0, 2.0], [2.0, 4.0]]
        tangent = lambda x: (fw.unpack_dual(fw.make_dual(x, c) * 2).tangent * x).sum()
        assert torch.func.grad(tangent)(p).tolist() == [10.0, 12.0]
        with refused("functional/vmap-has-no-rule"):
            torch.func.vmap(lambda x: fw.make_dual(x, c))(m)
