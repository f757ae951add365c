"""Told apart, the rest: classes, places and moments in which one part of a condition decides alone."""

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def classes_of_parameters_take_their_own_keywords():
    """Those in a class statement go to the class that asks for them. Rule: nn/parameter-requires-grad."""
    made = []
    made.append(
        type(
            "Tagged",
            (torch.nn.Parameter,),
            {"__init_subclass__": classmethod(lambda cls, tag: setattr(cls, "tag", tag))},
        )
    )
    made.append(type("Named", (made[0],), {}, tag=5))
    p = made[1](torch.ones(2))
    assert p.tag == 5 and p.requires_grad is True and isinstance(p, torch.nn.Parameter)
    assert error_kinds([lambda: type("Plain", (torch.nn.Parameter,), {}, tag=5)]) == "T"
    assert error_kinds([lambda: type("Bare", (made[0],), {})]) == "T"


def decompositions_within_a_map_stand_for_many():
    """Their results, and their gradients, also where the upstream one is the same for all.

    Rule: functional/vmap-takes-no-numbers.
    """
    m = torch.tensor([[2.0, 4.0], [1.0, 2.0]], dtype=torch.float64)
    grad, vmap, vjp = torch.func.grad, torch.func.vmap, torch.func.vjp
    one = torch.ones((), dtype=torch.float64)
    rounded = lambda x: [[round(v, 4) + 0.0 for v in row] for row in x.tolist()]
    least = lambda x: torch.linalg.eigvalsh(x.diag()).prod()
    upper = lambda x: torch.linalg.qr(x.diag() + 1)[1].sum()
    log = lambda x: torch.linalg.slogdet(x.diag())[1]
    assert rounded(vmap(grad(least))(m)) == [[4.0, 2.0], [2.0, 1.0]]
    assert rounded(vmap(grad(log))(m)) == [[0.5, 0.25], [1.0, 0.5]]
    assert rounded(grad(lambda q: vmap(log)(q).sum())(m)) == [[0.5, 0.25], [1.0, 0.5]]
    assert rounded(vmap(grad(upper))(m)) == rounded(vmap(lambda x: vjp(upper, x)[1](one)[0])(m))
    assert rounded(vmap(lambda x: vjp(least, x)[1](one)[0])(m)) == [[4.0, 2.0], [2.0, 1.0]]
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda x: vjp(upper, x)[1](one)[0][0].item())(m)
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda x: log(x).item())(m)


def writes_through_views_within_a_map():
    """Gradients of what was written stand for as many as those that come in.

    Rules: functional/vmap-writes-into-batched, write/rewrites-the-base.
    """
    m = torch.tensor([[2.0, 3.0], [0.5, 1.0]])
    grad, vmap, vjp = torch.func.grad, torch.func.vmap, torch.func.vjp
    times = lambda x: (lambda c: (c[:1].mul_(x[1]), c)[1])(x.clone()).sum()
    taken = lambda x: (lambda c: (c.__setitem__(0, x[1] * 2), c)[1])(x.clone()).sum()
    strided = lambda x: (x * x).as_strided((2, 2), (0, 1)).prod()
    assert vmap(grad(times))(m).tolist() == [[3.0, 3.0], [1.0, 1.5]]
    assert vmap(grad(taken))(m).tolist() == [[0.0, 3.0], [0.0, 3.0]]
    assert vmap(grad(strided))(m).tolist() == [[2592.0, 1728.0], [0.5, 0.25]]
    assert grad(lambda q: vmap(times)(q).sum())(m).tolist() == [[3.0, 3.0], [1.0, 1.5]]
    assert vmap(lambda x: vjp(taken, x)[1](torch.ones(()))[0])(m).tolist() == [[0.0, 3.0], [0.0, 3.0]]
    with refused("functional/vmap-writes-into-batched"):
        vmap(lambda x: vjp(times, x)[1](torch.ones(()))[0])(m)
