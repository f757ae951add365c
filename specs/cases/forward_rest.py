"""Tangents of operands that differ, of what is written, and of marked results; levels."""

import contextlib

import torch

from specs.case import refused
from specs.cases._functions_borders import TurnedTangent


def _tangent(x):
    """Return the values of a tensor's tangent."""
    found = torch.autograd.forward_ad.unpack_dual(x).tangent
    return None if found is None else found.tolist()


def tangents_of_several_operands():
    """Each adds its share, broadcast as its tensor is; an operand without one adds nothing.

    Rule: forward/ops-carry-tangents.
    """
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        a = fw.make_dual(torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [-1.0]]))
        b = fw.make_dual(torch.tensor([3.0, 4.0]), torch.tensor([0.0, 2.0]))
        c = torch.tensor([5.0, 6.0])
        assert (
            _tangent(a * b) == [[3.0, 6.0], [-3.0, 0.0]]
            and _tangent(a * c) == [[5.0, 6.0], [-5.0, -6.0]]
            and _tangent(c / b) == [-0.0, -0.75]
        )
        assert (
            _tangent(a + c) == [[1.0, 1.0], [-1.0, -1.0]]
            and _tangent(a - b) == [[1.0, -1.0], [-1.0, -3.0]]
            and _tangent(a.sum()) == 0.0
        )
        assert (
            _tangent(a @ b[None]) == [[3.0, 6.0], [-3.0, 0.0]]
            and _tangent(b.dot(c)) == 12.0
            and _tangent(b.prod()) == 6.0
        )
        assert _tangent(torch.cat([b, c])) == [0.0, 2.0, 0.0, 0.0] and _tangent(torch.stack([c, b])[1]) == [
            0.0,
            2.0,
        ]
        assert _tangent(torch.where(c > 5, b, c)) == [0.0, 2.0] and _tangent(b.maximum(c / 2)) == [0.0, 2.0]
        assert (
            _tangent(b.double()) == [0.0, 2.0] and fw.unpack_dual(b.double()).tangent.dtype == torch.float64
        )
        assert (
            _tangent(b.half() * c) == [0.0, 12.0]
            and _tangent(b.long()) is None
            and _tangent(b.detach()) is None
        )
        assert (
            _tangent(b[torch.tensor([1, 1, 0])]) == [2.0, 2.0, 0.0]
            and _tangent(b.clone()) == [0.0, 2.0]
            and _tangent(b * 0) == [0.0, 0.0]
        )
        assert [_tangent(part) for part in a.unbind()] == [[1.0], [-1.0]] and _tangent(
            a.sum(0, keepdim=True)
        ) == [[0.0]]
        assert (
            _tangent(b.var()) == 2.0
            and _tangent(b.norm() * 5) == 8.0
            and _tangent(a.expand(2, 3).t()) == [[1.0, -1.0], [1.0, -1.0], [1.0, -1.0]]
        )
        z = fw.make_dual(torch.tensor([1.0 + 2.0j]), torch.tensor([1.0j]))
        assert (
            _tangent(z * z) == [(-4 + 2j)]
            and _tangent(z.conj() * z) == [(4 + 0j)]
            and _tangent(z.real) == [0.0]
        )
        assert _tangent(z.abs() * 0 + z.imag) == [1.0]


def tangents_of_writes():
    """Of the target, of what is written, or of both; a target without one gets it, and its base too.

    Rules: forward/writes-reach-tangents, forward/written-views-reach-the-base.
    """
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        b = fw.make_dual(torch.tensor([3.0, 4.0]), torch.tensor([0.0, 2.0]))
        x = torch.tensor([1.0, 2.0])
        x.mul_(b)
        assert _tangent(x) == [0.0, 4.0]
        x.mul_(x)
        assert _tangent(x) == [0.0, 288.0]
        x.add_(torch.ones(2)).mul_(2)
        assert _tangent(x) == [0.0, 576.0]
        y = torch.zeros(2, 2)
        y[0].copy_(b)
        assert _tangent(y) == [[0.0, 2.0], [0.0, 0.0]]
        y[1] = b * b
        y[0, 1].mul_(10)
        assert _tangent(y) == [[0.0, 20.0], [0.0, 16.0]] and _tangent(y.t()[1]) == [20.0, 16.0]
        y.zero_()
        assert _tangent(y) == [[0.0, 0.0], [0.0, 0.0]]
        w = b * 1
        v = w.view(2, 1)
        w.exp_()
        assert _tangent(v) == [[0.0], [109.19629669189453]] and _tangent(w) == [0.0, 109.19629669189453]
        w.copy_(torch.ones(2))
        assert _tangent(w) == [0.0, 0.0] and _tangent(v) == [[0.0], [0.0]]
        with torch.no_grad():
            w.copy_(b)
        assert _tangent(w) == [0.0, 2.0]
        u = torch.zeros(2, dtype=torch.float64)
        u.copy_(b)
        assert _tangent(u) == [0.0, 2.0] and fw.unpack_dual(u).tangent.dtype in (torch.float32, torch.float64)


