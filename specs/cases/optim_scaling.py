"""Around optimizers: scaled losses, averages of models, and the estimates of these."""

import contextlib

import torch


def a_scaler_leaves_infinite_steps_out():
    """Gradients are divided by the scale once; that falls after an infinite one, and rises after some steps.

    Rule: optim/scaler-leaves-infinite-steps-out.
    """
    x = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.SGD([x], lr=0.5)
    a = torch.amp.GradScaler("cpu", init_scale=8.0, growth_factor=4.0, backoff_factor=0.25, growth_interval=2)
    a.scale((x * 2).sum()).backward()
    assert x.grad.tolist() == [16.0] and a.get_scale() == 8.0
    a.unscale_(o)
    assert x.grad.tolist() == [2.0]
    a.step(o)
    a.update()
    assert x.tolist() == [0.0] and a.get_scale() == 8.0
    x.grad = torch.tensor([float("inf")])
    a.step(o)
    a.update()
    assert x.tolist() == [0.0] and a.get_scale() == 2.0
    x.grad = torch.tensor([2.0])
    a.step(o)
    a.update()
    assert x.tolist() == [-0.5] and a.get_scale() == 2.0
    assert a.state_dict()["_growth_tracker"] == 1
    x.grad = torch.tensor([2.0])
    a.step(o)
    a.update()
    assert x.tolist() == [-1.0] and a.get_scale() == 8.0 and a.state_dict()["_growth_tracker"] == 0
    b = torch.amp.GradScaler("cpu")
    b.load_state_dict(a.state_dict())
    assert b.get_scale() == 8.0 and b.is_enabled() is True
    a.update(3.0)
    assert a.get_scale() == 3.0
    c = torch.amp.GradScaler("cpu", enabled=False)
    assert c.get_scale() == 1.0 and c.scale(x) is x and c.state_dict() == {}
    c.step(o)
    assert x.tolist() == [-1.5]


def averages_of_a_model():
    """The first values are copied, later ones averaged; the model itself is left alone.

    Rule: optim/averages-are-their-own.
    """
    swa = torch.optim.swa_utils
    model = torch.nn.Linear(1, 1, bias=False)
    model.register_buffer("count", torch.tensor([1.0]))
    model.load_state_dict({"weight": torch.tensor([[2.0]]), "count": torch.tensor([1.0])})
    mean = swa.AveragedModel(model)
    moving = swa.AveragedModel(model, multi_avg_fn=swa.get_ema_multi_avg_fn(0.75), use_buffers=True)
    fixed = swa.AveragedModel(model, avg_fn=lambda average, now, count: average + now * (count + 1))
    assert mean.module is not model and mean.module.weight is not model.weight
    [each.update_parameters(model) for each in (mean, moving, fixed)]
    model.load_state_dict({"weight": torch.tensor([[6.0]]), "count": torch.tensor([5.0])})
    [each.update_parameters(model) for each in (mean, moving, fixed)]
    assert mean.module.weight.tolist() == [[4.0]] and mean.module.count.tolist() == [5.0]
    assert moving.module.weight.tolist() == [[3.0]] and moving.module.count.tolist() == [2.0]
    assert fixed.module.weight.tolist() == [[14.0]] and model.weight.tolist() == [[6.0]]
    model.load_state_dict({"weight": torch.tensor([[1.0]]), "count": torch.tensor([1.0])})
    mean.update_parameters(model)
    assert mean.module.weight.tolist() == [[3.0]] and mean.n_averaged.item() == 3
    assert mean(torch.ones(1, 1)).tolist() == [[3.0]]
    assert list(mean.state_dict()) == ["n_averaged", "module.weight", "module.count"]


def estimates_of_a_batch_norm_are_computed_anew():
    """update_bn() goes over all batches alike, and leaves momentum and mode as they were.

    Rule: nn/batch-norm-in-training.
    """
    swa = torch.optim.swa_utils
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(1, momentum=0.5)).eval()
    swa.update_bn([torch.tensor([[1.0], [3.0]]), [torch.tensor([[5.0], [11.0]]), "label"]], model)
    assert model[0].running_mean.tolist() == [5.0] and model[0].running_var.tolist() == [10.0]
    assert model[0].momentum == 0.5 and model.training is False
    assert round(model(torch.tensor([[15.0]])).item(), 4) == 3.1623


def a_scaler_takes_each_step_once():
    """Between two updates gradients are unscaled once and stepped with once.

    Rule: optim/scaler-leaves-infinite-steps-out.
    """
    x = torch.ones(1, requires_grad=True)
    o = torch.optim.SGD([x], lr=0.5)
    a = torch.amp.GradScaler("cpu", init_scale=2.0)
    done = []
    a.scale(x * 1).sum().backward()
    a.step(o)
    with contextlib.suppress(RuntimeError):
        done.append(a.unscale_(o))
    with contextlib.suppress(RuntimeError):
        done.append(a.step(o))
    a.update()
    x.grad = None
    a.scale(x * 1).sum().backward()
    a.unscale_(o)
    with contextlib.suppress(RuntimeError):
        done.append(a.unscale_(o))
    assert done == [] and x.tolist() == [0.5] and x.grad.tolist() == [1.0]
    with contextlib.suppress(RuntimeError):
        done.append(a.step(o, closure=lambda: x.sum()))
    assert done == [] and x.tolist() == [0.5]
    a.update()
    x.grad = torch.tensor([float("inf")])
    a.step(o)
    assert x.tolist() == [0.5]


def a_scaler_leaves_steps_with_nan_out():
    """As it does those with infinity. Before anything was scaled there is no step, for float16 never.

    Rule: optim/scaler-leaves-infinite-steps-out.
    """
    x = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.SGD([x], lr=0.5)
    a = torch.amp.GradScaler("cpu", init_scale=2.0)
    done = []
    x.grad = torch.tensor([1.0])
    with contextlib.suppress(AssertionError):
        done.append(a.step(o))
    with contextlib.suppress(AssertionError):
        done.append(a.unscale_(o))
    with contextlib.suppress(AssertionError):
        done.append(a.update())
    assert done == [] and x.tolist() == [1.0] and x.grad.tolist() == [1.0] and a.get_scale() == 2.0
    a.scale(x * 1)
    h = torch.tensor([1.0], dtype=torch.float16, requires_grad=True)
    h.grad = torch.tensor([1.0], dtype=torch.float16)
    with contextlib.suppress(ValueError):
        done.append(a.unscale_(torch.optim.SGD([h], lr=0.5)))
    with contextlib.suppress(AssertionError):
        done.append(torch.amp.GradScaler("cpu", growth_factor=1.0))
    with contextlib.suppress(AssertionError):
        done.append(torch.amp.GradScaler("cpu", backoff_factor=1.0))
    assert done == [] and h.grad.tolist() == [1.0]
    x.grad = torch.tensor([float("nan")])
    a.step(o)
    a.update()
    assert x.tolist() == [1.0] and a.get_scale() == 1.0
    x.grad = torch.tensor([float("-inf")])
    a.step(o)
    a.update()
    assert x.tolist() == [1.0] and a.get_scale() == 0.5
