"""Refusals of products of vectors and matrices, and the order of their checks."""

import torch

from specs.case import refused


def products_do_not_promote():
    """float32 and float64 are not multiplied as matrices, though they are elementwise. Rule: op/one-dtype."""
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0], dtype=torch.float64)
    with refused("op/one-dtype"):
        x.dot(y)
    assert x.mul(y).tolist() == [3.0, 8.0]


def a_matrix_and_a_vector_are_compared_first():
    """A matrix of bools and a vector of others differ, which is told before that bools have no products. So
    do empty ones.

    Rules: op/vector-products-compare-first, op/one-dtype.
    """
    m = torch.tensor([[True, False], [True, True]])
    x = torch.tensor([1.0, 2.0])
    with refused("op/one-dtype"):
        m.mv(x)
    with refused("op/one-dtype"):
        m.matmul(x)
    with refused("op/one-dtype"):
        torch.mv(m[:, :0], x[:0])


def dot_takes_vectors():
    """dot does not take matrices. Rule: op/matmul-rank."""
    x = torch.tensor([[1.0, 2.0]])
    y = torch.tensor([3.0, 4.0])
    with refused("op/matmul-rank"):
        x.dot(y)


def a_triangle_is_that_of_a_matrix():
    """tril and triu take matrices, alone or in batches, and no vectors. Rule: op/matmul-rank."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/matmul-rank"):
        x.tril()
    with refused("op/matmul-rank"):
        x.triu()
    assert x.expand(1, 2, 2).tril().tolist() == [[[1.0, 0.0], [1.0, 2.0]]]


def inner_sizes_must_agree():
    """A 1x2 matrix is not multiplied with a 1x2 matrix. Rule: op/matmul-shape."""
    x = torch.tensor([[1.0, 2.0]])
    with refused("op/matmul-shape"):
        x.mm(x)
    assert x.mm(x.t()).tolist() == [[5.0]]


def linear_asks_for_one_dtype_first():
    """A bias of another dtype is refused before a weight that is no matrix. Rule: op/one-dtype."""
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0], dtype=torch.float64)
    with refused("op/one-dtype"):
        torch.nn.functional.linear(x, x, y)
    with refused("op/one-dtype"):
        torch.nn.functional.linear(x, y, y)
    with refused("op/matmul-rank"):
        torch.nn.functional.linear(x, x, x)


def linear_expands_its_bias():
    """A bias that does not fit is refused as expand refuses it. Rule: op/expand-size."""
    x = torch.tensor([[1.0, 2.0]])
    y = torch.tensor([3.0, 4.0])
    with refused("op/expand-size"):
        torch.nn.functional.linear(x, x, y)


def matmul_takes_no_scalars():
    """A 0-d tensor is no side of a product. Rule: op/matmul-scalar."""
    x = torch.tensor(2.0)
    y = torch.tensor([3.0, 4.0])
    with refused("op/matmul-scalar"):
        x.matmul(y)


def a_vector_times_a_matrix_begins_at_version_one():
    """The product is a row that is squeezed in place; the other products begin at 0.

    Rule: op/row-is-squeezed-in-place.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y = x @ w
    assert y._version == 1
    assert torch.nn.functional.linear(x.detach(), w)._version == 1
    assert (w @ x)._version == 0
    assert (w @ w)._version == 0
    assert (x @ x)._version == 0
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 7.0]
