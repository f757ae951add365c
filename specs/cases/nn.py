"""Parameters, modules, losses: what they are to autograd."""

import torch

from specs.case import refused, warned


def parameter_is_a_leaf_that_requires_grad():
    """nn.Parameter of a plain tensor is a leaf that requires grad, without grad_fn and grad.

    Rule: nn/parameter-requires-grad. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    p = torch.nn.Parameter(x)
    assert p.is_leaf is True and p.requires_grad is True
    assert p.grad_fn is None and p.grad is None
    assert x.requires_grad is False
    p.mul(2).sum().backward()
    assert p.grad.tolist() == [2.0, 2.0, 2.0]


def parameter_made_without_recording():
    """Under no_grad a parameter requires grad all the same; with requires_grad=False it never does.

    Rule: nn/parameter-requires-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        p = torch.nn.Parameter(x)
    q = torch.nn.Parameter(x, requires_grad=False)
    assert p.requires_grad is True and p.is_leaf is True
    assert q.requires_grad is False and q.is_leaf is True


def integers_are_no_parameter():
    """An integer tensor cannot become a parameter that requires grad, only one that does not.

    Rules: requires_grad/float-or-complex-only, nn/parameter-requires-grad.
    """
    x = torch.tensor([1, 2])
    with refused("requires_grad/float-or-complex-only"):
        torch.nn.Parameter(x)
    p = torch.nn.Parameter(x, requires_grad=False)
    assert p.requires_grad is False
    assert p.tolist() == [1, 2]


def wrapping_a_product_again_cuts_the_graph():
    """Wrapping w @ x in nn.Parameter starts a new graph: w gets no grad.

    Rules: nn/parameter-cuts, grad/only-leaves-are-filled. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.nn.Parameter(torch.tensor([[1.0, 2.0]]))
    x = torch.tensor([[3.0], [4.0]])
    f = torch.nn.Parameter(w @ x)
    assert f.is_leaf is True and f.grad_fn is None
    f.sum().backward()
    assert f.grad.tolist() == [[1.0]]
    assert w.grad is None


def not_wrapping_it_keeps_the_graph():
    """If w @ x is not wrapped, w gets its grad.

    Rules: nn/parameter-requires-grad, leaf/op-result-is-no-leaf. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.nn.Parameter(torch.tensor([[1.0, 2.0]]))
    x = torch.tensor([[3.0], [4.0]])
    f = w @ x
    assert f.is_leaf is False
    f.sum().backward()
    assert w.grad.tolist() == [[3.0, 4.0]]


