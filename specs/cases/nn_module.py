"""Modules as owners of leaves: finding, freezing, casting and loading them, and eval()."""

import copy

import torch

from specs.case import refused


def convolution_in_the_forum():
    """Conv2d's weight is a leaf with requires_grad, without grad_fn before and after backward.

    Rules: nn/assigned-parameters-are-found, leaf/op-result-is-no-leaf. Source: seed 000_725a8afb72183ef2.txt.
    """
    conv = torch.nn.Conv2d(1, 3, 2)
    assert conv.weight.requires_grad is True
    assert conv.weight.is_leaf is True and conv.weight.grad_fn is None
    z = conv(torch.ones(1, 1, 10, 10)).sum()
    assert z.is_leaf is False
    z.backward()
    assert conv.weight.grad_fn is None and conv.weight.is_leaf is True
    assert z.grad_fn.name() == "SumBackward0"
    assert conv.weight.grad.tolist() == [[[[81.0, 81.0], [81.0, 81.0]]]] * 3
    assert len(list(conv.parameters())) == 2


def all_parameters_of_layers_are_leaves():
    """Weights and biases of layers in layers are leaves, found by name, and backward fills them.

    Rules: nn/assigned-parameters-are-found, grad/only-leaves-are-filled.
    Source: seed 000_725a8afb72183ef2.txt.
    """
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    names = [name for name, _ in model.named_parameters()]
    assert names == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert all(p.is_leaf and p.requires_grad and p.grad is None for p in model.parameters())
    model(torch.ones(4, 3)).sum().backward()
    assert all(p.grad is not None and p.grad.shape == p.shape for p in model.parameters())
    assert model[2].bias.grad.tolist() == [4.0]


def plain_tensor_of_a_module_is_no_parameter():
    """A tensor that requires grad is no parameter for being assigned to a module; a parameter is, once.

    Rule: nn/assigned-parameters-are-found.
    """
    m = torch.nn.Module()
    m.x = torch.tensor([1.0], requires_grad=True)
    m.p = torch.nn.Parameter(torch.tensor([1.0]))
    m.q = m.p
    assert [name for name, _ in m.named_parameters()] == ["p"]
    assert next(m.parameters()) is m.p


def results_take_no_parameters_place():
    """A result can be neither assigned nor registered where a parameter belongs; None can be assigned.

    Rule: nn/only-a-parameter-takes-its-place.
    """
    x = torch.tensor([1.0], requires_grad=True)
    m = torch.nn.Module()
    m.p = torch.nn.Parameter(torch.tensor([1.0]))
    with refused("nn/only-a-parameter-takes-its-place"):
        m.p = x * 2
    with refused("nn/only-a-parameter-takes-its-place"):
        m.register_parameter("q", x * 2)
    m.p = None
    assert list(m.parameters()) == []


def linear_and_l1_loss_in_full():
    """After backward the parameters hold grads, and what flowed through and the target hold none.

    Rules: nn/assigned-parameters-are-found, nn/linear-is-one-node, nn/loss-is-the-mean.
    Source: seed 001_ab61d14c9099960f.txt.
    """
    lin = torch.nn.Linear(3, 5)
    assert lin.weight.is_leaf is True and lin.weight.requires_grad is True
    assert lin.weight.grad_fn is None and lin.weight.grad is None
    x = torch.ones(1, 3)
    y = lin(x)
    assert y.is_leaf is False and y.grad_fn.name() == "AddmmBackward0"
    gt = torch.full((1, 5), -10.0)
    loss = torch.nn.L1Loss()(y, gt)
    assert loss.is_leaf is False and loss.requires_grad is True
    assert loss.grad_fn.name() == "MeanBackward0"
    loss.backward()
    assert len(list(lin.parameters())) == 2
    assert lin.weight.grad.tolist() == torch.full((5, 3), 0.2).tolist()
    assert lin.bias.grad.tolist() == torch.full((5,), 0.2).tolist()
    assert x.grad is None and gt.grad is None
    assert y.grad is None and loss.grad is None


