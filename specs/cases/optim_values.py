"""Settings of optimizers and schedules that are refused, and rates that go up and down."""

import warnings

import torch

from specs.cases._measures import error_kinds


def settings_are_refused_with_their_values():
    """Values out of their ranges, and those that do not go together. Rule: optim/updates-by-its-algorithm."""
    o, x = torch.optim, torch.ones(2, requires_grad=True)
    m = torch.ones(2, 2, requires_grad=True)
    assert (
        error_kinds(
            [
                lambda: o.SGD([x], momentum=-0.5),
                lambda: o.SGD([x], weight_decay=-0.5),
                lambda: o.SGD([x], nesterov=True),
                lambda: o.SGD([x], capturable=True),
                lambda: o.Adam([x], lr=-0.5),
                lambda: o.Adam([x], eps=-0.5),
                lambda: o.Adam([x], betas=(1.0, 0.5)),
                lambda: o.Adam([x], betas=(0.5, -0.5)),
                lambda: o.Adam([x], weight_decay=-0.5),
                lambda: o.Adam([x], fused=True, differentiable=True),
                lambda: o.Adam([x], fused=True, foreach=True),
                lambda: o.NAdam([x], momentum_decay=-0.5),
                lambda: o.Rprop([x], etas=(0.5, 0.5)),
                lambda: o.RMSprop([x], alpha=-0.5),
                lambda: o.RMSprop([x], momentum=-0.5),
                lambda: o.Adagrad([x], lr_decay=-0.5),
                lambda: o.Adagrad([x], initial_accumulator_value=-0.5),
                lambda: o.Adadelta([x], rho=1.5),
                lambda: o.Adamax([x], eps=-0.5),
                lambda: o.ASGD([x], weight_decay=-0.5),
                lambda: o.Adafactor([x], lr=-0.5),
                lambda: o.Adafactor([x], beta2_decay=0.5),
                lambda: o.Adafactor([x], eps=(-0.5, 1.0)),
                lambda: o.Adafactor([x], eps=(None, -0.5)),
                lambda: o.Adafactor([x], d=0.5),
                lambda: o.Adafactor([x], weight_decay=-0.5),
                lambda: o.Muon([m], lr=-0.5),
                lambda: o.Muon([m], momentum=-0.5),
                lambda: o.Muon([m], weight_decay=-0.5),
                lambda: o.Muon([m], adjust_lr_fn="least"),
                lambda: o.Muon([x]),
                lambda: o.Muon([m], adjust_lr_fn="original", momentum=0.0, weight_decay=0.0, lr=0.0),
                lambda: o.LBFGS([{"params": [x]}, {"params": [m]}]),
            ]
        )
        == "VVVTVVVVVooVVVVVVVVVVVVVVVVVVVV-V"
    )
    m.grad = torch.ones(2, 2)
    assert error_kinds([o.Muon([m], ns_steps=100).step, o.Muon([m], ns_coefficients=(1.0, 2.0)).step]) == "VV"
    x.grad = torch.ones(2)
    several = [k([x], capturable=True).step for k in (o.Adam, o.NAdam, o.ASGD, o.Rprop)]
    assert error_kinds(several) == "oooo"
    o.Adam([x], lr=0.5).step()
    assert [round(v, 5) for v in x.tolist()] == [0.5, 0.5]


