"""Schedules of learning rates, epoch by epoch, with every setting of each."""

import torch

from specs.cases._measures import error_kinds


def _optimizer(**settings):
    """Return an optimizer of one parameter that has no grad, at a rate of 1."""
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0, **settings)


def _rates(schedule, epochs):
    """Return the rate at the beginning, and after each of so many epochs."""
    (group,) = schedule.optimizer.param_groups
    rates = [group["lr"]]
    for _ in range(epochs):
        schedule.optimizer.step()
        schedule.step()
        assert schedule.get_last_lr() == [group["lr"]]
        rates.append(group["lr"])
    return [round(float(rate), 6) for rate in rates]


def rates_that_fall_in_steps():
    """After so many epochs, at milestones, of which one may count twice, or at each epoch.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    assert _rates(s.StepLR(_optimizer(), 2, gamma=0.5), 5) == [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]
    assert _rates(s.StepLR(_optimizer(), 3), 4) == [1.0, 1.0, 1.0, 0.1, 0.1]
    assert _rates(s.MultiStepLR(_optimizer(), [2, 3, 3], gamma=0.5), 5) == [
        1.0,
        1.0,
        0.5,
        0.125,
        0.125,
        0.125,
    ]
    assert _rates(s.ExponentialLR(_optimizer(), 0.5), 3) == [1.0, 0.5, 0.25, 0.125]
    assert _rates(s.ConstantLR(_optimizer(), factor=0.25, total_iters=2), 4) == [0.25, 0.25, 1.0, 1.0, 1.0]
    assert _rates(s.ConstantLR(_optimizer()), 6) == [
        0.333333,
        0.333333,
        0.333333,
        0.333333,
        0.333333,
        1.0,
        1.0,
    ]


def rates_that_change_by_a_formula():
    """A line, a polynomial, half a cosine, a function of the epoch, and products of such.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    assert _rates(s.LinearLR(_optimizer(), start_factor=0.25, end_factor=0.5, total_iters=2), 4) == [
        0.25,
        0.375,
        0.5,
        0.5,
        0.5,
    ]
    assert _rates(s.LinearLR(_optimizer()), 6) == [0.333333, 0.466667, 0.6, 0.733333, 0.866667, 1.0, 1.0]
    assert _rates(s.PolynomialLR(_optimizer(), total_iters=4, power=2.0), 5) == [
        1.0,
        0.5625,
        0.25,
        0.0625,
        0.0,
        0.0,
    ]
    assert _rates(s.PolynomialLR(_optimizer()), 6) == [1.0, 0.8, 0.6, 0.4, 0.2, 0.0, 0.0]
    assert _rates(s.CosineAnnealingLR(_optimizer(), 3, eta_min=0.25), 8) == [
        1.0,
        0.8125,
        0.4375,
        0.25,
        0.4375,
        0.8125,
        1.0,
        0.8125,
        0.4375,
    ]
    assert _rates(s.LambdaLR(_optimizer(), lambda epoch: 1 / (epoch + 2)), 3) == [0.5, 0.333333, 0.25, 0.2]
    assert _rates(s.MultiplicativeLR(_optimizer(), lambda epoch: 1 / (epoch + 1)), 3) == [
        1.0,
        0.5,
        0.166667,
        0.041667,
    ]


