"""Concatenating and stacking: operands that go together, and those that are skipped."""

import torch

from specs.case import refused


def a_number_is_not_concatenated():
    """A 0-d tensor is refused before anything else is looked at. Rule: op/cat-takes-dimensions."""
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor(3.0)
    z = torch.tensor([[1.0]])
    with refused("op/cat-takes-dimensions"):
        torch.cat([x, y])
    with refused("op/cat-takes-dimensions"):
        torch.cat([x, z, y], 5)


def what_is_concatenated_fits():
    """Neither ranks nor sizes are made to agree. Rule: op/cat-sizes."""
    x = torch.tensor([[1.0, 2.0]])
    y = torch.tensor([3.0, 4.0])
    z = torch.tensor([[1.0], [2.0]])
    with refused("op/cat-sizes"):
        torch.cat([x, y])
    with refused("op/cat-sizes"):
        torch.cat([x, z], 1)
    with refused("op/cat-sizes"):
        torch.cat([x, z])
    assert torch.cat([x, x], 1).tolist() == [[1.0, 2.0, 1.0, 2.0]]


def cat_passes_over_nothing():
    """An empty list's tensor joins anything, and is an operand all the same.

    Rule: op/cat-passes-over-nothing.
    """
    x = torch.tensor([], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[1.0, 2.0]])
    z = torch.cat([x, y], 1)
    assert z.tolist() == [[1.0, 2.0]]
    assert z.dtype == torch.float64
    assert z.requires_grad
    z.sum().backward()
    assert x.grad.tolist() == []


def what_is_stacked_has_one_shape():
    """stack does not broadcast; which dimension is new is looked at first. Rule: op/stack-sizes."""
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0])
    with refused("op/stack-sizes"):
        torch.stack([x, y])
    with refused("op/dim-range"):
        torch.stack([x, y], 5)
    assert torch.stack([x, x]).tolist() == [[1.0, 2.0], [1.0, 2.0]]


def as_many_are_joined_as_are_given():
    """A tensor that is joined nine times gets the sum of nine gradients. Rule: grad/sums-paths."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.cat([x, x, x, x, x, x, x, x, x])
    z = torch.cat([x, x, x, x, x, x, x, x, x, x])
    assert y.shape == (18,) and z.shape == (20,)
    y.sum().backward()
    assert x.grad.tolist() == [9.0, 9.0]
    z.sum().backward()
    assert x.grad.tolist() == [19.0, 19.0]


def what_is_concatenated_is_promoted():
    """The order does not matter; each gets its gradient in its own dtype. Rule: grad/casts-to-leaf-dtype."""
    x = torch.tensor([1.0], dtype=torch.float16, requires_grad=True)
    y = torch.tensor([2.0], requires_grad=True)
    joined = torch.cat([x, y])
    stacked = torch.stack([x, y])
    assert joined.dtype is torch.float32 and stacked.dtype is torch.float32
    (joined.sum() + stacked.sum()).backward()
    assert x.grad.dtype is torch.float16 and y.grad.dtype is torch.float32 and x.grad.item() == 2.0
    assert torch.cat([torch.tensor([1]), y]).tolist() == [1.0, 2.0]
    assert torch.cat([torch.tensor([True]), torch.tensor([2])]).dtype is torch.int64
