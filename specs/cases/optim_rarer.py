"""Hooks of optimizers, names of parameters, and rates and betas that are tensors."""

import torch

from specs.cases._measures import error_kinds


def hooks_stand_around_steps():
    """They see the arguments, those before a step may replace them, and each can be removed.

    Rule: optim/updates-by-its-algorithm.
    """
    x = torch.tensor([4.0], dtype=torch.float64, requires_grad=True)
    o, seen = torch.optim.SGD([x], lr=0.5), []
    x.grad = torch.tensor([1.0], dtype=torch.float64)
    before = o.register_step_pre_hook(lambda s, a, k: seen.append(("a", s is o, len(a), list(k))))
    other = o.register_step_pre_hook(lambda s, a, k: seen.append(("b", x.item())) or ((s, lambda: 7.0), {}))
    after = o.register_step_post_hook(lambda s, a, k: seen.append(("c", len(a), list(k), x.item())) or 3)
    last = o.register_step_post_hook(lambda s, a, k: seen.append(("d", s is o)))
    assert o.step() == 7.0
    assert seen == [("a", True, 1, []), ("b", 4.0), ("c", 2, [], 3.5), ("d", True)]
    other.remove()
    assert o.step(closure=lambda: 2.0) == 2.0
    assert seen[4:] == [("a", True, 1, ["closure"]), ("c", 1, ["closure"], 3.0), ("d", True)]
    before.remove(), after.remove(), last.remove()
    assert [o.step(), len(seen), x.item()] == [None, 7, 2.5]
    wrong = o.register_step_pre_hook(lambda s, a, k: (a, k, 1))
    assert error_kinds([o.step]) == "o"
    wrong.remove()
    wrong = o.register_step_pre_hook(lambda s, a, k: [a, k])
    assert error_kinds([o.step]) == "o"
    wrong.remove()
    assert [error_kinds([o.step]), x.item()] == ["-", 2.0]


def hooks_stand_around_states():
    """Before and after a state is made or loaded; what they return, or change, is what counts.

    Rule: optim/state-comes-back.
    """
    x = torch.tensor([4.0], dtype=torch.float64, requires_grad=True)
    o, seen = torch.optim.SGD([x], lr=0.5, momentum=0.5), []
    o.register_state_dict_pre_hook(lambda s: seen.append("a"))
    o.register_state_dict_pre_hook(lambda s: seen.append(("b", s is o)), prepend=True)
    first = o.register_state_dict_post_hook(lambda s, d: seen.append(sorted(d)) or d | {"more": 1})
    o.register_state_dict_post_hook(lambda s, d: d.update(last=len(d)), prepend=True)
    x.grad = torch.tensor([1.0], dtype=torch.float64)
    o.step()
    kept = o.state_dict()
    assert [sorted(kept), kept["more"], kept["last"], seen] == [
        ["last", "more", "param_groups", "state"],
        1,
        2,
        [("b", True), "a", ["last", "param_groups", "state"]],
    ]
    first.remove()
    assert sorted(o.state_dict()) == ["last", "param_groups", "state"]
    seen.clear()
    o.register_load_state_dict_pre_hook(lambda s, d: seen.append(("e", sorted(d), d is kept)))
    other = [kept["param_groups"][0] | {"lr": 0.125}]
    o.register_load_state_dict_pre_hook(lambda s, d: d | {"param_groups": other}, prepend=True)
    o.register_load_state_dict_post_hook(lambda s: seen.append(("f", s.param_groups[0]["lr"])))
    o.register_load_state_dict_post_hook(lambda s: seen.append(("g", s is o)), prepend=True)
    o.load_state_dict(kept)
    assert seen == [("e", ["last", "more", "param_groups", "state"], False), ("g", True), ("f", 0.125)]
    o.step()
    assert [x.item(), o.state[x]["momentum_buffer"].item(), kept["param_groups"][0]["lr"]] == [
        3.3125,
        1.5,
        0.5,
    ]


