"""torch.optim: searches along a line that turn back, schedules that begin anew, averages."""

import torch

from specs.cases._measures import error_kinds, filled, stepped


def _closure(optimizer, loss_of, calls):
    """Return what a step calls for the loss; each call is noted."""

    def closure():
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        calls.append(1)
        return loss

    return closure


def _searched(x, loss_of):
    """Return how often a step asks for the loss, and where it ends."""
    optimizer = torch.optim.LBFGS([x], lr=2.0, max_iter=6, line_search_fn="strong_wolfe")
    optimizer.step(_closure(optimizer, loss_of, calls := []))
    return [len(calls), round(x.item(), 4)]


class _Falls:
    """A factor to the power of the epoch, with a state."""

    def __init__(self, by):
        self.by = by

    def __call__(self, n):
        return self.by**n


def _rates(o, s, count=3):
    """Return the rates after that many steps."""
    found = []
    for _ in range(count):
        o.step()
        s.step()
        found.append(round(o.param_groups[0]["lr"], 5))
    return found


def _told(s, o, values):
    """Return the rates after a schedule is told these values."""
    found = []
    for value in values:
        s.step(value)
        found.append(o.param_groups[0]["lr"])
    return found


def _anew(x, optimizer, *grads):
    """Return where a parameter ends that begins as before."""
    x.data = torch.tensor([1.0, -2.0], dtype=torch.float64)
    return stepped(optimizer, x, *grads)[-1]


def _complex_steps(name):
    """Return both parts of a complex parameter after two steps."""
    z = torch.tensor([1.0 + 1j, -2j], requires_grad=True)
    o = getattr(torch.optim, name)([z], lr=0.1)
    for g in (0.5 - 1j, 2.0 + 0.5j):
        z.grad = torch.tensor([g, 1j])
        o.step()
    return [round(v, 4) for v in torch.view_as_real(z.detach()).reshape(-1).tolist()]


def searches_that_turn_back():
    """Brackets that are narrowed until both conditions hold. Rule: optim/updates-by-its-algorithm."""
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.LBFGS([x], lr=1.0, max_iter=4, line_search_fn="strong_wolfe")
    closure = _closure(o, lambda: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, calls := [])
    seen = [[o.step(closure) is None, len(calls), *[round(v, 4) for v in x.tolist()]] for _ in range(5)]
    assert seen == [
        [False, 5, -1.0289, 1.0655],
        [False, 10, -0.9431, 0.853],
        [False, 15, -0.516, 0.2265],
        [False, 20, -0.2561, 0.0373],
        [False, 25, 0.2168, 0.0669],
    ]
    y = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    first = _searched(y, lambda: (y - 3).abs().sum() + y.sin().mul(2).sum())
    y = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    assert [first, _searched(y, lambda: (y.sum() - 0.2).pow(4) * 50 - y.sum())] == [[6, -1.0472], [8, 0.405]]
    assert (
        error_kinds(
            [
                lambda: torch.optim.LBFGS([x], line_search_fn="some").step(closure),
                lambda: torch.optim.LBFGS([{"params": [x]}, {"params": [y]}]),
                lambda: torch.optim.LBFGS([x], lr=-1.0),
            ]
        )
        == "oVV"
    )


