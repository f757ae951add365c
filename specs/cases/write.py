"""In-place ops: who may be written to. What a write does to history lives in write_history."""

import torch

from specs.case import refused, warned


def a_leaf_that_requires_grad_refuses():
    """Every kind of in-place op on a leaf that requires grad is refused, and nothing has changed after.

    Rule: write/leaf-refused. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("write/leaf-refused"):
        x.add_(1)
    with refused("write/leaf-refused"):
        x += 1
    with refused("write/leaf-refused"):
        x.zero_()
    with refused("write/leaf-refused"):
        x.copy_(torch.tensor([3.0, 4.0]))
    assert x.tolist() == [1.0, 2.0] and x._version == 0 and x.is_leaf is True


def a_view_of_a_leaf_refuses():
    """Neither indexing nor a view is a way round. Rule: write/view-of-leaf-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = x.view(2)
    with refused("write/view-of-leaf-refused"):
        x[0] = 1.0
    with refused("write/view-of-leaf-refused"):
        x[:1].add_(1)
    with refused("write/view-of-leaf-refused"):
        v.mul_(2)
    with refused("write/view-of-leaf-refused"):
        x.expand(2, 2).add_(1)
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def a_view_whose_leaf_was_flagged_later_refuses():
    """It counts whether the base requires grad now. Rule: write/view-of-leaf-refused."""
    b = torch.tensor([1.0, 2.0])
    v = b.view(2)
    v.add_(1)
    b.requires_grad_()
    with refused("write/view-of-leaf-refused"):
        v.add_(1)
    assert b.tolist() == [2.0, 3.0]


def a_no_grad_view_refuses():
    """A view made under no_grad refuses a write in grad mode, of a leaf or of a result.

    Rule: write/no-grad-view-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    with torch.no_grad():
        v = b[:1]
        w = x.view(2)
    with refused("write/no-grad-view-refused"):
        v.mul_(2)
    with refused("write/no-grad-view-refused"):
        w.mul_(2)
    assert b.tolist() == [1.0, 2.0] and b._version == 0


def a_no_grad_view_of_a_plain_tensor():
    """Only a write of something that requires grad is refused. Rule: write/no-grad-view-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    with torch.no_grad():
        v = b.view(2)
    v.mul_(2)
    assert b.tolist() == [2.0, 2.0]
    with refused("write/no-grad-view-refused"):
        v.mul_(x)
    assert b.tolist() == [2.0, 2.0] and b.requires_grad is False


def a_piece_refuses():
    """One of several views of one op refuses writes, also of a leaf. Rule: write/multi-output-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = (x * 1).unbind()
    with refused("write/multi-output-refused"):
        a.add_(1)
    c, d = x.unbind()
    with refused("write/multi-output-refused"):
        d.add_(1)
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def leaves_can_be_written_to_under_no_grad():
    """The usual update of a parameter: data changes, the leaf stays a leaf.

    Rule: write/allowed-under-no-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).sum().backward()
    with torch.no_grad():
        x -= 0.5 * x.grad
    assert x.tolist() == [0.0, 1.0] and x._version == 1
    assert x.is_leaf is True and x.requires_grad is True and x.grad_fn is None
    assert x.grad.tolist() == [2.0, 2.0]


def views_of_leaves_can_be_written_to_under_no_grad():
    """Views, pieces and items of a leaf take writes under no_grad. Rule: write/allowed-under-no-grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = x.unbind()
    v = x.view(2)
    with torch.no_grad():
        v.mul_(2)
        a.add_(1)
        x[1] = 7.0
    assert x.tolist() == [3.0, 7.0] and x._version == 3 and x.is_leaf is True


def results_keep_their_history_under_no_grad():
    """A write under no_grad to a non-leaf leaves its grad_fn.

    Rules: write/allowed-under-no-grad, mode/no-grad-records-nothing.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    with torch.no_grad():
        y.add_(10)
    assert y.tolist() == [13.0, 16.0] and y.grad_fn.name() == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def an_expanded_tensor_refuses():
    """Several elements at one place cannot be written to. Rule: write/overlap-refused."""
    e = torch.tensor([1.0]).expand(3)
    with refused("write/overlap-refused"):
        e.add_(1)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 1).expand(2, 2)
    with refused("write/overlap-refused"):
        y.copy_(torch.ones(2, 2))
    assert e.tolist() == [1.0, 1.0, 1.0] and y._version == 0


def reading_where_is_written_refuses():
    """A shifted or transposed view of the written tensor is no operand; the very same elements are.

    Rule: write/partial-overlap-refused.
    """
    b = torch.tensor([1.0, 2.0, 3.0])
    with refused("write/partial-overlap-refused"):
        b[1:].add_(b[:2])
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with refused("write/partial-overlap-refused"):
        m.add_(m.t())
    b.add_(b)
    assert b.tolist() == [2.0, 4.0, 6.0]
    assert m.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def reading_beside_what_is_written_is_allowed():
    """Views of one memory that share no element are operands like any others, be they rows, columns or empty.

    Rules: write/returns-its-tensor, write/partial-overlap-refused.
    """
    b = torch.tensor([1.0, 2.0, 3.0, 4.0])
    c = b[:2]
    d = c.add_(b[2:])
    assert d is c
    assert b.tolist() == [4.0, 6.0, 3.0, 4.0]
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    m[:, 0].add_(m[:, 1])
    assert m.tolist() == [[3.0, 2.0], [7.0, 4.0]]
    b[:0].mul_(b[1:1])
    with refused("write/partial-overlap-refused"):
        b[1:].add_(b[:3])


