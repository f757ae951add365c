"""Loss scaling, hooks that are given keywords, and autocast switched off, against torch."""

from __future__ import annotations

import pytest

import reference_impl

torch = pytest.importorskip("torch")
SIDES = (torch, reference_impl)


def trained(side, init_scale, gradients, **how):
    """Losses with the given gradients under a scaler: parameter, scale and state after each step."""
    x = side.tensor([1.0, -2.0], requires_grad=True)
    optimizer = side.optim.SGD([x], lr=0.5)
    scaler = side.amp.GradScaler("cpu", init_scale=init_scale, **how)
    told = []
    for each in gradients:
        optimizer.zero_grad()
        loss = (x * side.tensor(each)).sum()
        scaled = scaler.scale(loss)
        scaled.backward()
        told.append((scaled.item(), scaled.grad_fn.name() if scaler.is_enabled() else None, x.grad.tolist()))
        scaler.unscale_(optimizer)
        told.append((x.grad.tolist(), x.grad._version))
        scaler.step(optimizer)
        scaler.update()
        told.append((x.tolist(), scaler.get_scale(), scaler.state_dict()))
    return told


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("enabled", [True, False])
def test_a_scaled_step_is_torchs(enabled):
    """The scale grows after steps that were fine, and falls after an infinite gradient, which is left out."""
    gradients = [[1.0, 2.0], [0.5, 1.0], [3e38, 1.0], [1.0, 1.0]]
    how = {"growth_interval": 2, "enabled": enabled}
    assert trained(torch, 8.0, gradients, **how) == trained(reference_impl, 8.0, gradients, **how)


def test_a_scaler_refuses_a_wrong_order_in_torchs_words():
    said = []
    for side in SIDES:
        x = side.tensor([1.0], requires_grad=True)
        optimizer, scaler = side.optim.SGD([x], lr=0.5), side.amp.GradScaler("cpu")
        scaler.scale(x.sum()).backward()
        scaler.unscale_(optimizer)
        with pytest.raises(RuntimeError) as twice:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        with pytest.raises(RuntimeError) as stepped:
            scaler.step(optimizer)
        with pytest.raises(RuntimeError) as late:
            scaler.unscale_(optimizer)
        said.append([str(e.value) for e in (twice, stepped, late)])
    assert said[0] == said[1]


def test_autocast_that_is_off_changes_nothing():
    for side in SIDES:
        with side.autocast("cpu", enabled=False):
            assert side.nn.Linear(2, 2)(side.ones(1, 2)).dtype is side.float32


def test_hooks_around_forward_are_given_keywords_and_an_order():
    """Those put before others run first; keywords are given to those that ask, and may be replaced."""
    told = []
    for side in SIDES:
        seen = []

        class Scaled(side.nn.Module):
            def forward(self, x, factor=1):
                return x * factor

        module = Scaled()

        def doubled(_, args, kwargs, seen=seen):
            seen.append(("before", dict(kwargs)))
            return args, {"factor": 2 * kwargs["factor"]}

        def after(name, seen=seen):
            return lambda module, args, *more: seen.append((name, len(more), more[-1].item()))

        handles = [
            module.register_forward_pre_hook(doubled, with_kwargs=True),
            module.register_forward_hook(after("plain")),
            module.register_forward_hook(after("with keywords"), with_kwargs=True),
            module.register_forward_hook(after("first"), prepend=True),
        ]
        result = module(side.tensor(3.0), factor=5)
        for handle in handles:
            handle.remove()
        module(side.tensor(3.0), factor=5)
        told.append((result.item(), seen))
    assert told[0] == told[1]