def tangents_of_marked_and_written_results():
    """A result that is marked has none; an input without one that is written gets what jvp gives.

    Rules: forward/jvp-fits-the-outputs, forward/jvp-computes-tangents.
    """
    fw = torch.autograd.forward_ad
    function = torch.autograd.Function
    given = []
    both = type(
        "Both",
        (function,),
        {
            "forward": staticmethod(lambda ctx, x, y, n: ctx.mark_dirty(y) or (x * n, y.mul_(2))),
            "jvp": staticmethod(lambda ctx, t, s, n: given.append((t, s, n)) or (t * 5, s.mul_(0).add_(7))),
        },
    )
    marked = lambda ctx, x: (made := x * 2, ctx.mark_non_differentiable(made), made)[2]
    constant = type(
        "Constant",
        (function,),
        {"forward": staticmethod(marked), "jvp": staticmethod(lambda ctx, t: None)},
    )
    varied = type(
        "Varied", (function,), {"forward": staticmethod(marked), "jvp": staticmethod(lambda ctx, t: t)}
    )
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        y = torch.tensor([3.0, 4.0])
        a, b = both.apply(d, y, 3)
        assert _tangent(a) == [5.0, -5.0] and b is y and _tangent(y) == [7.0, 7.0]
        assert given[0][0].tolist() == [1.0, -1.0] and given[0][2] is None
        assert _tangent(constant.apply(d)) is None
        with refused("forward/jvp-fits-the-outputs"):
            varied.apply(d)
        c, _ = both.apply(torch.ones(2), torch.ones(2), 3)
        assert _tangent(c) is None and len(given) == 1


def levels_and_dual_tensors():
    """A dual tensor is a view of its tensor, which stays without; tangents need a level, and fit.

    Rules: forward/tangents-fit, forward/level-ends, forward/one-tangent-each.
    """
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    t = torch.tensor([1.0, -1.0])
    with fw.dual_level():
        d = fw.make_dual(x, t)
        assert d is not x and d.requires_grad is True and d.is_leaf is False and d._base is x
        assert _tangent(x) is None and fw.unpack_dual(d).tangent is t
        assert fw.unpack_dual(d).primal.tolist() == [1.0, 2.0] and _tangent(fw.unpack_dual(d).primal) is None
        with refused("forward/tangents-fit"):
            fw.make_dual(x, torch.ones(3))
        e = fw.make_dual(torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t(), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        assert fw.unpack_dual(e).tangent.stride() == (1, 2) and _tangent(e) == [[1.0, 2.0], [3.0, 4.0]]
        (g,) = torch.autograd.grad((d * d * d).sum(), x, create_graph=True)
        assert _tangent(g) == [6.0, -12.0]
        (d * d).sum().backward()
        assert x.grad.tolist() == [2.0, 4.0]
    assert fw.unpack_dual(d).tangent is None and fw.unpack_dual(d).primal is d
    made = fw.dual_level()(lambda: _tangent(fw.make_dual(x.detach(), t) * 3))()
    assert made == [3.0, -3.0]
    assert fw.enter_dual_level() == 0
    fw.exit_dual_level()
    assert _tangent(x) is None


def a_written_view_hands_its_tangent_to_its_base():
    """Also where a custom function wrote it. Rules: forward/jvp-computes-tangents, forward/level-ends."""
    fw = torch.autograd.forward_ad
    written = type(
        "Written",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x, y: ctx.mark_dirty(y) or y.copy_(x)),
            "jvp": staticmethod(lambda ctx, t, s: s.copy_(t * 3)),
        },
    )
    with contextlib.suppress(RuntimeError):
        fw.make_dual(torch.ones(2), torch.ones(2))
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        base = torch.zeros(2, 2)
        written.apply(d, base[1])
        assert base.tolist() == [[0.0, 0.0], [1.0, 2.0]] and _tangent(base) == [[0.0, 0.0], [3.0, -3.0]]
    assert _tangent(base) is None


def a_copied_tangent_is_a_copy():
    """A later write to the target leaves the source's tangent alone.

    Rules: forward/writes-reach-tangents, forward/ops-carry-tangents.
    """
    f = torch.autograd.forward_ad
    with f.dual_level():
        t = torch.tensor([3.0, 4.0])
        y = f.make_dual(torch.ones(2), t)
        x = torch.zeros(2)
        x.copy_(y)
        x.mul_(2)
        assert f.unpack_dual(x).tangent.tolist() == [6.0, 8.0] and t.tolist() == [3.0, 4.0]
        z = torch.zeros(2, 2)
        z.copy_(y)
        z[0].mul_(5)
        assert f.unpack_dual(z).tangent.tolist() == [[15.0, 20.0], [3.0, 4.0]]
        assert f.unpack_dual(y).tangent.tolist() == [3.0, 4.0]