def real_part_lies_where_the_complex_number_is_written():
    """Also where it came as a gradient: that of a real operand is a view of the complex one.

    Rule: write/partial-overlap-refused.
    """
    a = torch.tensor(-4.0, requires_grad=True)
    c = torch.tensor(complex(2.0, 0.0))
    with refused("write/partial-overlap-refused"):
        c.sub_(c.real)
    (f,) = torch.autograd.grad(a.sub(c), a, c)
    with refused("write/partial-overlap-refused"):
        c.sub_(f)
    assert c.item() == 2.0 and f.item() == 2.0


def a_float_result_does_not_fit_an_integer_tensor():
    """The tensor written to keeps its dtype, and a result of a higher kind is refused; copy_ casts.

    Rule: write/result-dtype.
    """
    a = torch.tensor([1, 2])
    with refused("write/result-dtype"):
        a.add_(1.5)
    with refused("write/result-dtype"):
        a.mul_(torch.tensor([1.0, 2.0]))
    b = torch.tensor([True, False])
    with refused("write/result-dtype"):
        b.add_(1)
    assert a.tolist() == [1, 2] and a._version == 0
    a.copy_(torch.tensor([3.5, 4.0]))
    assert a.tolist() == [3, 4]


def a_result_of_the_same_kind_fits():
    """Between floats, and between integers, a result is cast, signed or not. Rule: write/result-dtype."""
    x = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    x.add_(torch.tensor([0.5, 1.0]))
    assert x.tolist() == [1.5, 3.0] and x.dtype is torch.bfloat16
    a = torch.tensor([1, 2], dtype=torch.uint8)
    a.add_(torch.tensor([3, 4], dtype=torch.int8))
    assert a.tolist() == [4, 6] and a.dtype is torch.uint8


def a_larger_result_does_not_fit():
    """A write does not resize. Rule: write/broadcast-shape."""
    a = torch.tensor([1.0])
    with refused("write/broadcast-shape"):
        a.add_(torch.tensor([1.0, 2.0]))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("write/broadcast-shape"):
        y.mul_(torch.ones(2, 2))
    assert a.tolist() == [1.0] and y._version == 0
    y.mul_(torch.tensor([3.0]))
    assert y.tolist() == [6.0, 12.0]


def masked_fill_of_an_expanded_tensor_warns():
    """masked_fill_ writes into a tensor that shows one element three times, and warns.

    Rule: write/expanded-deprecated.
    """
    x = torch.zeros(1)
    e = x.expand(3)
    m = torch.tensor([True, False, True])
    with warned("write/expanded-deprecated"):
        e.masked_fill_(m, 1.0)
    assert x.tolist() == [1.0]


def copying_to_the_same_window():
    """A copy_ of a tensor to its own alias does nothing, even where several elements lie at one place.

    Rule: write/overlap-refused.
    """
    x = torch.tensor([1.0]).expand(2)
    y = x.detach()
    y.copy_(x)
    assert y.tolist() == [1.0, 1.0]
    with refused("write/overlap-refused"):
        y.copy_(torch.tensor([1.0, 2.0]))


def a_number_is_filled_in():
    """A number goes to elements by fill_, by a mask or at positions, and expanded elements take it.

    Rule: write/number-is-filled-in.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    y[...] = 3.0
    assert y.grad_fn.name() == "FillBackward2"
    y[[0]] = 4.0
    assert y.grad_fn.name() == "IndexFillBackward0"
    y[torch.tensor([False, True])] = 5.0
    assert y.grad_fn.name() == "MaskedFillBackward0"
    assert y.tolist() == [4.0, 5.0]
    e = torch.tensor([1.0]).expand(3)
    e[...] = 2.0
    assert e.tolist() == [2.0, 2.0, 2.0]


def a_number_is_looked_at_last():
    """An index that is out of range is told before a number that does not fit.

    Rules: write/number-is-filled-in, op/index-range.
    """
    x = torch.tensor([1.0, 2.0])
    with refused("op/index-range"):
        x[5] = 1j
    with refused("op/value-overflow"):
        x[[0]] = 1j
    with refused("op/value-overflow"):
        x[[0]] = 3 + 0j
    assert x.tolist() == [1.0, 2.0]


def copied_gradient_is_cast_first():
    """The source of a copy gets its gradient in its own dtype, cast before broadcast dimensions are summed.

    Rule: write/copy-passes-gradient.
    """
    x = torch.tensor([1.0], requires_grad=True)
    y = torch.zeros(2, dtype=torch.float64)
    y.copy_(x)
    w = torch.ones(2, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(y, x, w, create_graph=True)
    assert g.dtype == torch.float32 and g.grad_fn.name() == "SumBackward1"
    assert g.grad_fn.next_functions[0][0].name() == "ToCopyBackward0"


def zeros_without_memory_fill_what_they_are_copied_to():
    """Their shape is not looked at, where other zeros do not fit.

    Rule: op/shapes-broadcast. Source: PyTorch Copy.cpp.
    """
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs(), x, torch.ones(2), create_graph=True)
    (z,) = torch.autograd.grad(g, x, torch.ones(2))
    y = torch.ones(3)
    y.copy_(z)
    assert y.tolist() == [0.0, 0.0, 0.0]
    with refused("op/shapes-broadcast"):
        y.copy_(z.clone())


def a_write_returns_its_tensor():
    """An in-place op returns the tensor itself: flags set on it are set. Rule: write/returns-its-tensor."""
    x = torch.ones(2)
    y = x.mul_(2)
    assert y is x
    y.requires_grad_()
    assert x.requires_grad is True
    z = x * 1
    w = z.add_(x)
    w.retain_grad()
    assert w is z and z.retains_grad is True and w.is_leaf is False
    v = z[:1]
    u = v.zero_()
    assert u is v and u._is_view() is True
    c = torch.zeros(2).copy_(x)
    assert c.fill_(3.0) is c
