"""Schedules of schedules, their states and refusals, and settings of schedules that change."""

import torch

from specs.cases._measures import error_kinds


def _rates(o, s, count):
    """Return the rates of so many epochs."""
    found = []
    for _ in range(count):
        found.append(round(o.param_groups[0]["lr"], 5))
        o.step()
        s.step()
    return found


def _optimizer(**more):
    """Return an optimizer of one number."""
    return torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0, **more)


def schedules_of_schedules_come_back():
    """Each schedule within another is restored, and goes on. Rule: optim/schedules-set-the-rate."""
    u = torch.optim.lr_scheduler
    make = lambda o: u.SequentialLR(o, [u.ConstantLR(o, 0.5, 2), u.ExponentialLR(o, 0.5)], [3])
    o = _optimizer()
    s = make(o)
    assert _rates(o, s, 4) == [0.5, 0.5, 1.0, 1.0]
    p = _optimizer()
    t = make(p)
    t.load_state_dict(s.state_dict())
    p.load_state_dict(o.state_dict())
    assert [
        _rates(o, s, 3),
        _rates(p, t, 3),
        s.last_epoch,
        t.last_epoch,
        [k.last_epoch for k in t._schedulers],
        s.get_last_lr(),
    ] == [[0.5, 0.25, 0.125], [0.5, 0.25, 0.125], 7, 7, [2, 4], [0.0625]]
    make = lambda o: u.ChainedScheduler([u.ConstantLR(o, 0.5, 2), u.ExponentialLR(o, 0.5)], o)
    o, p = _optimizer(), _optimizer()
    s, t = make(o), make(p)
    assert _rates(o, s, 3) == [0.5, 0.25, 0.25]
    t.load_state_dict(s.state_dict())
    p.load_state_dict(o.state_dict())
    assert [_rates(o, s, 3), _rates(p, t, 3), sorted(s.state_dict()), len(s.state_dict()["_schedulers"])] == [
        [0.125, 0.0625, 0.03125],
        [0.125, 0.0625, 0.03125],
        ["_last_lr", "_schedulers"],
        2,
    ]
    o = _optimizer()
    s = u.LambdaLR(o, lambda n: 1 / (n + 1))
    assert [_rates(o, s, 3), s.state_dict()["lr_lambdas"], sorted(s.state_dict())] == [
        [1.0, 0.5, 0.33333],
        [None],
        [
            "_get_lr_called_within_step",
            "_is_initial",
            "_last_lr",
            "_step_count",
            "base_lrs",
            "last_epoch",
            "lr_lambdas",
        ],
    ]
    p = _optimizer()
    t = u.LambdaLR(p, [lambda n: 1 / (n + 1)])
    t.load_state_dict(s.state_dict())
    assert [t.last_epoch, t.get_last_lr(), t.lr_lambdas[0](1), _rates(p, t, 2)] == [
        3,
        [0.25],
        0.5,
        [1.0, 0.2],
    ]
    o = _optimizer(momentum=0.9)
    s = u.CyclicLR(o, 0.1, 0.5, 2, mode="exp_range", gamma=0.5)
    assert [_rates(o, s, 6), round(o.param_groups[0]["momentum"], 5)] == [
        [0.1, 0.2, 0.2, 0.125, 0.1, 0.10625],
        0.89844,
    ]
    o = _optimizer()
    s = u.CyclicLR(o, 0.1, 0.5, 2, 1, scale_fn=lambda n: 1 / n, cycle_momentum=False)
    assert [_rates(o, s, 8), s.scale_mode, s.total_size] == [
        [0.1, 0.3, 0.5, 0.1, 0.2, 0.3, 0.1, 0.16667],
        "cycle",
        3.0,
    ]
    o = _optimizer(momentum=0.9)
    s = u.OneCycleLR(
        o,
        1.0,
        total_steps=5,
        pct_start=0.4,
        anneal_strategy="linear",
        div_factor=4.0,
        final_div_factor=10.0,
        three_phase=False,
    )
    assert [_rates(o, s, 4), round(o.param_groups[0]["momentum"], 5)] == [[0.25, 1.0, 0.675, 0.35], 0.95]
    o = torch.optim.SGD([{"params": [torch.ones(1, requires_grad=True)], "lr": torch.tensor(1.0)}])
    s = u.ExponentialLR(o, 0.5)
    kept = o.param_groups[0]["lr"]
    o.step()
    s.step()
    assert [o.param_groups[0]["lr"] is kept, kept.item()] == [True, 0.5]


