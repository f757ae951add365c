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


def inference_tensors_are_not_written_where_versions_count():
    """Nor do tensors that are gone stand before those that wait.

    Rules: inference/has-no-version, saved_hooks/mutation-is-allowed.
    """
    allowed = torch.autograd.graph.allow_mutation_on_saved_tensors
    x = torch.tensor([2.0], requires_grad=True)
    with torch.inference_mode():
        i = torch.ones(2)
    with allowed(), torch.inference_mode():
        with refused("inference/has-no-version"):
            i.add_(1)
    with allowed():
        b = x * 1
        gone = [b.view(1).sin() for _ in range(9)]
        kept = [b.view(1).square() for _ in range(3)]
        gone.clear()
        b.zero_()
        assert [torch.autograd.grad(y, x, retain_graph=True)[0].item() for y in kept] == [4.0] * 3


def an_unpacked_tensor_requires_grad_as_the_saved_one_did():
    """A hook that gives one that does adds nothing.

    Rules: saved_hooks/history-comes-back, saved_hooks/asked-each-time.
    """
    around = torch.autograd.graph.saved_tensors_hooks
    w = torch.tensor([2.0], requires_grad=True)
    c = torch.tensor([3.0])
    with around(lambda t: t, lambda t: t.detach().requires_grad_()):
        y = w * c
        z = w * w
    g = torch.autograd.grad(y, w, create_graph=True)[0]
    assert g.tolist() == [3.0] and g.requires_grad is False
    h = torch.autograd.grad(z, w, create_graph=True)[0]
    assert torch.autograd.grad(h, w)[0].tolist() == [2.0]