def names_and_groups_are_kept():
    """Names of parameters are in the groups, and stay there when a state without them is loaded.

    Rule: optim/state-comes-back.
    """
    m = torch.nn.Linear(1, 1, dtype=torch.float64)
    a, b = torch.optim.SGD(m.named_parameters(), lr=0.5), torch.optim.SGD(m.parameters(), lr=0.25)
    assert [g["param_names"] for g in a.param_groups] == [["weight", "bias"]]
    assert [list(g) for g in a.state_dict()["param_groups"]] == [
        [
            "param_names",
            "lr",
            "momentum",
            "dampening",
            "weight_decay",
            "nesterov",
            "maximize",
            "foreach",
            "differentiable",
            "fused",
            "params",
        ]
    ]
    a.load_state_dict(b.state_dict())
    assert [a.param_groups[0]["param_names"], a.param_groups[0]["lr"], list(a.param_groups[0])] == [
        ["weight", "bias"],
        0.25,
        [
            "lr",
            "momentum",
            "dampening",
            "weight_decay",
            "nesterov",
            "maximize",
            "foreach",
            "differentiable",
            "fused",
            "params",
            "param_names",
        ],
    ]
    b.load_state_dict(torch.optim.SGD(m.named_parameters(), lr=0.125).state_dict())
    assert [sorted(b.param_groups[0])[6:], b.param_groups[0]["lr"]] == [
        ["momentum", "nesterov", "param_names", "params", "weight_decay"],
        0.125,
    ]
    x, y = m.weight, m.bias
    c = torch.optim.SGD([{"params": [("w", x)]}, {"params": [("b", y)], "lr": 2.0}], lr=1.0)
    assert [(g["param_names"], g["lr"]) for g in c.param_groups] == [(["w"], 1.0), (["b"], 2.0)]
    assert str(c).split("\n")[8:] == [
        "    momentum: 0",
        "    nesterov: False",
        "    param_names: ['w']",
        "    weight_decay: 0",
        "",
        "Parameter Group 1",
        "    dampening: 0",
        "    differentiable: False",
        "    foreach: None",
        "    fused: None",
        "    lr: 2.0",
        "    maximize: False",
        "    momentum: 0",
        "    nesterov: False",
        "    param_names: ['b']",
        "    weight_decay: 0",
        ")",
    ]
    z = torch.ones(1, requires_grad=True)
    d = torch.optim.SGD([x, y], lr=1.0)
    assert (
        error_kinds(
            [
                lambda: c.add_param_group({"params": [z]}),
                lambda: d.add_param_group({"params": [("z", z)]}),
                lambda: d.add_param_group({"params": [z, 1.0]}),
                lambda: d.add_param_group({"params": [z * 2]}),
                lambda: d.add_param_group({"params": x}),
                lambda: torch.optim.SGD([x, ("y", y)], lr=1.0),
                lambda: torch.optim.SGD([("x", x), y], lr=1.0),
                lambda: torch.optim.SGD(x, lr=1.0),
                lambda: torch.optim.SGD([], lr=1.0),
            ]
        )
        == "VVTVVVVTV"
    )
    assert (
        error_kinds(
            [
                lambda: d.add_param_group([z]),
                lambda: d.add_param_group({"params": {z}}),
                lambda: d.load_state_dict({"param_groups": [], "state": {}}),
                lambda: d.load_state_dict({"param_groups": [{"params": [0]}], "state": {}}),
                lambda: d.least,
            ]
        )
        == "TTVVA"
    )
    assert [len(c.param_groups), len(d.param_groups), repr(torch.optim.SGD([x]))[:5]] == [2, 1, "SGD ("]
    x.grad = torch.ones_like(x)
    e = torch.optim.SGD([x], lr=0.5, momentum=0.5)
    e.step()
    kept = e.state_dict()
    e.load_state_dict({"param_groups": kept["param_groups"], "state": kept["state"] | {"more": 3}})
    assert [sorted(map(str, e.state_dict()["state"])), e.state["more"]] == [["0", "more"], 3]


