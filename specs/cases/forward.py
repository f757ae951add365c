"""Forward mode: which tensors have tangents, and what is refused."""

import torch

from specs.case import refused
from specs.cases._functions import Double
from specs.cases._functions_forward import (
    CopiedRow,
    DoubledAside,
    DoubledInACopy,
    DoubledInPlace,
    FirstRow,
    JvpOfMarked,
    JvpOfTwo,
    Larger,
    RowOfAnother,
    RowOfTheSecond,
    Sheared,
    ShearedOnce,
)


def dual_tensors_are_made_once():
    """A dual tensor has its tangent already. Rule: forward/one-tangent-each."""
    x = torch.tensor([1.0, 2.0])
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.tensor([1.0, 1.0]))
        with refused("forward/one-tangent-each"):
            torch.autograd.forward_ad.make_dual(dual, x)
        torch.autograd.forward_ad.make_dual(x, x)


def custom_functions_need_a_jvp_for_tangents():
    """Without tangents they need none. Rule: forward/function-needs-a-jvp."""
    x = torch.tensor([1.0, 2.0])
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        with refused("forward/function-needs-a-jvp"):
            Double.apply(dual)
        assert Double.apply(x).tolist() == [2.0, 4.0]


def results_have_tangents():
    """Sums and products of dual tensors, also with plain ones; comparisons have none.

    Rules: forward/ops-carry-tangents, forward/level-ends.
    """
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0])
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        assert fw.unpack_dual(d * d).tangent.tolist() == [2.0, -4.0]
        assert fw.unpack_dual(d.sum() * d + x).tangent.tolist() == [3.0, -3.0]
        assert fw.unpack_dual(x * 2).tangent is None
        assert fw.unpack_dual(d > 0).tangent is None
        assert fw.unpack_dual(d.detach()).tangent is None
        with torch.inference_mode():
            assert fw.unpack_dual(d * 2).tangent is None
        y = d * d
    assert fw.unpack_dual(y).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(y).tangent is None
        assert fw.unpack_dual(d).tangent is None


def tangents_have_history():
    """With grad mode on, tangents are recorded: forward over backward. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, torch.tensor([1.0, -1.0]))
        tangent = fw.unpack_dual(d * d).tangent
        assert tangent.requires_grad
        (g,) = torch.autograd.grad(tangent.sum(), x)
        assert g.tolist() == [2.0, -2.0]
        with torch.no_grad():
            assert not fw.unpack_dual(d * d).tangent.requires_grad


def a_view_has_the_same_view_of_the_tangent():
    """Writes through either show in the other.

    Rules: forward/views-share-tangents, forward/writes-reach-tangents.
    """
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, -1.0, 2.0]))
        v = d[1:]
        tangent = fw.unpack_dual(d).tangent
        assert fw.unpack_dual(v).tangent.tolist() == [-1.0, 2.0]
        v.mul_(2)
        assert tangent.tolist() == [1.0, -2.0, 4.0]
        d.mul_(3)
        assert fw.unpack_dual(v).tangent.tolist() == [-6.0, 12.0]
        assert fw.unpack_dual(d).tangent.tolist() == [3.0, -6.0, 12.0]
        assert tangent.tolist() == [3.0, -6.0, 12.0]
        first, second, third = d.chunk(3)
        assert fw.unpack_dual(third).tangent.tolist() == [12.0]


def a_write_writes_the_tangent():
    """In its memory; a plain tensor that is copied in makes it zero. Rule: forward/writes-reach-tangents."""
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0])
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        y = d.clone()
        tangent = fw.unpack_dual(y).tangent
        y.add_(d)
        assert tangent.tolist() == [2.0, -2.0]
        y.mul_(d)
        assert y.tolist() == [2.0, 8.0]
        assert tangent.tolist() == [4.0, -8.0]
        y.copy_(x)
        assert tangent.tolist() == [0.0, 0.0]
        assert fw.unpack_dual(y).tangent.tolist() == [0.0, 0.0]


def a_tangent_written_to_a_view_is_the_bases():
    """The base had none: it is zero elsewhere. Rule: forward/written-views-reach-the-base."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        row = x[1]
        row.copy_(d)
        assert fw.unpack_dual(x).tangent.tolist() == [[0.0, 0.0], [1.0, -1.0]]
        assert fw.unpack_dual(x[0]).tangent.tolist() == [0.0, 0.0]
        row.mul_(3)
        assert fw.unpack_dual(x).tangent.tolist() == [[0.0, 0.0], [3.0, -3.0]]


