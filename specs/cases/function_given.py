"""Custom functions: what they are given, by place, by name, or not at all."""

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def an_argument_by_name_is_not_given_twice():
    """Nor is one left out before it. Rule: function/backward-gives-the-gradients."""
    seen = []
    members = {
        "forward": staticmethod(lambda ctx, x, a=1, b=2: (seen.append((a, b)), x * a * b)[1]),
        "backward": staticmethod(lambda ctx, g, *rest: (g * 5, None, None)),
    }
    scaled = type("Scaled", (torch.autograd.Function,), members)
    x = torch.tensor(3.0, requires_grad=True)
    calls = [lambda: scaled.apply(x, x=x), lambda: scaled.apply(x, b=3), lambda: scaled.apply(x, c=3)]
    calls += [lambda: scaled.apply(x, 1, a=1), lambda: scaled.apply(x, ctx=x), lambda: scaled.apply(a=1, b=2)]
    assert error_kinds(calls) == "TTTTTT" and seen == []
    y = scaled.apply(x, 4, 2)
    y.backward()
    assert y.item() == 24.0 and x.grad.item() == 5.0 and seen == [(4, 2)]


def a_gradient_that_is_none_is_not_asked_to_require_grad():
    """Beside one that does, the result of backward is not to be differentiated again.

    Rule: function/once-differentiable.
    """
    once = torch.autograd.function.once_differentiable
    seen = []
    members = {
        "forward": staticmethod(lambda ctx, x: (ctx.set_materialize_grads(False), x * 2, x * 3)[1:]),
        "backward": staticmethod(once(lambda ctx, a, b: (seen.append(b is None), a * 2)[1])),
    }
    pair = type("Pair", (torch.autograd.Function,), members)
    x = torch.tensor([1.0], requires_grad=True)
    w = torch.ones(1, requires_grad=True)
    a, b = pair.apply(x)
    g = torch.autograd.grad(a, x, w, create_graph=True)[0]
    assert g.tolist() == [2.0] and g.requires_grad is True and seen == [True]
    with refused("function/once-differentiable"):
        g.backward()
    a, b = pair.apply(x)
    h = torch.autograd.grad(a, x, torch.ones(1), create_graph=True)[0]
    assert h.requires_grad is False
