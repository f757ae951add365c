"""Zeros without memory, which second derivatives give: what is computed of them."""

import torch

from specs.case import refused


def zeros_without_memory_are_added_as_nothing():
    """A sum of them and a tensor is a copy of that, laid out as it is.

    Rules: op/zeros-pass-on, op/gradient-of-sign-has-no-memory.
    """
    x = torch.tensor([[1.0, -3.0], [2.0, 4.0]], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (z,) = torch.autograd.grad(g.sum(), x)
    y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    assert (z + y).stride() == (1, 2) and (y + z).stride() == (1, 2) and (z - y).stride() == (1, 2)
    assert (z + y).tolist() == [[1.0, 3.0], [2.0, 4.0]] and (z - y).tolist() == [[-1.0, -3.0], [-2.0, -4.0]]
    assert (z + y[0]).stride() == (2, 1) and (z + y[0]).tolist() == [[1.0, 3.0], [1.0, 3.0]]
    with refused("op/zeros-are-not-read"):
        (z + z).tolist()


def numbers_count_among_zeros_without_memory():
    """A float is taken for a tensor of double precision, an integer for a number.

    Rules: op/zeros-pass-on, op/zeros-are-not-read.
    """
    x = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(x.abs(), x, create_graph=True)
    (z,) = torch.autograd.grad(g, x)
    assert (z * 2.0).dtype == torch.float64 and (z / 2.0).dtype == torch.float64
    assert (z + 1.0).dtype == torch.float64 and (z + 1.0).item() == 1.0
    assert (z * 2).dtype == torch.float32 and (1 - z).item() == 1.0 and (z + True).item() == 1.0
    with refused("op/zeros-are-not-read"):
        (z * 2.0).tolist()


def products_of_zeros_without_memory_have_some_in_inference_mode():
    """Elsewhere the product of two vectors is such a zero again, that of matrices is not.

    Rules: op/zeros-pass-on, op/zeros-are-not-read.
    """
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (z,) = torch.autograd.grad(g.sum(), x)
    with refused("op/zeros-are-not-read"):
        (z @ z).tolist()
    with refused("op/zeros-are-not-read"):
        (z @ x.detach()).tolist()
    with torch.inference_mode():
        a = z @ z
        b = z @ x.detach()
    assert a.tolist() == 0.0 and b.tolist() == 0.0
    assert (z.view(1, 2) @ x.detach()).tolist() == [0.0]


def zeros_without_memory_are_zeros_whatever_they_are_multiplied_by():
    """Nobody looks at what infinity or nan would make of them. Rule: op/zeros-pass-on."""
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (z,) = torch.autograd.grad(g.sum(), x)
    assert (z * float("inf") + 1).tolist() == [1.0, 1.0]
    assert (z * torch.tensor(float("nan")) + torch.ones(2)).tolist() == [1.0, 1.0]
    assert (z * float("inf")).clone().tolist() == [0.0, 0.0]


def views_of_zeros_without_memory_have_none_in_inference_mode_either():
    """Products and sums to a size have some there, views have not.

    Rules: op/zeros-are-not-read, op/zeros-pass-on.
    """
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (z,) = torch.autograd.grad(g.sum(), x)
    with torch.inference_mode():
        with refused("op/zeros-are-not-read"):
            z.reshape(2, 1).tolist()
        with refused("op/zeros-are-not-read"):
            z.flatten().tolist()
        with refused("op/zeros-are-not-read"):
            z.narrow(0, 0, 1).tolist()
        assert z.mean().tolist() == 0.0 and z.clamp(0).tolist() == [0.0, 0.0]
    with refused("op/zeros-are-not-read"):
        z.reshape(2, 1).tolist()


def complex_numbers_are_tensors_among_zeros_without_memory():
    """Of double precision, which counts where the zeros have no dimensions either.

    Rules: op/zeros-pass-on, op/gradient-of-sign-has-no-memory.
    """
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor([2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs(), x, create_graph=True)
    (z,) = torch.autograd.grad(g, x)
    (h,) = torch.autograd.grad(y.abs().sum(), y, create_graph=True)
    (w,) = torch.autograd.grad(h.sum(), y)
    assert (z * 1j).dtype == torch.complex128 and (z + 1j).dtype == torch.complex128
    assert (z - 1j).dtype == torch.complex128 and (z / 1j).dtype == torch.complex128
    assert (w * 1j).dtype == torch.complex64 and (w + 1j).dtype == torch.complex64
    assert (z + 1j).item() == 1j and (w - 1j).tolist() == [-1j]
    with refused("op/zeros-are-not-read"):
        (z * 1j).tolist()


def a_sum_with_zeros_without_memory_is_laid_out_as_the_other():
    """It is a copy of that, in the dtype of both; of two of them nothing is copied.

    Rule: op/zeros-are-not-read.
    """
    x = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (z,) = torch.autograd.grad(g.sum(), x)
    other = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64).t()
    y = z + other
    w = other - z
    assert y.stride() == (1, 2) and w.stride() == (1, 2)
    assert y.tolist() == [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]] and w.tolist() == y.tolist()
    with refused("op/zeros-are-not-read"):
        (z + z).tolist()
    assert (z + z + 1).tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
