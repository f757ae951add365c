"""inference_mode, the tensors made in it, and normal tensors used there."""

import torch

from specs.case import refused


def what_is_made_inside_is_an_inference_tensor():
    """Factories and ops make inference tensors there, and normal ones of them outside.

    Rule: inference/makes-inference-tensors. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        c = torch.ones(2)
        y = x * 2
        flagged = torch.ones(2, requires_grad=True)
        z = flagged * 2
    assert c.is_inference() is True and y.is_inference() is True and x.is_inference() is False
    assert y.requires_grad is False and y.is_leaf is True and y.tolist() == [2.0, 4.0]
    assert flagged.requires_grad is True and flagged.is_inference() is True
    assert z.requires_grad is False
    d = c.clone()
    e = c + 1
    assert d.is_inference() is False and e.is_inference() is False
    d.add_(1)
    assert d.tolist() == [2.0, 2.0]


def inference_mode_sets_the_grad_mode():
    """inference_mode switches recording off and, with False, on.

    Rules: inference/sets-the-grad-mode, inference/ends-with-its-block.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        inside = torch.is_grad_enabled()
    with torch.no_grad():
        with torch.inference_mode(False):
            y = x * 2
        z = x * 2
    w = x * 2
    assert inside is False
    assert y.requires_grad is True and z.requires_grad is False and w.requires_grad is True


def inference_mode_ends_with_its_block():
    """After the block, and after a decorated call, tensors are normal ones and ops are recorded.

    Rule: inference/ends-with-its-block.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        a = torch.ones(2)
    b = torch.ones(2)
    y = x * 2
    assert a.is_inference() is True and b.is_inference() is False
    assert y.requires_grad is True
    torch.inference_mode()(lambda: x * 2)()
    assert torch.ones(2).is_inference() is False and (x * 2).requires_grad is True


def inference_mode_can_be_left_within():
    """inference_mode(False) inside is normal mode.

    Rules: inference/blocks-nest, inference/sets-the-grad-mode.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        with torch.inference_mode(False):
            y = x * 2
            on = torch.is_inference_mode_enabled()
        z = x * 2
        back = torch.is_inference_mode_enabled()
    w = x * 2
    after = torch.is_inference_mode_enabled()
    assert y.requires_grad is True and y.is_inference() is False and on is False
    assert z.requires_grad is False and z.is_inference() is True and back is True
    assert w.requires_grad is True and w.is_inference() is False and after is False


def inference_mode_decorates():
    """Each call of a decorated function runs in it.

    Rules: inference/makes-inference-tensors, mode/decorator.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.inference_mode()(lambda: x * 2)()
    z = x * 2
    assert y.is_inference() is True and y.requires_grad is False
    assert z.is_inference() is False and z.requires_grad is True


def enable_grad_does_not_record_there():
    """Grad mode may be on, and still nothing is recorded. Rule: inference/records-nothing."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            on = torch.is_grad_enabled()
            y = x * 2
        with torch.set_grad_enabled(True):
            z = x * 2
    assert on is True
    assert y.requires_grad is False and y.is_leaf is True and y.is_inference() is True
    assert z.requires_grad is False


def a_write_inside_is_counted_and_not_recorded():
    """A leaf can be written there; what was saved of it is refused later.

    Rules: inference/records-nothing, version/write-bumps, save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with torch.inference_mode():
        with torch.enable_grad():
            x.mul_(2)
    assert x.tolist() == [2.0, 4.0] and x._version == 1
    assert x.is_leaf is True and x.requires_grad is True and x.is_inference() is False
    with refused("save/modified-refused"):
        y.backward()


def inference_tensors_have_no_version():
    """Asking is refused; writing inside changes nothing about that. Rule: inference/has-no-version."""
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0])
        x.add_(1)
        with refused("inference/has-no-version"):
            x._version
    with refused("inference/has-no-version"):
        x._version
    assert x.tolist() == [2.0, 3.0]


def a_write_outside_is_refused_when_done():
    """In every grad mode, and the elements have changed. Rule: inference/write-outside-refused."""
    s = torch.tensor([1.0, 1.0], requires_grad=True)
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0])
    with refused("inference/write-outside-refused"):
        x.add_(1)
    assert x.tolist() == [2.0, 3.0]
    with torch.no_grad():
        with refused("inference/write-outside-refused"):
            x.zero_()
    assert x.tolist() == [0.0, 0.0]
    with refused("inference/write-outside-refused"):
        x[0] = 5.0
    assert x.tolist() == [5.0, 0.0]
    with refused("inference/write-outside-refused"):
        x.copy_(s)
    assert x.tolist() == [1.0, 1.0] and x.requires_grad is False


def accumulation_into_an_inference_grad_is_refused():
    """A grad that came in inference mode cannot be added to outside.

    Rule: inference/write-outside-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with torch.inference_mode():
        y.backward()
    assert x.grad.tolist() == [2.0, 4.0] and x.grad.is_inference() is True
    z = (x * 3).sum()
    with refused("inference/write-outside-refused"):
        z.backward()
    w = (x * 3).sum()
    with torch.inference_mode():
        w.backward()
    assert x.grad.tolist() == [8.0, 10.0]