def a_view_taken_before_finds_its_tangent_in_the_base():
    """The base was given one since; what is written to the view is written there.

    Rule: forward/writes-reach-tangents.
    """
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        base = torch.tensor([[0.0, 0.0], [0.0, 0.0]])
        row = base[0]
        base.copy_(d)
        tangent = fw.unpack_dual(row).tangent
        assert tangent.tolist() == [1.0, 2.0]
        assert fw.unpack_dual(row).tangent is tangent
        row.mul_(2)
        assert fw.unpack_dual(base).tangent.tolist() == [[2.0, 4.0], [3.0, 4.0]]


def a_tangent_lies_as_its_tensor_does():
    """The tangent itself if it lies so, else a copy; it must have the size. Rule: forward/tangents-fit."""
    fw = torch.autograd.forward_ad
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    t = torch.tensor([[1.0, 0.0], [2.0, 5.0]])
    with fw.dual_level():
        assert fw.unpack_dual(fw.make_dual(x.view(2, 2), t)).tangent is t
        turned = fw.unpack_dual(fw.make_dual(x.t(), t)).tangent
        assert turned is not t
        assert turned.tolist() == [[1.0, 0.0], [2.0, 5.0]]
        assert turned.stride() == (1, 2)
        with refused("forward/tangents-fit"):
            fw.make_dual(x.clone(), t[0])


def a_jvp_gives_the_tangents():
    """It has zeros for tensors without a tangent, None for other values; None where nothing is materialized.

    Rule: forward/jvp-computes-tangents.
    """
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0])
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        assert fw.unpack_dual(Sheared.apply(d, 3.0, x)).tangent.tolist() == [30.0, -30.0]
        assert fw.unpack_dual(ShearedOnce.apply(d, x)).tangent.tolist() == [3.0, -3.0]
        y, where = Larger.apply(d, torch.tensor([2.0, 1.0]))
        assert fw.unpack_dual(y).tangent.tolist() == [0.0, -1.0]
        assert fw.unpack_dual(where).tangent is None
        assert fw.unpack_dual(Sheared.apply(x, 3.0, x)).tangent is None


def a_jvp_has_as_many_results_as_forward():
    """And none for an output that can have no tangent. Rule: forward/jvp-fits-the-outputs."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        with refused("forward/jvp-fits-the-outputs"):
            JvpOfTwo.apply(d)
        with refused("forward/jvp-fits-the-outputs"):
            JvpOfMarked.apply(d)


def a_jvp_returns_the_view_that_forward_returns():
    """Of the tangent that it was given. Rule: forward/jvp-fits-the-outputs."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.0], [3.0, 5.0]]))
        row = FirstRow.apply(d)
        assert fw.unpack_dual(row).tangent.tolist() == [1.0, 2.0]
        with refused("forward/jvp-fits-the-outputs"):
            CopiedRow.apply(d)
        with refused("forward/jvp-fits-the-outputs"):
            RowOfAnother.apply(d)
        with refused("forward/jvp-fits-the-outputs"):
            RowOfAnother.apply(d[1:])
        assert fw.unpack_dual(FirstRow.apply(d[1:])).tangent.tolist() == [3.0, 5.0]
        second = RowOfTheSecond.apply(torch.ones_like(d) * d, d)
        assert fw.unpack_dual(second).tangent.tolist() == [1.0, 2.0]


