"""Clipped gradients, weights that are computed, and first values."""

import torch


def clipping_bounds_the_norm_of_all():
    """The gradients of all parameters have one norm, of any kind; the norm before is returned.

    Rules: nn/clipping-bounds-the-norm, grad/accumulates.
    """
    x = torch.tensor([3.0, 0.0], requires_grad=True)
    y = torch.tensor([1.0], requires_grad=True)
    z = torch.tensor([1.0], requires_grad=True)
    (x * 1).sum().backward()
    clip = torch.nn.utils.clip_grad_norm_
    x.grad = torch.tensor([3.0, 0.0])
    y.grad = torch.tensor([-4.0])
    g, version = x.grad, x.grad._version
    assert clip([x, y, z], 2.5).item() == 5.0
    assert x.grad is g and g._version > version and z.grad is None
    assert [round(v, 5) for v in x.grad.tolist()] == [1.5, 0.0] and round(y.grad.item(), 5) == -2.0
    x.grad = torch.tensor([3.0, 0.0])
    y.grad = torch.tensor([-4.0])
    assert clip([x, y], 2.0, norm_type=float("inf")).item() == 4.0
    assert [round(v, 5) for v in x.grad.tolist()] == [1.5, 0.0] and round(y.grad.item(), 5) == -2.0
    x.grad = torch.tensor([3.0, 1.0])
    y.grad = torch.tensor([-4.0])
    assert clip((p for p in (x, y)), 4.0, norm_type=1).item() == 8.0
    assert [round(v, 5) for v in x.grad.tolist()] == [1.5, 0.5] and round(y.grad.item(), 5) == -2.0
    x.grad = torch.tensor([3.0, 4.0])
    assert clip(x, 10.0).item() == 5.0 and x.grad.tolist() == [3.0, 4.0]
    assert clip([z], 1.0).item() == 0.0


