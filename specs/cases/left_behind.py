"""Left behind and told apart: what the cases of other chapters look at once, looked at again."""

import torch

from specs.case import refused


def hooks_may_come_and_go_while_they_are_called():
    """A hook that removes itself runs once; one that adds another is not followed by it at once.

    Rules: hook/in-order-of-registration, hook/removed-is-gone.
    """
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 3
    seen = []
    handles = []
    handles.append(y.register_hook(lambda g: (seen.append("once"), handles[0].remove())[1]))
    y.register_hook(lambda g: seen.append("always"))
    adds = lambda: (handles.append(y.register_hook(lambda h: seen.append("added"))), seen.append("adds"))
    y.register_hook(lambda g: None if "adds" in seen else (adds(), None)[1])
    handles.append(
        x.register_post_accumulate_grad_hook(lambda leaf: (seen.append("leaf"), handles[1].remove())[1])
    )
    handles.append(y.grad_fn.register_prehook(lambda grads: (seen.append("node"), handles[2].remove())[1]))
    y.backward(retain_graph=True)
    assert seen == ["once", "always", "adds", "node", "leaf"]
    y.backward()
    assert seen[5:] == ["always", "added"] and x.grad.tolist() == [6.0]


def an_assigned_grad_has_the_very_size():
    """As many elements do not do: the sizes are compared. Rule: grad/assign-size."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("grad/assign-size"):
        x.grad = torch.ones(2, 1)
    with refused("grad/assign-size"):
        x.grad = torch.ones(1)
    x.grad = torch.ones(2)
    assert x.grad.tolist() == [1.0, 1.0]


def zeros_without_memory_in_quotients():
    """Zeros by zeros have memory, and are nan. Rules: op/zeros-pass-on, op/zeros-are-not-read."""
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (z,) = torch.autograd.grad(x.sgn(), x, torch.ones(2))
    assert str((z / z).tolist()) == "[nan, nan]" and (torch.ones(2) / z).tolist() == [float("inf")] * 2
    with refused("op/zeros-are-not-read"):
        (z / x.detach()).tolist()
    with refused("op/zeros-are-not-read"):
        (z * x.detach()).tolist()
    with refused("op/zeros-are-not-read"):
        (z + z).tolist()
    assert (
        (z + 1).tolist() == [1.0, 1.0] and (x.detach() - z).tolist() == [1.0, -2.0] and z.sum().item() == 0.0
    )


def a_refused_op_on_inference_tensors_leaves_grad_mode_on():
    """An op on inference tensors alone that is refused leaves grad mode on. Rule: op/dim-range."""
    with torch.inference_mode():
        x = torch.ones(2, 2, requires_grad=True)
    with refused("op/dim-range"):
        x.cumsum(7)
    assert torch.is_grad_enabled() is True
    with refused("op/dim-range"):
        x.flip((5,))
    assert torch.is_grad_enabled() is True


def needed_gradients_are_told_by_position():
    """By position among all arguments. Rules: function/needs-input-grad, function/is-recorded."""
    seen = []
    scaled = type(
        "Scaled",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(
                lambda ctx, n, x, flag, w: (seen.append(ctx.needs_input_grad), x * n + w)[1]
            ),
            "backward": staticmethod(
                lambda ctx, g: (seen.append(ctx.needs_input_grad), (None, g * 3, None, g * 5))[1]
            ),
        },
    )
    x = torch.tensor([1.0], requires_grad=True)
    w = torch.tensor([1.0])
    scaled.apply(3, x, True, w).backward()
    assert seen == [(False, True, False, False)] * 2 and x.grad.tolist() == [3.0] and w.grad is None
    scaled.apply(3, w, None, x).backward()
    assert seen[2:] == [(False, False, False, True)] * 2 and x.grad.tolist() == [8.0]
    with torch.no_grad():
        assert scaled.apply(3, x, True, w).requires_grad is False
    assert len(seen) == 5


def all_written_inputs_count():
    """Each of them counts. Rules: function/dirty-counts-as-written, function/dirty-is-rewritten."""
    both = type(
        "Both",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x, y: (ctx.mark_dirty(x, y), x.mul_(2), y.mul_(3))[1:]),
            "backward": staticmethod(lambda ctx, g, h: (g * 2, h * 3)),
        },
    )
    x = torch.tensor([1.0], requires_grad=True)
    a, b = x * 1, x * 1
    u, v = a._version, b._version
    found = []
    found += both.apply(a, b)
    c, d = found
    assert c is a and d is b and a._version == u + 2 and b._version == v + 2
    (c + d * 10).backward()
    assert x.grad.tolist() == [32.0]
    p, q = torch.tensor([1.0]), torch.tensor([2.0])
    both.apply(p, q)
    assert p._version == 2 and q._version == 2 and p.requires_grad is False


def anomaly_modes_nest_and_last():
    """Blocks nest, and a call lasts. Rules: anomaly/nan-refused, anomaly/nan-may-pass."""
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        with torch.autograd.set_detect_anomaly(False):
            assert torch.is_anomaly_enabled() is False
        assert torch.is_anomaly_enabled() is True and torch.is_anomaly_check_nan_enabled() is True
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            assert torch.is_anomaly_check_nan_enabled() is False
            (x.sqrt() * 0).backward()
            assert str(x.grad.tolist()) == "[nan]"
        with refused("anomaly/nan-refused"):
            (x.sqrt() * 0).backward()
    assert torch.is_anomaly_enabled() is False and torch.is_anomaly_check_nan_enabled() is True
    torch.autograd.set_detect_anomaly(True)
    assert torch.is_anomaly_enabled() is True
    torch.autograd.set_detect_anomaly(False)
    assert torch.is_anomaly_enabled() is False
    (x.sqrt() * 0).backward()
    assert str(x.grad.tolist()) == "[nan]"


def complex_parameters_are_cast():
    """double() leaves them alone, a complex dtype takes all. Rule: nn/to-swaps-data."""
    m = torch.nn.Module()
    m.p = torch.nn.Parameter(torch.tensor([1.0j, 2.0]))
    m.q = torch.nn.Parameter(torch.tensor([1.0]))
    p = m.p
    assert m.double().p.dtype == torch.complex64 and m.q.dtype == torch.float64
    m.to(torch.complex128)
    assert m.p.dtype == torch.complex128 and m.q.dtype == torch.complex128 and m.p is p


def a_second_run_draws_the_same():
    """And leaves the generator as it was. Rule: checkpoint/draws-the-same-again."""
    x = torch.ones(8, requires_grad=True)
    noisy = lambda a: torch.nn.functional.dropout(a, 0.5)
    y = torch.utils.checkpoint.checkpoint(noisy, x, use_reentrant=True)
    z = torch.utils.checkpoint.checkpoint(noisy, x, use_reentrant=False)
    torch.rand(3)
    state = torch.get_rng_state()
    y.sum().backward()
    assert x.grad.tolist() == y.tolist() and (torch.get_rng_state() == state).all().item() is True
    x.grad = None
    z.sum().backward()
    assert x.grad.tolist() == z.tolist() and (torch.get_rng_state() == state).all().item() is True


def a_false_index_assigns_nothing():
    """The very word is not even a write; True and None take the whole. Rule: version/write-bumps."""
    x = torch.tensor([1.0, 2.0])
    x[False] = 5.0
    x[torch.tensor(False)] = 6.0
    seen = []
    seen.append((x.tolist(), x._version))
    x[True] = 7.0
    seen.append((x.tolist(), x._version))
    x[None] = 8.0
    seen.append((x.tolist(), x._version))
    assert seen == [([1.0, 2.0], 1), ([7.0, 7.0], 2), ([8.0, 8.0], 3)]
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    y[False] = 3.0
    assert y.is_leaf is True and y._version == 0


def zeros_without_elements_are_read():
    """There is nothing to be read where there are none. Rule: op/zeros-are-not-read."""
    x = torch.ones(0, requires_grad=True)
    y = torch.ones(1, requires_grad=True)
    (z,) = torch.autograd.grad(x.abs(), x, torch.ones(0), create_graph=True)
    (z,) = torch.autograd.grad(z, x, torch.ones(0))
    assert z.tolist() == []
    (w,) = torch.autograd.grad(y.abs(), y, torch.ones(1), create_graph=True)
    (w,) = torch.autograd.grad(w, y, torch.ones(1))
    with refused("op/zeros-are-not-read"):
        w.tolist()