def schedules_refuse_what_does_not_fit():
    """Other optimizers, no schedules, and steps past the end. Rule: optim/schedules-set-the-rate."""
    u = torch.optim.lr_scheduler
    o, p = _optimizer(), _optimizer()
    s = u.ExponentialLR(o, 0.5)
    assert _rates(o, s, 2) == [1.0, 0.5]
    once = u.OneCycleLR(_optimizer(momentum=0.9), 1.0, total_steps=1)
    warm = u.CosineAnnealingWarmRestarts(_optimizer(), 2)
    assert (
        error_kinds(
            [
                lambda: u.SequentialLR(o, [], []),
                lambda: u.SequentialLR(o, [s], []),
                lambda: u.SequentialLR(o, [s, u.ExponentialLR(p, 0.5)], [1]),
                lambda: u.SequentialLR(o, [s, s], [1, 2]),
                lambda: u.ChainedScheduler([]),
                lambda: u.ChainedScheduler([s, u.ExponentialLR(p, 0.5)]),
                lambda: u.ChainedScheduler([s], p),
                lambda: u.SequentialLR(o, [s, u.ReduceLROnPlateau(o)], [1]),
                lambda: [once.step() for _ in range(3)],
                lambda: warm.step(-1),
                lambda: u.LambdaLR(o, [lambda n: 1.0, lambda n: 1.0]),
                lambda: u.MultiplicativeLR(o, [1, 2]),
                lambda: u.ReduceLROnPlateau(3),
                lambda: u.StepLR(3, 1),
                lambda: u.LRScheduler(o),
                lambda: u.PolynomialLR(o, 0),
                lambda: u.CyclicLR(o, 0.1, 0.5),
                lambda: u.CyclicLR(o, 0.1, [0.5, 0.5], cycle_momentum=False),
                lambda: u.OneCycleLR(o, [1.0, 2.0], total_steps=3),
                lambda: u.ExponentialLR(o, 0.5, last_epoch=3).last_epoch,
                lambda: u.ReduceLROnPlateau(o, min_lr=[0.1, 0.2]),
            ]
        )
        == "V-VVVVVVVVVVTTN--VV-V"
    )
    r = u.ReduceLROnPlateau(
        p, mode="max", factor=0.5, patience=1, threshold=0.1, cooldown=1, min_lr=0.2, threshold_mode="abs"
    )
    seen = [
        (r.step(v), round(p.param_groups[0]["lr"], 4), r.num_bad_epochs)[1:]
        for v in (1.0, 1.05, 1.2, 1.2, 1.25, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
    ]
    assert seen == [
        (1.0, 0),
        (1.0, 1),
        (1.0, 0),
        (1.0, 1),
        (0.5, 0),
        (0.5, 0),
        (0.5, 1),
        (0.25, 0),
        (0.25, 0),
        (0.25, 1),
        (0.2, 0),
        (0.2, 0),
        (0.2, 1),
    ]
    assert [
        r.best,
        r.cooldown_counter,
        r.last_epoch,
        r.in_cooldown,
        r.get_last_lr() == [p.param_groups[0]["lr"]],
        sorted(r.state_dict())[:3],
    ] == [1.2, 0, 13, False, True, ["_last_lr", "best", "cooldown"]]
    o = _optimizer()
    warm = u.CosineAnnealingWarmRestarts(o, 2, 2, 0.1)
    assert [
        [
            (warm.step(e), round(o.param_groups[0]["lr"], 4), warm.T_cur, warm.T_i)[1:]
            for e in (0.5, 1, 2, 3.5, 6, 7)
        ],
        [(warm.step(), warm.T_cur, warm.T_i)[1:] for _ in range(3)],
    ] == [
        [(0.8682, 0.5, 2), (0.55, 1, 2), (1.0, 0.0, 4), (0.7222, 1.5, 4), (1.0, 0.0, 8), (0.9657, 1.0, 8)],
        [(2.0, 8), (3.0, 8), (4.0, 8)],
    ]


def an_average_takes_buffers_each_time():
    """Copied from the first update on, or averaged if asked for. Rule: optim/averages-are-their-own."""
    m = torch.nn.BatchNorm1d(1)
    average = torch.optim.swa_utils.AveragedModel
    a = average(m)
    m(torch.tensor([[1.0], [3.0]]))
    a.update_parameters(m)
    assert torch.equal(a.module.running_mean, m.running_mean) and a.module.num_batches_tracked == 1
    b = average(m, use_buffers=True)
    b.update_parameters(m)
    m(torch.tensor([[1.0], [3.0]]))
    a.update_parameters(m)
    b.update_parameters(m)
    assert torch.equal(a.module.running_mean, m.running_mean) and a.n_averaged == 2
    assert round(b.module.running_mean.item(), 4) == 0.29


def muon_turns_its_momentum():
    """By its own of two steps, the gradient first. Rule: optim/updates-by-its-algorithm."""
    stepped = lambda *grads, **how: [
        (x := torch.nn.Parameter(torch.tensor([[1.0, 2.0], [0.5, -1.0]]))),
        (o := torch.optim.Muon([x], lr=0.1, **how)),
        *[(setattr(x, "grad", torch.tensor(g)), o.step()) for g in grads],
        [[round(v, 2) for v in row] for row in x.tolist()],
    ][-1]
    first, second = [[1.0, 0.0], [2.0, 1.0]], [[0.0, 3.0], [1.0, -1.0]]
    assert stepped(first, second) == [[0.9, 1.93], [0.38, -1.02]]
    assert stepped(first, second, nesterov=False) == [[0.88, 1.94], [0.36, -1.05]]
    assert stepped(first, second, momentum=0.5) == [[0.89, 1.97], [0.34, -1.03]]


def an_update_goes_one_way():
    """Together or in one kernel, which does not change it; not both. Rule: optim/updates-by-its-algorithm."""
    x = torch.nn.Parameter(torch.ones(1))
    x.grad = torch.ones(1)
    kinds = (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW)
    ways = ({"foreach": True}, {"fused": True}, {"fused": False})
    assert [kind([x], lr=0.5, **way).step() for kind, way in zip(kinds, ways, strict=True)] == [None] * 3
    assert round(x.item(), 4) == -0.5
    both = [lambda kind=kind: kind([x], lr=0.5, foreach=True, fused=True) for kind in kinds]
    assert error_kinds(both) == "ooo"


def adafactor_keeps_rows_and_columns():
    """Of a matrix it keeps squares by row and by column. Rule: optim/updates-by-its-algorithm."""
    x = torch.nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    o = torch.optim.Adafactor([x], lr=0.1)
    x.grad = torch.tensor([[1.0, 2.0], [0.5, -1.0]])
    o.step()
    assert [round(v, 4) for v in x.view(-1).tolist()] == [0.7261, 1.7261, 2.7261, 4.2739]
    x.grad = x.grad * 2
    o.step()
    assert [round(v, 4) for v in x.view(-1).tolist()] == [0.4559, 1.4559, 2.4559, 4.5441]
    assert o.state[x]["row_var"].shape == (2, 1) and o.state[x]["col_var"].shape == (1, 2)


def a_rate_that_is_a_tensor_is_told_as_a_copy():
    """It is changed in place, and what was told before stays. Rule: optim/schedules-set-the-rate."""
    rate = torch.tensor(0.5)
    x, y = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))
    o = torch.optim.SGD([{"params": [x]}, {"params": [y], "lr": 0.25}], lr=rate)
    s = torch.optim.lr_scheduler.ExponentialLR(o, 0.5)
    told = s.get_last_lr()[0]
    o.step()
    s.step()
    assert told.item() == 0.5 and s.get_last_lr()[0].item() == 0.25 and s.get_last_lr()[1] == 0.125
    assert o.param_groups[0]["lr"].item() == 0.25 and s.get_last_lr()[0] is not o.param_groups[0]["lr"]


def each_group_rises_or_falls_by_itself():
    """The direction is a setting of a group.

    Rules: optim/updates-by-its-algorithm, optim/groups-have-their-own-settings.
    """
    o = torch.optim
    kinds = [o.SGD, o.Adam, o.AdamW, o.RMSprop, o.Adagrad, o.Adadelta, o.NAdam, o.RAdam, o.Adamax, o.ASGD]
    pairs = [(torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))) for _ in kinds]
    [setattr(x, "grad", torch.ones(1)) for pair in pairs for x in pair]
    groups = [[{"params": [a]}, {"params": [b], "maximize": True}] for a, b in pairs]
    [kind(group, lr=0.125).step() for kind, group in zip(kinds, groups, strict=True)]
    assert [a.item() < 1 < b.item() for a, b in pairs] == [True] * 10
