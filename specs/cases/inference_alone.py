"""Ops outside inference mode on inference tensors alone; what these are otherwise lives in inference."""

import torch

from specs.case import refused


def inference_tensors_alone_make_no_graph():
    """The flag of an inference tensor counts beside a normal tensor only.

    Rule: inference/alone-records-nothing.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x + x
    z = x + torch.ones(2)
    assert y.requires_grad is False and y.is_leaf is True
    assert z.requires_grad is True
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def what_a_kernel_calls_is_recorded_beside_inference_tensors():
    """A clone is made by writing to a new tensor, which is a normal one.

    Rule: inference/alone-but-for-calls.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        mask = torch.tensor([True, False])
    y = x.clone()
    assert y.requires_grad is True and y.grad_fn.name() == "torch::autograd::CopyBackwards"
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert (x**1).requires_grad is True and (x**2).requires_grad is False
    assert (3 - x).grad_fn.name() == "SubBackward0"
    with refused("write/out-is-not-recorded"):
        x.mean()
    with refused("inference/not-saved"):
        x.masked_fill(mask, 0.0)
    with torch.inference_mode():
        every = torch.tensor(True)
    assert x.masked_fill(every, 0.0).requires_grad is False


def a_copy_of_an_inference_tensor_begins_at_version_one():
    """The elements are written into a new tensor, which counts.

    Rule: inference/copy-counts.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0])
        z = torch.tensor([1.0]).clone()
    y = x.clone()
    assert y._version == 1
    assert x.double()._version == 1
    assert x.long()._version == 1
    assert y.clone()._version == 0
    assert z.clone()._version == 1
    assert (x * 2)._version == 0


def rows_of_an_inference_tensor_are_copied_as_well():
    """contiguous() copies it by rows, clone() as it lies; either copy has a history, and version 1.

    Rules: inference/copy-counts, inference/alone-but-for-calls.
    """
    with torch.inference_mode():
        x = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]).t()
        y = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]).t().requires_grad_()
    a = x.contiguous()
    assert a._version == 1 and a.stride() == (2, 1) and a.requires_grad is False
    b = y.contiguous()
    c = y.clone()
    assert b._version == 1 and b.stride() == (2, 1) and b.requires_grad is True
    assert c._version == 1 and c.stride() == (1, 3) and c.requires_grad is True
    assert b.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]] and c.tolist() == b.tolist()


def what_is_cast_to_the_dtype_of_another_is_copied():
    """The copy is recorded, and asks for the history of a view that may be used only where nothing is.

    Rule: inference/alone-but-for-calls.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, z = x.chunk(2)
    with torch.inference_mode():
        narrow = torch.tensor([3.0])
        wide = torch.tensor([4.0], dtype=torch.float64)
    z.data = narrow
    z.copy_(narrow)
    assert (narrow + z).tolist() == [6.0]
    with refused("view/stale-tag-refused"):
        wide + z
    with refused("view/stale-tag-refused"):
        z < wide
    with torch.no_grad():
        assert (wide + z).tolist() == [7.0]


def what_is_cast_in_the_mode_is_copied_without_a_history():
    """Grad mode may be on: nobody asks for that of a view which may be used only where nothing is recorded.

    Rules: inference/records-nothing, inference/alone-but-for-calls.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, z = x.chunk(2)
    with torch.inference_mode():
        narrow = torch.tensor([3.0])
        wide = torch.tensor([4.0], dtype=torch.float64)
    z.data = narrow
    z.copy_(narrow)
    with torch.inference_mode():
        with torch.enable_grad():
            w = wide + z
            smaller = z < wide
            v = x * 2
    assert w.tolist() == [7.0] and smaller.tolist() == [True]
    assert w.requires_grad is False and v.requires_grad is False


def a_product_of_inference_tensors_counts_nothing():
    """Outside of the mode a vector times a matrix begins at version 1, inside it has none.

    Rules: op/row-is-squeezed-in-place, inference/has-no-version.
    """
    with torch.inference_mode():
        m = torch.ones(2, 2)
        v = torch.ones(2)
        w = v @ m
    assert w.tolist() == [2.0, 2.0]
    with refused("inference/has-no-version"):
        w._version
    u = v @ m
    assert u._version == 1


def an_inference_tensor_that_requires_grad_asks_nobody_under_no_grad():
    """Nothing is saved then that would be with grad mode on. Rule: inference/not-saved."""
    with torch.inference_mode():
        i = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad():
        a = i.flip(0)
        b = i.cumsum(0)
        c = i.prod()
        d = i.mean()
        e = i.masked_fill(i > 2, 5.0)
        f = i.logsumexp(0)
    assert a.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert b.tolist() == [[1.0, 1.0], [2.0, 2.0]]
    assert c.item() == 1.0
    assert d.item() == 1.0
    assert not a.requires_grad
    assert not e.requires_grad
    assert not f.requires_grad
    w = torch.ones(2, 2, requires_grad=True)
    with refused("inference/not-saved"):
        i * w


def what_is_computed_of_inference_tensors_begins_at_version_zero():
    """Only copies do not, whatever else a kernel calls.

    Rules: inference/copy-counts, inference/alone-records-nothing.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0, 3.0])
        i = torch.tensor([2, 0])
    a = x.flip(0)
    b = 2 - x
    c = x**2
    d = x[i]
    e = x.index_select(0, i)
    assert a._version == 0 and a.tolist() == [3.0, 2.0, 1.0]
    assert b._version == 0 and b.tolist() == [1.0, 0.0, -1.0]
    assert x.mean().item() == 2.0 and x.std().item() == 1.0 and round(x.logsumexp(0).item(), 4) == 3.4076
    assert c._version == 0 and c.tolist() == [1.0, 4.0, 9.0]
    assert d._version == 0 and e._version == 0 and d.tolist() == e.tolist()
    assert x.clone()._version == 1