def inference_tensors_are_not_saved():
    """Multiplication saves its operands, addition does not. Rule: inference/not-saved."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with torch.inference_mode():
        c = torch.tensor([3.0, 4.0])
    with refused("inference/not-saved"):
        x * c
    with refused("inference/not-saved"):
        y.mul_(c)
    assert y.tolist() == [1.0, 2.0] and y._version == 0
    z = x + c
    w = x * c.clone()
    (z + w).sum().backward()
    assert x.grad.tolist() == [4.0, 5.0]


def operands_are_saved_in_the_order_of_their_names():
    """An exponent before the base, which is why an inference tensor is refused before what needs no history.

    Rules: inference/not-saved, op/no-history-for-integers.
    """
    b = torch.tensor([True, False])
    b.fill_(torch.tensor(0.5, requires_grad=True))
    assert b.requires_grad is True
    with torch.inference_mode():
        p = torch.tensor(0.5)
    with refused("inference/not-saved"):
        b.pow_(p)
    with refused("op/no-history-for-integers"):
        b.pow_(p.clone())


def the_flag_is_refused_outside():
    """Both ways to set it are; dropping it is not, and inside both work.

    Rule: inference/flag-outside-refused.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0])
        y = torch.tensor([1.0, 2.0])
        y.requires_grad_()
    assert y.requires_grad is True
    with refused("inference/flag-outside-refused"):
        x.requires_grad_()
    with refused("inference/flag-outside-refused"):
        x.requires_grad = True
    with refused("inference/flag-outside-refused"):
        y.requires_grad_()
    y.requires_grad_(False)
    assert x.requires_grad is False and y.requires_grad is False


def windows_on_inference_tensors_are_no_views():
    """A window on an inference tensor is always an inference tensor. Rule: inference/views-are-none."""
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x.view(2)
    z = x.view(2)
    assert y._is_view() is False and y.is_inference() is True and y.requires_grad is False
    assert z._is_view() is False and z.is_inference() is True and z.requires_grad is False
    assert z.is_leaf is True
    with refused("inference/write-outside-refused"):
        z.zero_()
    assert x.tolist() == [0.0, 0.0] and y.tolist() == [0.0, 0.0]


def views_of_normal_tensors_are_tagged():
    """Views of normal tensors are normal leaves; they require grad if their base does, and pass nothing on.

    Rules: inference/view-tag, view/requires-grad-follows-base, inference/view-write-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        v = y.view(2)
        with torch.enable_grad():
            w = y[0]
    assert v._is_view() is True and v.is_inference() is False
    assert v.requires_grad is True and v.is_leaf is True
    z = v * 3
    assert z.requires_grad is True
    with refused("inference/view-write-refused"):
        v.add_(1)
    with refused("inference/view-write-refused"):
        w.add_(1)
    with refused("inference/view-write-refused"):
        v.copy_(torch.ones(2))
    with torch.no_grad():
        w.add_(1)
    assert y.tolist() == [3.0, 4.0] and y._version == 1 and v._version == 1


def views_of_plain_tensors_are_written_as_long_as_nothing_requires_grad():
    """The tag matters once autograd would have to follow the write.

    Rules: inference/view-write-refused, inference/view-tag.
    """
    x = torch.tensor([1.0, 1.0], requires_grad=True)
    b = torch.zeros(2)
    with torch.inference_mode():
        v = b.view(2)
    v.add_(1)
    assert b.tolist() == [1.0, 1.0] and b._version == 1
    with refused("inference/view-write-refused"):
        v.add_(x)
    assert b.tolist() == [1.0, 1.0] and b.requires_grad is False


def a_tagged_view_cannot_follow_a_write():
    """Once its base was written to, it refuses to be looked at.

    Rules: view/stale-tag-refused, inference/view-tag.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        v = y.view(2)
    y.add_(1)
    with refused("view/stale-tag-refused"):
        v.is_leaf
    with refused("view/stale-tag-refused"):
        v * 2


