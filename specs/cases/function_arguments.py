"""The places of the arguments of custom functions."""

import torch

from specs.cases._measures import error_kinds


def arguments_by_name_have_a_place():
    """Those that can be given by name alone are refused, also where nobody gives them.

    Rules: function/keywords-have-a-place, function/backward-gives-the-gradients.
    """
    seen = []
    made = lambda forward: type(
        "Made",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(forward),
            "setup_context": staticmethod(lambda ctx, inputs, output: seen.append(len(inputs))),
            "backward": staticmethod(lambda ctx, g: (g * 7, None, None)),
        },
    )
    x = torch.tensor(3.0, requires_grad=True)
    placed = made(lambda x, by=2, to=1: x * by + to)
    named = made(lambda x, *, by=2: x * by)
    others = made(lambda x, by=2, **more: x * by)
    y = placed.apply(x, by=4)
    z = placed.apply(to=2, x=x)
    w = placed.apply(x, 3, to=5)
    assert y.item() == 13.0 and z.item() == 8.0 and w.item() == 14.0 and seen == [3, 3, 3]
    y.backward()
    assert x.grad.item() == 7.0
    calls = [lambda: named.apply(x), lambda: named.apply(x, by=4), lambda: others.apply(x, more=1)]
    assert error_kinds(calls) == "TTT" and seen == [3, 3, 3]
    wrong = [lambda: placed.apply(x, x=x), lambda: placed.apply(x, other=1), lambda: placed.apply(by=2)]
    assert error_kinds(wrong) == "TTT" and seen == [3, 3, 3]
    square = type(
        "Square",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x, by=2, to=1: x * by + to),
            "backward": staticmethod(lambda ctx, *g: (g[0] * 5, None, None)),
        },
    )
    u = square.apply(x, to=3, by=4)
    assert u.item() == 15.0
    u.backward()
    assert x.grad.item() == 12.0
    rest = [lambda: square.apply(x, to=3), lambda: square.apply(by=3), lambda: square.apply(x, 2, by=3)]
    assert error_kinds(rest) == "TTT"