def inference_tensors_alone_lose_their_tangents():
    """Beside a number or a normal tensor they keep them. Rule: forward/ops-carry-tangents."""
    f = torch.autograd.forward_ad
    with torch.inference_mode():
        i = torch.tensor([2.0])
    with f.dual_level():
        d = f.make_dual(i, torch.tensor([3.0]))
        tangents = [f.unpack_dual(x).tangent for x in (d, d * d, d.sin(), d.sum(), d.view(1, 1))]
        assert tangents[0].tolist() == [3.0] and tangents[1:] == [None, None, None, None]
        assert f.unpack_dual(d * torch.tensor([5.0])).tangent.tolist() == [15.0]
        assert f.unpack_dual(d + 1).tangent.tolist() == [3.0]


def a_tangent_has_the_very_shape():
    """As many elements are not enough, be it given or made by a jvp. Rule: forward/tangents-fit."""
    f = torch.autograd.forward_ad
    with f.dual_level():
        with refused("forward/tangents-fit"):
            f.make_dual(torch.ones(2), torch.ones(2, 1))
        x = f.make_dual(torch.ones(2), torch.ones(2))
        with refused("forward/tangents-fit"):
            TurnedTangent.apply(x)


def views_that_backward_would_refuse_have_tangents():
    """One made under no_grad, or one of several, passes what is written to it on to its base.

    Rules: forward/written-views-reach-the-base, forward/views-share-tangents.
    """
    f = torch.autograd.forward_ad
    b, c = torch.ones(3), torch.ones(3)
    with torch.no_grad():
        v, w = b[:2], c[:2]
    u = torch.ones(2).unbind(0)[1]
    with f.dual_level():
        v.mul_(f.make_dual(torch.ones(2), torch.tensor([3.0, 4.0])))
        assert f.unpack_dual(b).tangent.tolist() == [3.0, 4.0, 0.0]
        c.mul_(f.make_dual(torch.ones(3), torch.tensor([3.0, 4.0, 5.0])))
        assert f.unpack_dual(w).tangent.tolist() == [3.0, 4.0]
        u.mul_(f.make_dual(torch.ones(()), torch.tensor(3.0)))
        assert f.unpack_dual(u._base).tangent.tolist() == [0.0, 3.0]


def a_stale_view_finds_its_tangent_in_the_base():
    """Taken before, and recorded before.

    Rules: view/stale-regenerates, forward/views-share-tangents.
    """
    f = torch.autograd.forward_ad
    x = torch.ones(3, requires_grad=True)
    b = x * 1
    v = b[1:]
    with f.dual_level():
        b.mul_(f.make_dual(torch.ones(3), torch.tensor([3.0, 4.0, 5.0])))
        assert f.unpack_dual(v).tangent.tolist() == [4.0, 5.0]
        assert v.grad_fn.name() == "AsStridedBackward0"


def tangents_are_turned_off_outside_of_levels_as_well():
    """A level that is entered then has none. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0])
    seen = [fw._is_fwd_grad_enabled()]
    with fw._set_fwd_grad_enabled(False):
        seen.append(fw._is_fwd_grad_enabled())
        with fw.dual_level():
            seen.append(fw._is_fwd_grad_enabled())
            assert fw.unpack_dual(fw.make_dual(x, x) * 2).tangent is None
            with fw._set_fwd_grad_enabled(True):
                seen.append(fw._is_fwd_grad_enabled())
                assert fw.unpack_dual(fw.make_dual(x, x) * 2).tangent.tolist() == [2.0, 4.0]
        seen.append(fw._is_fwd_grad_enabled())
    assert [*seen, fw._is_fwd_grad_enabled()] == [True, False, False, True, False, True]


def tangents_of_several_results_have_no_history():
    """No history, where nothing that they are made of requires grad. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([[4.0, 1.0], [1.0, 3.0]]), torch.eye(2))
        s, q, r = torch.linalg.svdvals(d), *torch.linalg.qr(d)
        values, _ = torch.linalg.eigh(d)
        variance, mean = torch.var_mean(d)
        made = [fw.unpack_dual(x).tangent for x in (s, r, values, variance, mean, torch.logdet(d))]
        assert [x.requires_grad for x in made] == [False] * 6
        assert [[round(v, 4) for v in x.reshape(-1).tolist()] for x in made[2:]] == [
            [1.0, 1.0],
            [1.6667],
            [0.5],
            [0.6364],
        ]