def layers_output_keeps_its_flag():
    """The output of a layer is no leaf, so it cannot be told to require no grad.

    Rules: requires_grad/non-leaf-cannot-drop, nn/assigned-parameters-are-found.
    Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.ones(1, 3)
    lin = torch.nn.Linear(3, 5)
    assert len(list(lin.parameters())) == 2
    y = lin(x)
    with refused("requires_grad/non-leaf-cannot-drop"):
        y.requires_grad = False


def normals_of_a_module():
    """The normals of a field are its recorded derivative by the points, which can be trained on.

    Rules: double/create-graph-records, mode/enable-grad-inside, nn/assigned-parameters-are-found.
    Source: seed 001_ab61d14c9099960f.txt.
    """
    field = torch.nn.Sequential(torch.nn.Linear(3, 1, bias=False), torch.nn.Tanh())
    points = torch.zeros(2, 3, requires_grad=True)
    with torch.no_grad(), torch.set_grad_enabled(True):
        sigma = field(points)
        normal = -torch.autograd.grad(torch.sum(sigma), points, create_graph=True)[0]
    assert normal.requires_grad is True and normal.is_leaf is False
    assert normal.tolist() == (-field[0].weight).expand(2, 3).tolist()
    normal.sum().backward()
    assert next(field.parameters()).grad.tolist() == [[-2.0, -2.0, -2.0]]


def freezing_a_module():
    """requires_grad_(False) freezes every parameter, so that nothing is recorded and no grad comes.

    Rule: nn/freezes-the-parameters-themselves. Source: seed 003_08ed0c2a945abd78.txt.
    """
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    w = model[0].weight
    assert model[0].requires_grad_(False) is model[0]
    assert w.requires_grad is False and model[1].weight.requires_grad is True
    h = model[0](torch.ones(1, 2))
    assert h.requires_grad is False and h.is_leaf is True
    model[1](h).sum().backward()
    assert w.grad is None and model[1].weight.grad is not None


def freezing_is_not_undone_in_the_past():
    """A graph recorded before freezing still leads to the parameter, which no longer accepts a grad.

    Rules: nn/freezes-the-parameters-themselves, grad/needs-the-flag-on-arrival.
    """
    lin = torch.nn.Linear(2, 1, bias=False)
    y = lin(torch.ones(1, 2))
    lin.requires_grad_(False)
    assert y.requires_grad is True
    y.sum().backward()
    assert lin.weight.grad is None
    lin.requires_grad_(True)
    lin(torch.ones(1, 2)).sum().backward()
    assert lin.weight.grad.tolist() == [[1.0, 1.0]]


def eval_is_no_grad_mode():
    """eval() is train(False): a flag of all modules below; recording goes on and every parameter is trained.

    Rule: nn/train-is-a-flag-of-all-modules.
    Source: seed 001_ab61d14c9099960f.txt, seed 003_08ed0c2a945abd78.txt.
    """
    model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
    assert model.eval() is model
    assert model.training is False and model[1].training is False
    assert torch.is_grad_enabled() is True and model[0].weight.requires_grad is True
    y = model(torch.ones(1, 2))
    assert y.requires_grad is True
    y.sum().backward()
    assert model[0].weight.grad.tolist() == [[1.0, 1.0]]
    model.train()
    assert model[1].training is True
    model.train(False)
    assert model[1].training is False


def inference_wants_both():
    """no_grad() alone leaves Dropout at work, eval() alone records; together neither.

    Rules: nn/dropout-in-training-only, mode/no-grad-records-nothing.
    Source: seed 001_ab61d14c9099960f.txt.
    """
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(1.0))
    with torch.no_grad():
        noisy = model(torch.ones(1, 2))
    assert noisy.requires_grad is False and noisy.tolist() == [[0.0, 0.0]]
    model.eval()
    x = torch.ones(1, 2)
    assert model(x).requires_grad is True
    assert model[1](x) is x
    with torch.no_grad():
        y = model(x)
    assert y.requires_grad is False and y.tolist() == model[0](x).tolist()


def batch_norm_in_training_and_evaluation():
    """Batch norm moves its running mean in training, by plain numbers, and leaves it alone in evaluation.

    Rules: nn/batch-norm-in-training, nn/train-is-a-flag-of-all-modules.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    norm = torch.nn.BatchNorm1d(2, momentum=0.5)
    x = torch.tensor([[2.0, 4.0], [6.0, 8.0]], requires_grad=True)
    y = norm(x)
    assert y.requires_grad is True
    assert norm.running_mean.tolist() == [2.0, 3.0]
    assert norm.running_mean.requires_grad is False and norm.running_mean.is_leaf is True
    norm.eval()
    norm(x)
    assert norm.running_mean.tolist() == [2.0, 3.0]


def casting_a_module_keeps_its_leaves():
    """double() swaps the data of the very parameters and of their grads: no op is applied to a parameter.

    Rules: nn/to-swaps-data, data/assign-swaps. Source: seed 000_725a8afb72183ef2.txt.
    """
    lin = torch.nn.Linear(3, 3)
    w = lin.weight
    (10 - lin(torch.ones(3))).sum().backward()
    g, version = w.grad, w._version
    assert lin.double() is lin
    assert lin.weight is w and w.dtype == torch.float64
    assert w.is_leaf is True and w.grad_fn is None and w._version == version
    assert w.grad is g and g.dtype == torch.float64
    assert g.tolist() == [[-1.0, -1.0, -1.0]] * 3
    (10 - lin(torch.ones(3, dtype=torch.float64))).sum().backward()
    assert w.grad.tolist() == [[-2.0, -2.0, -2.0]] * 3
    lin.to(torch.float32)
    assert lin.weight is w and w.dtype == torch.float32


