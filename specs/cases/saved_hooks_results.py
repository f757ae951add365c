"""Hooks around results that an op saves of itself."""

import torch

from specs.case import refused


def a_result_is_packed_by_the_innermost_hooks():
    """As operands are. Rules: saved_hooks/innermost-alone, saved_hooks/pack-and-unpack."""
    seen = []
    around = torch.autograd.graph.saved_tensors_hooks
    note = lambda what: lambda t: (seen.append(what), t)[1]
    x = torch.tensor([1.0], requires_grad=True)
    with around(note("outer pack"), note("outer unpack")), around(note("pack"), note("unpack")):
        y = x.exp()
    y.backward()
    assert seen == ["pack", "unpack"]


def hooks_on_a_saved_result_may_not_write():
    """The snapshot counts writes, be it of an operand or of the result itself.

    Rules: saved_hooks/pack-in-place-refused, saved_hooks/on-one-saved-tensor.
    """
    x = torch.tensor([1.0], requires_grad=True)
    write = lambda t: (t.detach().mul_(2), t)[1]
    y = x.exp()
    with refused("saved_hooks/pack-in-place-refused"):
        y.grad_fn._raw_saved_result.register_hooks(write, lambda t: t)
    z = x * x
    with refused("saved_hooks/pack-in-place-refused"):
        z.grad_fn._raw_saved_self.register_hooks(write, lambda t: t)
    with torch.autograd.graph.saved_tensors_hooks(write, lambda t: t):
        with refused("saved_hooks/pack-in-place-refused"):
            x.exp()