def parameters_in_one_vector():
    """And back: their data are parts of the vector, and they stay the leaves that they are.

    Rules: data/assign-swaps, nn/assigned-parameters-are-found.
    """
    m = torch.nn.Linear(2, 1)
    m.load_state_dict({"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([3.0])})
    utils = torch.nn.utils
    v = utils.parameters_to_vector(m.parameters())
    assert v.tolist() == [1.0, 2.0, 3.0] and v.requires_grad is True
    w = m.weight
    utils.vector_to_parameters(torch.tensor([4.0, 5.0, 6.0]), m.parameters())
    assert m.weight is w and w.tolist() == [[4.0, 5.0]] and m.bias.tolist() == [6.0]
    assert w.is_leaf is True and w.requires_grad is True and torch.nn.Parameter(v.data).requires_grad is True


def a_parametrized_weight_is_computed():
    """From its original, whenever it is read; backward fills the grad of that.

    Rule: nn/parametrized-is-computed.
    """
    doubling = type(
        "Doubling",
        (torch.nn.Module,),
        {"forward": lambda self, x: x * 2, "right_inverse": lambda self, x: x / 2},
    )
    m = torch.nn.Linear(1, 1, bias=False)
    m.weight = torch.nn.Parameter(torch.tensor([[6.0]]))
    p = torch.nn.utils.parametrize
    p.register_parametrization(m, "weight", doubling())
    assert p.is_parametrized(m) is True and p.is_parametrized(m, "weight") is True
    assert m.weight.tolist() == [[6.0]] and m.parametrizations.weight.original.tolist() == [[3.0]]
    assert [name for name, _ in m.named_parameters()] == ["parametrizations.weight.original"]
    assert m.weight is not m.weight and m.weight.requires_grad is True and m.weight.is_leaf is False
    m(torch.tensor([[5.0]])).sum().backward()
    assert m.parametrizations.weight.original.grad.tolist() == [[10.0]]
    m.weight = torch.tensor([[8.0]])
    assert m.parametrizations.weight.original.tolist() == [[4.0]] and m.weight.tolist() == [[8.0]]
    with p.cached():
        assert m.weight is m.weight
    p.register_parametrization(m, "weight", doubling())
    assert m.weight.tolist() == [[16.0]] and m.parametrizations.weight.original.tolist() == [[4.0]]
    p.remove_parametrizations(m, "weight")
    assert m.weight.tolist() == [[16.0]] and p.is_parametrized(m) is False
    assert [name for name, _ in m.named_parameters()] == ["weight"] and type(m) is torch.nn.Linear
    p.register_parametrization(m, "weight", doubling())
    p.remove_parametrizations(m, "weight", leave_parametrized=False)
    assert m.weight.tolist() == [[8.0]]


def weights_by_their_norms():
    """Weight norm has a size and a direction, spectral norm divides by the largest singular value.

    Rules: nn/parametrized-is-computed, nn/assigned-parameters-are-found.
    """
    m = torch.nn.Linear(2, 2, bias=False)
    m.weight = torch.nn.Parameter(torch.tensor([[3.0, 4.0], [0.0, 2.0]]))
    n = torch.nn.utils.parametrizations
    n.weight_norm(m)
    assert sorted(name for name, _ in m.named_parameters()) == [
        "parametrizations.weight.original0",
        "parametrizations.weight.original1",
    ]
    assert m.parametrizations.weight.original0.tolist() == [[5.0], [2.0]]
    assert [[round(v, 5) for v in row] for row in m.weight.tolist()] == [[3.0, 4.0], [0.0, 2.0]]
    m(torch.tensor([[1.0, 2.0]])).sum().backward()
    assert [[round(v, 5) for v in row] for row in m.parametrizations.weight.original0.grad.tolist()] == [
        [2.2],
        [2.0],
    ]
    assert [[round(v, 5) for v in row] for row in m.parametrizations.weight.original1.grad.tolist()] == [
        [-0.32, 0.24],
        [1.0, 0.0],
    ]
    torch.nn.utils.parametrize.remove_parametrizations(m, "weight")
    old = torch.nn.utils.weight_norm(m, dim=1)
    assert [name for name, _ in old.named_parameters()] == ["weight_g", "weight_v"]
    assert [[round(v, 5) for v in row] for row in m.weight_g.tolist()] == [[3.0, 4.47214]]
    torch.nn.utils.remove_weight_norm(m)
    assert [name for name, _ in m.named_parameters()] == ["weight"]
    s = torch.nn.Linear(2, 2, bias=False)
    s.weight = torch.nn.Parameter(torch.tensor([[4.0, 0.0], [0.0, 2.0]]))
    torch.nn.utils.parametrizations.spectral_norm(s, n_power_iterations=30)
    assert [[round(v, 4) for v in row] for row in s.weight.tolist()] == [[1.0, 0.0], [0.0, 0.5]]


def first_values_are_written_under_no_grad():
    """The functions of nn.init write in place, record nothing, and return what they wrote.

    Rules: nn/first-values-are-not-recorded, version/write-bumps.
    """
    w = torch.empty(2, 3, requires_grad=True)
    version = w._version
    init = torch.nn.init
    assert init.constant_(w, 2.5) is w and w.tolist() == [[2.5] * 3] * 2
    assert w.is_leaf is True and w.requires_grad is True and w._version > version
    assert init.ones_(w).tolist() == [[1.0] * 3] * 2 and init.zeros_(w).tolist() == [[0.0] * 3] * 2
    assert init.eye_(w).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    k = init.dirac_(torch.empty(2, 2, 3))
    assert k.tolist() == [[[0.0, 1.0, 0.0], [0.0] * 3], [[0.0] * 3, [0.0, 1.0, 0.0]]]
    init.uniform_(w, 2.0, 3.0)
    assert w.min().item() >= 2.0 and w.max().item() <= 3.0 and w.grad_fn is None
    init.orthogonal_(w, gain=2.0)
    assert [[round(v, 4) + 0.0 for v in row] for row in (w @ w.t()).tolist()] == [[4.0, 0.0], [0.0, 4.0]]
    init.xavier_uniform_(w, gain=0.5)
    assert w.abs().max().item() <= 0.5 * (6 / 5) ** 0.5
    init.kaiming_uniform_(w, a=1.0)
    assert w.abs().max().item() <= 1.0
    init.trunc_normal_(w, mean=5.0, std=1.0, a=4.5, b=5.5)
    assert w.min().item() >= 4.5 and w.max().item() <= 5.5
    assert init.calculate_gain("relu") == 2**0.5 and init.calculate_gain("leaky_relu", 1.0) == 1.0


def a_clipped_norm_is_a_little_less():
    """A millionth is added to the norm that is divided by. Rule: nn/clipping-bounds-the-norm."""
    x = torch.tensor([0.0, 0.0], dtype=torch.float64, requires_grad=True)
    x.grad = torch.tensor([3.0, 4.0], dtype=torch.float64)
    norm = torch.nn.utils.clip_grad_norm_([x], 1.0)
    assert norm.item() == 5.0 and [round(v, 9) for v in x.grad.tolist()] == [0.59999988, 0.79999984]
