"""no_grad, enable_grad and set_grad_enabled, as blocks, decorators and calls."""

import torch

from specs.case import refused


def no_grad_records_nothing():
    """Results made under no_grad are leaves, and backward refuses them; outside recording goes on.

    Rules: mode/no-grad-records-nothing, backward/root-needs-grad. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        y = (x * 2).sum()
    z = x * 2
    assert y.requires_grad is False and y.is_leaf is True and y.grad_fn is None
    assert z.requires_grad is True
    with refused("backward/root-needs-grad"):
        y.backward()


def no_grad_holds_for_whatever_is_made():
    """A copy, a cast, a detached tensor, a sum, a product and what several are joined to record nothing.

    Rule: mode/no-grad-records-nothing.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with torch.no_grad():
        a = x.clone()
        b = x.double()
        c = x.detach()
        d = x.sum()
        e = x @ x
        f = torch.cat([x, x])
    assert a.requires_grad is False and b.requires_grad is False and c.requires_grad is False
    assert d.requires_grad is False and e.requires_grad is False and f.requires_grad is False
    assert a.is_leaf is True and e.grad_fn is None and x.requires_grad is True


def a_write_under_no_grad_draws_nobody_in():
    """A plain buffer filled under no_grad stays plain. Rule: mode/no-grad-records-nothing."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.zeros(2)
    with torch.no_grad():
        b.copy_(x)
    assert b.tolist() == [1.0, 2.0] and b.requires_grad is False and b.is_leaf is True


def no_grad_is_a_constant_in_a_later_graph():
    """A result computed under no_grad passes no gradient.

    Rule: mode/no-grad-records-nothing. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        c = x * 5
    y = x * c
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 10.0]


def freezing_by_flag_and_by_mode_differ():
    """requires_grad_(False) freezes a tensor, no_grad a stretch of code with all tensors in it.

    Rules: mode/no-grad-records-nothing, requires_grad/any-input. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.tensor([2.0], requires_grad=True)
    x = torch.tensor([3.0], requires_grad=True)
    w.requires_grad_(False)
    y = w * x
    with torch.no_grad():
        z = w * x
    assert y.requires_grad is True and z.requires_grad is False
    y.backward()
    assert x.grad.tolist() == [2.0] and w.grad is None


def enable_grad_inside_no_grad():
    """enable_grad inside no_grad records; after its block no_grad holds again.

    Rules: mode/enable-grad-inside, mode/off-again-at-exit. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        with torch.enable_grad():
            y = x * 2
        z = x * 2
    assert y.requires_grad is True and y.grad_fn.name() == "MulBackward0"
    assert z.requires_grad is False


def set_grad_enabled_goes_by_its_flag():
    """set_grad_enabled(False) is no_grad, set_grad_enabled(True) is enable_grad.

    Rules: mode/set-grad-enabled, mode/restored-at-exit, mode/off-again-at-exit.
    Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.set_grad_enabled(False):
        y = x * 2
        with torch.set_grad_enabled(True):
            z = x * 2
        w = x * 2
    v = x * 2
    assert y.requires_grad is False and z.requires_grad is True
    assert w.requires_grad is False and v.requires_grad is True


def set_grad_enabled_acts_at_once():
    """Called as a function it changes the mode from there on. Rule: mode/set-grad-enabled-acts-at-once."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(True)
    z = x * 2
    assert y.requires_grad is False and z.requires_grad is True


def set_grad_enabled_takes_a_bool():
    """1 and None are no modes; the mode stays. Rule: mode/must-be-bool."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("mode/must-be-bool"):
        torch.set_grad_enabled(1)
    with refused("mode/must-be-bool"):
        torch.set_grad_enabled(None)
    y = x * 2
    assert y.requires_grad is True


def modes_decorate_functions():
    """A decorated function runs in its mode, whatever the mode of the caller.

    Rule: mode/decorator. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.no_grad()(lambda: x * 2)()
    with torch.no_grad():
        z = torch.enable_grad()(lambda: x * 2)()
        w = torch.set_grad_enabled(True)(lambda: x * 2)()
        v = x * 2
    u = torch.set_grad_enabled(False)(lambda: x * 2)()
    assert y.requires_grad is False and y.is_leaf is True
    assert z.requires_grad is True and w.requires_grad is True
    assert v.requires_grad is False and u.requires_grad is False


