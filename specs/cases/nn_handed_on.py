"""torch.nn and torch.utils: older hooks, copies of parametrized modules, tensors that are swapped."""

import collections
import copy

import torch

from specs.cases._measures import error_kinds, filled, graded, ramp


class _Twice(torch.nn.Module):
    """Shows twice what it keeps."""

    def forward(self, w):
        return 2 * w

    def right_inverse(self, w):
        return w / 2


def older_hooks_stand_on_the_last_node():
    """They see its gradients, not those of the module. Rule: nn/backward-hooks-stand-before-and-behind."""
    seen = []
    m = filled(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh()))
    x = ramp(1, 2)
    handle = m[1].register_backward_hook(
        lambda module, given, made: seen.append((len(given), len(made), tuple(made[0].shape)))
    )
    m(x).sum().backward()
    assert seen == [(1, 1, (1, 2))]
    handle.remove()
    m(x).sum().backward()
    assert len(seen) == 1
    handle = m.register_full_backward_hook(
        lambda module, given, made: seen.append((given[0].shape == x.shape, made[0].tolist()))
    )
    m(x).sum().backward()
    assert seen[-1] == (True, [[1.0, 1.0]])
    assert (
        error_kinds(
            [lambda: m.register_backward_hook(print), lambda: m[1].register_full_backward_hook(print)]
        )
        == "oo"
    )
    handle.remove()
    several = torch.nn.Identity()
    several.forward = lambda x: {"n": 1, "a": x * 2}
    several.register_backward_hook(
        lambda module, given, made: seen.append((given[0].tolist(), made[0].tolist()))
    )
    several(x)["a"].sum().backward()
    assert seen[-1] == ([[2.0, 2.0]], [[1.0, 1.0]])
    several.register_backward_hook(lambda module, given, made: (given[0] * 10,))
    assert error_kinds([lambda: several(x)["a"].sum().backward(), lambda: several(x.detach())]) == "o-"
    tenfold = torch.nn.Flatten(0)
    tenfold.register_backward_hook(lambda module, given, made: (given[0] * 10,))
    x.grad = None
    tenfold(x).sum().backward()
    assert x.grad.tolist() == [[10.0, 10.0]]
    handle = torch.nn.modules.module.register_module_full_backward_hook(
        lambda module, given, made: seen.append(type(module).__name__)
    )
    filled(torch.nn.Linear(2, 1))(x).sum().backward()
    handle.remove()
    filled(torch.nn.Linear(2, 1))(x).sum().backward()
    assert [seen[-1], seen[-2] == seen[-1]] == ["Linear", False]


def parametrized_modules_are_copied():
    """With parametrizations of their own. Rule: nn/parametrized-is-computed."""
    parametrize = torch.nn.utils.parametrize
    m = filled(torch.nn.Linear(2, 1))
    before = m.weight.tolist()
    parametrize.register_parametrization(m, "weight", _Twice())
    n = copy.deepcopy(m)
    assert [
        m.weight.tolist() == before,
        n.weight.tolist() == before,
        type(n).__name__,
        n.weight is n.weight,
    ] == [True, True, "ParametrizedLinear", False]
    with torch.no_grad():
        n.parametrizations.weight.original.zero_()
    assert [
        n.weight.tolist(),
        m.weight.tolist() == before,
        sorted(name for name, _ in n.named_parameters()),
    ] == [[[0.0, 0.0]], True, ["bias", "parametrizations.weight.original"]]
    x = ramp(1, 2)
    assert graded(m(x), x, m.parametrizations.weight.original) == [(1, 1), 1.1295, 2.1554, 8.0]
    with parametrize.cached():
        assert m.weight is m.weight
    assert [
        parametrize.is_parametrized(m),
        parametrize.is_parametrized(m, "bias"),
        parametrize.type_before_parametrizations(m) is torch.nn.Linear,
    ] == [True, False, True]
    m.weight = torch.ones(1, 2, dtype=torch.float64)
    assert [m.weight.tolist(), m.parametrizations.weight.original.tolist()] == [[[1.0, 1.0]], [[0.5, 0.5]]]
    parametrize.remove_parametrizations(m, "weight")
    assert [type(m) is torch.nn.Linear, m.weight.tolist(), m.weight.is_leaf] == [True, [[1.0, 1.0]], True]
    parametrize.register_parametrization(m, "bias", _Twice())
    parametrize.remove_parametrizations(m, "bias", leave_parametrized=False)
    assert [m.bias.tolist(), type(m.bias) is torch.nn.Parameter] == [[0.42073549240394825], True]
    assert (
        error_kinds(
            [
                lambda: parametrize.register_parametrization(m, "nothing", _Twice()),
                lambda: parametrize.remove_parametrizations(m, "weight"),
                lambda: parametrize.register_parametrization(m, "weight", torch.nn.Flatten(0)),
            ]
        )
        == "VVV"
    )


