"""Gradients of complex numbers: the conjugate convention, on upstream gradients that are not real."""

import torch


def a_products_gradient_has_the_conjugate():
    """Each factor gets the gradient times the conjugate of the other. Rule: op/gradients-conjugate."""
    x = torch.tensor([1 + 2j, 3j], requires_grad=True)
    w = torch.tensor([2 - 1j, 1 + 1j], requires_grad=True)
    g = torch.tensor([1 + 1j, 2j])
    (x * w).backward(g)
    assert x.grad.tolist() == [1 + 3j, 2 + 2j]
    assert w.grad.tolist() == [3 - 1j, 6 + 0j]
    with torch.no_grad():
        x.grad.zero_()
    x.mul(w).mul(2j).backward(g)
    assert x.grad.tolist() == [6 - 2j, 4 - 4j]


def a_quotients_gradient_has_the_conjugate():
    """Quotients and reciprocals, by numbers that leave nothing to round. Rule: op/gradients-conjugate."""
    x = torch.tensor([1 + 2j, 3j], requires_grad=True)
    w = torch.tensor([2j, 1 + 1j], requires_grad=True)
    g = torch.tensor([1 + 1j, 2j])
    (x / w).backward(g)
    assert x.grad.tolist() == [-0.5 + 0.5j, -1 + 1j]
    assert w.grad.tolist() == [0.75 - 0.25j, -3j]
    v = torch.tensor([2j, 1 + 1j], requires_grad=True)
    v.reciprocal().backward(g)
    assert v.grad.tolist() == [0.25 + 0.25j, 1 + 0j]


def a_matrix_products_gradient_has_the_conjugate():
    """Matrix times matrix, matrix times vector and the inner product. Rule: op/gradients-conjugate."""
    x = torch.tensor([[1 + 2j, 3j], [0j, 1 - 1j]], requires_grad=True)
    w = torch.tensor([[2 - 1j], [1 + 1j]], requires_grad=True)
    (x @ w).backward(torch.tensor([[1 + 1j], [2j]]))
    assert x.grad.tolist() == [[1 + 3j, 2 + 0j], [-2 + 4j, 2 + 2j]]
    assert w.grad.tolist() == [[3 - 1j], [1 - 1j]]
    v = torch.tensor([2 - 1j, 1 + 1j], requires_grad=True)
    u = torch.tensor([1 + 2j, 3j], requires_grad=True)
    (x.mv(v)).backward(torch.tensor([1 + 1j, 2j]))
    assert v.grad.tolist() == [3 - 1j, 1 - 1j]
    u.dot(v).backward(torch.tensor(1 + 1j))
    assert u.grad.tolist() == [1 + 3j, 2 + 0j]
    assert v.grad.tolist() == [6 - 2j, 4 - 4j]


def a_powers_gradient_has_the_conjugate():
    """Squares, cubes and products of all, with a zero among the factors. Rule: op/gradients-conjugate."""
    x = torch.tensor([1 + 2j, 3j], requires_grad=True)
    g = torch.tensor([1 + 1j, 2j])
    (x**2).backward(g)
    assert x.grad.tolist() == [6 - 2j, 12 + 0j]
    y = torch.tensor([1 + 2j, 3j], requires_grad=True)
    y.pow(3).backward(g)
    assert y.grad.tolist() == [3 - 21j, 0 - 54j]
    z = torch.tensor([1 + 2j, 0j, 2j], requires_grad=True)
    z.prod().backward(torch.tensor(1 + 1j))
    assert z.grad.tolist() == [0j, -2 - 6j, 0j]


def a_second_derivative_has_both_conjugates():
    """Differentiated again, the gradient of a product passes a complex gradient on to all three.

    Rule: op/gradients-conjugate.
    """
    x = torch.tensor([1 + 2j], requires_grad=True)
    w = torch.tensor([2 - 1j], requires_grad=True)
    g = torch.tensor([1 + 1j], requires_grad=True)
    (a,) = torch.autograd.grad(x * w, x, g, create_graph=True)
    a.backward(torch.tensor([3j]))
    assert x.grad is None
    assert w.grad.tolist() == [3 - 3j] and g.grad.tolist() == [3 + 6j]


