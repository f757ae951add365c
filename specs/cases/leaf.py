"""Leaves, and the edges recorded to them; setting requires_grad lives in requires_grad."""

import torch


def result_of_plain_tensors_is_a_leaf():
    """The result of tensors that do not require grad is a leaf.

    Rule: leaf/no-history-without-requires-grad. Source: seed 002_5576f5c856adb572.txt.
    """
    c = torch.tensor([5.0])
    d = c * c
    assert c.requires_grad is False and c.is_leaf is True
    assert d.requires_grad is False and d.is_leaf is True
    assert d.grad_fn is None


def plain_sum_is_a_leaf():
    """rand + 1 without requires_grad is a leaf without grad_fn.

    Rule: leaf/no-history-without-requires-grad. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    y = x + 1
    assert y.is_leaf is True and y.requires_grad is False
    assert y.grad_fn is None and y.grad is None


def result_of_a_recorded_op_is_no_leaf():
    """The result of a tensor that requires grad is not a leaf.

    Rule: leaf/op-result-is-no-leaf. Source: seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a
    assert a.requires_grad is True and a.is_leaf is True
    assert b.requires_grad is True and b.is_leaf is False
    assert a.grad_fn is None
    assert b.grad_fn.name() == "MulBackward0"


def adding_one_makes_a_non_leaf():
    """rand(3, requires_grad=True) + 1 is no leaf; its grad_fn is an AddBackward0.

    Rule: leaf/op-result-is-no-leaf. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x + 1
    assert y.is_leaf is False and y.requires_grad is True
    assert y.grad_fn.name() == "AddBackward0"
    assert y.grad is None


def user_made_tensor_that_requires_grad_is_a_leaf():
    """A tensor made by the user is a leaf without grad_fn, also if it requires grad.

    Rules: requires_grad/flag-at-creation, leaf/op-result-is-no-leaf.
    Source: seed 000_725a8afb72183ef2.txt, seed 001_ab61d14c9099960f.txt.
    """
    f = torch.ones(10, requires_grad=True)
    assert f.is_leaf is True and f.requires_grad is True
    assert f.grad_fn is None and f.grad is None


def product_of_matrices_without_flags():
    """a.mm(b) without requires_grad: a, b and c are all leaves.

    Rule: leaf/no-history-without-requires-grad. Source: seed 000_725a8afb72183ef2.txt.
    """
    a = torch.ones(2, 4)
    b = torch.ones(4, 2)
    c = a.mm(b)
    assert a.is_leaf is True and b.is_leaf is True and c.is_leaf is True


def product_of_matrices_with_one_flag():
    """a.mm(b) with requires_grad_() on a: a and b are leaves, c is not.

    Rules: leaf/op-result-is-no-leaf, requires_grad/any-input. Source: seed 000_725a8afb72183ef2.txt.
    """
    a = torch.ones(2, 4).requires_grad_()
    b = torch.ones(4, 2)
    c = a.mm(b)
    assert a.is_leaf is True and b.is_leaf is True and c.is_leaf is False
    assert c.grad_fn.name() == "MmBackward0"


def loss_has_a_grad_fn_and_the_weight_has_none():
    """Before and after backward a leaf's grad_fn is None and the sum's is a SumBackward0.

    Rules: leaf/op-result-is-no-leaf, grad/only-leaves-are-filled. Source: seed 000_725a8afb72183ef2.txt.
    """
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    z = (weight * 3).sum()
    assert weight.grad_fn is None and z.is_leaf is False
    z.backward()
    assert weight.grad_fn is None and weight.is_leaf is True
    assert z.grad_fn.name() == "SumBackward0"
    assert weight.grad.tolist() == [3.0, 3.0]


def edges_lead_to_accumulators_and_to_nothing():
    """A leaf that requires grad is an edge to AccumulateGrad, a constant an edge to None.

    Rule: leaf/edges-end-in-accumulators. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0)
    c = a * b
    assert c.grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert c.grad_fn.next_functions[0][1] == 0
    assert c.grad_fn.next_functions[1][0] is None
    assert c.grad_fn.next_functions[1][1] == 0
    c.backward()
    assert a.grad.item() == 3.0
    assert b.grad is None


def one_accumulator_for_a_leaf():
    """All edges to one leaf lead to one AccumulateGrad node. Rule: leaf/edges-end-in-accumulators."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = x + 1
    assert y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[1][0]
    assert y.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0]


def edges_lead_to_the_nodes_of_results():
    """An operand that is a result is an edge to its grad_fn.

    Rules: leaf/op-result-is-no-leaf, leaf/edges-end-in-accumulators. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    c = a * b
    d = torch.tensor(4.0, requires_grad=True)
    e = c * d
    assert e.grad_fn.next_functions[0][0].name() == "MulBackward0"
    assert e.grad_fn.next_functions[0][0] is c.grad_fn
    assert e.grad_fn.next_functions[1][0].name() == "torch::autograd::AccumulateGrad"


def values_can_be_read_out_of_the_graph():
    """item() and tolist() read a tensor that requires grad, and change nothing about it.

    Rule: leaf/op-result-is-no-leaf. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    s = y.sum()
    assert y.tolist() == [2.0, 4.0] and s.item() == 6.0
    assert y.requires_grad is True and y.is_leaf is False and s.is_leaf is False
