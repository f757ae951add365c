"""The flag: how it is set, how it spreads, who may not have it."""

import torch

from specs.case import refused


def flag_at_creation():
    """Only the argument makes a new tensor require grad.

    Rule: requires_grad/flag-at-creation.
    Source: seed 001_ab61d14c9099960f.txt, seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    y = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    z = torch.zeros(3, requires_grad=True)
    assert x.requires_grad is False and x.is_leaf is True
    assert y.requires_grad is True and y.is_leaf is True
    assert z.requires_grad is True and z.grad is None


def flag_is_set_by_assignment():
    """Assigning requires_grad changes the tensor in place and adds no node.

    Rule: requires_grad/flag-is-set-in-place. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    x.requires_grad = True
    assert x.requires_grad is True and x.is_leaf is True
    assert x.grad_fn is None
    x.requires_grad = False
    assert x.requires_grad is False


def flag_is_set_by_method():
    """requires_grad_() changes the tensor in place and returns it.

    Rule: requires_grad/flag-is-set-in-place. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    y = x.requires_grad_(True)
    assert y is x
    assert x.requires_grad is True and x.is_leaf is True
    y = x.requires_grad_(False)
    assert y is x
    assert x.requires_grad is False
    x.requires_grad_()
    assert x.requires_grad is True and x._version == 0


def any_input_is_enough():
    """sin(a * b * c) requires grad as soon as one of its inputs does.

    Rule: requires_grad/any-input. Source: seed 002_5576f5c856adb572.txt, seed 000_725a8afb72183ef2.txt.
    """
    a = torch.tensor([5.0])
    b = torch.tensor([5.0])
    c = torch.tensor([5.0], requires_grad=True)
    d = torch.sin(a * b * c)
    e = torch.sin(c * a * b)
    f = torch.sin(a * b)
    assert d.requires_grad is True and e.requires_grad is True
    assert f.requires_grad is False


def flag_is_read_when_the_op_runs():
    """A result keeps its flag when the operand's flag changes afterwards.

    Rules: requires_grad/flag-is-set-in-place, requires_grad/any-input. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0])
    y = x * 2
    x.requires_grad_(True)
    z = x * 2
    x.requires_grad_(False)
    w = x * 2
    assert y.requires_grad is False
    assert z.requires_grad is True
    assert w.requires_grad is False


def flag_of_a_plain_result_can_be_set():
    """c = a * b of plain tensors is a leaf, so its flag can be set, and history starts there.

    Rules: requires_grad/flag-is-set-in-place, leaf/no-history-without-requires-grad.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0)
    b = torch.tensor(2.0)
    c = a * b
    assert c.requires_grad is False
    c.requires_grad = True
    d = c * 3
    d.backward()
    assert c.is_leaf is True and c.grad.item() == 3.0
    assert a.grad is None and b.grad is None


def integers_cannot_require_grad_at_creation():
    """An integer tensor cannot be made with requires_grad=True.

    Rule: requires_grad/float-or-complex-only. Source: seed 004_fc81070469924520.txt.
    """
    with refused("requires_grad/float-or-complex-only"):
        torch.tensor([1, 2], requires_grad=True)
    with refused("requires_grad/float-or-complex-only"):
        torch.tensor([True, False], requires_grad=True)


def integers_cannot_be_set_to_require_grad():
    """Neither the method nor the assignment makes an integer tensor require grad.

    Rule: requires_grad/float-or-complex-only. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1, 2])
    with refused("requires_grad/float-or-complex-only"):
        x.requires_grad_()
    with refused("requires_grad/float-or-complex-only"):
        x.requires_grad = True
    assert x.requires_grad is False
    x.requires_grad_(False)
    x.requires_grad = False


def complex_tensors_can_require_grad():
    """Complex tensors can require grad.

    Rules: requires_grad/flag-at-creation, requires_grad/float-or-complex-only.
    Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0 + 0.0j, 2.0], dtype=torch.complex128, requires_grad=True)
    assert x.requires_grad is True and x.is_leaf is True
    assert x.dtype == torch.complex128


def non_leaf_cannot_drop_the_flag():
    """A non-leaf's requires_grad cannot be set to False; the refusal changes nothing.

    Rule: requires_grad/non-leaf-cannot-drop.
    Source: seed 001_ab61d14c9099960f.txt, seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("requires_grad/non-leaf-cannot-drop"):
        y.requires_grad = False
    with refused("requires_grad/non-leaf-cannot-drop"):
        y.requires_grad_(False)
    assert y.requires_grad is True and y.is_leaf is False