def a_real_factor_gets_the_real_part():
    """A real factor of a complex product gets a real gradient. Rule: op/gradients-conjugate."""
    x = torch.tensor([2.0, -1.0], requires_grad=True)
    w = torch.tensor([2 - 1j, 1 + 1j], requires_grad=True)
    (x * w).backward(torch.tensor([1 + 1j, 2j]))
    assert x.grad.tolist() == [1.0, 2.0] and x.grad.dtype is torch.float32
    assert w.grad.tolist() == [2 + 2j, -2j]


def a_complex_number_is_a_tensor_in_the_gradient():
    """Its conjugate is in double precision, so the gradient of a tensor without dimensions is cast back.

    Rule: op/gradients-conjugate.
    """
    x = torch.tensor(1 + 1j, requires_grad=True)
    y = torch.tensor([1 + 1j], requires_grad=True)
    u = torch.autograd.grad(x * 2j, x, x, create_graph=True)[0]
    v = torch.autograd.grad(x / 2j, x, x, create_graph=True)[0]
    w = torch.autograd.grad(y * 2j, y, y, create_graph=True)[0]
    assert u.grad_fn.name() == "ToCopyBackward0" and v.grad_fn.name() == "ToCopyBackward0"
    assert w.grad_fn.name() == "MulBackward0"
    assert u.item() == 2 - 2j and w.tolist() == [2 - 2j]


def a_scaled_terms_gradient_has_the_conjugate():
    """A term that is scaled by a complex number, out of place and in place. Rule: op/gradients-conjugate."""
    x = torch.tensor([1 + 2j, 3j], requires_grad=True)
    w = torch.tensor([2 - 1j, 1 + 1j], requires_grad=True)
    g = torch.tensor([1 + 1j, 2j])
    torch.add(x, w, alpha=1 + 2j).backward(g)
    assert x.grad.tolist() == [1 + 1j, 2j]
    assert w.grad.tolist() == [3 - 1j, 4 + 2j]
    x.clone().sub_(w, alpha=2j).backward(g)
    assert w.grad.tolist() == [1 + 1j, 2j]


def a_scaled_sources_gradient_has_the_conjugate():
    """A source that index_add() scales by a complex number. Rule: op/index-add-conjugates."""
    x = torch.tensor([1 + 2j, 3j])
    w = torch.tensor([2 - 1j, 1 + 1j], requires_grad=True)
    y = x.index_add(0, torch.tensor([1, 0]), w, alpha=1 + 2j)
    y.backward(torch.tensor([1 + 1j, 2j]))
    assert w.grad.tolist() == [4 + 2j, 3 - 1j]


def complex_numbers_beside_tensors_are_conjugated():
    """Weights, factors and exponents, which stay numbers. Rule: op/gradients-conjugate."""
    x = torch.tensor([1 + 2j, 3j], requires_grad=True)
    w = torch.tensor([2 - 1j, 1 + 1j], requires_grad=True)
    g = torch.tensor([1 + 1j, 2j])
    torch.lerp(x, w, 2j).backward(g)
    assert x.grad.tolist() == [-1 + 3j, -4 + 2j]
    assert w.grad.tolist() == [2 - 2j, 4 + 0j]
    u = torch.tensor([1 + 0j, 1 + 0j], requires_grad=True)
    v = torch.tensor([2 - 1j, 1 + 1j], requires_grad=True)
    torch.addcmul(u, torch.tensor([1 + 2j, 3j]), v, value=2j).backward(g)
    assert u.grad.tolist() == [1 + 1j, 2j]
    assert v.grad.tolist() == [-2 - 6j, -12j]
    e = torch.tensor([1 + 0j], requires_grad=True)
    (e ** (2 + 1j)).backward(torch.tensor([1 + 1j]))
    assert e.grad.tolist() == [3 + 1j]
