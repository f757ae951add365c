"""In-place changes of the size and of the memory behind it, and results put into a given tensor."""

import torch

from specs.case import refused, warned


def what_requires_grad_cannot_be_resized():
    """Leaf or not, in every grad mode; the detached self can be. Rule: resize/needs-no-grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("resize/needs-no-grad"):
        x.resize_(3)
    with refused("resize/needs-no-grad"):
        y.resize_as_(torch.ones(3))
    with torch.no_grad():
        with refused("resize/needs-no-grad"):
            x.resize_(1)
    d = y.detach()
    d.resize_(1)
    assert d.tolist() == [2.0] and y.tolist() == [2.0, 4.0] and y._version == 1


def set_has_no_derivative():
    """A result that was given the memory of another requires grad, and its backward is refused.

    Rules: op/no-derivative, write/leaf-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.set_(torch.ones(2))
    assert y.requires_grad is True and y.tolist() == [1.0, 1.0]
    with refused("op/no-derivative"):
        y.sum().backward()
    assert x.grad is None
    with refused("write/leaf-refused"):
        x.set_(torch.ones(2))


def set_takes_memory_of_one_dtype():
    """That of another is refused; that of a tensor which requires grad makes the tensor require grad, too.

    Rules: resize/set-keeps-dtype, write/plain-tensor-joins-graph.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    plain = torch.tensor([3.0])
    with refused("resize/set-keeps-dtype"):
        plain.set_(torch.tensor([1, 2]))
    plain.set_(x)
    assert plain.tolist() == [1.0, 2.0] and plain.requires_grad is True and plain._version == 1
    with refused("op/no-derivative"):
        plain.sum().backward()


def set_takes_memory_and_no_conjugate_bit():
    """The memory of a conjugate is shown as it is; a conjugate shows any memory conjugated.

    Rule: resize/set-takes-memory.
    """
    x = torch.tensor([1 + 2j])
    y = torch.tensor([0j])
    y.set_(x.conj())
    assert y.tolist() == [1 + 2j] and y.is_conj() is False
    y.mul_(2)
    assert x.tolist() == [2 + 4j]
    z = torch.tensor([0j]).conj()
    z.set_(x)
    assert z.tolist() == [2 - 4j] and z.is_conj() is True


def a_conjugate_lies_where_its_source_does():
    """And so does what takes its memory. Rule: resize/set-takes-memory."""
    x = torch.tensor([1 + 2j, 3j])
    y = torch.tensor([0j])
    y.set_(x[1:].conj())
    assert y.tolist() == [3j]
    assert x.conj().untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def set_on_a_view_rewrites_its_base():
    """As any write through a view does; the base keeps its elements and loses its gradient.

    Rules: write/rewrites-the-base, op/no-derivative.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    base = x * 2
    view = base[:1]
    view.set_(torch.tensor([7.0]))
    assert base.tolist() == [2.0, 4.0] and view.tolist() == [7.0]
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    with refused("op/no-derivative"):
        base.sum().backward()
    assert x.grad is None


def dimensions_change_and_hooks_stay():
    """The grad that was retained has the shape from before. Rule: resize/hooks-stay-behind."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.unsqueeze_(0)
    assert tuple(y.shape) == (1, 2) and y.grad_fn.name() == "UnsqueezeBackward1"
    y.sum().backward()
    assert tuple(y.grad.shape) == (2,) and x.grad.tolist() == [2.0, 2.0]


def out_takes_what_is_not_recorded():
    """A result can be put into a given tensor only where nothing requires grad, or nothing is recorded.

    Rule: write/out-is-not-recorded.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    out = torch.zeros(2)
    with refused("write/out-is-not-recorded"):
        torch.mul(x, 3, out=out)
    with refused("write/out-is-not-recorded"):
        torch.mul(out, 3, out=x)
    assert out.tolist() == [0.0, 0.0] and x.tolist() == [1.0, 2.0]
    with torch.no_grad():
        torch.mul(x, 3, out=out)
    assert out.tolist() == [3.0, 6.0] and out._version == 1


def output_that_does_not_fit_is_resized():
    """Out loud, but for one without elements. Rule: resize/output-is-resized-warns."""
    out = torch.zeros(3)
    with warned("resize/output-is-resized-warns"):
        torch.mul(torch.ones(2), 3, out=out)
    assert out.tolist() == [3.0, 3.0]
    empty = torch.zeros(0)
    torch.mul(torch.ones(2), 3, out=empty)
    assert empty.tolist() == [3.0, 3.0]


def memory_shared_with_numpy_does_not_grow():
    """Memory stays whoever shared it first; a copy grows. Rule: resize/lent-memory-stays."""
    x = torch.ones(2)
    n = x.detach().numpy()
    with refused("resize/lent-memory-stays"):
        x.resize_(3)
    assert x.resize_(1).tolist() == [1.0]
    y = torch.from_numpy(n)
    with refused("resize/lent-memory-stays"):
        y.resize_(3)
    assert y.clone().resize_(3).shape == (3,)


def gradient_of_a_loss_is_put_into_the_operand_of_today():
    """Its size may have changed since the loss was computed.

    Rules: resize/output-is-resized-warns, data/assign-swaps.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    t = torch.tensor([0.0, 4.0], requires_grad=True)
    y = torch.nn.functional.mse_loss(x, t, reduction="sum")
    x.data = torch.tensor([3.0])
    with warned("resize/output-is-resized-warns"):
        y.backward()
    assert x.grad.tolist() == [6.0, -2.0] and t.grad.tolist() == [-6.0, 2.0]