def non_leaf_flag_cannot_be_assigned_at_all():
    """Assigning True to a non-leaf's requires_grad is refused, requires_grad_(True) is not.

    Rule: requires_grad/only-leaf-flags-assigned. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("requires_grad/only-leaf-flags-assigned"):
        y.requires_grad = True
    z = y.requires_grad_(True)
    assert z is y
    assert y.is_leaf is False and y.grad_fn.name() == "MulBackward0"


def assigned_flag_must_be_a_bool():
    """1 and None are no flags. Rule: requires_grad/must-be-bool."""
    x = torch.tensor([1.0, 2.0])
    with refused("requires_grad/must-be-bool"):
        x.requires_grad = 1
    with refused("requires_grad/must-be-bool"):
        x.requires_grad = None
    assert x.requires_grad is False


def flag_argument_must_be_a_bool():
    """1 is no flag for requires_grad_ and for a factory either, but there it is a TypeError.

    Rule: requires_grad/argument-must-be-bool.
    """
    x = torch.tensor([1.0, 2.0])
    with refused("requires_grad/argument-must-be-bool"):
        x.requires_grad_(1)
    with refused("requires_grad/argument-must-be-bool"):
        x.requires_grad_(None)
    with refused("requires_grad/argument-must-be-bool"):
        torch.tensor([1.0], requires_grad=1)
    assert x.requires_grad is False


def comparisons_and_indices_never_require_grad():
    """Results of bool and integer dtype do not require grad. Rule: requires_grad/integer-results-never."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x > 1
    z = x.to(torch.int64)
    assert y.requires_grad is False and y.is_leaf is True
    assert z.requires_grad is False and z.is_leaf is True
    assert y.grad_fn is None and z.grad_fn is None


def attributes_of_each_tensor_after_backward():
    """x, y, z = x*y, w, o = z*w: what each of them is after o.backward().

    Rules: grad/plain-leaves-get-none, leaf/op-result-is-no-leaf, grad/only-leaves-are-filled.
    Source: seed 000_725a8afb72183ef2.txt.
    """
    x = torch.tensor(1.0, requires_grad=True)
    y = torch.tensor(2.0)
    z = x * y
    w = torch.tensor(3.0).requires_grad_(False)
    o = z * w
    o.backward()
    assert x.requires_grad is True and x.is_leaf is True and x.grad_fn is None
    assert x.grad.item() == 6.0
    assert y.requires_grad is False and y.is_leaf is True and y.grad_fn is None and y.grad is None
    assert z.requires_grad is True and z.is_leaf is False and z.grad_fn.name() == "MulBackward0"
    assert z.grad is None
    assert w.requires_grad is False and w.is_leaf is True and w.grad_fn is None and w.grad is None


def the_flag_is_not_deleted():
    """Nor set to what is no bool. Rule: requires_grad/must-be-bool."""
    held = []
    held.append(torch.tensor([1.0], requires_grad=True))
    with refused("requires_grad/must-be-bool"):
        del held[0].requires_grad
    with refused("requires_grad/must-be-bool"):
        held[0].requires_grad = None
    assert held[0].requires_grad is True


def a_leaf_does_not_come_back_as_integers():
    """Results may, and so may tensors that require no grad. Rule: requires_grad/float-or-complex-only."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = x * 1
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (seen.append(t), t.long())[1]):
        y = x * x
        w = z * z
        v = x * torch.tensor([3.0, 4.0])
    with refused("requires_grad/float-or-complex-only"):
        y.sum().backward()
    w.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    v.sum().backward()
    assert x.grad.tolist() == [5.0, 8.0] and len(seen) == 4


def the_flag_of_a_parameter_is_a_bool():
    """Neither a number nor None is. Rule: requires_grad/argument-must-be-bool."""
    x = torch.tensor([1.0])
    with refused("requires_grad/argument-must-be-bool"):
        torch.nn.Parameter(x, requires_grad=1)
    with refused("requires_grad/argument-must-be-bool"):
        torch.nn.Parameter(x, None)
    assert torch.nn.Parameter(x, False).requires_grad is False