def positions_are_checked_in_inference_mode():
    """They are refused as outside of it. Rule: op/index-range."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    i = torch.tensor([0, 5])
    with torch.inference_mode():
        with refused("op/index-range"):
            x[i]
        with refused("op/index-range"):
            x.index_select(0, i)
        y = x[torch.tensor([1])]
    assert y.tolist() == [2.0] and y.is_inference()


def kernels_that_save_or_write_ask_who_requires_grad():
    """The product of a matrix and a vector saves them; logsumexp, abs and powers write to a result.

    Rules: inference/alone-but-for-calls, inference/not-saved, write/out-is-not-recorded.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        m = torch.ones(2, 2, requires_grad=True)
    with refused("inference/not-saved"):
        m.mv(x)
    with refused("inference/not-saved"):
        m @ x
    with refused("write/out-is-not-recorded"):
        x.logsumexp(0)
    with refused("write/out-is-not-recorded"):
        x.abs()
    with refused("write/out-is-not-recorded"):
        2.0**x
    a = x.dot(x)
    b = m.mm(m)
    c = x.cumsum(0)
    assert a.requires_grad is False and b.requires_grad is False and c.requires_grad is False
    with torch.no_grad():
        d = m.mv(x)
    assert d.tolist() == [3.0, 3.0]


def versions_are_asked_for_by_what_looks_at_its_operands_first():
    """A tensor whose inference data was replaced has none. Sizes that a repetition cannot have, and shapes
    that do not fit a stack, are found out after the views are taken; positions in no elements, and the
    number of positions, before.

    Rules: inference/has-no-version, inference/assigned-data-decides, op/index-range, op/stack-sizes,
    op/new-sizes-are-not-negative.
    """
    i = torch.tensor([0])
    y = torch.ones(3, 3)
    with torch.inference_mode():
        x = torch.ones(2, 2)
        e = torch.ones(2, 2)
    x.data = torch.ones(2, 2)
    e.data = torch.ones(0, 2)
    with torch.inference_mode():
        with refused("inference/has-no-version"):
            x.repeat(-1, 1)
        with refused("op/new-sizes-are-not-negative"):
            y.repeat(-1, 1)
        with refused("inference/has-no-version"):
            torch.stack([x, y], 2)
        with refused("op/stack-sizes"):
            torch.stack([y, x], 2)
        with refused("op/stack-sizes"):
            torch.stack([x, y], 0)
        with refused("op/index-range"):
            e[i]
        with refused("inference/has-no-version"):
            x[i + 7]
        with refused("op/index-count"):
            x[i, i, i]
    with refused("op/new-sizes-are-not-negative"):
        x.repeat(-1, 1)


def what_does_not_fit_is_refused_before_a_version_is_asked_for():
    """Positions of shapes that do not go together, or of no integers, and masks of another shape.

    Rules: inference/has-no-version, op/index-shapes, op/index-dtype, op/shapes-broadcast, op/mask-shape.
    """
    i = torch.tensor([0])
    j = torch.tensor([0, 1])
    k = torch.tensor([0, 1, 1])
    with torch.inference_mode():
        x = torch.ones(2, 2)
    x.data = torch.ones(2, 2)
    with torch.inference_mode():
        with refused("op/index-shapes"):
            x[j, k]
        with refused("op/mask-shape"):
            x[torch.tensor([True, False, True])]
        with refused("op/index-dtype"):
            x.index_select(0, torch.tensor([0.5]))
        with refused("op/shapes-broadcast"):
            x.masked_fill(torch.tensor([True, False, True]), 0.0)
        with refused("inference/has-no-version"):
            x[i]
        y = x.index_select(1, i)
    assert y.tolist() == [[1.0], [1.0]]


def a_tensor_without_a_version_is_written_in_inference_mode():
    """A normal tensor whose inference data was replaced has none to count; outside that is refused when done.

    Rules: inference/write-outside-refused, inference/has-no-version, inference/assigned-data-decides.
    """
    with torch.inference_mode():
        x = torch.ones(2)
    x.data = torch.tensor([1.0, 2.0])
    with torch.inference_mode():
        x.mul_(3.0)
        x.add_(torch.tensor([1.0, 1.0]))
    assert x.tolist() == [4.0, 7.0] and x.is_inference() is False
    with refused("inference/has-no-version"):
        x._version
    with refused("inference/write-outside-refused"):
        x.mul_(2.0)
    assert x.tolist() == [8.0, 14.0]


def numbers_beside_inference_tensors_ask_nobody():
    """They require no grad, and neither do the tensors.

    Rules: inference/copy-counts, inference/has-no-version.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0])
    with refused("inference/has-no-version"):
        x._version
    assert (3 - x).tolist() == [2.0, 1.0] and (3 - x)._version == 0
    assert (2**x).tolist() == [2.0, 4.0] and (2 / x).tolist() == [2.0, 1.0]
    assert torch.where(x > 1, x, 2.0).tolist() == [2.0, 2.0]
    assert x.clone()._version == 1 and x.requires_grad is False
