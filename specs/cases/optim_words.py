"""Words with which settings of optimizers and schedules are refused, and rates that go up and down."""

import warnings

import torch

from specs.cases._errors import told


def settings_are_refused_with_their_values():
    """The words name the setting, and the value that it was given. Rule: optim/updates-by-its-algorithm."""
    o, x = torch.optim, torch.ones(2, requires_grad=True)
    m = torch.ones(2, 2, requires_grad=True)
    assert told(
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
    ) == [
        "ValueError: Invalid momentum value: -0.5",
        "ValueError: Invalid weight_decay value: -0.5",
        "ValueError: Nesterov momentum requires a momentum and zero dampening",
        "TypeError: SGD.__init__() got an unexpected keyword argument 'capturable'",
        "ValueError: Invalid learning rate: -0.5",
        "ValueError: Invalid epsilon value: -0.5",
        "ValueError: Invalid beta parameter at index 0: 1.0",
        "ValueError: Invalid beta parameter at index 1: -0.5",
        "ValueError: Invalid weight_decay value: -0.5",
        "RuntimeError: `fused` does not support `differentiable`",
        "RuntimeError: `fused` and `foreach` cannot be `True` together.",
        "ValueError: Invalid momentum_decay value: -0.5",
        "ValueError: Invalid eta values: 0.5, 0.5",
        "ValueError: Invalid alpha value: -0.5",
        "ValueError: Invalid momentum value: -0.5",
        "ValueError: Invalid lr_decay value: -0.5",
        "ValueError: Invalid initial_accumulator_value value: -0.5",
        "ValueError: Invalid rho value: 1.5",
        "ValueError: Invalid epsilon value: -0.5",
        "ValueError: Invalid weight_decay value: -0.5",
        "ValueError: Learning rate should be >= 0 but is: -0.5",
        "ValueError: beta2_decay should be <= 0 but is: 0.5",
        "ValueError: epsilon1 should be >= 0 but is: -0.5",
        "ValueError: epsilon2 should be >= 0 but is: -0.5",
        "ValueError: Clipping threshold d should be >= 1 but is: 0.5",
        "ValueError: weight_decay should be >= 0 but is: -0.5",
        "ValueError: Learning rate should be >= 0 but is: -0.5",
        "ValueError: momentum should be >= 0 but is: -0.5",
        "ValueError: weight decay should be >= 0 but is: -0.5",
        "ValueError: Adjust learning rate function least is not supported",
        "ValueError: Muon only supports 2D parameters whereas we found a parameter with s",
        None,
        "ValueError: LBFGS doesn't support per-parameter options (parameter groups)",
    ]
    m.grad = torch.ones(2, 2)
    assert told(o.Muon([m], ns_steps=100).step, o.Muon([m], ns_coefficients=(1.0, 2.0)).step) == [
        "ValueError: Number of steps must be less than 100 for computational efficiency",
        "ValueError: Coefficients must be a tuple of exactly 3 values",
    ]
    x.grad = torch.ones(2)
    assert [
        words.split(" must be")[0]
        for words in told(*[k([x], capturable=True).step for k in (o.Adam, o.NAdam, o.ASGD, o.Rprop)])
    ] == [
        "AssertionError: If capturable=True, params and state_steps",
        "AssertionError: If capturable=True, params, mu_products and state_steps",
        "AssertionError: If capturable=True, params, mus, etas, and state_steps",
        "AssertionError: If capturable=True, params and state_steps",
    ]
    o.Adam([x], lr=0.5).step()
    assert [round(v, 5) for v in x.tolist()] == [0.5, 0.5]


def schedules_are_refused_with_their_values():
    """The words name the setting, and the value that it was given. Rule: optim/schedules-set-the-rate."""
    s = torch.optim.lr_scheduler
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    o = torch.optim.SGD([x], lr=0.5, momentum=0.5)
    n = torch.optim.Adagrad([y])
    assert told(
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
    ) == [
        "ValueError: Expected 1 lr_lambdas, but got 2",
        "ValueError: Constant multiplicative factor expected to be between 0 and 1.",
        "ValueError: Starting multiplicative factor expected to be greater than 0 and les",
        "ValueError: Ending multiplicative factor expected to be between 0 and 1.",
        "ValueError: Expected positive integer T_0, but got 0",
        "ValueError: Expected integer T_mult >= 1, but got 0",
        "ValueError: Expected non-negative epoch, but got -1",
        "ValueError: You must define either total_steps OR (epochs AND steps_per_epoch)",
        "ValueError: Expected positive integer total_steps, but got 0",
        "ValueError: Expected positive integer epochs, but got 0",
        "ValueError: Expected positive integer steps_per_epoch, but got -1",
        "ValueError: Expected float between 0 and 1 pct_start, but got 1.5",
        "ValueError: anneal_strategy must be one of 'cos' or 'linear', instead got least",
        "ValueError: max_lr must have the same length as optimizer.param_groups. max_lr h",
        "ValueError: max_momentum must have the same length as optimizer.param_groups. ma",
        "ValueError: optimizer must support momentum or beta1 with `cycle_momentum` optio",
        "TypeError: NoneType is not an Optimizer",
        "ValueError: mode is invalid and scale_fn is None",
        "ValueError: base_lr must have the same length as optimizer.param_groups. base_lr",
        None,
        "ValueError: max_lr must have the same length as optimizer.param_groups. max_lr h",
        "ValueError: optimizer must support momentum or beta1 with `cycle_momentum` optio",
        None,
        "TypeError: NoneType is not an Optimizer",
        "NotImplementedError:",
        "ValueError: anneal_epochs must be equal or greater than 0, got -1",
    ]
    c = s.OneCycleLR(o, 0.5, 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        c.step()
        o.step()
        c.step()
    assert [round(v, 7) for v in c.get_last_lr()] == [0.4058728]
    assert [str(w.message).split(".")[0] for w in caught] == ["Detected call of `lr_scheduler"]
    assert told(c.step) == ["ValueError: Tried to step 3 times. The specified number of total steps is 2"]


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
    assert told(lambda: q.step(1.5)) == [
        "RuntimeError: The number of param groups in the `optimizer` (3) differs from whe"
    ]
    q.min_lrs = [0.0] * 3
    q.step(torch.tensor(1.5)), q.step(1.0, 9)
    assert [q.get_last_lr(), q.last_epoch] == [[0.03125, 0.03125, 0.5], 9]
    assert told(
        lambda: s.ReduceLROnPlateau(o, factor=1.0),
        lambda: s.ReduceLROnPlateau(None),
        lambda: s.ReduceLROnPlateau(o, "least"),
        lambda: s.ReduceLROnPlateau(o, threshold_mode="least"),
        lambda: s.ReduceLROnPlateau(o, min_lr=[0.5]),
    ) == [
        "ValueError: Factor should be < 1.0.",
        "TypeError: NoneType is not an Optimizer",
        "ValueError: mode least is unknown!",
        "ValueError: threshold mode least is unknown!",
        "ValueError: expected 3 min_lrs, got 1",
    ]


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
