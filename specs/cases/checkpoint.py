"""torch.utils.checkpoint: a call that keeps its inputs and is computed again."""

import contextlib

import torch

from specs.case import refused, warned
from specs.cases._measures import error_kinds


def a_checkpoint_is_computed_again():
    """Each backward computes a checkpoint once more, by hooks or reentrantly, with the plain call's gradient.

    Rule: checkpoint/computes-again.
    """
    x = torch.tensor([2.0], requires_grad=True)
    calls = []
    f = lambda a: calls.append("run") or a * a
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    assert calls == ["run"] and y.requires_grad is True and y.grad_fn.name() == "MulBackward0"
    y.backward(retain_graph=True)
    y.backward()
    assert calls == ["run", "run", "run"] and x.grad.tolist() == [8.0]
    z = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=True)
    assert len(calls) == 4 and "Checkpoint" in z.grad_fn.name()
    z.backward()
    assert len(calls) == 5 and x.grad.tolist() == [12.0]


def checkpoint_keeps_no_results():
    """A checkpoint does not keep intermediate results, so a write to one goes unnoticed; a write to the
    input is refused.

    Rules: checkpoint/computes-again, save/modified-refused.
    """
    x = torch.tensor([2.0], requires_grad=True)
    made = []
    f = lambda a: made.append(a.exp()) or made[-1] * 1
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    made[0].detach().zero_()
    y.backward()
    assert x.grad.tolist() == x.detach().exp().tolist()
    b = x.detach().requires_grad_() * 1
    z = torch.utils.checkpoint.checkpoint(torch.exp, b, use_reentrant=False)
    b.mul_(2)
    with refused("save/modified-refused"):
        z.backward()


def hooks_see_the_arguments_alone():
    """Hooks are given the arguments of a checkpoint, once each, and not what is saved within.

    Rule: checkpoint/keeps-its-arguments-alone.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t is x) or t, lambda t: t):
        torch.utils.checkpoint.checkpoint(lambda a: a.exp() * a, x, use_reentrant=False)
    assert seen == [True]
    with torch.inference_mode(), torch.enable_grad():
        assert torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False).is_inference()


def second_run_stops_early():
    """The second run ends once everything that the first saved is there; a longer one does no harm.

    Rules: checkpoint/stops-early, checkpoint/saves-no-more-again.
    """
    x = torch.tensor([2.0], requires_grad=True)
    calls = []
    f = lambda a: [a.sin(), calls.append("after")][0]
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    y.backward()
    assert calls == ["after"]
    turns = [lambda a: a.sin(), lambda a: a.sin().cos()]
    z = torch.utils.checkpoint.checkpoint(lambda a: turns.pop(0)(a), x, use_reentrant=False)
    z.backward()
    assert x.grad.tolist() == (x.detach().cos() * 2).tolist()
    turns = [lambda a: a.sin(), lambda a: a.sin().cos()]
    with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        w = torch.utils.checkpoint.checkpoint(lambda a: turns.pop(0)(a), x, use_reentrant=False)
    with refused("checkpoint/saves-no-more-again"):
        w.backward()


def dropout_is_the_same_again():
    """The gradient is zero where the value was, by both ways. Rule: checkpoint/draws-the-same-again."""
    x = torch.ones(64, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(torch.nn.functional.dropout, x, use_reentrant=False)
    torch.rand(7)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist() and set(y.tolist()) == {0.0, 2.0}
    x.grad = None
    z = torch.utils.checkpoint.checkpoint(torch.nn.functional.dropout, x, use_reentrant=True)
    torch.rand(7)
    z.sum().backward()
    assert x.grad.tolist() == z.tolist()


def a_checkpoint_says_which_way():
    """Without use_reentrant it warns, and goes the reentrant way. Rule: checkpoint/says-which-way."""
    x = torch.tensor([2.0], requires_grad=True)
    with warned("checkpoint/says-which-way"):
        y = torch.utils.checkpoint.checkpoint(torch.exp, x)
    assert "Checkpoint" in y.grad_fn.name()


def reentrant_call_without_a_gradient_warns():
    """A parameter that the function uses does not count, and gets none.

    Rules: checkpoint/needs-an-input-that-requires-grad,
    checkpoint/reentrant-needs-an-output-that-requires-grad.
    """
    p = torch.tensor([2.0], requires_grad=True)
    with warned("checkpoint/needs-an-input-that-requires-grad"):
        y = torch.utils.checkpoint.checkpoint(lambda a: a * p, torch.ones(1), use_reentrant=True)
    assert y.requires_grad is False
    z = torch.utils.checkpoint.checkpoint(lambda a: a * p, torch.ones(1), use_reentrant=False)
    z.backward()
    assert p.grad.tolist() == [1.0]
    w = torch.utils.checkpoint.checkpoint(lambda a: a.detach(), p, use_reentrant=True)
    assert w.requires_grad is True
    with refused("checkpoint/reentrant-needs-an-output-that-requires-grad"):
        w.backward()


def reentrant_call_knows_no_grad():
    """grad() and backward(inputs=) are refused, and taken by hooks.

    Rule: checkpoint/reentrant-needs-a-whole-backward.
    """
    x = torch.tensor([2.0], requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(lambda a: a * 3, x, use_reentrant=True)
    with refused("checkpoint/reentrant-needs-a-whole-backward"):
        torch.autograd.grad(y, x, retain_graph=True)
    with refused("checkpoint/reentrant-needs-a-whole-backward"):
        y.backward(inputs=[x], retain_graph=True)
    assert x.grad is None
    z = torch.utils.checkpoint.checkpoint(lambda a: a * 3, x, use_reentrant=False)
    (g,) = torch.autograd.grad(z, x)
    assert g.tolist() == [3.0]


def second_run_must_do_the_same():
    """Fewer tensors, or one of another shape, are refused; the latter not without the check.

    Rules: checkpoint/saves-as-many-again, checkpoint/saves-alike-again.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    fewer = [lambda a: a.sin().cos(), lambda a: a.sin()]
    y = torch.utils.checkpoint.checkpoint(lambda a: fewer.pop(0)(a), x, use_reentrant=False).sum()
    with refused("checkpoint/saves-as-many-again"):
        y.backward()
    other = [lambda a: a.sin(), lambda a: a[:1].sin()] * 2
    z = torch.utils.checkpoint.checkpoint(lambda a: other.pop(0)(a), x, use_reentrant=False).sum()
    with refused("checkpoint/saves-alike-again"):
        z.backward()
    check = torch.utils.checkpoint.checkpoint
    w = check(lambda a: other.pop(0)(a), x, use_reentrant=False, determinism_check="none").sum()
    w.backward()
    assert x.grad.tolist() == [x[0].cos().item()] * 2