def a_jvp_writes_the_tangent_that_forward_writes():
    """In place, and returns it. Rules: forward/jvp-computes-tangents, forward/jvp-fits-the-outputs."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        y = d.clone()
        DoubledInPlace.apply(y)
        assert fw.unpack_dual(y).tangent.tolist() == [20.0, -20.0]
        with refused("forward/jvp-fits-the-outputs"):
            DoubledAside.apply(d.clone())
        with refused("forward/jvp-fits-the-outputs"):
            DoubledInACopy.apply(d.clone())


def tangents_promote_as_their_tensors_do():
    """The tangent of a result has the dtype of the result, whichever operands have tangents.

    Rule: forward/ops-carry-tangents.
    """
    fw = torch.autograd.forward_ad
    y = torch.tensor([3.0, 4.0], dtype=torch.float64)
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        e = fw.make_dual(y, torch.tensor([1.0, 2.0], dtype=torch.float64))
        tangent = fw.unpack_dual(d * y).tangent
        assert tangent.dtype is torch.float64 and tangent.tolist() == [3.0, -4.0]
        assert fw.unpack_dual(e * d).tangent.tolist() == [4.0, 0.0]
        assert fw.unpack_dual(2 * d).tangent.dtype is torch.float32


def tangents_can_be_turned_off():
    """Blocks without tangents nest; each ends with what was before it. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        with fw._set_fwd_grad_enabled(False):
            assert fw.unpack_dual(d * 2).tangent is None
            with fw._set_fwd_grad_enabled(True):
                assert fw.unpack_dual(d * 2).tangent.tolist() == [2.0, -2.0]
            assert fw.unpack_dual(d * 2).tangent is None
        assert fw.unpack_dual(d * 2).tangent.tolist() == [2.0, -2.0]


def a_result_that_was_saved_has_its_tangent():
    """So the gradient of what was written in place has one, too.

    Rules: forward/ops-carry-tangents, forward/writes-reach-tangents.
    """
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 0.5], requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, torch.tensor([1.0, -2.0]))
        y = d * 1
        y.sigmoid_()
        (g,) = torch.autograd.grad(y.sum(), d)
        assert [round(v, 4) for v in fw.unpack_dual(g).tangent.tolist()] == [-0.0909, 0.1151]
        (h,) = torch.autograd.grad(d.exp().sum(), d)
        assert fw.unpack_dual(h).tangent.tolist() == (x.exp() * torch.tensor([1.0, -2.0])).tolist()


def a_jvp_that_writes_nothing_is_refused():
    """The tangent of an input that forward wrote is to be written too.

    Rule: forward/jvp-fits-the-outputs.
    """
    fw = torch.autograd.forward_ad
    lazy = type(
        "Lazy",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: ctx.mark_dirty(x) or x.mul_(2)),
            "jvp": staticmethod(lambda ctx, t: t),
        },
    )
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0]))
        with refused("forward/jvp-fits-the-outputs"):
            lazy.apply(d.clone())
        assert lazy.apply(torch.tensor([1.0])).tolist() == [2.0]


def a_tangent_is_dropped_between_inference_tensors_alone():
    """Either of both may be one. A level below 0 is no level. Rule: forward/ops-carry-tangents."""
    fw = torch.autograd.forward_ad
    found = []
    with torch.inference_mode():
        x = torch.tensor([1.0])
        t = torch.tensor([2.0])
    with fw.dual_level():
        y = fw.make_dual(torch.tensor([3.0]), t)
        made = (fw.make_dual(x, torch.tensor([4.0])), y, fw.make_dual(x, t))
        found += [fw.unpack_dual(each).tangent for each in made]
        assert found[0].tolist() == [4.0] and found[1].tolist() == [2.0] and found[2] is None
        assert fw.unpack_dual(y * 2).tangent.tolist() == [4.0]
        below = fw.unpack_dual(y, level=-1)
        assert below.tangent is None and below.primal is y


def a_tangent_is_written_into_part_of_one_that_is_there():
    """The second view that is written leaves what the first one wrote.

    Rule: forward/written-views-reach-the-base.
    """
    fw = torch.autograd.forward_ad
    found = []
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        y = torch.tensor([5.0, 6.0])
        v = y[:1]
        w = y[1:]
        v.copy_(x[1:])
        found += [fw.unpack_dual(y).tangent.tolist()]
        w.mul_(x[:1])
        found += [fw.unpack_dual(each).tangent.tolist() for each in (y, v, w)]
    assert found == [[4.0, 0.0], [4.0, 18.0], [4.0], [18.0]]
