"""torch.func: functions that say themselves how they are mapped, and random numbers in a map."""

import torch

from specs.case import refused
from specs.cases._functions import Double
from specs.cases._measures import error_kinds


class _Ruled(torch.autograd.Function):
    """A function whose ``vmap`` is what ``rule`` says."""

    @staticmethod
    def forward(x, factor=2):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


class _Doubled(_Ruled):
    """Its rule gives two results, of which the second is the same for all elements."""

    @staticmethod
    def forward(x):
        return x * 2, x.sum(0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = 2

    @staticmethod
    def backward(ctx, g, s):
        return g * ctx.factor

    @staticmethod
    def vmap(info, in_dims, x):
        return (x * 2, x.sum(in_dims[0])), (in_dims[0], None)


class _Told(_Ruled):
    """Its rule notes what it is told, and multiplies by ten times the factor."""

    told = []

    @staticmethod
    def vmap(info, in_dims, x, factor):
        _Told.told.append((info.batch_size, info.randomness, in_dims, tuple(x.shape), factor))
        return x * factor * 10, in_dims[0]


class _Alone(_Ruled):
    @staticmethod
    def vmap(info, in_dims, x, factor):
        return x * factor


class _WithThree(_Ruled):
    @staticmethod
    def vmap(info, in_dims, x, factor):
        return x * factor, in_dims[0], 0


class _OfOneInTwo(_Ruled):
    @staticmethod
    def vmap(info, in_dims, x, factor):
        return x * factor, (in_dims[0], 0)


class _Twice(_Ruled):
    generate_vmap_rule = True

    @staticmethod
    def vmap(info, in_dims, x, factor):
        return x * factor, in_dims[0]


def a_function_says_how_it_is_mapped():
    """Its rule is called once for all elements, with the dimensions that they are along, and what it gives
    may be the same for all; without a rule of its own a function is refused.

    Rule: functional/vmap-needs-a-rule.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with refused("functional/transforms-need-setup-context"):
        torch.func.vmap(Double.apply)(m)
    with refused("functional/vmap-needs-a-rule"):
        torch.func.vmap(_Ruled.apply)(m)
    _Told.told.clear()
    assert torch.func.vmap(_Told.apply)(m).tolist() == [[20.0, 40.0], [60.0, 80.0], [100.0, 120.0]]
    assert torch.func.vmap(lambda v: _Told.apply(v, 3), in_dims=1)(m).shape == (2, 3)
    assert torch.func.vmap(lambda v: _Told.apply(v.sum() + v))(m).tolist()[2] == [320.0, 340.0]
    assert torch.func.vmap(lambda v: _Told.apply(v[0]))(m[:0]).shape == (0,)
    assert _Told.told == [
        (3, "error", (0, None), (3, 2), 2),
        (2, "error", (1, None), (3, 2), 3),
        (3, "error", (0, None), (3, 2), 2),
        (0, "error", (0, None), (0,), 2),
    ]
    assert _Told.apply(m).tolist() == (m * 2).tolist()
    both = torch.func.vmap(_Doubled.apply)(m)
    assert both[0].tolist() == [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]
    assert both[1].tolist() == [[9.0, 12.0], [9.0, 12.0], [9.0, 12.0]]


def a_rule_gives_a_result_and_its_dimensions():
    """Two of them, as many dimensions as results, and it is the one rule that there is.

    Rule: functional/vmap-needs-a-rule.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with refused("functional/vmap-needs-a-rule"):
        torch.func.vmap(_Ruled.apply)(m)
    several = [_Alone, _WithThree, _OfOneInTwo, _Twice]
    assert error_kinds([lambda f=f: torch.func.vmap(f.apply)(m) for f in several]) == "oooo"
    assert error_kinds([lambda f=f: f.apply(m) for f in several]) == "----"


def random_writes_differ_where_elements_do():
    """Numbers that differ are written into what stands for many alone; the same go anywhere.

    Rules: functional/vmap-randomness-fits, functional/vmap-randomness-is-chosen.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    z = m * 0
    with refused("functional/vmap-randomness-fits"):
        torch.func.vmap(lambda v: torch.zeros(2).uniform_() + v, randomness="different")(m)
    with refused("functional/vmap-randomness-fits"):
        torch.func.vmap(lambda v: v.clone().bernoulli_(v), randomness="same")(z)
    with refused("functional/vmap-randomness-is-chosen"):
        torch.func.vmap(lambda v: v.clone().uniform_())(m)
    own = torch.func.vmap(lambda v: v.clone().uniform_(), randomness="different")(m)
    assert own.shape == (3, 2) and own[0].tolist() != own[1].tolist()
    same = torch.func.vmap(lambda v: v.clone().uniform_(), randomness="same")(m)
    assert same[0].tolist() == same[1].tolist() == same[2].tolist()
    plain = torch.func.vmap(lambda v: torch.zeros(2).uniform_() + v * 0, randomness="same")(m)
    assert plain[0].tolist() == plain[1].tolist() == plain[2].tolist()
    assert (
        torch.func.vmap(lambda v: v.clone().bernoulli_(v), randomness="different")(z).tolist() == z.tolist()
    )


def probabilities_of_many_are_not_written_into_one():
    """A tensor that is the same for all elements cannot hold numbers that are not.

    Rules: functional/vmap-writes-into-batched, functional/vmap-takes-no-numbers.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    z = m * 0
    with refused("functional/vmap-writes-into-batched"):
        torch.func.vmap(lambda v: torch.zeros(2).bernoulli_(v), randomness="different")(z)
    with refused("functional/vmap-takes-no-numbers"):
        torch.func.vmap(lambda v: f"{v.sum():.2f}")(m)
    assert error_kinds([lambda: torch.func.vmap(lambda v: f"{v:.2f}")(m)]) == "T"