def the_tag_of_inference_mode_prevails():
    """Neither no_grad nor several outputs put another in its place.

    Rules: inference/tag-prevails, view/tag-is-inherited.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        v = y.view(2)
    with torch.no_grad():
        w = v.view(2)
    with refused("inference/view-write-refused"):
        w.add_(1)
    u = v.unbind(0)[0]
    with refused("inference/view-write-refused"):
        u.add_(1)
    z = v.view(2)
    with refused("inference/view-write-refused"):
        z.add_(1)


def assigned_data_decides_what_a_tensor_is():
    """The elements bring it along, the version counter stays: in the mode it counts what is written beside
    a normal tensor.

    Rule: inference/assigned-data-decides.
    """
    s = torch.tensor([1.0, 1.0], requires_grad=True)
    x = torch.tensor([1.0, 2.0])
    with torch.inference_mode():
        c = torch.tensor([3.0, 4.0])
        d = torch.tensor([3.0, 4.0])
    x.data = c
    assert x.is_inference() is True and x._version == 0
    x.add_(1)
    assert x._version == 1 and c.tolist() == [4.0, 5.0]
    with refused("inference/not-saved"):
        x * s
    n = torch.tensor([5.0, 6.0])
    with torch.inference_mode():
        x.add_(1)
        assert x._version == 1
        x.set_(n)
        assert x._version == 2
    d.data = torch.tensor([5.0, 6.0])
    assert d.is_inference() is False
    with refused("inference/has-no-version"):
        d._version


def detached_outside_it_can_be_written():
    """Results of detach() and .data made outside have their own version counter; those made inside have
    none.

    Rule: inference/detached-counts.
    """
    with torch.inference_mode():
        c = torch.tensor([1.0, 2.0])
        inside = c.detach()
    d = c.detach()
    assert d.is_inference() is True and d._version == 0
    d.add_(1)
    assert d._version == 1 and c.tolist() == [2.0, 3.0]
    e = c.data
    e.add_(1)
    assert e._version == 1 and d._version == 1 and e.is_inference() is True
    with refused("inference/write-outside-refused"):
        inside.add_(1)


def detach_in_place_does_nothing_there():
    """The result keeps its history. Rule: inference/detach-in-place-is-nothing."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y.view(2)
    with torch.inference_mode():
        flagged = torch.tensor([1.0], requires_grad=True)
        y.detach_()
        v.detach_()
    flagged.detach_()
    assert y.requires_grad is True and y.grad_fn.name() == "MulBackward0"
    assert v.requires_grad is True and flagged.requires_grad is True
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def backward_runs_in_inference_mode():
    """A graph recorded outside is differentiated there; nothing of it is recorded, create_graph or not.

    Rules: inference/records-nothing, inference/makes-inference-tensors.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with torch.inference_mode():
        g = torch.autograd.grad(y, x, create_graph=True)[0]
    assert g.tolist() == [2.0, 4.0] and g.requires_grad is False and g.is_inference() is True


def kernels_that_take_a_view_ask_for_the_version():
    """A normal tensor that was an inference tensor has none: in inference mode ops whose kernels take a view
    of an operand are refused it, after they have computed; others are not.

    Rules: inference/has-no-version, inference/assigned-data-decides.
    """
    with torch.inference_mode():
        a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    a.data = torch.tensor([[5.0, 6.0], [7.0, 8.0]])
    with torch.inference_mode():
        with refused("inference/has-no-version"):
            a.flip(0)
        with refused("inference/has-no-version"):
            a.masked_fill(torch.tensor([True, False]), 0.0)
        with refused("inference/has-no-version"):
            a.index_select(0, torch.tensor([0]))
        b = a.masked_fill(a.gt(6.0), 0.0)
        c = a * 2
    assert b.tolist() == [[5.0, 6.0], [0.0, 0.0]] and c.tolist() == [[10.0, 12.0], [14.0, 16.0]]


def a_version_is_asked_for_before_positions_are():
    """A tensor whose inference data was replaced has no version for the views that a kernel takes.

    Rules: inference/has-no-version, op/index-range.
    """
    i = torch.tensor([0])
    far = torch.tensor([7])
    with torch.inference_mode():
        x = torch.ones(2, 2)
    x.data = torch.ones(2, 2)
    assert x.is_inference() is False
    with refused("op/index-range"):
        x.index_select(0, far)
    with torch.inference_mode():
        with refused("inference/has-no-version"):
            x.index_select(0, i)
        with refused("inference/has-no-version"):
            x.index_select(0, far)
        with refused("inference/has-no-version"):
            x.flip((0,))


def inference_tensors_need_no_version_for_views():
    """Kernels that take views take them of inference tensors as well. Rule: inference/has-no-version."""
    i = torch.tensor([1])
    y = torch.tensor([[5.0, 6.0]])
    with torch.inference_mode():
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        a = x.flip((0,))
        b = x.index_select(0, i)
        c = y.flip((1,))
    assert (
        a.tolist() == [[3.0, 4.0], [1.0, 2.0]] and b.tolist() == [[3.0, 4.0]] and c.tolist() == [[6.0, 5.0]]
    )
    with refused("inference/has-no-version"):
        a._version