def rates_and_betas_that_are_tensors():
    """They count as numbers, and as what they are now; with more elements than one they are refused.

    Rule: optim/updates-by-its-algorithm.
    """
    o, t = torch.optim, lambda *v: torch.tensor(v if len(v) > 1 else v[0], dtype=torch.float64)
    x = torch.tensor([4.0, -2.0], dtype=torch.float64, requires_grad=True)
    x.grad = t(0.5, 2.0)
    rate = t(0.5)
    s = o.SGD([x], lr=rate)
    s.step()
    rate.fill_(0.25)
    s.step()
    assert [x.tolist(), s.param_groups[0]["lr"] is rate] == [[3.625, -3.5], True]
    a = o.Adam([x], lr=t(0.25), betas=(t(0.5), t([0.75])))
    a.step(), x.grad.neg_(), a.step()
    assert [[round(v, 6) for v in x.tolist()], [b.shape for b in a.param_groups[0]["betas"]]] == [
        [3.458333, -3.666667],
        [torch.Size([]), torch.Size([])],
    ]
    w = o.AdamW([x], lr=t([0.25]), betas=(t(0.5), t(0.75)), weight_decay=0.5, amsgrad=True, maximize=True)
    w.step(), w.step()
    assert [round(v, 6) for v in x.tolist()] == [2.179036, -3.276042]
    n = o.NAdam([x], lr=t(0.25), weight_decay=0.5, decoupled_weight_decay=True)
    n.step(), n.step()
    assert [round(v, 6) for v in x.tolist()] == [2.095345, -2.081199]
    schedule = o.lr_scheduler.ExponentialLR(s, 0.5)
    schedule.step()
    assert [
        rate.item(),
        [v.item() for v in schedule.get_last_lr()],
        s.param_groups[0]["initial_lr"].item(),
    ] == [
        0.125,
        [0.125],
        0.25,
    ]
    two = t(0.5, 0.5)
    assert (
        error_kinds(
            [
                lambda: o.SGD([x], lr=two),
                lambda: o.Adam([x], lr=two),
                lambda: o.RMSprop([x], lr=two),
                lambda: o.Adam([x], lr=t(0.5), foreach=True),
                lambda: o.Adam([x], betas=(0.5, t(0.5))),
                lambda: o.Adam([x], betas=(t(0.5), 0.5)),
                lambda: o.Adam([x], betas=(t(0.5), t(0.5)), foreach=True),
                lambda: o.LBFGS([x], lr=-1.0),
                lambda: o.SGD([x], lr=-1.0),
            ]
        )
        == "VVVVVVVVV"
    )


def steps_of_rarer_optimizers():
    """Averages from a step on, factors of matrices, and matrices that are made orthogonal.

    Rule: optim/updates-by-its-algorithm.
    """
    o = torch.optim
    at = lambda x: [round(v, 4) + 0.0 for v in x.flatten().tolist()]
    x = torch.tensor([4.0, -2.0], dtype=torch.float64, requires_grad=True)
    x.grad = torch.tensor([1.0, 3.0], dtype=torch.float64)
    a = o.ASGD([x], lr=0.25, lambd=0.5, alpha=0.5, t0=1, weight_decay=0.25, maximize=True)
    a.step(), a.step(), a.step(), a.step()
    kept = a.state[x]
    assert [at(x), at(kept["ax"]), round(kept["eta"].item(), 5), round(kept["mu"].item(), 5)] == [
        [2.5805, 1.1939],
        [2.6992, 0.9269],
        0.20412,
        0.33333,
    ]
    f = o.Adafactor([x], lr=0.25, d=2.0, weight_decay=0.5, maximize=True, beta2_decay=-0.5)
    f.step(), x.grad.mul_(-0.25), f.step()
    assert [at(x), sorted(f.state[x]), at(f.state[x]["variance"])] == [
        [2.1746, 1.113],
        ["step", "variance"],
        [0.3371, 3.0338],
    ]
    m = torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]], dtype=torch.float64, requires_grad=True)
    m.grad = torch.tensor([[0.5, 1.0, -2.0], [1.5, 0.0, 1.0]], dtype=torch.float64)
    g = o.Adafactor([m], lr=0.5, eps=(0.125, 0.25))
    g.step(), m.grad.mul_(-2), g.step()
    assert [at(m), sorted(g.state[m]), at(g.state[m]["row_var"]), at(g.state[m]["col_var"])] == [
        [1.021, -1.9335, 0.4406, 3.0801, 0.25, -0.9622],
        ["col_var", "row_var", "step"],
        [4.7653, 2.95],
        [3.4038, 1.3615, 6.8076],
    ]
    w = m.detach().float().requires_grad_()
    w.grad = m.grad.float()
    u = o.Muon([w], lr=0.5, weight_decay=0.25, momentum=0.5, nesterov=False, adjust_lr_fn="match_rms_adamw")
    u.step()
    assert [[round(v, 1) for v in w.flatten().tolist()], sorted(u.state[w])] == [
        [0.9, -1.6, 0.2, 2.8, 0.2, -0.8],
        ["momentum_buffer"],
    ]
    t = w.detach().mT.contiguous().requires_grad_()
    t.grad = m.grad.float().mT.contiguous()
    o.Muon([t], lr=0.5, ns_steps=3).step()
    assert [round(v, 1) for v in t.flatten().tolist()] == [1.0, 3.1, -1.3, 0.2, -0.3, -0.5]
