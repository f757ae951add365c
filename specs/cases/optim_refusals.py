"""Optimizers and their helpers: what they refuse, searches along lines, and scalers and averages."""

import torch

from specs.cases._measures import error_kinds


def _steps(kind, count, goal, **settings):
    """Return where steps of an optimizer lead from two numbers, and the calls of its closure."""
    x = torch.tensor([-1.5, 2.0], dtype=torch.float64, requires_grad=True)
    o, calls = kind([x], **settings), []

    def closure():
        o.zero_grad()
        loss = goal(x)
        loss.backward()
        calls.append(loss.item())
        return loss

    for _ in range(count):
        o.step(closure)
    return [round(v, 5) + 0.0 for v in x.tolist()], len(calls), round(calls[-1], 5)


def searches_along_lines():
    """The length of a step fulfils both of Wolfe's conditions, after few calls.

    Rule: optim/updates-by-its-algorithm.
    """
    o = torch.optim.LBFGS
    hill = lambda x: (1 - x[0]) ** 2 + 5 * (x[1] - x[0] ** 2) ** 2
    bowl = lambda x: (x * x * torch.tensor([1.0, 4.0])).sum()
    wave = lambda x: (x.sin() * torch.tensor([2.0, 1.0])).sum() + 0.05 * (x * x).sum()
    steep = lambda x: ((x - 0.5) ** 4).sum() + (x[0] * x[1]) ** 2
    flat = lambda x: (1 + x * x).log().sum()
    assert _steps(o, 1, hill, line_search_fn="strong_wolfe") == ([0.99998, 0.99996], 23, 0.0)
    assert _steps(o, 3, hill, line_search_fn="strong_wolfe", max_iter=4) == ([0.33165, -0.08026], 15, 0.62766)
    assert _steps(o, 2, hill, lr=0.5, line_search_fn="strong_wolfe", max_iter=3, history_size=2) == (
        [-1.11298, 1.18977],
        7,
        4.47667,
    )
    assert _steps(o, 1, bowl, line_search_fn="strong_wolfe") == ([0.0, 0.0], 7, 0.0)
    assert _steps(o, 1, wave, line_search_fn="strong_wolfe") == ([-1.49593, 4.27109], 9, -1.87459)
    assert _steps(o, 1, wave, lr=8.0, line_search_fn="strong_wolfe", max_iter=3) == (
        [-1.41114, 4.2528],
        3,
        -1.86692,
    )
    assert _steps(o, 1, wave, lr=0.01, line_search_fn="strong_wolfe", max_iter=3) == (
        [-1.49147, 2.21615],
        4,
        -0.83803,
    )
    assert _steps(o, 1, steep, lr=2.0, line_search_fn="strong_wolfe", max_iter=5) == (
        [0.19275, 0.55421],
        6,
        0.02033,
    )
    assert _steps(o, 1, steep, lr=0.001, line_search_fn="strong_wolfe", max_iter=2, max_eval=4) == (
        [-1.38965, 1.94357],
        5,
        24.388,
    )
    assert _steps(o, 1, flat, lr=20.0, line_search_fn="strong_wolfe", max_iter=3) == (
        [0.88915, -0.0706],
        3,
        0.58752,
    )
    assert _steps(o, 1, flat, lr=0.05, line_search_fn="strong_wolfe", tolerance_change=0.1) == (
        [0.19923, -0.08797],
        8,
        0.04663,
    )
    assert _steps(o, 2, hill, lr=0.1, max_iter=3) == ([-1.39822, 2.0088], 6, 5.76592)
    assert _steps(o, 1, bowl, lr=0.1, max_iter=9, max_eval=4) == ([-1.33665, 1.54326], 4, 11.31323)
    assert _steps(o, 1, bowl, lr=0.1, max_iter=9, tolerance_grad=8.0) == ([-0.96741, 0.99945], 8, 4.93146)
    assert _steps(o, 1, flat, max_iter=9, tolerance_change=0.5) == ([-0.14532, -0.2351], 9, 2.39685)
    assert _steps(o, 1, lambda x: (x * 0).sum()) == ([-1.5, 2.0], 1, 0.0)
    assert _steps(torch.optim.SGD, 2, bowl, lr=0.1) == ([-0.96, 0.08], 2, 2.08)
    x = torch.ones(2, requires_grad=True)
    assert (
        error_kinds(
            [
                lambda: o([x]).step(),
                lambda: o([x], line_search_fn="least").step(
                    lambda: (x * 2).sum() if x.sum().backward() is None else 0
                ),
                lambda: o([{"params": [x]}, {"params": []}]),
            ]
        )
        == "ToV"
    )