def schedules_that_begin_anew():
    """At an epoch that is told, or with the state of another. Rule: optim/schedules-set-the-rate."""
    S = torch.optim.lr_scheduler
    x = torch.zeros(1, requires_grad=True)
    made = lambda: torch.optim.SGD([x], lr=0.5)
    o = made()
    s = S.LambdaLR(o, _Falls(0.5))
    assert _rates(o, s) == [0.25, 0.125, 0.0625]
    kept = s.state_dict()
    p = made()
    t = S.LambdaLR(p, _Falls(0.1))
    t.load_state_dict(kept)
    assert [_rates(p, t), t.lr_lambdas[0].by, kept["lr_lambdas"]] == [
        [0.03125, 0.01562, 0.00781],
        0.5,
        [{"by": 0.5}],
    ]
    o = made()
    assert _rates(o, S.MultiplicativeLR(o, lambda n: 0.9)) == [0.45, 0.405, 0.3645]
    o = made()
    s = S.CosineAnnealingLR(o, 4)
    o.step()
    s.step(3)
    assert [round(o.param_groups[0]["lr"], 5), _rates(o, s, 6)] == [
        0.07322,
        [0.0, 0.07322, 0.25, 0.42678, 0.5, 0.42678],
    ]
    o = made()
    s = S.CosineAnnealingWarmRestarts(o, 2, 2, 0.1)
    o.step()
    s.step(2.5)
    assert [round(o.param_groups[0]["lr"], 5), _rates(o, s, 5)] == [
        0.48478,
        [0.37654, 0.22346, 0.11522, 0.49616, 0.46629],
    ]
    o = made()
    o.param_groups[0]["initial_lr"] = 0.5
    s = S.ExponentialLR(o, 0.5, last_epoch=2)
    assert [round(o.param_groups[0]["lr"], 5), s.last_epoch, _rates(o, s)] == [0.5, 3, [0.25, 0.125, 0.0625]]
    o = made()
    s = S.StepLR(o, 2)
    o.step()
    s.step(5)
    assert [round(o.param_groups[0]["lr"], 6), [round(v, 6) for v in s.get_last_lr()]] == [0.005, [0.005]]
    o = made()
    s = S.SequentialLR(o, [S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.5)], [2])
    assert _rates(o, s, 5) == [0.25, 0.5, 0.25, 0.125, 0.0625]
    o = made()
    s = S.ChainedScheduler([S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.5)])
    assert _rates(o, s, 4) == [0.125, 0.125, 0.0625, 0.03125]
    o = made()
    s = S.CyclicLR(o, 0.1, 0.5, 2, 3, "exp_range", 0.9, cycle_momentum=False)
    assert _rates(o, s, 6) == [0.28, 0.424, 0.2944, 0.18748, 0.1, 0.20629]
    o = torch.optim.SGD([x], lr=0.5, momentum=0.9)
    s = S.OneCycleLR(o, 1.0, 5, anneal_strategy="linear", three_phase=True)
    found = _rates(o, s, 4)
    assert [found, round(o.param_groups[0]["momentum"], 5)] == [[0.04, 0.02667, 0.01334, 0.0], 0.95]
    o = made()
    s = S.PolynomialLR(o, 3, 2.0)
    assert _rates(o, s, 4) == [0.22222, 0.05556, 0.0, 0.0]
    o = made()
    s = S.ReduceLROnPlateau(o, "max", 0.5, 1, threshold_mode="abs", cooldown=1, min_lr=0.2)
    found = _told(s, o, (1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0))
    assert [found, s.num_bad_epochs, s.best] == [[0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25, 0.2, 0.2], 0, 2.0]
    assert (
        error_kinds(
            [
                lambda: S.ExponentialLR(made(), 0.5, last_epoch=2),
                lambda: S.LambdaLR(made(), [_Falls(1), _Falls(2)]),
                lambda: S.SequentialLR(made(), [s], [1, 2]),
                lambda: S.OneCycleLR(made(), 1.0, 5),
                lambda: S.OneCycleLR(made(), 1.0),
                lambda: S.CosineAnnealingWarmRestarts(made(), 0),
                lambda: S.ReduceLROnPlateau(made(), "some"),
                lambda: S.ReduceLROnPlateau(made(), factor=1.5),
                lambda: S.CyclicLR(made(), 0.1, 0.5),
                lambda: S.StepLR(x, 1),
            ]
        )
        == "KVV-VVVV-T"
    )


