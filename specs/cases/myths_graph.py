"""False claims in circulation about graphs, modes and copies, each with the program that refutes it."""

import torch

from specs.case import refused


def myth_plus_leaves_a_copy():
    """Myth: "+ is a Function; it leaves a CopyBackwards grad_fn".

    It leaves an AddBackward0; the node of a copy is left by a copy.
    Rules: leaf/op-result-is-no-leaf, write/copy-passes-gradient. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x + 1
    assert y.grad_fn.name() == "AddBackward0"
    z = torch.zeros(3)
    z.copy_(x)
    assert z.grad_fn.name() == "torch::autograd::CopyBackwards"


def myth_one_input_is_enough():
    """Myth: "if a single input requires gradient, its output will also require gradient".

    Not if the output holds integers or truth values.
    Rule: requires_grad/integer-results-never. Source: seed 000_725a8afb72183ef2.txt.
    """
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    positive = x > 0
    assert positive.requires_grad is False and positive.is_leaf is True


def myth_no_backward_under_no_grad():
    """Myth: no_grad "disables all recording (and thus cannot call backward())".

    What was recorded before can be differentiated under no_grad.
    Rule: mode/backward-under-no-grad. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with torch.no_grad():
        y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def myth_a_node_saves_all_inputs():
    """Myth: grad_fn "saves all the inputs, and the exact operator used".

    It saves what its formula needs: a sum of two needs neither, so both may be written to.
    Rule: save/only-what-a-formula-needs. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x * 2
    b = x * 3
    c = a + b
    a.zero_()
    b.zero_()
    c.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def myth_backward_destroys_the_graph():
    """Myth: "the previous graph has been destroyed after executing .backward()".

    The nodes and edges stay, what they had saved is freed; where nothing was saved, backward can be repeated.
    Rules: backward/frees-saved, save/freed-refused. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x + 1).sum()
    y.backward()
    assert y.grad_fn.name() == "SumBackward0"
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]
    z = (x * x).sum()
    z.backward()
    with refused("save/freed-refused"):
        z.backward()


def myth_the_old_graph_no_longer_reaches_the_weight():
    """Myth: of an op outside the loop, "in the second iteration the graph doesn't include w".

    It does, and had backward kept what was saved, the gradient would arrive.
    Rules: backward/retain-graph-keeps, grad/accumulates. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    f = w * torch.tensor([3.0, 4.0])
    f.sum().backward(retain_graph=True)
    f.sum().backward()
    assert w.grad.tolist() == [6.0, 8.0]


def myth_numpy_is_another_detach():
    """Myth: k.numpy() is an alternative to k.detach() for leaving the graph.

    It is refused until detach() was called.
    Rule: copy/numpy-refused-with-grad. Source: seed 003_08ed0c2a945abd78.txt.
    """
    k = torch.tensor([1.0, 2.0], requires_grad=True) * 2
    with refused("copy/numpy-refused-with-grad"):
        k.numpy()
    n = k.detach().numpy()
    assert torch.from_numpy(n).tolist() == [2.0, 4.0]


def myth_only_scalars_can_call_backward():
    """Myth: "to call backward(), data must be the scalar (only one element) of float type".

    With a gradient to start from, roots of any shape can, and complex ones.
    Rules: backward/gradient-is-upstream, backward/implicit-needs-scalar.
    Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    with refused("backward/implicit-needs-scalar"):
        y.backward()
    y.backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 40.0]
    z = torch.tensor(1 + 2j, requires_grad=True)
    z.backward(torch.tensor(3j))
    assert z.grad.item() == 3j


def myth_retain_graph_prevents_the_error():
    """Myth: "using retain_graph=True with backward() prevents error".

    Not if what was saved has been written to meanwhile.
    Rules: backward/retain-graph-keeps, save/modified-refused. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [4.0, 8.0]
    with torch.no_grad():
        x.add_(1)
    with refused("save/modified-refused"):
        y.backward()


def myth_several_losses_need_retain_graph():
    """Myth: the backward of a second loss needs retain_graph=True.

    Only where the losses share a part that has saved something.
    Rules: backward/frees-saved, save/freed-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    one = (x * x).sum()
    two = (x * 3).sum()
    one.backward()
    two.backward()
    assert x.grad.tolist() == [5.0, 7.0]
    shared = x * x
    three = shared.sum()
    four = shared.sum() * 2
    three.backward()
    with refused("save/freed-refused"):
        four.backward()


def myth_detach_copies():
    """Myth: detach() gives a copy that can safely be written to.

    It shares memory and version: the write shows, and what saved the tensor refuses it.
    Rules: detach/shares-storage, version/shared-by-detach.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    d = x.detach()
    d.zero_()
    assert x.tolist() == [0.0, 0.0]
    with refused("save/modified-refused"):
        y.backward()


def myth_data_is_detach():
    """Myth: x.data is the same as x.detach().

    Writes to .data are not counted, so that backward silently uses the new values.
    Rules: version/data-has-its-own, data/cuts, version/shared-by-detach.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data.fill_(5.0)
    y.backward()
    assert x.grad.tolist() == [10.0, 10.0]
    z = (x * x).sum()
    x.detach().fill_(7.0)
    with refused("save/modified-refused"):
        z.backward()


def myth_clone_breaks_the_graph():
    """Myth: clone() makes an independent tensor.

    Its memory is its own, its history is not: gradients flow through it.
    Rules: leaf/op-result-is-no-leaf, requires_grad/any-input.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    assert y.is_leaf is False and y.grad_fn.name() == "CloneBackward0"
    y.mul_(3)
    y.sum().backward()
    assert x.tolist() == [1.0, 2.0] and x.grad.tolist() == [3.0, 3.0]


def myth_no_grad_makes_flags_false():
    """Myth: inside no_grad nothing can require grad.

    Results do not; a tensor made there with the flag is a leaf like any other.
    Rules: mode/creation-unaffected, mode/flag-setting-unaffected, mode/no-grad-records-nothing.
    """
    with torch.no_grad():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.tensor([1.0, 2.0]).requires_grad_()
        z = x * y
    assert x.requires_grad is True and y.requires_grad is True
    assert z.requires_grad is False
    (x * y).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]
