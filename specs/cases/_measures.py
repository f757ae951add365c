"""Inputs that chapters share, and what they read of results: numbers few enough to stand in a line.

Cases import what they call; `specs.case` binds it to the namespace that a case runs in.
"""

import types

import torch


def ramp(*shape):
    """Return numbers in a row, in that shape, that require grad."""
    count = torch.zeros(shape).numel()
    return torch.linspace(-2.0, 3.0, count, dtype=torch.float64).reshape(shape).requires_grad_()


def wave(*shape):
    """Return numbers on a wave, in that shape, that require grad."""
    count = torch.zeros(shape).numel()
    wave = torch.linspace(-4.0, 5.0, count, dtype=torch.float64).sin().mul(2.5)
    return wave.reshape(shape).requires_grad_()


def filled(m):
    """Fill the parameters of a module with numbers that are known, and return it."""
    for n, p in enumerate(m.parameters()):
        wave = torch.linspace(1.0, 7.0 + 0.25 * n, p.numel(), dtype=torch.float64).sin()
        p.data = wave.reshape(p.shape)
    return m


def graded(out, *inputs):
    """Return the shape of a result, its sum, each element times its number, and such sums of gradients."""
    numbered = lambda x: torch.arange(1.0, x.numel() + 1, dtype=torch.float64).reshape(x.shape)
    grads = torch.autograd.grad((out * numbered(out)).sum(), inputs, retain_graph=True)
    sums = [round((x.detach() * numbered(x)).sum().item(), 4) + 0.0 for x in (out, *grads)]
    return [tuple(out.shape), *sums]


def derivatives(out, *inputs):
    """Return the gradients for 1, 2 and so on upstream, then those of the sum of their squares."""
    upstream = torch.arange(1.0, out.numel() + 1, dtype=torch.float64).reshape(out.shape).requires_grad_()
    first = torch.autograd.grad(out, inputs, upstream, create_graph=True)
    total = sum((g * g).sum() for g in first)
    second = torch.autograd.grad(total, (*inputs, upstream), retain_graph=True, allow_unused=True)
    found = [g.detach().reshape(-1) + 0.0 for g in (*first, *second) if g is not None]
    return [[round(v, 5) + 0.0 for v in g.tolist()] for g in found]


def stepped(optimizer, x, *grads):
    """Return the values of a parameter after a step with each of these gradients."""
    values = []
    for g in grads:
        x.grad = torch.tensor([g, -2 * g], dtype=torch.float64)
        optimizer.step()
        values.append([round(v, 6) for v in x.tolist()])
    return values


def error_kinds(calls):
    """Return a letter for each call: that of its kind of error, "o" for other kinds, "-" without an error."""
    kinds = (IndexError, KeyError, TypeError, ValueError, NotImplementedError, AttributeError)
    found = ""
    for call in calls:
        try:
            call()
            found += "-"
        except Exception as error:
            found += next((kind.__name__[0] for kind in kinds if isinstance(error, kind)), "o")
    return found


def refusal_kinds(calls):
    """Return the letters of `error_kinds`. A function that is not there is no refusal."""

    def looked_up(call):
        try:
            return call()
        except AttributeError as error:
            if error.obj is torch or isinstance(error.obj, types.ModuleType):
                missing.append(error)
            raise

    missing = []
    kinds = error_kinds([lambda call=call: looked_up(call) for call in calls])
    if missing:
        raise missing[0]
    return kinds
