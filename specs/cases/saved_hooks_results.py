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


def hooks_are_refused_until_the_last_block_ends():
    """An inner block that ends leaves the outer one. Rule: saved_hooks/disabled-refused."""
    no = "we do not support saved tensor hooks"
    disabled = torch.autograd.graph.disable_saved_tensors_hooks
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    seen = []
    with disabled(no):
        with disabled(no), refused("saved_hooks/disabled-refused"), hooks:
            seen.append("inner")
        with refused("saved_hooks/disabled-refused"), hooks:
            seen.append("outer")
    with hooks, refused("saved_hooks/disabled-refused"), disabled(no):
        seen.append("within")
    assert seen == []
    with hooks:
        x = torch.ones(1, requires_grad=True)
        (x * x).backward()
    assert x.grad.tolist() == [2.0]


def a_write_is_seen_by_what_begins_where_it_begins():
    """Another view of the same memory, which begins elsewhere, is not copied before the write.

    Rules: saved_hooks/mutation-is-allowed, saved_hooks/mutation-inside-only.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        b = x * 1
        first, whole, last = b[:1] ** 2, b**2, b[1:] ** 2
        b.mul_(5)
        grads = [torch.autograd.grad(y.sum(), x, retain_graph=True)[0] for y in (first, whole, last)]
    assert [g.tolist() for g in grads] == [[4.0, 0.0], [4.0, 6.0], [0.0, 30.0]]


def a_hook_on_one_saved_tensor_gets_it_without_history():
    """Be it an operand or the result. Rule: saved_hooks/on-one-saved-tensor."""
    x = torch.tensor([2.0], requires_grad=True)
    seen = []
    pack = lambda given: (seen.append((given.requires_grad, given.is_leaf, given is x)), given)[1]
    y = x * x
    z = x.exp()
    y.grad_fn._raw_saved_self.register_hooks(pack, lambda given: given)
    z.grad_fn._raw_saved_result.register_hooks(pack, lambda given: given)
    assert seen == [(False, True, False), (False, True, False)]
    y.backward()
    assert x.grad.tolist() == [4.0]


def what_the_hooks_return_is_what_is_saved():
    """A tensor that needs no history comes as it is; a result comes with its history.

    Rules: op/derivatives-beyond-programs, saved_hooks/history-comes-back.
    """
    kept = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda given: given, lambda packed: kept):
        y = x * torch.zeros(2)
        z = x.softmax(0)
    assert [y.grad_fn._saved_other is kept, y.grad_fn._saved_other.requires_grad] == [True, False]
    assert [z.grad_fn._saved_result is kept, z.grad_fn._saved_result.requires_grad] == [False, True]
    (g,) = torch.autograd.grad(z, x, torch.tensor([1.0, 3.0]))
    assert g.tolist() == [-3.0, -1.0]
