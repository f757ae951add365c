"""The pictures of graphs in the seeds, read from next_functions, and what their nodes have saved."""

import torch

from specs.case import refused


def picture_of_one_product():
    """c = a * b: a node with an edge to the accumulator of a, and to nothing for the plain b.

    Rules: leaf/op-result-is-no-leaf, leaf/edges-end-in-accumulators.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0)
    c = a * b
    assert c.grad_fn.name() == "MulBackward0" and c.grad_fn is not a.grad_fn
    assert c.grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert c.grad_fn.next_functions[0][1] == 0
    assert c.grad_fn.next_functions[0][0].variable is a
    assert c.grad_fn.next_functions[1] == (None, 0)
    assert a.grad_fn is None and b.grad_fn is None


def picture_of_two_products():
    """e = (a * b) * d: two products, one above the other, and three accumulators.

    Rules: leaf/op-result-is-no-leaf, leaf/edges-end-in-accumulators.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    c = a * b
    d = torch.tensor(4.0, requires_grad=True)
    e = c * d
    assert e.grad_fn.next_functions[0][0] is c.grad_fn
    assert [n.name() for n, _ in e.grad_fn.next_functions] == [
        "MulBackward0",
        "torch::autograd::AccumulateGrad",
    ]
    assert [n.variable for n, _ in c.grad_fn.next_functions] == [a, b]
    assert e.grad_fn.next_functions[1][0].variable is d
    e.backward()
    assert a.grad.item() == 12.0 and b.grad.item() == 8.0 and d.grad.item() == 6.0


def picture_of_unbind():
    """The products of b, c, d = a.unbind() lead to one node, by the numbers of its outputs.

    Rules: view/outputs-share-a-node, leaf/edges-end-in-accumulators.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b, c, d = a.unbind()
    bc = b * c
    e = bc * d
    node = b.grad_fn
    assert node.name() == "UnbindBackward0"
    assert bc.grad_fn.next_functions == ((node, 0), (node, 1))
    assert e.grad_fn.next_functions == ((bc.grad_fn, 0), (node, 2))
    assert node.next_functions[0][0].variable is a
    e.backward()
    assert a.grad.tolist() == [6.0, 3.0, 2.0]


def picture_of_the_long_example():
    """k = (h + i) * i with i = g / h: streams meet at the node of i, and at the accumulator of h.

    Rules: leaf/edges-end-in-accumulators, leaf/no-history-without-requires-grad.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0)
    b = torch.tensor(2.0)
    c = a * b
    assert c.is_leaf is True and c.grad_fn is None
    c.requires_grad = True
    d = torch.tensor(2.0)
    e = c * d
    f = torch.tensor(2.0)
    g = e * f
    h = torch.tensor(2.0, requires_grad=True)
    i = g / h
    j = i + h
    k = j * i
    assert k.grad_fn.next_functions == ((j.grad_fn, 0), (i.grad_fn, 0))
    assert j.grad_fn.next_functions[0] == (i.grad_fn, 0)
    assert j.grad_fn.next_functions[1] == i.grad_fn.next_functions[1]
    assert i.grad_fn.next_functions[1][0].variable is h
    assert i.grad_fn.next_functions[0] == (g.grad_fn, 0)
    assert g.grad_fn.next_functions == ((e.grad_fn, 0), (None, 0))
    assert e.grad_fn.next_functions[0][0].variable is c
    assert e.grad_fn.name() == "MulBackward0" and g.grad_fn.name() == "MulBackward0"
    assert i.grad_fn.name() == "DivBackward0" and j.grad_fn.name() == "AddBackward0"
    assert k.grad_fn.name() == "MulBackward0"
    k.backward()
    assert c.grad.item() == 36.0 and h.grad.item() == -64.0


def what_a_product_has_saved():
    """A product saves each factor that the other one's gradient needs: here b, and not a.

    Rule: save/only-what-a-formula-needs. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0)
    c = a * b
    assert c.grad_fn._saved_self is None
    assert c.grad_fn._saved_other is b
    d = torch.tensor(4.0, requires_grad=True)
    e = c * d
    assert e.grad_fn._saved_self is c and e.grad_fn._saved_other is d
    a.mul(1)
    c.backward(retain_graph=True)
    assert a.grad.item() == 3.0
    a.grad = None
    b.add_(1)
    with refused("save/modified-refused"):
        c.backward()


def what_a_product_has_saved_is_freed():
    """After backward the node is still there, what it saved is not.

    Rules: save/freed-refused, leaf/op-result-is-no-leaf. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    c = a * a
    node = c.grad_fn
    assert node._saved_self is a
    c.backward()
    assert c.grad_fn is node and node.name() == "MulBackward0"
    with refused("save/freed-refused"):
        node._saved_self


def what_an_addition_has_saved():
    """An addition saves neither of its operands.

    Rule: save/only-what-a-formula-needs. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    c = a + b
    assert hasattr(c.grad_fn, "_saved_other") is False
    d = c * 1
    c += 1
    d.backward()
    assert a.grad.item() == 1.0
