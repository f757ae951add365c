"""Settings of optimizers and of their schedules that are out of range."""

import torch


def _taken(kind, calls):
    """Return the numbers of those calls that are not refused with an error of that kind."""
    taken = []
    for at, call in enumerate(calls):
        try:
            call()
        except kind:
            continue
        taken.append(at)
    return taken


def settings_of_optimizers_are_looked_at():
    """Rates and decays below zero, means that forget nothing, and momentums that do not fit together.

    Rule: optim/updates-by-its-algorithm.
    """
    o = torch.optim
    x = [torch.ones(1, requires_grad=True)]
    every = (o.SGD, o.Adam, o.AdamW, o.RMSprop, o.Adagrad, o.Adadelta, o.Adamax, o.NAdam, o.RAdam, o.Rprop)
    assert _taken(ValueError, [lambda k=k: k(x, lr=-0.1) for k in (*every, o.LBFGS)]) == []
    assert _taken(ValueError, [lambda k=k: k(x, weight_decay=-0.1) for k in every[1:-1]]) == []
    assert _taken(ValueError, [lambda k=k: k(x, eps=-1e-8) for k in every[1:-1]]) == []
    betas = (o.Adam, o.AdamW, o.Adamax, o.NAdam, o.RAdam)
    assert _taken(ValueError, [lambda k=k: k(x, betas=(1.0, 0.9)) for k in betas]) == []
    assert _taken(ValueError, [lambda k=k: k(x, betas=(0.9, 1.0)) for k in betas]) == []
    assert _taken(ValueError, [lambda k=k: k(x, betas=(-0.1, 0.9)) for k in betas]) == []
    assert _taken(ValueError, [lambda k=k: k(x, betas=(0.0, 0.0), eps=0.0) for k in betas]) == [0, 1, 2, 3, 4]
    assert (
        _taken(
            ValueError,
            [
                lambda: o.SGD(x, lr=0.1, nesterov=True),
                lambda: o.SGD(x, lr=0.1, momentum=0.9, dampening=0.1, nesterov=True),
                lambda: o.RMSprop(x, momentum=-0.1),
                lambda: o.RMSprop(x, alpha=-0.1),
                lambda: o.Adagrad(x, lr_decay=-0.1),
                lambda: o.Adagrad(x, initial_accumulator_value=-0.1),
                lambda: o.Adadelta(x, rho=1.1),
                lambda: o.NAdam(x, momentum_decay=-0.1),
                lambda: o.Rprop(x, etas=(1.0, 1.2)),
                lambda: o.Rprop(x, etas=(0.5, 1.0)),
                lambda: o.Rprop(x, etas=(0.0, 1.2)),
                lambda: o.LBFGS([{"params": x}, {"params": [torch.ones(1, requires_grad=True)]}]),
            ],
        )
        == []
    )
    taken = [
        lambda: o.SGD(x, lr=0.0, momentum=0.9, nesterov=True),
        lambda: o.RMSprop(x, alpha=0.0, momentum=0.0, eps=0.0),
        lambda: o.Adadelta(x, rho=1.0),
        lambda: o.Adadelta(x, rho=0.0),
    ]
    assert _taken(ValueError, taken) == [0, 1, 2, 3]
    x[0].grad = torch.tensor([2.0])
    o.Adam(x, lr=0.5).step()
    assert [round(v, 5) for v in x[0].tolist()] == [0.5]


def settings_of_schedules_are_looked_at():
    """Factors, shares, lengths and modes that are none, and lists that do not fit the groups.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5)
    p = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5, momentum=0.9)
    assert (
        _taken(
            ValueError,
            [
                lambda: s.LambdaLR(o, [lambda n: 1.0, lambda n: 1.0]),
                lambda: s.ConstantLR(o, factor=1.1),
                lambda: s.ConstantLR(o, factor=-0.1),
                lambda: s.LinearLR(o, start_factor=0.0),
                lambda: s.LinearLR(o, start_factor=1.1),
                lambda: s.LinearLR(o, end_factor=1.1),
                lambda: s.LinearLR(o, end_factor=-0.1),
                lambda: s.ReduceLROnPlateau(o, factor=1.0),
                lambda: s.ReduceLROnPlateau(o, mode="least"),
                lambda: s.ReduceLROnPlateau(o, threshold_mode="least"),
                lambda: s.ReduceLROnPlateau(o, min_lr=[0.1, 0.1]),
                lambda: s.CosineAnnealingWarmRestarts(o, 0),
                lambda: s.CosineAnnealingWarmRestarts(o, 1.5),
                lambda: s.CosineAnnealingWarmRestarts(o, 1, 0),
                lambda: s.OneCycleLR(p, 0.5),
                lambda: s.OneCycleLR(p, 0.5, total_steps=0),
                lambda: s.OneCycleLR(p, 0.5, epochs=1),
                lambda: s.OneCycleLR(p, 0.5, epochs=0, steps_per_epoch=1),
                lambda: s.OneCycleLR(p, 0.5, total_steps=4, pct_start=1.5),
                lambda: s.OneCycleLR(p, 0.5, total_steps=4, anneal_strategy="least"),
                lambda: s.CyclicLR(p, 0.1, 0.5, mode="least"),
                lambda: s.CyclicLR(p, [0.1, 0.1], 0.5),
                lambda: s.SequentialLR(o, [s.ConstantLR(o), s.ConstantLR(o)], [1, 2]),
                lambda: torch.optim.swa_utils.SWALR(o, 0.1, anneal_strategy="least"),
                lambda: torch.optim.swa_utils.get_ema_avg_fn(1.5),
            ],
        )
        == []
    )
    assert _taken(KeyError, [lambda: s.StepLR(p, 2, last_epoch=0)]) == []
    assert _taken(TypeError, [lambda: s.StepLR(None, 2), lambda: s.ReduceLROnPlateau(None)]) == []
    without = torch.optim.Adagrad([torch.ones(1, requires_grad=True)])
    assert _taken(ValueError, [lambda: s.OneCycleLR(without, 0.5, total_steps=4)]) == []
    assert _taken(ValueError, [lambda: s.OneCycleLR(without, 0.5, total_steps=4, cycle_momentum=False)]) == [
        0
    ]
    fresh = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5)
    assert _taken(ValueError, [lambda: s.ConstantLR(fresh, factor=0.5)]) == [0]
    assert fresh.param_groups[0]["lr"] == 0.25
