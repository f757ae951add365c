"""Conjugates and what they show: a view until it is resolved, then a copy."""

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def a_conjugate_is_a_view_until_it_is_resolved():
    """A copy has values, version and history of its own; what is no conjugate is resolved to itself.

    Rules: view/shares-storage, op/derivatives-beyond-programs.
    """
    c = torch.tensor([1 + 2j, 3 - 1j])
    k = c.conj()
    assert [x.is_conj() for x in (k, c, k.conj(), k[:1], k * 1, k.clone(), k.detach())] == [
        True, False, False, True, False, False, True,
    ]  # fmt: skip
    r = k.resolve_conj()
    r.mul_(2)
    assert c.tolist() == [1 + 2j, 3 - 1j] and r.tolist() == [2 - 4j, 6 + 2j] and r.is_conj() is False
    k.mul_(2j)
    assert c.tolist() == [4 - 2j, -2 - 6j] and k._version == 1 and k.resolve_conj()._version == 0
    assert c.resolve_conj() is c and torch.resolve_neg(c.real).data_ptr() == c.data_ptr()
    x = torch.tensor([1 + 2j], requires_grad=True)
    y = x.conj().resolve_conj()
    assert y.grad_fn.name() == "CloneBackward0" and y._is_view() is False
    y.backward(torch.tensor([1j]))
    assert x.grad.tolist() == [-1j]


def imaginary_parts_of_a_conjugate_are_negative():
    """They are shown negated, which numpy cannot.

    Rules: view/shares-storage, op/derivatives-beyond-programs.
    """
    c = torch.tensor([1 + 2j, 3 - 1j])
    k = c.conj()
    assert [x.is_neg() for x in (k.imag, k.real, c.imag, k.imag[1:], k.conj().imag, k.imag.clone())] == [
        True, False, False, True, False, False,
    ]  # fmt: skip
    n = k.imag.resolve_neg()
    n.add_(1)
    assert n.tolist() == [-1.0, 2.0] and k.imag.tolist() == [-2.0, 1.0]
    k.imag.mul_(5)
    assert c.tolist() == [1 + 10j, 3 - 5j]
    assert error_kinds([k.numpy, k.imag.numpy, k.real.numpy]) == "oo-"
    assert k.resolve_conj().numpy().tolist() == k.numpy(force=True).tolist() == [1 - 10j, 3 + 5j]


def a_write_through_a_view_of_a_conjugate_is_replayed():
    """The base's gradient is what the chain of views makes of it. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1 + 2j, 3 - 1j]], requires_grad=True)
    c = x * 1
    c[:, 1:].conj().t().mul_(2j)
    assert c.tolist() == [[1 + 2j, -2 - 6j]]
    c.real.sum().backward()
    assert x.grad.tolist() == [[1 + 0j, 2j]]
    c = x * 1
    c.conj()[0].imag.mul_(5)
    assert c.tolist() == [[1 + 10j, 3 - 5j]]
    x.grad = None
    (c.imag * c.real).sum().backward()
    assert x.grad.tolist() == [[10 + 5j, -5 + 15j]]


def a_mask_takes_one_value_of_any_shape():
    """Its dimensions do not count, as long as there is one element; with indices they do.

    Rules: op/index-put-shape, op/derivatives-beyond-programs.
    """
    mask = torch.tensor([[True, False], [False, False]])
    values = [torch.tensor(5.0), torch.tensor([5.0]), torch.tensor([[[5.0]]])]
    there = [[5.0, 0.0], [0.0, 0.0]]
    assert [torch.zeros(2, 2).index_put_((mask,), v).tolist() for v in values] == [there] * 3
    assert [torch.zeros(2, 2).index_put((mask,), v).tolist() for v in values] == [there] * 3
    expanded = [torch.zeros(1, 2).expand(2, 2).index_put_((mask,), v).tolist() for v in values]
    assert expanded == [[[5.0, 0.0]] * 2] * 3
    x = torch.tensor([1.0, 2.0])
    x.index_put_((torch.tensor([False, True]),), x[:1])
    assert x.tolist() == [1.0, 1.0]
    with refused("op/index-put-shape"):
        torch.zeros(2, 2).index_put((torch.tensor([0]),), torch.tensor([[[5.0]]]))
    with refused("op/index-put-shape"):
        torch.zeros(2, 2).index_put((mask,), torch.tensor([[5.0]]), accumulate=True)


def a_conjugate_of_a_conjugate_shows_the_memory():
    """A write through any of them shows in all.

    Rules: view/shares-storage, op/derivatives-beyond-programs.
    """
    c = torch.tensor([1 + 2j, 3j])
    k = c.conj()
    kk, kv = k.conj(), k[:1].conj()
    kk.mul_(2)
    assert c.tolist() == kk.tolist() == [2 + 4j, 6j] and k.tolist() == [2 - 4j, -6j] and c._version == 1
    kv.mul_(2)
    assert c.tolist() == kk.tolist() == [4 + 8j, 6j] and kv.tolist() == [4 + 8j]
    c.mul_(1j)
    assert k.tolist() == [-8 - 4j, -6 + 0j] and kk.tolist() == [-8 + 4j, -6 + 0j] and kv.tolist() == [-8 + 4j]
    k[1:].conj().zero_()
    assert c.tolist() == [-8 + 4j, 0j]


def a_conjugate_of_a_part_of_a_conjugate_follows_a_write():
    """After a write to the first conjugate the second one's history is made again, step by step.

    Rules: view/stale-regenerates, op/derivatives-beyond-programs.
    """
    x = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j], requires_grad=True)
    p = x * 1
    y = p.conj()
    z = y[1:].conj()
    y.mul_(2j)
    assert y.tolist() == [4 + 2j, -2 + 6j] and z.tolist() == [-2 - 6j]
    (g,) = torch.autograd.grad(z.real.sum() + z.imag.sum() * 2, x)
    assert g.tolist() == [0j, -4 + 2j] and z.grad_fn.name() == "ConjBackward0"


def numpy_of_a_conjugate_is_refused():
    """Its memory holds other numbers than it shows, as does the imaginary part's; a copy is given.

    Rules: copy/conjugates-refuse-numpy, copy/numpy-refused-with-grad.
    """
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    with refused("copy/numpy-refused-with-grad"):
        x.conj().numpy()
    y = x.detach().conj()
    with refused("copy/conjugates-refuse-numpy"):
        y.numpy()
    with refused("copy/conjugates-refuse-numpy"):
        y.imag.numpy()
    assert y.imag.numpy(force=True).tolist() == [-2.0, 1.0]
    assert y.real.numpy().tolist() == [1.0, 3.0]
    z = y.resolve_conj()
    assert z.numpy().tolist() == [1 - 2j, 3 + 1j]


def conjugates_keep_the_strides():
    """A conjugate shows its source's elements where they lie.

    Rule: view/shares-storage.
    """
    row = torch.tensor([[1 + 1j], [2 - 1j]]).t()
    assert row.conj().stride() == row.stride() == (1, 1)
    x = torch.tensor([[1 + 1j, 2 - 1j, 3j], [4 + 0j, 5 + 0j, 6j]])
    assert x[:, ::2].conj().stride() == (3, 2) and x[:, ::2].conj().clone().stride() == (2, 1)
    assert x[:1].expand(2, 3).conj().stride() == (0, 1)