def what_is_computed_again_is_handed_out_once():
    """Outside of a backward what is saved can be looked at once, as it was computed again for it.

    Rule: checkpoint/unpacked-once-a-backward.
    """
    x = torch.tensor([2.0], requires_grad=True)
    packed = []
    y = torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False)
    node = y.grad_fn
    node.register_prehook(lambda g: packed.append(node._saved_result))
    with refused("checkpoint/unpacked-once-a-backward"):
        y.backward()
    assert packed[0].tolist() == y.tolist()


def reentrant_call_takes_no_options():
    """Keywords and contexts are for the hooks.

    Rules: checkpoint/keywords-by-hooks-only, checkpoint/contexts-by-hooks-only.
    """
    x = torch.tensor([2.0], requires_grad=True)
    checkpoint = torch.utils.checkpoint.checkpoint
    with refused("checkpoint/keywords-by-hooks-only"):
        checkpoint(lambda a, by: a * by, x, by=3, use_reentrant=True)
    with refused("checkpoint/contexts-by-hooks-only"):
        checkpoint(lambda a: a * 3, x, debug=True, use_reentrant=True)
    y = checkpoint(lambda a, by: a * by, x, by=3, use_reentrant=False)
    assert y.tolist() == [6.0]


def a_second_run_has_the_inputs_flags():
    """An input that requires no grad does not in the second run either; integers pass.

    Rule: checkpoint/computes-again.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = torch.tensor([4.0, 5.0])
    i = torch.tensor([1, 0])
    flags = []
    f = lambda a, b, index: (flags.append((a.requires_grad, b.requires_grad)), (a * b)[index])[1]
    torch.utils.checkpoint.checkpoint(f, x, y, i, use_reentrant=True).backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [40.0, 5.0] and y.grad is None
    torch.utils.checkpoint.checkpoint(f, x, y, i, use_reentrant=False).backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [80.0, 10.0] and y.grad is None
    assert flags == [(True, False)] * 4


def segments_of_a_checkpointed_sequence():
    """All but the last are computed again, and each is handed the result of the one before.

    Rule: checkpoint/computes-again.
    """
    x = torch.tensor([2.0], requires_grad=True)
    calls = []
    parts = [lambda a, n=n: (calls.append(n), a * a + n)[1] for n in range(5)]
    y = torch.utils.checkpoint.checkpoint_sequential(parts, 2, x, use_reentrant=False)
    assert calls == [0, 1, 2, 3, 4]
    y.backward()
    assert calls[5:] == [0, 1]
    calls.clear()
    z = torch.utils.checkpoint.checkpoint_sequential(
        parts, 3, x.detach().requires_grad_(), use_reentrant=True
    )
    z.backward()
    assert calls == [0, 1, 2, 3, 4, 1, 0]


def contexts_and_keywords_of_a_checkpoint():
    """One context for the first run, one for the second; keywords and several results pass.

    Rule: checkpoint/computes-again.
    """
    x = torch.tensor([2.0], requires_grad=True)
    modes = []
    f = lambda a, scale=1: (modes.append(torch.is_grad_enabled()), (a * a * scale, a.exp() * a))[1]
    noted = lambda name: type(
        "Noted", (), {"__enter__": lambda self: modes.append(name), "__exit__": lambda self, *error: None}
    )()
    contexts = lambda: (noted("first"), noted("second"))
    a, b = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False, scale=3, context_fn=contexts)
    (a * 10 + b * 0).backward()
    assert x.grad.tolist() == [120.0] and modes == ["first", True, "second", True]
    with torch.no_grad():
        c, d = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    assert c.requires_grad is False and modes[4:] == [False]
    with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        e, _ = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    (g,) = torch.autograd.grad(e, x)
    assert g.tolist() == [4.0] and modes[5:] == [True, True]


def the_innermost_setting_says_where_a_second_run_stops():
    """It goes before the argument of a call. Rule: checkpoint/stops-early."""
    c = torch.utils.checkpoint
    runs = []
    f = lambda a: (runs.append("begins"), a.sin().exp(), runs.append("ends"))[1]
    x = torch.tensor([1.0], requires_grad=True)
    made = [c.checkpoint(f, x, use_reentrant=False, early_stop=False)]
    with c.set_checkpoint_early_stop(True):
        made.append(c.checkpoint(f, x, use_reentrant=False, early_stop=False))
        with c.set_checkpoint_early_stop(False):
            made.append(c.checkpoint(f, x, use_reentrant=False))
    made.append(c.checkpoint(f, x, use_reentrant=False))
    del runs[:]
    counts = [(each.backward(), len(runs))[1] for each in made]
    assert counts == [2, 3, 5, 6]


def every_result_of_a_reentrant_call_goes_back():
    """Those without history are left out. Rule: checkpoint/draws-the-same-again."""
    torch.manual_seed(3)
    call = lambda f: torch.utils.checkpoint.checkpoint(f, x, y, use_reentrant=True)
    kept = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, 4.0], requires_grad=True)
    a, b = call(lambda u, v: (u * v, u + v))
    (a.sum() + 10 * b.sum()).backward()
    assert x.grad.tolist() == [13.0, 14.0] and y.grad.tolist() == [11.0, 12.0]
    c, _ = call(lambda u, v: (u * v, u.detach() + v.detach()))
    c.sum().backward()
    assert x.grad.tolist() == [16.0, 18.0]
    d = call(lambda u, v: (kept.append(torch.rand(2)), u * kept[-1])[1])
    d.sum().backward()
    assert len(kept) == 2 and kept[0].tolist() == kept[1].tolist()


def random_numbers_are_drawn_anew_if_asked_for():
    """Without the generator's state the second run draws others. Rule: checkpoint/draws-the-same-again."""
    kept = []
    f = lambda a: (kept.append(torch.rand(4)), a * kept[-1])[1]
    x = torch.ones(4, requires_grad=True)
    for_each = [
        {"use_reentrant": way, "preserve_rng_state": keep} for way in (True, False) for keep in (True, False)
    ]
    torch.manual_seed(3)
    [torch.utils.checkpoint.checkpoint(f, x, **how).sum().backward() for how in for_each]
    assert [a.tolist() == b.tolist() for a, b in zip(kept[::2], kept[1::2], strict=True)] == [
        True,
        False,
        True,
        False,
    ]