def parameter_shares_memory_and_version():
    """A write to what a parameter was made of shows on the parameter and counts for it.

    Rules: nn/parameter-shares, save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0])
    p = torch.nn.Parameter(x)
    y = (p * p).sum()
    x.mul_(3)
    assert p.tolist() == [3.0, 6.0]
    assert p._is_view() is False
    with refused("save/modified-refused"):
        y.backward()


def linear_on_a_matrix_is_one_node():
    """linear with a bias is one AddmmBackward0 whose last edge leads to the transposed weight.

    Rule: nn/linear-is-one-node. Source: seed 001_ab61d14c9099960f.txt.
    """
    w = torch.tensor([[1.0, 2.0]], requires_grad=True)
    b = torch.tensor([1.0], requires_grad=True)
    x = torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    y = torch.nn.functional.linear(x, w, b)
    assert y.tolist() == [[12.0], [3.0]]
    assert y.grad_fn.name() == "AddmmBackward0"
    y.sum().backward()
    assert w.grad.tolist() == [[3.0, 5.0]]
    assert b.grad.tolist() == [2.0]


def linear_of_a_vector_is_no_view():
    """It is computed as a matrix of one row, and does not show it. Rule: nn/linear-is-no-view."""
    x = torch.tensor([1.0, 2.0])
    w = torch.tensor([[3.0, 4.0]], requires_grad=True)
    b = torch.tensor([5.0])
    y = torch.nn.functional.linear(x, w, b)
    assert y.tolist() == [16.0] and y._is_view() is False
    assert y.grad_fn.name() == "UnsafeViewBackward0"
    y.detach_()
    assert y.requires_grad is False


def linear_takes_no_numbers():
    """Neither in place of the input nor of the weight. Rule: nn/linear-takes-dimensions."""
    w = torch.tensor([[3.0, 4.0]])
    with refused("nn/linear-takes-dimensions"):
        torch.nn.functional.linear(torch.tensor(1.0), w)
    with refused("nn/linear-takes-dimensions"):
        torch.nn.functional.linear(w, torch.tensor(1.0))


def linear_without_bias_is_a_product():
    """linear without a bias is the product with the transposed weight. Rule: nn/linear-is-one-node."""
    w = torch.tensor([[1.0, 2.0]], requires_grad=True)
    x = torch.tensor([[3.0, 4.0]], requires_grad=True)
    y = torch.nn.functional.linear(x, w)
    assert y.grad_fn.name() == "MmBackward0"
    y.backward()
    assert x.grad.tolist() == [[1.0, 2.0]]


def l1_loss_is_the_mean_of_sizes():
    """l1_loss divides by the number of elements, and so do its gradients; the node is the mean's.

    Rule: nn/loss-is-the-mean. Source: seed 001_ab61d14c9099960f.txt.
    """
    y = torch.tensor([[1.0, 2.0, 3.0, 4.0]], requires_grad=True)
    gt = torch.tensor([[0.0, 0.0, 5.0, 0.0]])
    loss = torch.nn.functional.l1_loss(y, gt)
    assert loss.item() == 2.25
    assert loss.grad_fn.name() == "MeanBackward0"
    loss.backward()
    assert y.grad.tolist() == [[0.25, 0.25, -0.25, 0.25]]
    assert gt.grad is None


def mse_loss_by_reduction():
    """mse_loss is the mean of squares, their sum, or each of them, in one node; both sides may get grads.

    Rule: nn/loss-is-the-mean.
    """
    y = torch.tensor([1.0, 3.0], requires_grad=True)
    gt = torch.tensor([0.0, 0.0], requires_grad=True)
    mean = torch.nn.functional.mse_loss(y, gt)
    assert mean.item() == 5.0 and mean.grad_fn.name() == "MseLossBackward0"
    mean.backward()
    assert y.grad.tolist() == [1.0, 3.0]
    assert gt.grad.tolist() == [-1.0, -3.0]
    assert torch.nn.functional.mse_loss(y, gt, reduction="sum").item() == 10.0
    assert torch.nn.functional.mse_loss(y, gt, reduction="none").tolist() == [1.0, 9.0]


def mse_loss_of_two_dtypes_has_no_gradient():
    """A loss with a float64 target can be computed, and not differentiated.

    Rule: nn/mse-gradient-wants-one-dtype.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([0.0, 0.0], dtype=torch.float64)
    loss = torch.nn.functional.mse_loss(x, y)
    assert loss.item() == 2.5
    with refused("nn/mse-gradient-wants-one-dtype"):
        loss.backward()
    assert x.grad is None
    torch.nn.functional.mse_loss(x, y.float()).backward()
    assert x.grad.tolist() == [1.0, 2.0]


def class_weights_are_constant():
    """A loss refuses weights that require grad, and takes them detached.

    Rule: nn/class-weights-are-constant.
    """
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    target = torch.tensor([0])
    with refused("nn/class-weights-are-constant"):
        torch.nn.functional.nll_loss(x, target, weight=w)
    with refused("nn/class-weights-are-constant"):
        torch.nn.functional.binary_cross_entropy_with_logits(x, x, pos_weight=w)
    torch.nn.functional.nll_loss(x, target, weight=w.detach()).backward()
    assert x.grad.tolist() == [[-1.0, 0.0]]


def norms_are_of_the_last_dimensions():
    """Of a tensor whose memory was cut, too, which had fitted before.

    Rule: nn/last-dimensions-are-normalized.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    with refused("nn/last-dimensions-are-normalized"):
        torch.nn.functional.layer_norm(x, (3,))
    with refused("nn/last-dimensions-are-normalized"):
        torch.nn.functional.rms_norm(x, (3,))
    y = x.detach()
    y.resize_(2, 1)
    with refused("nn/last-dimensions-are-normalized"):
        torch.nn.functional.layer_norm(y, (2,))
    torch.nn.functional.layer_norm(x, (2, 2)).sum().backward()
    assert x.grad.shape == (2, 2)


def a_target_that_is_no_class_is_refused():
    """A class that does not exist is refused, negative ones too; the one to ignore counts for nothing.

    Rule: nn/target-is-a-class.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    with refused("nn/target-is-a-class"):
        torch.nn.functional.nll_loss(x, torch.tensor([0, 2]))
    with refused("nn/target-is-a-class"):
        torch.nn.functional.nll_loss(x, torch.tensor([-1, 0]))
    torch.nn.functional.nll_loss(x, torch.tensor([1, -100])).backward()
    assert x.grad.tolist() == [[0.0, -1.0], [0.0, 0.0]]


