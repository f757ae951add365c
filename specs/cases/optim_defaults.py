"""Defaults of optimizers and schedules, and steps that are recorded."""

import torch

from specs.cases._measures import error_kinds


def _recorded(kind, settings, steps=1):
    """Return where recorded steps lead, and the gradients of what they began with."""
    begun = torch.tensor([4.0, -2.0], dtype=torch.float64, requires_grad=True)
    x = begun.clone()
    o = kind([x], lr=0.5, differentiable=True, **settings)
    x.grad = torch.tensor([1.0, 3.0], dtype=torch.float64)
    [o.step() for _ in range(steps)]
    (x * x).sum().backward()
    return [round(v, 4) for v in (*x.tolist(), *begun.grad.tolist())]


def defaults_of_every_optimizer():
    """They are in every group, in this order, and steps are taken with them.

    Rule: optim/updates-by-its-algorithm.
    """
    o = torch.optim
    x = torch.tensor([[4.0, -2.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    x.grad = torch.tensor([[1.0, 3.0]], dtype=torch.float64)
    every = (o.SGD, o.Adam, o.AdamW, o.RMSprop, o.Adagrad, o.Adadelta, o.Adamax, o.NAdam, o.RAdam, o.Rprop)
    more = (o.ASGD, o.Adafactor, o.LBFGS)
    flags = ("maximize", "foreach", "capturable", "differentiable", "fused")
    plain = lambda g: {k: v for k, v in g.items() if k != "params" and k not in flags}
    assert [plain(k([x]).param_groups[0]) for k in every[:5]] == [
        {"lr": 0.001, "momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False},
        {
            "lr": 0.001,
            "betas": (0.9, 0.999),
            "eps": 1e-08,
            "weight_decay": 0,
            "amsgrad": False,
            "decoupled_weight_decay": False,
        },
        {
            "lr": 0.001,
            "betas": (0.9, 0.999),
            "eps": 1e-08,
            "weight_decay": 0.01,
            "amsgrad": False,
            "decoupled_weight_decay": True,
        },
        {"lr": 0.01, "momentum": 0, "alpha": 0.99, "eps": 1e-08, "centered": False, "weight_decay": 0},
        {"lr": 0.01, "lr_decay": 0, "eps": 1e-10, "weight_decay": 0, "initial_accumulator_value": 0},
    ]
    assert [plain(k([x]).param_groups[0]) for k in every[5:]] == [
        {"lr": 1.0, "rho": 0.9, "eps": 1e-06, "weight_decay": 0},
        {"lr": 0.002, "betas": (0.9, 0.999), "eps": 1e-08, "weight_decay": 0},
        {
            "lr": 0.002,
            "betas": (0.9, 0.999),
            "eps": 1e-08,
            "weight_decay": 0,
            "momentum_decay": 0.004,
            "decoupled_weight_decay": False,
        },
        {
            "lr": 0.001,
            "betas": (0.9, 0.999),
            "eps": 1e-08,
            "weight_decay": 0,
            "decoupled_weight_decay": False,
        },
        {"lr": 0.01, "etas": (0.5, 1.2), "step_sizes": (1e-06, 50)},
    ]
    assert [plain(k([x]).param_groups[0]) for k in more] == [
        {"lr": 0.01, "lambd": 0.0001, "alpha": 0.75, "t0": 1000000.0, "weight_decay": 0},
        {"lr": 0.01, "beta2_decay": -0.8, "eps": (None, 0.001), "d": 1.0, "weight_decay": 0.0},
        {
            "lr": 1,
            "max_iter": 20,
            "max_eval": 25,
            "tolerance_grad": 1e-07,
            "tolerance_change": 1e-09,
            "history_size": 100,
            "line_search_fn": None,
        },
    ]
    assert plain(o.Muon([x]).param_groups[0]) == {
        "lr": 0.001,
        "weight_decay": 0.1,
        "momentum": 0.95,
        "nesterov": True,
        "ns_coefficients": (3.4445, -4.775, 2.0315),
        "eps": 1e-07,
        "ns_steps": 5,
        "adjust_lr_fn": None,
    }
    assert [[k for k in kind([x]).defaults if k in flags] for kind in (*every, *more[:2])] == [
        ["maximize", "foreach", "differentiable", "fused"],
        ["maximize", "foreach", "capturable", "differentiable", "fused"],
        ["maximize", "foreach", "capturable", "differentiable", "fused"],
        ["capturable", "foreach", "maximize", "differentiable"],
        ["foreach", "maximize", "differentiable", "fused"],
        ["maximize", "capturable", "foreach", "differentiable"],
        ["foreach", "maximize", "differentiable", "capturable"],
        ["maximize", "foreach", "capturable", "differentiable"],
        ["maximize", "foreach", "capturable", "differentiable"],
        ["foreach", "maximize", "differentiable", "capturable"],
        ["foreach", "maximize", "differentiable", "capturable"],
        ["foreach", "maximize"],
    ]
    assert [{k([x]).defaults.get(f) for f in flags} for k in (*every, *more[:2])] == [
        {False, None},
        {False, None},
        {False, None},
        {False, None},
        {False, None},
        {False, None},
        {False, None},
        {False, None},
        {False, None},
        {False, None},
        {False, None},
        {False, None},
    ]
    far = lambda k: (s := k([x, y]), s.step(), x.tolist()[0], sorted(s.state[x]))[2:]
    round5 = lambda at: [round(v, 5) for v in at]
    assert [(round5(a), k) for a, k in map(far, (*every, *more[:2]))] == [
        ([3.999, -2.003], []),
        ([3.998, -2.004], ["exp_avg", "exp_avg_sq", "step"]),
        ([3.99696, -2.00498], ["exp_avg", "exp_avg_sq", "step"]),
        ([3.89696, -2.10498], ["square_avg", "step"]),
        ([3.88696, -2.11498], ["step", "sum"]),
        ([3.8838, -2.11814], ["acc_delta", "square_avg", "step"]),
        ([3.8818, -2.12014], ["exp_avg", "exp_inf", "step"]),
        ([3.87968, -2.12226], ["exp_avg", "exp_avg_sq", "mu_product", "step"]),
        ([3.87868, -2.12526], ["exp_avg", "exp_avg_sq", "step"]),
        ([3.86868, -2.13526], ["prev", "step", "step_size"]),
        ([3.85868, -2.16525], ["ax", "eta", "mu", "step"]),
        ([3.82739, -2.19654], ["col_var", "row_var", "step"]),
    ]
    late = o.SGD([x, y], lr=0.5, momentum=0.5, dampening=0.25)
    late.step()
    y.grad = torch.tensor([[-1.0, 2.0]], dtype=torch.float64)
    late.step()
    late.step()
    assert [round5(x.tolist()[0]), round5(y.tolist()[0]), late.state[y]["momentum_buffer"].tolist()] == [
        [2.01489, -7.63404],
        [2.125, 0.75],
        [[-1.25, 2.5]],
    ]
    own = o.SGD([x, y], lr=0.5, momentum=0.5)
    own.add_param_group({"params": [torch.ones(1, requires_grad=True)], "momentum": 0.0})
    own.step()
    assert [len(own.state), own.param_groups[1]["momentum"]] == [2, 0.0]


def a_step_that_is_recorded():
    """With differentiable=True leaves are written to with a history, and gradients reach the old ones.

    Rule: optim/updates-by-its-algorithm.
    """
    o = torch.optim
    every = (o.SGD, o.Adam, o.AdamW, o.RMSprop, o.Adagrad, o.Adadelta, o.Adamax, o.NAdam, o.RAdam, o.ASGD)
    found = lambda k, **how: _recorded(k, how)
    assert [found(k) for k in every] == [
        [3.5, -3.5, 7.0, -7.0],
        [3.5, -2.5, 7.0, -5.0],
        [3.48, -2.49, 6.9252, -4.9551],
        [-1.0, -7.0, -2.0, -14.0],
        [3.5, -2.5, 7.0, -5.0],
        [3.9984, -2.0016, 7.9968, -4.0032],
        [3.5, -2.5, 7.0, -5.0],
        [3.4718, -2.5282, 6.9435, -5.0565],
        [3.5, -3.5, 7.0, -7.0],
        [3.4998, -3.4999, 6.9993, -6.9995],
    ]
    assert [found(k, weight_decay=0.5, maximize=True) for k in every] == [
        [3.5, 0.0, 5.25, 0.0],
        [3.5, -1.5, 7.0, -3.0],
        [3.5, -1.0, 5.25, -1.5],
        [-1.0, 3.0, -2.0, 6.0],
        [3.5, -1.5, 7.0, -3.0],
        [3.9984, -1.9984, 7.9968, -3.9968],
        [3.5, -1.5, 7.0, -3.0],
        [3.4718, -1.4718, 6.9435, -2.9435],
        [3.5, 0.0, 5.25, 0.0],
        [3.4998, 0.0001, 5.2494, 0.0001],
    ]
    assert [
        found(o.SGD, momentum=0.5, nesterov=True),
        found(o.Adam, amsgrad=True),
        found(o.RMSprop, momentum=0.5, centered=True),
        found(o.NAdam, decoupled_weight_decay=True, weight_decay=0.5),
        found(o.RAdam, decoupled_weight_decay=True, weight_decay=0.5),
    ] == [
        [3.25, -4.25, 6.5, -8.5],
        [3.5, -2.5, 7.0, -5.0],
        [-1.0252, -7.0252, -2.0504, -14.0504],
        [2.4718, -2.0282, 3.7077, -3.0423],
        [2.5, -3.0, 3.75, -4.5],
    ]
    assert error_kinds([lambda k=k: _recorded(k, {}, 2) for k in every]) == "------o---"
    assert [_recorded(k, {}, 2) for k in (o.SGD, o.ASGD)] == [
        [3.0, -5.0, 6.0, -10.0],
        [2.9996, -4.9997, 5.9987, -9.9983],
    ]


def defaults_of_schedules():
    """Those that nobody gives are in the state, and rates follow from them.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    x = torch.ones(1, requires_grad=True)
    make = lambda: torch.optim.SGD([x], lr=0.5, momentum=0.5)
    plain = lambda p: {
        k: v for k, v in p.state_dict().items() if k[0] not in "_b" and v is not None and k[:4] != "mode"
    }
    go = lambda p, n: [(p.step(), round(p.get_last_lr()[0], 6))[1] for _ in range(n)]
    c = s.CyclicLR(make(), 0.25, 1.0)
    assert [plain(c), go(c, 2), c.optimizer.param_groups[0]["momentum"]] == [
        {
            "max_lrs": [1.0],
            "total_size": 4000.0,
            "step_ratio": 0.5,
            "gamma": 1.0,
            "scale_mode": "cycle",
            "cycle_momentum": True,
            "use_beta1": False,
            "max_momentums": [0.9],
            "last_epoch": 0,
        },
        [0.250375, 0.25075],
        0.8999,
    ]
    c = s.OneCycleLR(make(), 1.0, 10)
    first = c.optimizer.param_groups[0]
    assert [plain(c), first["momentum"], first["initial_lr"], first["max_lr"], first["min_lr"]] == [
        {"total_steps": 10, "cycle_momentum": True, "use_beta1": False, "last_epoch": 0},
        0.95,
        0.04,
        1.0,
        4e-06,
    ]
    assert [go(c, 9), first["momentum"]] == [
        [0.52, 1.0, 0.950485, 0.811746, 0.611262, 0.388742, 0.188258, 0.049519, 4e-06],
        0.95,
    ]
    assert go(s.MultiStepLR(make(), [1, 1, 3]), 4) == [0.005, 0.005, 0.0005, 0.0005]
    c = s.ReduceLROnPlateau(make())
    assert [c.best, c.mode_worse, c.mode] == [float("inf"), float("inf"), "min"]
    assert plain(c) == {
        "factor": 0.1,
        "default_min_lr": 0,
        "min_lrs": [0],
        "patience": 10,
        "cooldown": 0,
        "eps": 1e-08,
        "last_epoch": 0,
        "threshold": 0.0001,
        "threshold_mode": "rel",
        "cooldown_counter": 0,
        "num_bad_epochs": 0,
    }
    assert [[(c.step(1.0), c.get_last_lr()[0])[1] for _ in range(13)][9:], c.num_bad_epochs] == [
        [0.5, 0.5, 0.05, 0.05],
        1,
    ]
    every = [
        s.ConstantLR(make()),
        s.LinearLR(make()),
        s.StepLR(make(), 2),
        s.ExponentialLR(make(), 0.5),
        s.CosineAnnealingLR(make(), 3),
        s.CosineAnnealingWarmRestarts(make(), 2),
        s.PolynomialLR(make()),
        torch.optim.swa_utils.SWALR(make(), 0.25),
    ]
    assert [list(plain(p).items())[-6:] for p in every] == [
        [("factor", 0.3333333333333333), ("total_iters", 5), ("last_epoch", 0)],
        [("start_factor", 0.3333333333333333), ("end_factor", 1.0), ("total_iters", 5), ("last_epoch", 0)],
        [("step_size", 2), ("gamma", 0.1), ("last_epoch", 0)],
        [("gamma", 0.5), ("last_epoch", 0)],
        [("T_max", 3), ("eta_min", 0.0), ("last_epoch", 0)],
        [("T_0", 2), ("T_i", 2), ("T_mult", 1), ("eta_min", 0.0), ("T_cur", 0), ("last_epoch", 0)],
        [("total_iters", 5), ("power", 1.0), ("last_epoch", 0)],
        [("anneal_epochs", 10), ("last_epoch", 0)],
    ]
    assert [go(p, 6) for p in every] == [
        [0.166667, 0.166667, 0.166667, 0.166667, 0.5, 0.5],
        [0.233333, 0.3, 0.366667, 0.433333, 0.5, 0.5],
        [0.5, 0.05, 0.05, 0.005, 0.005, 0.0005],
        [0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.007812],
        [0.375, 0.125, 0.0, 0.125, 0.375, 0.5],
        [0.25, 0.5, 0.25, 0.5, 0.25, 0.5],
        [0.4, 0.3, 0.2, 0.1, 0.0, 0.0],
        [0.493882, 0.476127, 0.448473, 0.413627, 0.375, 0.336373],
    ]
    k = s.CosineAnnealingWarmRestarts(make(), 2, 2, 0.125)
    assert [
        (k.step(e), round(k.get_last_lr()[0], 5), k.T_i, round(k.T_cur, 4))[1:] for e in (0.5, 1, 2.5, 7, 13)
    ] == [(0.44508, 2, 0.5), (0.3125, 2, 1), (0.48573, 4, 0.5), (0.48573, 8, 1.0), (0.13927, 8, 7.0)]
    assert [(k.step(), round(k.get_last_lr()[0], 5), k.T_i, k.last_epoch)[1:] for _ in range(2)] == [
        (0.5, 16, 14),
        (0.4964, 16, 15),
    ]