def casting_a_tensor_is_an_op():
    """Unlike a module's cast of its parameters, the cast of a leaf is a result.

    Rules: leaf/op-result-is-no-leaf, nn/to-swaps-data. Source: seed 000_725a8afb72183ef2.txt.
    """
    a = torch.ones(2, requires_grad=True)
    b = a.double()
    assert b.is_leaf is False and b.grad_fn.name() == "ToCopyBackward0"
    m = torch.nn.Module()
    m.p = torch.nn.Parameter(torch.ones(2))
    p = m.p
    m.double()
    assert m.p is p and p.is_leaf is True


def zero_grad_of_a_module():
    """zero_grad() forgets the grads of all parameters; asked to, it fills them in place instead.

    Rules: nn/zero-grad-forgets, nn/zero-grad-fills-in-place, nn/assigned-parameters-are-found.
    """
    lin = torch.nn.Linear(2, 1)
    lin(torch.ones(1, 2)).sum().backward()
    g = lin.weight.grad
    lin.zero_grad(set_to_none=False)
    assert lin.weight.grad is g and g.tolist() == [[0.0, 0.0]]
    lin.bias.grad = None
    lin.zero_grad(set_to_none=False)
    assert lin.bias.grad is None
    lin.zero_grad()
    assert lin.weight.grad is None and g.tolist() == [[0.0, 0.0]]
    assert len(list(lin.parameters())) == 2


def state_is_detached_and_shared():
    """state_dict() gives plain tensors on the parameters' memory: a write to the parameter shows there.

    Rule: nn/state-is-detached.
    """
    lin = torch.nn.Linear(2, 1)
    state = lin.state_dict()
    assert list(state) == ["weight", "bias"]
    assert state["weight"].requires_grad is False and lin.weight.requires_grad is True
    with torch.no_grad():
        lin.weight.fill_(3.0)
    assert state["weight"].tolist() == [[3.0, 3.0]]


def loading_state_copies_values():
    """load_state_dict() writes into the parameters, which stay the leaves they are and keep their grads.

    Rule: nn/state-is-copied-in.
    """
    lin = torch.nn.Linear(2, 1, bias=False)
    w, version = lin.weight, lin.weight._version
    w.sum().backward()
    lin.load_state_dict({"weight": torch.tensor([[5.0, 6.0]])})
    assert lin.weight is w and w.tolist() == [[5.0, 6.0]]
    assert w.is_leaf is True and w.requires_grad is True and w._version == version + 1
    assert w.grad.tolist() == [[1.0, 1.0]]


def copy_of_a_module_has_parameters_of_its_own():
    """The deep copy of a module has other leaves with the same values, flags, and no grads.

    Rules: nn/assigned-parameters-are-found, copy/deepcopy-takes-the-grad-along.
    """
    lin = torch.nn.Linear(2, 1)
    lin.bias.requires_grad_(False)
    lin(torch.ones(1, 2)).sum().backward()
    twin = copy.deepcopy(lin)
    assert [name for name, _ in twin.named_parameters()] == ["weight", "bias"]
    assert twin.weight is not lin.weight and twin.weight.tolist() == lin.weight.tolist()
    assert twin.weight.is_leaf is True and twin.weight.requires_grad is True
    assert twin.bias.requires_grad is False
    assert twin.weight.grad is None and lin.weight.grad.tolist() == [[1.0, 1.0]]


def a_name_is_of_one_kind():
    """The last that is assigned takes the name from others. Rule: nn/assigned-parameters-are-found."""
    m = torch.nn.Module()
    m.register_buffer("w", torch.ones(1))
    m.w = torch.nn.Parameter(torch.zeros(1))
    kinds = [[], [], []]
    kinds[0] = [
        [n for n, _ in each] for each in (m.named_parameters(), m.named_buffers(), m.named_children())
    ]
    m.w = None
    assert m.w is None and list(m.parameters()) == []
    del m.w
    m.w = torch.nn.Tanh()
    kinds[1] = [
        [n for n, _ in each] for each in (m.named_parameters(), m.named_buffers(), m.named_children())
    ]
    m.w = torch.nn.Parameter(torch.zeros(1))
    kinds[2] = [
        [n for n, _ in each] for each in (m.named_parameters(), m.named_buffers(), m.named_children())
    ]
    assert kinds == [[["w"], [], []], [[], [], ["w"]], [["w"], [], []]]


def parameters_go_into_a_vector_and_back():
    """Frozen ones as well; they stay leaves with their flags. Rule: nn/parameter-requires-grad."""
    a = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    b = torch.nn.Parameter(torch.tensor([[3.0]]), requires_grad=False)
    c = torch.nn.Parameter(torch.tensor([4.0]))
    joined = []
    joined.append(torch.nn.utils.parameters_to_vector([a, b, c]))
    assert joined[0].tolist() == [1.0, 2.0, 3.0, 4.0] and joined[0].requires_grad is True
    torch.nn.utils.vector_to_parameters(torch.tensor([5.0, 6.0, 7.0, 8.0]), [a, b, c])
    assert a.tolist() == [5.0, 6.0] and b.tolist() == [[7.0]] and c.tolist() == [8.0]
    assert a.is_leaf is True and a.requires_grad is True and b.requires_grad is False
