"""Told apart, the rest: classes, places and moments in which one part of a condition decides alone."""

import torch

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