def what_nobody_waits_for_need_not_be_alike():
    """A branch that was dropped may save what it likes when it is computed again.

    Rules: checkpoint/saves-alike-again, checkpoint/computes-again.
    """
    runs = []
    branches = lambda a: (runs.append(1), (a * a).sum(), (a[: 2 if len(runs) == 1 else 1] ** 3).sum())[1:]
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    kept, dropped = torch.utils.checkpoint.checkpoint(branches, x, use_reentrant=False)
    del dropped
    kept.backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]
    runs.clear()
    _, awaited = torch.utils.checkpoint.checkpoint(branches, x, use_reentrant=False)
    with refused("checkpoint/saves-alike-again"):
        awaited.backward()


def a_setting_ends_with_its_block():
    """Also if the block fails: messages for debugging need contexts of their own.

    Rules: checkpoint/contexts-by-hooks-only, checkpoint/computes-again.
    """
    x = torch.ones(2, requires_grad=True)
    c = torch.utils.checkpoint
    run = lambda: c.checkpoint(
        lambda a: a * a, x, use_reentrant=False, context_fn=lambda: (contextlib.nullcontext(),) * 2
    )
    with contextlib.suppress(KeyError), c.set_checkpoint_debug_enabled(True):
        {}["missing"]
    run().sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with c.set_checkpoint_debug_enabled(True):
        assert error_kinds([run]) == "V"
    with refused("checkpoint/contexts-by-hooks-only"):
        c.checkpoint(lambda a: a * a, x, use_reentrant=True, debug=True)