def the_mode_ends_with_the_decorated_call():
    """After the call the mode is what it was. Rules: mode/restored-at-exit, mode/decorator."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.no_grad()(lambda: x * 2)()
    z = x * 2
    assert y.requires_grad is False and z.requires_grad is True


def grad_mode_is_off_again_after_a_block_that_turned_it_on():
    """Recording that was turned on inside no_grad, by a block or a decorator, is off again after it.

    Rule: mode/off-again-at-exit.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        y = torch.enable_grad()(lambda: x * 2)()
        z = x * 2
        with torch.set_grad_enabled(True):
            w = x * 2
        v = x * 2
    assert y.requires_grad is True and z.requires_grad is False
    assert w.requires_grad is True and v.requires_grad is False


def no_grad_within_no_grad_ends_alone():
    """After the inner block recording is off still, whichever mode that set. Rule: mode/off-again-at-exit."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        with torch.no_grad():
            y = x * 2
        z = x * 2
        with torch.enable_grad():
            w = x * 2
        v = x * 2
    u = x * 2
    assert y.requires_grad is False and z.requires_grad is False
    assert w.requires_grad is True and v.requires_grad is False and u.requires_grad is True


def the_mode_ends_with_a_refusal_too():
    """A line that is refused under no_grad leaves the mode as the block does. Rule: mode/restored-at-exit."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        with refused("backward/root-needs-grad"):
            (x * 2).sum().backward()
    y = x * 2
    assert y.requires_grad is True


def a_block_that_fails_ends_its_mode():
    """The refusal passes through the block of no_grad, and recording goes on.

    Rule: mode/restored-after-an-error.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("backward/root-needs-grad"):
        with torch.no_grad():
            (x * 2).sum().backward()
    y = x * 2
    assert y.requires_grad is True


def a_function_that_fails_under_no_grad_ends_its_mode():
    """The refusal passes through the decorated call, and recording goes on.

    Rule: mode/restored-after-an-error.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("op/reshape-size"):
        torch.no_grad()(lambda: x.view(3))()
    y = x * 2
    assert y.requires_grad is True
    with refused("op/reshape-size"):
        torch.set_grad_enabled(False)(lambda: x.view(3))()
    z = x * 2
    assert z.requires_grad is True


def a_function_that_fails_while_it_records_ends_its_mode():
    """Inside no_grad a decorated call that records and is refused leaves no_grad as it was.

    Rule: mode/restored-after-an-error.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        with refused("op/reshape-size"):
            torch.enable_grad()(lambda: x.view(3))()
        y = x * 2
        with refused("op/reshape-size"):
            torch.set_grad_enabled(True)(lambda: x.view(3))()
        z = x * 2
    assert y.requires_grad is False and z.requires_grad is False


def a_function_that_fails_in_inference_mode_ends_its_mode():
    """After a refusal in a decorated call, tensors are ordinary again and recording goes on.

    Rule: mode/restored-after-an-error.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("op/reshape-size"):
        torch.inference_mode()(lambda: x.view(3))()
    y = x * 2
    z = torch.ones(2, requires_grad=True)
    assert y.requires_grad is True
    (y * z).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and z.grad.tolist() == [2.0, 4.0]


def factories_are_not_silenced():
    """requires_grad=True counts under no_grad. Rule: mode/creation-unaffected."""
    with torch.no_grad():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.zeros(2, requires_grad=True)
    assert x.requires_grad is True and y.requires_grad is True and x.is_leaf is True
    (x * y).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0] and y.grad.tolist() == [1.0, 2.0]


def flags_are_not_silenced():
    """The flag can be set and dropped under no_grad. Rule: mode/flag-setting-unaffected."""
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        x.requires_grad_()
        y.requires_grad = False
    assert x.requires_grad is True and y.requires_grad is False


def backward_runs_under_no_grad():
    """A graph recorded before is differentiated under no_grad as outside.

    Rule: mode/backward-under-no-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with torch.no_grad():
        y.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    z = (x * x).sum()
    with torch.no_grad():
        g = torch.autograd.grad(z, x)[0]
    assert g.tolist() == [2.0, 4.0] and g.requires_grad is False