def steps_of_groups_as_few_set_them():
    """Complex numbers, maximized, with rates that are tensors. Rule: optim/updates-by-its-algorithm."""
    x = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    grads = (0.5, -1.0, 0.25)
    makes = (
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, dampening=0.5, weight_decay=0.1, maximize=True),
        lambda p: torch.optim.Adam(p, torch.tensor(0.1), amsgrad=True, maximize=True),
        lambda p: torch.optim.Adagrad(
            p, 0.1, lr_decay=0.5, weight_decay=0.1, initial_accumulator_value=0.5, maximize=True
        ),
        lambda p: torch.optim.RMSprop(p, 0.1, centered=True, momentum=0.9, weight_decay=0.1),
        lambda p: torch.optim.Rprop(p, 0.1, etas=(0.4, 1.3), step_sizes=(0.05, 0.12), maximize=True),
        lambda p: torch.optim.ASGD(p, 0.1, t0=1.0, weight_decay=0.1),
        lambda p: torch.optim.Adamax(p, 0.1, weight_decay=0.1, maximize=True),
        lambda p: torch.optim.NAdam(p, 0.1, decoupled_weight_decay=True, weight_decay=0.1),
        lambda p: torch.optim.RAdam(p, 0.1, decoupled_weight_decay=True, weight_decay=0.1),
        lambda p: torch.optim.Adadelta(p, 0.5, weight_decay=0.1, maximize=True),
        lambda p: torch.optim.Adafactor(p, 0.1, weight_decay=0.1),
    )
    assert [_anew(x, make([x]), *grads) for make in makes] == [
        [1.010916, -2.021832],
        [1.049721, -2.049721],
        [1.000978, -2.020954],
        [-0.297817, -0.629048],
        [1.15, -2.15],
        [0.995264, -1.990529],
        [1.046753, -2.047009],
        [0.935378, -1.905677],
        [0.958992, -1.917985],
        [0.999876, -1.999876],
        [0.896584, -1.866883],
    ]
    assert stepped(torch.optim.SGD([x], 0.1, nesterov=True, momentum=0.9), x, *grads) == [
        [0.801584, -1.676883],
        [0.951084, -1.975883],
        [0.948134, -1.969983],
    ]
    names = ("Adam", "SGD", "Adagrad", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD")
    assert [_complex_steps(name) for name in names] == [
        [0.8116, 1.1266, -0.0, -2.2],
        [0.75, 1.05, -0.0, -2.2],
        [0.803, 1.0553, -0.0, -2.1707],
        [-0.9704, 1.551, -0.0, -3.7089],
        [0.9992, 1.0001, -0.0, -2.0006],
        [0.8355, 1.1211, -0.0, -2.2],
        [0.7914, 1.0645, -0.0, -2.184],
        [0.8211, 1.1211, -0.0, -2.2],
        [0.78, 1.1, -0.0, -2.22],
        [0.75, 1.05, -0.0, -2.2],
    ]
    m = filled(torch.nn.Linear(1, 1))
    o = torch.optim.SGD([{"params": m.weight, "lr": 0.5}, {"params": [m.bias]}], lr=0.1)
    assert [
        len(o.param_groups),
        o.param_groups[0]["lr"],
        len(o.param_groups[0]["params"]),
        o.defaults["lr"],
    ] == [2, 0.5, 1, 0.1]
    o.add_param_group({"params": [x], "momentum": 0.9})
    assert [repr(o).count("Parameter Group"), o.param_groups[2]["momentum"], o.param_groups[2]["lr"]] == [
        3,
        0.9,
        0.1,
    ]
    named = torch.optim.SGD(m.named_parameters(), lr=0.1)
    assert [named.param_groups[0]["param_names"], sorted(named.state_dict()["param_groups"][0])[:3]] == [
        ["weight", "bias"],
        ["dampening", "differentiable", "foreach"],
    ]
    a = torch.optim.swa_utils.AveragedModel(m, "cpu", use_buffers=True)
    a.update_parameters(m)
    with torch.no_grad():
        m.weight.add_(2.0)
    a.update_parameters(m)
    assert [
        round((a.module.weight - m.weight).item(), 4),
        a.n_averaged.item(),
        a(torch.ones(1, 1, dtype=torch.float64)).shape,
    ] == [-1.0, 2, torch.Size([1, 1])]
    e = torch.optim.swa_utils.AveragedModel(m, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.75))
    e.update_parameters(m)
    with torch.no_grad():
        m.weight.add_(4.0)
    e.update_parameters(m)
    assert round((e.module.weight - m.weight).item(), 4) == -3.0
    assert (
        error_kinds(
            [
                lambda: torch.optim.SGD([x, x], 0.1),
                lambda: torch.optim.SGD([{"params": [x]}]),
                lambda: torch.optim.SGD([{"lr": 1.0}], 0.1),
                lambda: torch.optim.SGD([x * 2], 0.1),
                lambda: o.add_param_group({"params": [x]}),
                lambda: o.add_param_group({"params": {x}}),
                lambda: o.add_param_group([x]),
                lambda: torch.optim.Adam([x], betas=(1.0, 0.9)),
                lambda: torch.optim.SGD([x], 0.1, nesterov=True),
                lambda: torch.optim.Adam([x], torch.tensor([0.1, 0.2])),
                lambda: torch.optim.SGD([("a", x), x], 0.1),
                lambda: torch.optim.swa_utils.AveragedModel(m, avg_fn=max, multi_avg_fn=max),
                lambda: torch.optim.Rprop([x], etas=(1.5, 1.2)),
                lambda: torch.optim.Adafactor([x], -1.0),
            ]
        )
        == "--KVVTTVVVVoVV"
    )