def tensors_are_swapped():
    """Their holders have the other's memory and history. Rule: op/derivatives-beyond-programs."""
    x, y = torch.tensor([5.0, 2.0]), torch.tensor([[3.0]])
    t = ramp(2)
    assert graded(t.softmax(0), t) == [(2,), 1.9933, 0.0066]
    x.tag, held = "x", x
    torch.utils.swap_tensors(x, y)
    assert [x.tolist(), y.tolist(), held is x, y.tag, hasattr(x, "tag")] == [
        [[3.0]],
        [5.0, 2.0],
        True,
        "x",
        False,
    ]
    p, q = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.zeros(1))
    torch.utils.swap_tensors(p, q)
    (p * 3).sum().backward()
    assert [p.tolist(), p.grad.tolist(), q.grad is None, q.tolist(), p.is_leaf] == [
        [0.0],
        [3.0],
        True,
        [1.0, 1.0],
        True,
    ]
    z = p * 2
    assert (
        error_kinds([lambda: torch.utils.swap_tensors(p, q), lambda: torch.utils.swap_tensors(z, x)]) == "--"
    )
    w = x.view(1)
    assert error_kinds([lambda: torch.utils.swap_tensors(x, torch.ones(1))]) == "o"


def samples_are_gathered():
    """Of pairs that are named, of datasets that follow another. Rule: op/derivatives-beyond-programs."""
    data = torch.utils.data
    x = torch.arange(6.0)
    t = ramp(2)
    assert graded(t.softmax(0), t) == [(2,), 1.9933, 0.0066]
    pair = collections.namedtuple("pair", "a b")
    made = data.default_collate([pair(1, torch.ones(2)), pair(2, torch.zeros(2))])
    assert [type(made).__name__, made.a.tolist(), made.b.tolist()] == [
        "pair",
        [1, 2],
        [[1.0, 1.0], [0.0, 0.0]],
    ]
    kept = data.default_convert(pair([1.5], "s"))
    assert [type(kept).__name__, kept] == ["pair", pair(a=[1.5], b="s")]
    two = data.ConcatDataset([data.TensorDataset(x[:2]), data.TensorDataset(x[2:])])
    assert [len(two), two[3][0].item(), two[-1][0].item()] == [6, 3.0, 5.0]
    some = data.Subset(two, [5, 0])
    assert [
        len(some),
        [each[0].item() for each in some],
        [each[0].item() for each in some.__getitems__([1])],
    ] == [2, [5.0, 0.0], [0.0]]
    assert [batch[0].tolist() for batch in data.DataLoader(some, batch_size=2)] == [[5.0, 0.0]]
    assert [each[0].item() for each in data.DataLoader(some, batch_size=None)] == [5.0, 0.0]
    assert [batch[0].tolist() for batch in data.DataLoader(two, 4, drop_last=True)] == [[0.0, 1.0, 2.0, 3.0]]
    one, other = data.random_split(two, [2, 4], generator=torch.Generator().manual_seed(0))
    assert [len(one), len(other), sorted([*one.indices, *other.indices])] == [2, 4, [0, 1, 2, 3, 4, 5]]
    stacked = data.StackDataset(a=[1, 2], b=x[:2])
    assert [len(stacked), stacked[1]["a"], stacked[1]["b"].item()] == [2, 2, 1.0]
    assert (
        error_kinds(
            [
                lambda: two[6],
                lambda: two[-7],
                lambda: data.TensorDataset(x, x[:2]),
                lambda: data.default_collate([torch.ones(1), torch.ones(2)]),
                lambda: data.default_collate([object()]),
                lambda: data.random_split(two, [1, 2]),
                lambda: data.StackDataset(x, x[:1]),
                lambda: data.DataLoader(two, batch_size=0),
                lambda: data.DataLoader(two, batch_size=None, shuffle=True, drop_last=True),
                lambda: data.ConcatDataset([]),
            ]
        )
        == "IVooTVVVVo"
    )
