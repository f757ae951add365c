"""Weights that are pruned: a parameter times a mask, which is chosen by size, by chance or by hand."""

import importlib

import torch

from specs.cases._measures import error_kinds, graded


def _prune():
    """Return the module, which PyTorch loads if it is asked for."""
    return importlib.import_module(f"{torch.nn.utils.__name__}.prune")


def _linear():
    """Return a layer with known weights, none of them as large as another."""
    m = torch.nn.Linear(3, 2, dtype=torch.float64)
    m.weight.data = torch.tensor([[0.5, -2.0, 3.0], [-1.0, 4.0, 0.25]], dtype=torch.float64)
    m.bias.data = torch.tensor([0.5, -1.5], dtype=torch.float64)
    return m


def the_smallest_weights_are_pruned():
    """The mask is a buffer, the weight is computed anew in each call; gradients are those of what is left.

    Rule: nn/buffers-belong-to-the-state.
    """
    u = _prune()
    m, x = _linear(), torch.tensor([[1.0, 2.0, -1.0]], dtype=torch.float64)
    assert [u.l1_unstructured(m, "weight", 2) is m, m.weight.tolist(), m.weight_mask.tolist()] == [
        True,
        [[0.0, -2.0, 3.0], [-1.0, 4.0, 0.0]],
        [[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]],
    ]
    assert [[k for k, _ in m.named_parameters()], [k for k, _ in m.named_buffers()]] == [
        ["bias", "weight_orig"],
        ["weight_mask"],
    ]
    assert [type(m.weight).__name__, type(m.weight_orig).__name__, m.weight.is_leaf, u.is_pruned(m)] == [
        "Tensor",
        "Parameter",
        False,
        True,
    ]
    assert graded(m(x), m.weight_orig, m.bias) == [(1, 2), 4.5, 29.0, 5.0]
    assert torch.autograd.grad(m(x).sum(), m.weight_orig)[0].tolist() == [[0.0, 2.0, -1.0], [1.0, 2.0, -0.0]]
    with torch.no_grad():
        m.weight_orig.mul_(2)
    assert m.weight.tolist()[0] == [0.0, -2.0, 3.0]
    m(x)
    assert [m.weight.tolist()[0], list(m.state_dict())] == [
        [0.0, -4.0, 6.0],
        ["bias", "weight_orig", "weight_mask"],
    ]
    u.l1_unstructured(m, "weight", 0.5)
    assert [m.weight_mask.tolist(), len(m._forward_pre_hooks), [k for k, _ in m.named_buffers()]] == [
        [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
        1,
        ["weight_mask"],
    ]
    u.random_unstructured(m, "weight", 1)
    (hook,) = m._forward_pre_hooks.values()
    assert [m.weight_mask.sum().item(), len(hook), [type(p).__name__ for p in hook]] == [
        1.0,
        3,
        ["L1Unstructured", "L1Unstructured", "RandomUnstructured"],
    ]
    orig = m.weight_orig
    assert [u.remove(m, "weight") is m, m.weight is orig, [k for k, _ in m.named_parameters()]] == [
        True,
        True,
        ["bias", "weight"],
    ]
    assert [
        (m.weight != 0).sum().item(),
        u.is_pruned(m),
        len(m._forward_pre_hooks),
        list(m.state_dict()),
    ] == [1, False, 0, ["bias", "weight"]]
    k = _linear()
    u.l1_unstructured(k, "weight", amount=3, importance_scores=-k.weight.abs())
    assert [
        k.weight.tolist(),
        u.l1_unstructured(k, "bias", 0).bias_mask.tolist(),
        len(k._forward_pre_hooks),
    ] == [[[0.0, -2.0, 3.0], [-0.0, 4.0, 0.0]], [1.0, 1.0], 2]
    u.identity(k, "weight")
    assert [k.weight_mask.tolist(), [len(h) for h in list(k._forward_pre_hooks.values())[1:]]] == [
        [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]],
        [2],
    ]
    s = torch.nn.Sequential(torch.nn.Linear(1, 1), k)
    assert [
        u.is_pruned(s),
        u.is_pruned(s[0]),
        u.identity(s[0], "bias").bias.tolist() == s[0].bias_orig.tolist(),
    ] == [True, False, True]