def rates_that_begin_again():
    """Cosines that get longer, triangles that get lower, and one cycle for all.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    assert _rates(s.CosineAnnealingWarmRestarts(_optimizer(), 2, T_mult=2, eta_min=0.25), 8) == [
        1.0,
        0.625,
        1.0,
        0.890165,
        0.625,
        0.359835,
        1.0,
        0.971455,
        0.890165,
    ]
    assert _rates(s.CosineAnnealingWarmRestarts(_optimizer(), 3), 4) == [1.0, 0.75, 0.25, 1.0, 0.75]
    up = s.CyclicLR(_optimizer(momentum=0.5), 0.25, 1.0, step_size_up=2, step_size_down=1)
    assert _rates(up, 6) == [0.25, 0.625, 1.0, 0.25, 0.625, 1.0, 0.25]
    o = _optimizer()
    assert _rates(s.CyclicLR(o, 0.25, 1.0, 2, mode="triangular2", cycle_momentum=False), 8) == [
        0.25,
        0.625,
        1.0,
        0.625,
        0.25,
        0.4375,
        0.625,
        0.4375,
        0.25,
    ]
    o = _optimizer()
    wave = s.CyclicLR(o, 0.25, 1.0, 2, mode="exp_range", gamma=0.5, cycle_momentum=False)
    assert _rates(wave, 6) == [0.25, 0.4375, 0.4375, 0.296875, 0.25, 0.261719, 0.261719]
    o = _optimizer()
    scaled = s.CyclicLR(o, 0.25, 1.0, 2, scale_fn=lambda n: 1 / n, cycle_momentum=False)
    assert _rates(scaled, 6) == [0.25, 0.625, 1.0, 0.625, 0.25, 0.4375, 0.625]
    assert _rates(s.OneCycleLR(_optimizer(momentum=0.5), 1.0, total_steps=6), 5) == [
        0.04,
        0.994415,
        0.811746,
        0.462637,
        0.133478,
        4e-06,
    ]
    o = _optimizer()
    line = s.OneCycleLR(
        o, 1.0, epochs=3, steps_per_epoch=2, pct_start=0.5, anneal_strategy="linear", cycle_momentum=False,
        div_factor=4.0, final_div_factor=2.0,
    )  # fmt: skip
    assert _rates(line, 5) == [0.25, 0.625, 1.0, 0.708333, 0.416667, 0.125]
    o = _optimizer(momentum=0.5)
    assert _rates(s.OneCycleLR(o, 1.0, total_steps=8, pct_start=0.25, three_phase=True), 7) == [
        0.04,
        1.0,
        0.04,
        0.036181,
        0.026182,
        0.013822,
        0.003823,
        4e-06,
    ]


def momentum_goes_against_the_rate():
    """Of cycles; of an optimizer with betas it is the first of them.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    o = _optimizer(momentum=0.5)
    cycle = s.CyclicLR(o, 0.25, 1.0, step_size_up=2, base_momentum=0.25, max_momentum=0.75)
    assert o.param_groups[0]["momentum"] == 0.75
    momenta = [(o.step(), cycle.step(), o.param_groups[0]["momentum"])[2] for _ in range(5)]
    assert momenta == [0.5, 0.25, 0.5, 0.75, 0.5] and o.param_groups[0]["lr"] == 0.625
    a = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=1.0)
    once = s.OneCycleLR(a, 1.0, total_steps=5, pct_start=0.4, anneal_strategy="linear")
    betas = [a.param_groups[0]["betas"]]
    betas += [(a.step(), once.step(), a.param_groups[0]["betas"])[2] for _ in range(4)]
    assert [(round(first, 6), second) for first, second in betas] == [
        (0.95, 0.999),
        (0.85, 0.999),
        (0.883333, 0.999),
        (0.916667, 0.999),
        (0.95, 0.999),
    ]


def plateaus_lower_the_rate():
    """Once a metric has not improved for more epochs than the patience; not in cooldown, nor below the least.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    o = _optimizer()
    p = s.ReduceLROnPlateau(o, factor=0.5, patience=1, cooldown=1, min_lr=0.125)
    metrics = [3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    assert [(p.step(m), o.param_groups[0]["lr"], p.num_bad_epochs)[1:] for m in metrics] == [
        (1.0, 0),
        (1.0, 0),
        (1.0, 1),
        (0.5, 0),
        (0.5, 0),
        (0.5, 1),
        (0.25, 0),
        (0.25, 0),
        (0.25, 0),
        (0.25, 1),
        (0.125, 0),
        (0.125, 0),
        (0.125, 1),
        (0.125, 0),
        (0.125, 0),
        (0.125, 1),
    ]
    assert p.get_last_lr() == [0.125] and p.best == 1.0
    o = _optimizer()
    p = s.ReduceLROnPlateau(o, mode="max", factor=0.5, patience=0, threshold=0.5)
    assert [(p.step(m), o.param_groups[0]["lr"])[1] for m in [1.0, 1.25, 2.0, 2.75, 4.0]] == [
        1.0,
        0.5,
        0.5,
        0.25,
        0.25,
    ]
    o = _optimizer()
    p = s.ReduceLROnPlateau(o, mode="max", factor=0.5, patience=0, threshold=0.5, threshold_mode="abs")
    assert [(p.step(m), o.param_groups[0]["lr"])[1] for m in [1.0, 1.25, 2.0, 2.75, 4.0]] == [
        1.0,
        0.5,
        0.5,
        0.5,
        0.5,
    ]
    o = _optimizer()
    p = s.ReduceLROnPlateau(o, factor=0.5, patience=0, threshold=0.5, threshold_mode="abs", eps=0.375)
    assert [(p.step(m), o.param_groups[0]["lr"])[1] for m in [4.0, 3.75, 3.0, 3.0, 3.0]] == [
        1.0,
        0.5,
        0.5,
        0.5,
        0.5,
    ]
    o = _optimizer()
    p = s.ReduceLROnPlateau(o, factor=0.5, patience=0)
    assert [(p.step(m), o.param_groups[0]["lr"])[1] for m in [1.0, 0.99995, 0.9, float("nan")]] == [
        1.0,
        0.5,
        0.5,
        0.25,
    ]


def rates_that_go_to_one_and_stay():
    """By a line or half a cosine, from where they are. Rule: optim/schedules-set-the-rate."""
    swa = torch.optim.swa_utils
    assert _rates(swa.SWALR(_optimizer(), 0.25, anneal_epochs=2, anneal_strategy="linear"), 4) == [
        1.0,
        0.625,
        0.25,
        0.25,
        0.25,
    ]
    assert _rates(swa.SWALR(_optimizer(), 0.25, anneal_epochs=3), 4) == [1.0, 0.8125, 0.4375, 0.25, 0.25]


def schedules_of_schedules():
    """One after the other, each from its milestone; or all at each epoch.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    o = _optimizer()
    parts = [s.ConstantLR(o, factor=0.5, total_iters=2), s.ExponentialLR(o, gamma=0.5)]
    assert _rates(s.SequentialLR(o, parts, milestones=[3]), 6) == [0.5, 0.5, 1.0, 1.0, 0.5, 0.25, 0.125]
    o = _optimizer()
    both = s.ChainedScheduler([s.ConstantLR(o, factor=0.5, total_iters=2), s.ExponentialLR(o, gamma=0.5)])
    assert _rates(both, 4) == [0.5, 0.25, 0.25, 0.125, 0.0625]
    o = _optimizer()
    parts = [s.LinearLR(o, 0.5, total_iters=2), s.StepLR(o, 1, gamma=0.5), s.ConstantLR(o, 0.25, 1)]
    assert _rates(s.SequentialLR(o, parts, milestones=[2, 4]), 6) == [0.5, 0.75, 1.0, 0.5, 0.25, 1.0, 1.0]


