"""Tensors that backward saves, and changes to them before backward."""

import torch

from specs.case import refused


def addition_saves_nothing():
    """c += 1 between an addition and backward does no harm.

    Rule: save/only-what-a-formula-needs. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    c = a * b
    d = torch.tensor(4.0, requires_grad=True)
    e = c + d
    c += 1
    e.backward()
    assert c._version == 1
    assert a.grad.item() == 3.0 and b.grad.item() == 2.0 and d.grad.item() == 1.0


def multiplication_saves_its_operands():
    """c += 1 between a multiplication and backward is refused.

    Rule: save/modified-refused. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    c = a * b
    d = torch.tensor(4.0, requires_grad=True)
    e = c * d
    c += 1
    with refused("save/modified-refused"):
        e.backward()


def only_the_other_factor_is_saved():
    """If only x requires grad, x * w saves w and not x, so x may be written to.

    Rules: save/only-what-a-formula-needs, save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x + 0
    w = torch.tensor([3.0, 4.0])
    y = a * w
    a.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    z = x * w
    w.add_(1)
    s = z.sum()
    with refused("save/modified-refused"):
        s.backward()


def a_plain_saved_tensor_is_checked_too():
    """The version of a saved plain tensor is compared as well, and a write under no_grad counts.

    Rule: save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    y = (x * w).sum()
    with torch.no_grad():
        w.mul_(3)
    with refused("save/modified-refused"):
        y.backward()
    assert x.grad is None


def a_write_before_saving_does_no_harm():
    """The version at the time of saving counts. Rule: save/modified-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    w.add_(1)
    y = (x * w).sum()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def exp_saves_its_result():
    """Writing to the result of exp is refused by backward, writing to its operand is not.

    Rule: save/output-is-saved.
    """
    x = torch.tensor([0.0, 0.0], requires_grad=True)
    a = x * 1
    y = a.exp()
    a.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    z = x.exp()
    z.add_(1)
    s = z.sum()
    with refused("save/modified-refused"):
        s.backward()


def a_saved_result_outlives_its_history():
    """A result that was detached is still there for the node that made it. Rule: save/output-is-saved."""
    x = torch.tensor([0.0, 0.0], requires_grad=True)
    y = x.exp()
    s = y.sum()
    y.detach_()
    s.backward()
    assert x.grad.tolist() == [1.0, 1.0]


def a_saved_result_outlives_the_view_that_was_written():
    """Once the view is gone, the node that wrote it is its history. Rule: save/output-is-saved."""
    x = torch.tensor([0.0, 0.0], requires_grad=True)
    y = x.clone()
    y.view(2).exp_()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [1.0, 1.0]
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [1.0, 1.0]


def an_in_place_factor_saves_the_original():
    """y.mul_(u) differentiates u with the value y had before. Rule: save/in-place-saves-the-original."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([5.0, 6.0], requires_grad=True)
    y = x * 1
    y.mul_(u)
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 6.0]
    assert u.grad.tolist() == [1.0, 2.0]


def in_place_factors_in_a_row():
    """Each in-place op keeps the value before its own write. Rule: save/in-place-saves-the-original."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([5.0, 6.0], requires_grad=True)
    y = x * 1
    y.mul_(u)
    y.mul_(u)
    y.sum().backward()
    assert x.grad.tolist() == [25.0, 36.0]
    assert u.grad.tolist() == [10.0, 24.0]


def an_in_place_square_saves_the_original():
    """y.pow_(2) differentiates at the value y had before. Rule: save/in-place-saves-the-original."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y.pow_(2)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def an_in_place_product_with_itself_refuses_its_backward():
    """y.mul_(y) saves a copy for one factor, but the other factor is the written tensor itself.

    Rule: save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y.mul_(y)
    s = y.sum()
    with refused("save/modified-refused"):
        s.backward()


def freed_tensors_are_refused():
    """A node whose saved tensors are given up does not run.

    Rule: save/freed-refused. Source: seed 002_5576f5c856adb572.txt.
    """
    x = torch.tensor([0.0, 0.0], requires_grad=True)
    y = x.exp()
    z = y.sum()
    torch.autograd.grad(z, x)
    with refused("save/freed-refused"):
        torch.autograd.grad(z, x)
    assert x.grad is None


def slices_of_one_product_share_its_graph():
    """w * x computed once, its slices differentiated one after the other: the second finds the product freed.

    Rules: save/freed-refused, backward/frees-saved. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    x = torch.tensor([5.0, 7.0])
    f = w * x
    a = f[0] * 2
    a.backward()
    b = f[1] * 2
    with refused("save/freed-refused"):
        b.backward()
    f = w * x
    b = f[1] * 2
    b.backward()
    assert w.grad.tolist() == [10.0, 14.0]


def a_saved_tensor_detached_in_place_is_refused():
    """detach_() of a saved non-leaf makes the backward that needs its history fail.

    Rule: save/detached-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    y = b * b
    b.detach_()
    s = y.sum()
    with refused("save/detached-refused"):
        s.backward()


def what_has_hooks_and_is_freed_takes_no_others():
    """It is told that it was freed. Rules: saved_hooks/freed-takes-none, saved_hooks/one-pair-each."""
    x = torch.tensor([2.0], requires_grad=True)
    y = x.exp()
    saved = y.grad_fn._raw_saved_result
    saved.register_hooks(lambda t: t, lambda t: t)
    with refused("saved_hooks/one-pair-each"):
        saved.register_hooks(lambda t: t, lambda t: t)
    y.backward()
    with refused("saved_hooks/freed-takes-none"):
        saved.register_hooks(lambda t: t, lambda t: t)


def numbers_are_not_freed():
    """An op that saved a plain number alone can be gone through again; a factor is saved as a tensor.

    Rule: save/freed-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.lerp(x, torch.tensor([3.0, 4.0]), 0.25).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [1.5, 1.5]
    z = (x * 0.5).sum()
    z.backward()
    with refused("save/freed-refused"):
        z.backward()


def a_saved_output_knows_its_number():
    """The second of two outputs comes back as the second, and its gradient goes there.

    Rule: function/is-recorded.
    """
    kept = []
    both = type(
        "Both",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(
                lambda ctx, x: (
                    kept.append((x * 2, x.exp())),
                    ctx.save_for_backward(*kept[-1]),
                    kept.pop(),
                )[2]
            ),
            "backward": staticmethod(lambda ctx, g, h: g * 2 + h * ctx.saved_tensors[1]),
        },
    )
    x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    _, y = both.apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert y.output_nr == 1 and h.tolist() == y.tolist()


def a_write_to_a_view_is_gone_through_once():
    """The base's history is freed with it, though no tensor was saved. Rule: save/freed-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    y[:1].add_(1.0)
    y.sum().backward()
    with refused("save/freed-refused"):
        y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