def optimizers_refuse_what_they_cannot_use():
    """Groups that are none, states of others, and closures that are missing. Rule: optim/state-comes-back."""
    o = torch.optim
    x, y = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)
    x.grad = torch.ones(2)
    s = o.SGD([x], lr=0.5, momentum=0.5)
    s.step()
    state = s.state_dict()
    s.step()
    s.load_state_dict(state)
    s.step()
    assert [round(v, 4) for v in x.tolist()] == [-1.125, -1.125]
    assert (
        error_kinds(
            [
                lambda: s.add_param_group([y]),
                lambda: s.add_param_group({"params": [x]}),
                lambda: s.add_param_group({"params": {y}}),
                lambda: s.add_param_group({}),
                lambda: s.load_state_dict({"param_groups": [], "state": {}}),
                lambda: s.load_state_dict({"param_groups": [{"params": [0, 1]}], "state": {}}),
                lambda: s.load_state_dict({}),
                lambda: o.SGD({x}, lr=0.5),
                lambda: o.SGD([1.0], lr=0.5),
                lambda: o.SGD([[x]], lr=0.5),
                lambda: o.SGD([x * 2], lr=0.5),
                lambda: o.SGD([], lr=0.5),
                lambda: o.SGD(x, lr=0.5),
                lambda: o.SGD([{"lr": 0.5}], lr=0.5),
                lambda: o.Adam([x], 0.1, (0.5, 0.5), 1e-8, 0, False, True),
                lambda: o.Adam([x], lrs=0.5),
                lambda: o.Optimizer([x], {}).step(),
            ]
        )
        == "TVTKVVK-TTVVTKTTN"
    )
    s.add_param_group({"params": y})
    assert [
        len(s.param_groups),
        s.param_groups[1]["params"][0] is y,
        s.param_groups[1]["momentum"],
        sorted(s.param_groups[1]),
    ] == [
        2,
        True,
        0.5,
        [
            "dampening",
            "differentiable",
            "foreach",
            "fused",
            "lr",
            "maximize",
            "momentum",
            "nesterov",
            "params",
            "weight_decay",
        ],
    ]
    assert [
        s.state_dict()["param_groups"][1]["params"],
        sorted(s.state_dict()),
        list(s.state_dict()["state"]),
    ] == [[1], ["param_groups", "state"], [0]]
    assert [sorted(s.defaults), s.defaults["lr"]] == [
        [
            "dampening",
            "differentiable",
            "foreach",
            "fused",
            "lr",
            "maximize",
            "momentum",
            "nesterov",
            "weight_decay",
        ],
        0.5,
    ]