def a_schedule_goes_on_where_it_was_left():
    """Its state is all but the optimizer; each group begins with a rate of its own.

    Rule: optim/schedules-set-the-rate.
    """
    s = torch.optim.lr_scheduler
    x = torch.zeros(1, requires_grad=True)
    y = torch.zeros(1, requires_grad=True)
    o = torch.optim.SGD([{"params": [x], "lr": 0.5}, {"params": [y]}], lr=2.0)
    a = s.StepLR(o, 2, gamma=0.5)
    assert [(o.step(), a.step(), a.get_last_lr())[2] for _ in range(3)] == [
        [0.5, 2.0],
        [0.25, 1.0],
        [0.25, 1.0],
    ]
    assert [group["initial_lr"] for group in o.param_groups] == [0.5, 2.0]
    state = a.state_dict()
    assert state["last_epoch"] == 3 and state["step_size"] == 2 and "optimizer" not in state
    b = s.StepLR(o, 1, gamma=0.25)
    assert b.base_lrs == [0.5, 2.0] and b.get_last_lr() == [0.25, 1.0]
    b.load_state_dict(state)
    b.step()
    assert b.last_epoch == 4 and b.get_last_lr() == [0.125, 0.5]
    c = s.LambdaLR(o, [lambda n: 1.0, lambda n: 0.5**n])
    assert [(c.step(), c.get_last_lr())[1] for _ in range(2)] == [[0.5, 1.0], [0.5, 0.5]]
    d = s.ExponentialLR(o, 0.5, last_epoch=1)
    assert d.last_epoch == 2 and d.get_last_lr() == [0.5, 0.5]


def a_cycle_of_three_phases_turns_on_whole_steps():
    """The step that ends a phase is its last. Rule: optim/schedules-set-the-rate."""
    o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5, momentum=0.9)
    how = {"total_steps": 10, "pct_start": 0.5, "anneal_strategy": "linear", "three_phase": True}
    c = torch.optim.lr_scheduler.OneCycleLR(o, 1.0, div_factor=10.0, **how)
    group = o.param_groups[0]
    found = [(round(group["lr"], 4), round(group["momentum"], 4))]
    found += [(o.step(), c.step(), round(group["lr"], 4), round(group["momentum"], 4))[2:] for _ in range(9)]
    ups = [(0.1, 0.95), (0.325, 0.925), (0.55, 0.9), (0.775, 0.875), (1.0, 0.85)]
    assert found == [*ups, *ups[3::-1], (0.0, 0.95)]


def a_restart_keeps_fractions_of_an_epoch():
    """Half an epoch beyond the end is half an epoch after the start. Rule: optim/schedules-set-the-rate."""
    o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    c = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 2, 2)
    found = []
    found += [(c.step(at), round(o.param_groups[0]["lr"], 4))[1] for at in (1.5, None, None, 4.5)]
    assert found == [0.1464, 0.9619, 0.6913, 0.3087] and c.T_i == 4


def a_cycle_that_rises_for_no_step_has_no_rate():
    """Its share of a phase without length is none. Rule: optim/schedules-set-the-rate."""
    x = torch.nn.Parameter(torch.ones(1))
    o = torch.optim.SGD([x], lr=0.1, momentum=0.9)
    cycle = torch.optim.lr_scheduler.OneCycleLR
    assert round(cycle(o, 1.0, total_steps=4).get_last_lr()[0], 6) == 0.04
    assert error_kinds([lambda: cycle(o, 1.0, total_steps=10, pct_start=0.1)]) == "o"