def whole_slices_are_pruned():
    """Rows or columns by their norms, or at random; of several ways each takes from what is left.

    Rule: nn/buffers-belong-to-the-state.
    """
    u = _prune()
    x = torch.tensor([[1.0, 2.0, -1.0]], dtype=torch.float64)
    m = u.ln_structured(_linear(), "weight", 1, 2, 0)
    assert [m.weight_mask.tolist(), m(x).tolist()] == [[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], [[0.5, 5.25]]]
    with torch.no_grad():
        m.weight_orig.neg_()
    assert m(x).tolist() == [[0.5, -8.25]]
    assert [
        u.ln_structured(_linear(), "weight", 1, n, dim).weight_mask.tolist()
        for n, dim in ((1, 1), (2, -1), (float("inf"), 0), (-float("inf"), 1), (1, -2))
    ] == [
        [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]],
        [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]],
        [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]],
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]],
        [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]],
    ]
    k = u.ln_structured(_linear(), "weight", 0.4, 1, -1, importance_scores=torch.ones(2, 3).cumsum(1))
    assert k.weight_mask.tolist() == [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    u.ln_structured(k, "weight", amount=1, n=1, dim=0)
    assert k.weight_mask.tolist() == [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    u.l1_unstructured(k, "weight", 1)
    assert [k.weight.tolist(), len(next(iter(k._forward_pre_hooks.values())))] == [
        [[0.0, -0.0, 3.0], [-0.0, 0.0, 0.0]],
        3,
    ]
    r = u.random_structured(_linear(), "weight", 2, 1)
    assert [r.weight_mask.sum(0).sort()[0].tolist(), r.weight_mask[0].equal(r.weight_mask[1])] == [
        [0.0, 0.0, 2.0],
        True,
    ]
    u.random_structured(r, "weight", 1, 0)
    assert r.weight_mask.sum().item() == 1.0
    assert u.random_structured(_linear(), "weight", 0.0, 0).weight_mask.sum().item() == 6.0
    assert [
        u.random_unstructured(_linear(), "weight", a).weight_mask.sum().item() for a in (0, 2, 0.5, 1.0)
    ] == [6.0, 4.0, 3.0, 0.0]
    c = u.custom_from_mask(_linear(), "weight", torch.tensor([[1, 0, 1], [0, 1, 1]]))
    assert [c.weight.tolist(), c.weight_mask.dtype is torch.float64, list(c.state_dict())] == [
        [[0.5, -0.0, 3.0], [-0.0, 4.0, 0.25]],
        True,
        ["bias", "weight_orig", "weight_mask"],
    ]
    u.custom_from_mask(c, name="weight", mask=torch.tensor([[1, 1, 0], [0, 0, 1]]))
    assert c.weight_mask.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    u.l1_unstructured(c, "weight", 1)
    assert [c.weight_mask.tolist(), u.remove(c, "weight").weight.tolist()] == [
        [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        [[0.5, -0.0, 0.0], [-0.0, 0.0, 0.0]],
    ]


def several_parameters_are_pruned_as_one():
    """The smallest of all of them go; other pruning methods are given, and called without a module.

    Rule: nn/buffers-belong-to-the-state.
    """
    u = _prune()
    m, k = _linear(), _linear()
    with torch.no_grad():
        k.weight.mul_(10)
    both = [(m, "weight"), (k, "weight"), (m, "bias")]
    assert u.global_unstructured(both, pruning_method=u.L1Unstructured, amount=5) is None
    assert [m.weight_mask.tolist(), k.weight_mask.tolist(), m.bias_mask.tolist()] == [
        [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]],
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
        [0.0, 0.0],
    ]
    assert list(m.state_dict()) == ["weight_orig", "bias_orig", "weight_mask", "bias_mask"]
    u.global_unstructured(tuple(both[:2]), u.L1Unstructured, amount=0.25)
    assert [m.weight_mask.tolist(), k.weight_mask.tolist()] == [
        [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
        [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]],
    ]
    scores = {(k, "weight"): torch.full((2, 3), 0.125)}
    u.global_unstructured(both[:2], u.L1Unstructured, importance_scores=scores, amount=3)
    assert [m.weight_mask.sum().item(), k.weight_mask.sum().item()] == [2.0, 2.0]
    x = torch.ones(1, 3, dtype=torch.float64)
    with torch.no_grad():
        m.weight_orig.mul_(0)
    assert m(x).tolist() == [[0.0, 0.0]]
    u.global_unstructured([(torch.nn.Linear(2, 2), "weight")], u.RandomUnstructured, amount=1)
    t = torch.tensor([[0.5, -3.0], [2.0, -1.0]])
    method = u.L1Unstructured(2)
    assert [method.prune(t).tolist(), method.amount, method.PRUNING_TYPE] == [
        [[0.0, -3.0], [2.0, -0.0]],
        2,
        "unstructured",
    ]
    assert method.prune(t, importance_scores=-t).tolist() == [[0.0, -3.0], [2.0, -0.0]]
    assert method.prune(t, default_mask=torch.tensor([[0.0, 1.0], [1.0, 1.0]])).tolist() == [
        [0.0, -3.0],
        [2.0, -0.0],
    ]
    assert [u.Identity().prune(t).tolist(), u.CustomFromMask(t > 0).prune(t).tolist()] == [
        [[0.5, -3.0], [2.0, -1.0]],
        [[0.5, -0.0], [2.0, -0.0]],
    ]
    assert [u.LnStructured(1, 2).prune(t).tolist(), u.LnStructured(1, 1, 0).prune(t).tolist()] == [
        [[0.0, -3.0], [0.0, -1.0]],
        [[0.5, -3.0], [0.0, -0.0]],
    ]
    kinds = (
        u.Identity,
        u.RandomUnstructured,
        u.L1Unstructured,
        u.RandomStructured,
        u.LnStructured,
        u.CustomFromMask,
    )
    assert [each.PRUNING_TYPE for each in kinds] == [
        "unstructured",
        "unstructured",
        "unstructured",
        "structured",
        "structured",
        "global",
    ]
    assert [u.RandomStructured(1).dim, u.LnStructured(1, 2).dim, u.LnStructured(1, 2).n] == [-1, -1, 2]
    negative = {"compute_mask": lambda self, t, default_mask: default_mask * (t < 0)}
    every = type("Every", (u.BasePruningMethod,), negative)
    j = _linear()
    made = every.apply(j, "weight")
    assert [type(made).__name__, made._tensor_name, j.weight.tolist(), j.weight_mask.tolist()] == [
        "Every",
        "weight",
        [[0.0, -2.0, 0.0], [-1.0, 0.0, 0.0]],
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    ]
    more = u.L1Unstructured.apply(j, "weight", 1)
    assert [type(more).__name__, len(more), more[0] is made, j.weight_mask.tolist()] == [
        "PruningContainer",
        2,
        True,
        [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]],
    ]
    assert [[type(p).__name__ for p in more[:2]], len(u.PruningContainer()), more._tensor_name] == [
        ["Every", "L1Unstructured"],
        0,
        "weight",
    ]
    assert (
        error_kinds([lambda: more.add_pruning_method(1), lambda: more.add_pruning_method(u.Identity())])
        == "TA"
    )
    more.remove(j)
    assert [j.weight.tolist(), type(j.weight).__name__, list(j._buffers)] == [
        [[0.0, -2.0, 0.0], [-0.0, 0.0, 0.0]],
        "Parameter",
        [],
    ]


def amounts_that_are_none():
    """Shares are of what there is, counts at most as many; masks fit, and only slices of matrices are taken.

    Rule: nn/buffers-belong-to-the-state.
    """
    u = _prune()
    m, x = _linear(), torch.ones(1, 3, dtype=torch.float64)
    assert (
        error_kinds(
            [
                lambda: u.l1_unstructured(m, "weight", -1),
                lambda: u.l1_unstructured(m, "weight", 1.5),
                lambda: u.l1_unstructured(m, "weight", -0.5),
                lambda: u.l1_unstructured(m, "weight", "1"),
                lambda: u.L1Unstructured(None),
                lambda: u.RandomStructured(1.5),
                lambda: u.remove(_linear(), "weight"),
                lambda: u.l1_unstructured(_linear(), "nope", 1),
                lambda: u.global_unstructured([(_linear(), "weight")], u.LnStructured, amount=1, n=1),
                lambda: u.BasePruningMethod().compute_mask(x, x),
            ]
        )
        == "VVVTTVVATT"
    )
    assert [
        error_kinds([lambda: u.l1_unstructured(_linear(), "weight", 7)]),
        error_kinds([lambda: u.ln_structured(_linear(), "weight", 3, 1, 0)]),
        error_kinds([lambda: u.ln_structured(_linear(), "bias", 1, 1, 0)]),
        error_kinds([lambda: u.random_structured(_linear(), "bias", 1, 0)]),
        error_kinds([lambda: u.custom_from_mask(_linear(), "weight", torch.ones(3, 2))]),
        error_kinds([lambda: u.l1_unstructured(_linear(), "weight", 1, torch.ones(3, 2))]),
    ] == ["V", "V", "V", "V", "o", "o"]
    assert (
        error_kinds(
            [
                lambda: u.l1_unstructured(m, "weight", "1"),
                lambda: u.l1_unstructured(m, "weight", 1.5),
                lambda: u.l1_unstructured(_linear(), "weight", 7),
                lambda: u.remove(_linear(), "weight"),
            ]
        )
        == "TVVV"
    )
    u.l1_unstructured(m, "weight", 1)
    assert list(m.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    assert [m.weight_mask.sum().item(), u.l1_unstructured(m, "bias", 1.0).bias.tolist()] == [5.0, [0.0, -0.0]]
    with torch.no_grad():
        m.weight_orig.neg_()
    assert m(x).tolist() == [[-1.5, -3.0]]