def a_target_of_another_size_warns():
    """A column against a row gives the mean over every pair. Rule: nn/loss-size-warns."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with warned("nn/loss-size-warns"):
        y = torch.nn.functional.mse_loss(x, torch.tensor([[0.0], [4.0]]))
    assert y.item() == 4.5
    assert y.grad_fn.next_functions[0][0].name() == "ExpandBackward0"
    y.backward()
    assert x.grad.tolist() == [-1.0, 0.0]
    with warned("nn/loss-size-warns"):
        torch.nn.functional.l1_loss(x, torch.tensor(1.0))


def a_reduced_loss_lies_in_memory_for_each_element():
    """There is room behind a mean of two; behind an l1_loss, which is a mean of sizes, there is none.

    Rule: nn/reduced-loss-memory.
    """
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([0.5, 0.5])
    loss = torch.nn.functional.mse_loss(x, y)
    assert loss.as_strided((1,), (1,), 1).zero_().tolist() == [0.0]
    loss = torch.nn.functional.smooth_l1_loss(x, y, reduction="sum")
    assert loss.as_strided((1,), (1,), 1).zero_().tolist() == [0.0]
    loss = torch.nn.functional.binary_cross_entropy(y, y)
    assert loss.as_strided((1,), (1,), 1).zero_().tolist() == [0.0]
    loss = torch.nn.functional.l1_loss(x, y)
    with refused("view/window-outside-base"):
        loss.as_strided((1,), (1,), 1)


def clipping_values_takes_a_grad():
    """Values are clipped only after a backward; a joint norm is 0 before it.

    Rule: nn/clipping-values-takes-a-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("nn/clipping-values-takes-a-grad"):
        torch.nn.utils.clip_grad_value_([x], 3.0)
    with refused("nn/clipping-values-takes-a-grad"):
        torch.nn.utils.clip_grad_value_([], 3.0)
    assert torch.nn.utils.clip_grad_norm_([x], 3.0).item() == 0.0
    (x * x).sum().backward()
    torch.nn.utils.clip_grad_value_([x], 3.0)
    assert x.grad.tolist() == [2.0, 3.0]


def outputs_of_recurrent_layers_are_turned():
    """Those of RNN and GRU in place, that of LSTM as a view. Rule: nn/parameter-requires-grad."""
    x = torch.ones(2, 3, 1)
    kinds = (torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU)
    outputs = []
    outputs += [kind(1, 1, batch_first=True)(x)[0] for kind in kinds]
    assert [(y._is_view(), y._version, y.grad_fn.name()) for y in outputs] == [
        (False, 1, "TransposeBackward1"),
        (True, 0, "TransposeBackward0"),
        (False, 1, "TransposeBackward1"),
    ]
    assert [tuple(y.stride()) for y in outputs] == [(1, 2, 1)] * 3


def a_parametrized_weight_is_assigned_from_behind():
    """The last parametrization is undone first. Rule: nn/parametrized-is-computed."""
    module = torch.nn.Module
    made = []
    made += [
        type(
            "Twice", (module,), {"forward": lambda self, x: x * 2, "right_inverse": lambda self, x: x / 2}
        )(),
        type("Next", (module,), {"forward": lambda self, x: x + 1, "right_inverse": lambda self, x: x - 1})(),
        type("Last", (module,), {"forward": lambda self, x: x * 4, "right_inverse": lambda self, x: x / 4})(),
    ]
    m = torch.nn.Linear(1, 1, bias=False)
    [torch.nn.utils.parametrize.register_parametrization(m, "weight", each) for each in made]
    m.weight = torch.tensor([[28.0]])
    assert m.weight.tolist() == [[28.0]] and m.parametrizations.weight.original.tolist() == [[3.0]]