def schedules_are_refused_with_their_values():
    """Values out of their ranges, and those that do not go together. Rule: optim/schedules-set-the-rate."""
    s = torch.optim.lr_scheduler
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    o = torch.optim.SGD([x], lr=0.5, momentum=0.5)
    n = torch.optim.Adagrad([y])
    assert (
        error_kinds(
            [
                lambda: s.LambdaLR(o, [abs, abs]),
                lambda: s.ConstantLR(o, 1.5),
                lambda: s.LinearLR(o, 0.0),
                lambda: s.LinearLR(o, end_factor=1.5),
                lambda: s.CosineAnnealingWarmRestarts(o, 0),
                lambda: s.CosineAnnealingWarmRestarts(o, 1, 0),
                lambda: s.CosineAnnealingWarmRestarts(o, 1).step(-1),
                lambda: s.OneCycleLR(o, 0.5),
                lambda: s.OneCycleLR(o, 0.5, 0),
                lambda: s.OneCycleLR(o, 0.5, epochs=0, steps_per_epoch=1),
                lambda: s.OneCycleLR(o, 0.5, epochs=1, steps_per_epoch=-1),
                lambda: s.OneCycleLR(o, 0.5, 4, pct_start=1.5),
                lambda: s.OneCycleLR(o, 0.5, 4, anneal_strategy="least"),
                lambda: s.OneCycleLR(o, [0.5, 0.5], 4),
                lambda: s.OneCycleLR(o, 0.5, 4, max_momentum=[0.5, 0.5]),
                lambda: s.OneCycleLR(n, 0.5, 4),
                lambda: s.OneCycleLR(None, 0.5, 4),
                lambda: s.CyclicLR(o, 0.5, 1.0, mode="least"),
                lambda: s.CyclicLR(o, [0.5, 0.5], 1.0),
                lambda: s.CyclicLR(o, 0.5, [1.0]),
                lambda: s.CyclicLR(o, 0.5, [1.0, 1.0]),
                lambda: s.CyclicLR(n, 0.5, 1.0),
                lambda: s.StepLR(n, 1, last_epoch=2),
                lambda: s.StepLR(None, 1),
                lambda: s.LRScheduler(n),
                lambda: torch.optim.swa_utils.SWALR(o, 0.5, anneal_epochs=-1),
            ]
        )
        == "VVVVVVVVVVVVVVVVTVV-VV-TNV"
    )
    c = s.OneCycleLR(o, 0.5, 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        c.step()
        o.step()
        c.step()
    assert [round(v, 7) for v in c.get_last_lr()] == [0.4058728]
    assert len(caught) == 1
    assert error_kinds([c.step]) == "V"


def rates_of_one_plateau():
    """Groups that are added later have the same least rate, if there is one for all.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    o = torch.optim.SGD([x], lr=1.0)
    p = s.ReduceLROnPlateau(o, factor=0.25, patience=0, cooldown=1, min_lr=0.125, threshold=0.5)
    o.add_param_group({"params": [y], "lr": 4.0})
    rates = [
        (p.step(v), p.get_last_lr(), p.num_bad_epochs, p.cooldown_counter)[1:]
        for v in (8, 5, 5, 3, 2, 2, 1.5)
    ]
    assert rates == [
        ([1.0, 4.0], 0, 0),
        ([0.25, 1.0], 0, 1),
        ([0.25, 1.0], 0, 0),
        ([0.25, 1.0], 0, 0),
        ([0.125, 0.25], 0, 1),
        ([0.125, 0.25], 0, 0),
        ([0.125, 0.125], 0, 1),
    ]
    assert [p.min_lrs, p.best, p.last_epoch, p.in_cooldown] == [[0.125, 0.125], 3.0, 7, True]
    q = s.ReduceLROnPlateau(o, "max", 0.5, 0, 0.25, "abs", min_lr=[0.0, 0.0], eps=0.02)
    o.add_param_group({"params": [torch.ones(1, requires_grad=True)], "lr": 2.0})
    q.step(1.0), q.step(1.26)
    assert [q.best, q.num_bad_epochs, q.get_last_lr()] == [1.26, 0, [0.125, 0.125, 2.0]]
    assert error_kinds([lambda: q.step(1.5)]) == "o"
    q.min_lrs = [0.0] * 3
    q.step(torch.tensor(1.5)), q.step(1.0, 9)
    assert [q.get_last_lr(), q.last_epoch] == [[0.03125, 0.03125, 0.5], 9]
    assert (
        error_kinds(
            [
                lambda: s.ReduceLROnPlateau(o, factor=1.0),
                lambda: s.ReduceLROnPlateau(None),
                lambda: s.ReduceLROnPlateau(o, "least"),
                lambda: s.ReduceLROnPlateau(o, threshold_mode="least"),
                lambda: s.ReduceLROnPlateau(o, min_lr=[0.5]),
            ]
        )
        == "VTVVV"
    )


def cycles_of_rates_and_momentums():
    """Up and down, with a scale of its own kind; what is saved goes on where it was.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    make = lambda: torch.optim.SGD([{"params": [x], "lr": 0.5}, {"params": [y]}], lr=1.0, momentum=0.5)
    read = lambda o: [round(g[k], 4) for g in o.param_groups for k in ("lr", "momentum")]
    after = lambda p, o, n: [(p.step(), read(o))[1] for _ in range(n)]
    o = make()
    c = s.CyclicLR(o, [0.25, 0.5], [1.0, 2.0], 2, 1, base_momentum=[0.1, 0.2], max_momentum=[0.9, 0.8])
    assert [read(o), *after(c, o, 4)] == [
        [0.25, 0.9, 0.5, 0.8],
        [0.625, 0.5, 1.25, 0.5],
        [1.0, 0.1, 2.0, 0.2],
        [0.25, 0.9, 0.5, 0.8],
        [0.625, 0.5, 1.25, 0.5],
    ]
    assert [c.base_lrs, c.max_lrs, c.base_momentums, c.max_momentums, c.total_size] == [
        [0.25, 0.5],
        [1.0, 2.0],
        [0.1, 0.2],
        [0.9, 0.8],
        3.0,
    ]
    assert sorted(c.state_dict()) == [
        "_get_lr_called_within_step",
        "_is_initial",
        "_last_lr",
        "_scale_fn_custom",
        "_step_count",
        "base_lrs",
        "base_momentums",
        "cycle_momentum",
        "gamma",
        "last_epoch",
        "max_lrs",
        "max_momentums",
        "mode",
        "scale_mode",
        "step_ratio",
        "total_size",
        "use_beta1",
    ]
    o = make()
    c = s.CyclicLR(o, 0.25, 1.0, 2, mode="triangular2", cycle_momentum=False)
    assert after(c, o, 7)[1::2] == [[1.0, 0.5, 1.0, 0.5], [0.25, 0.5, 0.25, 0.5], [0.625, 0.5, 0.625, 0.5]]
    o = make()
    c = s.CyclicLR(o, 0.25, 1.0, 1, mode="exp_range", gamma=0.5)
    assert after(c, o, 3) == [
        [0.625, 0.85, 0.625, 0.85],
        [0.25, 0.9, 0.25, 0.9],
        [0.3438, 0.8875, 0.3438, 0.8875],
    ]
    scale = type("S", (), {"__call__": lambda self, n: self.f / (n + 1), "f": 1.0})()
    scale.f = 2.0
    o = make()
    c = s.CyclicLR(o, 0.25, 1.0, 1, scale_fn=scale, scale_mode="iterations", base_momentum=0.25)
    assert after(c, o, 3) == [[1.0, 0.25, 1.0, 0.25], [0.25, 0.9, 0.25, 0.9], [0.625, 0.575, 0.625, 0.575]]
    kept = c.state_dict()
    assert [kept["_scale_fn_custom"], kept["scale_mode"], "_scale_fn_ref" in kept] == [
        {"f": 2.0},
        "iterations",
        False,
    ]
    kept["_scale_fn_custom"] = {"f": 8.0}
    c.load_state_dict(kept)
    assert [scale.f, "_scale_fn_custom" in kept, after(c, o, 2)] == [
        8.0,
        False,
        [[0.25, 0.9, 0.25, 0.9], [1.25, 0.0333, 1.25, 0.0333]],
    ]
    a = torch.optim.Adam([x], lr=1.0, betas=(0.5, 0.25))
    c = s.OneCycleLR(a, 1.0, 5, pct_start=0.4, three_phase=True, div_factor=4.0, final_div_factor=2.0)
    betas = lambda: [round(v, 4) for v in (a.param_groups[0]["lr"], *a.param_groups[0]["betas"])]
    assert [betas(), *[(c.step(), betas())[1] for _ in range(4)]] == [
        [0.25, 0.95, 0.25],
        [1.0, 0.85, 0.25],
        [0.25, 0.95, 0.25],
        [0.1875, 0.95, 0.25],
        [0.125, 0.95, 0.25],
    ]
    o = make()
    c = s.OneCycleLR(o, [1.0, 2.0], epochs=2, steps_per_epoch=2, pct_start=0.5, anneal_strategy="linear")
    assert [read(o), *after(c, o, 3)] == [
        [0.04, 0.95, 0.08, 0.95],
        [1.0, 0.85, 2.0, 0.85],
        [0.5, 0.9, 1.0, 0.9],
        [0.0, 0.95, 0.0, 0.95],
    ]
    assert c.state_dict()["_schedule_phases"] == [
        {
            "end_step": 1.0,
            "start_lr": "initial_lr",
            "end_lr": "max_lr",
            "start_momentum": "max_momentum",
            "end_momentum": "base_momentum",
        },
        {
            "end_step": 3,
            "start_lr": "max_lr",
            "end_lr": "min_lr",
            "start_momentum": "base_momentum",
            "end_momentum": "max_momentum",
        },
    ]