def scalers_wait_and_warn():
    """Enabled or not; lists are scaled in kind; a scale moves only after a step that was looked at.

    Rule: optim/scaler-leaves-infinite-steps-out.
    """
    a = torch.amp
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    o = torch.optim.SGD([x], lr=0.5)
    g = a.GradScaler("cpu", init_scale=4.0, growth_interval=2)
    assert [
        g.get_scale(),
        g.get_growth_factor(),
        g.get_backoff_factor(),
        g.get_growth_interval(),
        g.is_enabled(),
    ] == [4.0, 2.0, 0.5, 2, True]
    g.scale((x * x).sum()).backward()
    assert x.grad.tolist() == [8.0, 16.0]
    assert g.step(o) is None
    assert [x.tolist(), g.get_scale()] == [[0.0, 0.0], 4.0]
    g.update()
    o.zero_grad()
    g.scale(x.sum()).backward()
    g.unscale_(o)
    assert x.grad.tolist() == [1.0, 1.0]
    g.step(o)
    g.update()
    assert [x.tolist(), g.get_scale()] == [[-0.5, -0.5], 8.0]
    x.grad = torch.tensor([float("inf"), 1.0])
    g.step(o)
    g.update()
    assert [x.tolist(), g.get_scale()] == [[-0.5, -0.5], 4.0]
    both = g.scale([x.sum(), (x.sum(), x.prod())])
    assert [type(both).__name__, type(both[1]).__name__, both[0].item(), both[1][1].item()] == [
        "list",
        "tuple",
        -4.0,
        1.0,
    ]
    off = a.GradScaler("cpu", enabled=False)
    assert [
        off.get_scale(),
        off.scale(x) is x,
        off.is_enabled(),
        off.unscale_(o),
        off.update(),
        off.state_dict(),
    ] == [1.0, True, False, None, None, {}]
    x.grad = torch.ones(2)
    off.step(o)
    assert x.tolist() == [-1.0, -1.0]
    g.set_growth_factor(3.0)
    g.set_backoff_factor(0.25)
    g.set_growth_interval(1)
    x.grad = torch.ones(2)
    g.step(o)
    g.update()
    assert [g.get_scale(), sorted(g.state_dict())] == [
        12.0,
        ["_growth_tracker", "backoff_factor", "growth_factor", "growth_interval", "scale"],
    ]
    g.update(2.0)
    assert g.get_scale() == 2.0
    g.update(torch.tensor(8.0))
    assert g.get_scale() == 8.0
    h = a.GradScaler("cpu")
    assert [h.get_scale(), h.get_growth_interval()] == [65536.0, 2000]
    h.load_state_dict(g.state_dict())
    assert [h.get_scale(), h.get_growth_factor(), h.get_backoff_factor(), h.get_growth_interval()] == [
        8.0,
        3.0,
        0.25,
        1,
    ]
    p = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5)
    assert (
        error_kinds(
            [
                lambda: a.GradScaler("cpu", growth_factor=1.0),
                lambda: a.GradScaler("cpu", backoff_factor=1.0),
                lambda: a.GradScaler("cpu").update(),
                lambda: a.GradScaler("cpu").step(p),
                lambda: a.GradScaler("cpu").scale(3),
                lambda: (h.unscale_(o), h.unscale_(o)),
                lambda: (h.step(o), h.step(o)),
                lambda: (h.update(), h.step(o), h.unscale_(o)),
                lambda: off.load_state_dict({}),
                lambda: h.load_state_dict({}),
                lambda: h.step(torch.optim.LBFGS([x]), closure=lambda: 1),
            ]
        )
        == "ooooVooo-oo"
    )


def averages_are_of_each_kind():
    """Of all that was shown, or more of what came late; buffers too, if asked for.

    Rule: optim/averages-are-their-own.
    """
    u = torch.optim.swa_utils
    m = torch.nn.BatchNorm1d(1)
    a, e = u.AveragedModel(m), u.AveragedModel(m, multi_avg_fn=u.get_ema_multi_avg_fn(0.75), use_buffers=True)
    k, s = (
        u.AveragedModel(m, avg_fn=lambda old, new, n: old + new * (n + 1)),
        u.AveragedModel(m, avg_fn=u.get_ema_avg_fn(0.5)),
    )
    w = u.AveragedModel(m, multi_avg_fn=u.get_swa_multi_avg_fn())
    every = (a, e, k, s, w)
    [each.update_parameters(m) for each in every]
    with torch.no_grad():
        m.weight += 4.0
        m.running_mean += 8.0
    [each.update_parameters(m) for each in every]
    with torch.no_grad():
        m.weight += 4.0
    [each.update_parameters(m) for each in every]
    assert [each.module.weight.item() for each in every] == [5.0, 3.75, 38.0, 6.0, 5.0]
    assert [each.module.running_mean.item() for each in every] == [8.0, 3.5, 8.0, 8.0, 8.0]
    assert [each.n_averaged.item() for each in every] == [3, 3, 3, 3, 3]
    assert [
        m.weight.item(),
        a.module is m,
        list(a.state_dict())[:2],
        a(torch.ones(2, 1)).shape == (2, 1),
    ] == [9.0, False, ["n_averaged", "module.weight"], True]
    u.update_bn([torch.tensor([[1.0], [3.0]]), [torch.tensor([[5.0], [7.0]]), 1]], a)
    assert [
        a.module.running_mean.item(),
        round(a.module.running_var.item(), 4),
        a.module.momentum,
        a.training,
    ] == [4.0, 2.0, 0.1, True]
    assert u.update_bn([torch.ones(1, 1)], torch.nn.Linear(1, 1)) is None
    assert (
        error_kinds(
            [
                lambda: u.AveragedModel(m, avg_fn=lambda o, c, n: o, multi_avg_fn=u.get_swa_multi_avg_fn()),
                lambda: u.get_ema_multi_avg_fn(1.5),
                lambda: u.get_ema_avg_fn(-0.5),
            ]
        )
        == "oVV"
    )
