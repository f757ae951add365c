"""Hooks around what is saved for backward."""

import torch

from specs.case import refused


def backward_uses_what_hooks_make():
    """Doubling a tensor in pack or unpack doubles it in the gradient, outside of the block as well.

    Rule: saved_hooks/pack-and-unpack.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: t * 2 if t.is_floating_point() else t, lambda t: t
    ):
        y = x * x
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: t, lambda t: t * 2 if t.is_floating_point() else t
    ):
        z = x * x
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]
    z.sum().backward()
    assert x.grad.tolist() == [8.0, 16.0]


def positions_in_a_list_are_saved_as_a_tensor():
    """Positions are saved as a tensor, which goes through the hooks like any other.

    Rules: saved_hooks/pack-and-unpack, saved_hooks/unpack-gives-a-tensor.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 3, lambda t: t):
        y = x[[1, 0]]
    with refused("saved_hooks/unpack-gives-a-tensor"):
        y.sum().backward()


def hooks_see_what_is_saved():
    """pack is called as a product saves its factors, unpack when backward needs them, outside of the block.

    Rule: saved_hooks/asked-each-time.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    packed, unpacked = [], []
    pack = lambda t: packed.append(t.tolist()) or t * 10
    unpack = lambda t: unpacked.append(t.tolist()) or t
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).sum()
    assert packed == [[1.0, 2.0], [1.0, 2.0]] and unpacked == []
    y.backward()
    assert unpacked == [[10.0, 20.0], [10.0, 20.0]]
    assert x.grad.tolist() == [20.0, 40.0]


def an_inference_tensor_with_a_counter_is_not_unpacked():
    """One that was detached outside has a counter; one that was not takes the place of a saved result.

    Rule: saved_hooks/unpack-gives-no-counter.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        made = torch.tensor([3.0, 4.0])
    detached = made.detach()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: made):
        y = x.exp()
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: detached):
        z = x.exp()
    with refused("saved_hooks/unpack-gives-no-counter"):
        z.sum().backward()


def a_packed_result_whose_data_is_of_inference_mode_is_not_unpacked():
    """The pack hook received the result itself, which became an inference tensor and kept its counter.

    Rule: saved_hooks/unpack-gives-no-counter.
    """
    x = torch.tensor(2.0, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp()
    z = y * 2
    with torch.inference_mode():
        y.data = torch.tensor(3.0)
    with refused("saved_hooks/unpack-gives-no-counter"):
        z.backward()
    assert x.grad is None


def unpack_is_called_each_time():
    """A second backward through a graph that was kept unpacks again, and packs nothing.

    Rule: saved_hooks/asked-each-time.
    """
    x = torch.tensor([3.0], requires_grad=True)
    calls = []
    pack = lambda t: calls.append("pack") or t
    unpack = lambda t: calls.append("unpack") or t
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp()
    y.backward(retain_graph=True)
    y.backward()
    assert calls == ["pack", "unpack", "unpack"]


def addition_calls_no_hook():
    """Nothing is packed if nothing is saved or recorded.

    Rules: save/only-what-a-formula-needs, saved_hooks/asked-each-time.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    packed = []
    pack = lambda t: packed.append(t) or t
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = x + 1
        z = x.detach() * 2
        assert packed == []
        (x * z).sum().backward()
    assert len(packed) == 1 and y.requires_grad is True


def innermost_pair_alone_is_called():
    """The inner of two pairs of hooks is called, and the outer one is not.

    Rule: saved_hooks/innermost-alone.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: t * 2 if t.is_floating_point() else t, lambda t: t
    ):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t.clone()):
            y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def packing_is_not_recorded():
    """Within pack grad mode is off: what is made there is plain, though the tensor given requires grad.

    Rule: saved_hooks/pack-records-nothing.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    pack = lambda t: seen.append(((t * 2).requires_grad, t.requires_grad)) or t
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = x.exp() * x
    assert y.requires_grad is True
    assert seen == [(False, True), (False, True), (False, True)]


def second_derivative_through_hooks():
    """A tensor that pack or unpack detaches is connected again. Rule: saved_hooks/history-comes-back."""
    x = torch.tensor([3.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        y = x * x
        z = y * x
        (g,) = torch.autograd.grad(z, x, create_graph=True)
    assert g.tolist() == [27.0]
    g.backward()
    assert x.grad.tolist() == [18.0]


def what_was_packed_of_a_no_grad_view_fills_nothing():
    """A view that requires grad through its base alone gets no gradient through what unpack gives either.

    Rules: saved_hooks/history-comes-back, view/no-grad-tag.
    """
    x = torch.tensor([3.0], requires_grad=True)
    y = torch.tensor([2.0], requires_grad=True)
    with torch.no_grad():
        v = x.view(1)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        z = v * y
    (g,) = torch.autograd.grad(z, y, create_graph=True)
    assert g.tolist() == [3.0] and g.requires_grad is True
    g.backward()
    assert v.grad is None and x.grad is None


def packed_copy_survives_a_write():
    """A packed copy does not mind that the original is written to, a packed original does so silently.

    Rule: saved_hooks/packed-has-no-version.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t.clone()):
        y = x * x
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        z = x * x
    with torch.no_grad():
        x.fill_(9.0)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    x.grad = None
    z.sum().backward()
    assert x.grad.tolist() == [18.0, 18.0]


def what_hooks_may_not_do():
    """A pack hook that writes to its tensor is refused at once, an unpack hook without a tensor at backward.

    Rules: saved_hooks/pack-in-place-refused, saved_hooks/unpack-gives-a-tensor.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    one = torch.tensor([1.0, 1.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        with refused("saved_hooks/pack-in-place-refused"):
            x * one
    assert one.tolist() == [2.0, 2.0] and x.tolist() == [1.0, 2.0]
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 3, lambda t: t):
        y = x * x
    with refused("saved_hooks/unpack-gives-a-tensor"):
        y.sum().backward()


def hooks_can_be_disabled():
    """Disabled, hooks are refused with the message given, and hooks in force refuse to be disabled.

    Rule: saved_hooks/disabled-refused.
    """
    hooks, disabled = (
        torch.autograd.graph.saved_tensors_hooks,
        torch.autograd.graph.disable_saved_tensors_hooks,
    )
    no = "we do not support saved tensor hooks"
    with disabled(no), refused("saved_hooks/disabled-refused"), hooks(lambda t: t, lambda t: t):
        torch.is_grad_enabled()
    with hooks(lambda t: t, lambda t: t), refused("saved_hooks/disabled-refused"), disabled(no):
        torch.is_grad_enabled()
    with hooks(lambda t: t, lambda t: t):
        assert torch.is_grad_enabled() is True


def hooks_of_one_saved_tensor():
    """A raw saved tensor takes one pair of hooks, before it is freed.

    Rules: saved_hooks/on-one-saved-tensor, saved_hooks/one-pair-each, saved_hooks/freed-takes-none.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(lambda t: t * 5, lambda t: t)
    with refused("saved_hooks/one-pair-each"):
        raw.register_hooks(lambda t: t, lambda t: t)
    other = y.grad_fn._raw_saved_other
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
    with refused("saved_hooks/freed-takes-none"):
        other.register_hooks(lambda t: t, lambda t: t)


def written_saved_tensors_can_be_allowed():
    """In the block that allows it, backward gets what was saved as it was before the write.

    Rules: saved_hooks/mutation-is-allowed, saved_hooks/mutation-not-nested.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    allowing = torch.autograd.graph.allow_mutation_on_saved_tensors
    with allowing():
        y = x * 1
        z = y * y
        y.mul_(3)
        z.sum().backward()
        assert x.grad.tolist() == [2.0, 4.0]
        with refused("saved_hooks/mutation-not-nested"):
            allowing().__enter__()


def allowed_writes_end_with_the_block():
    """Outside of the block what it recorded cannot be differentiated.

    Rule: saved_hooks/mutation-inside-only.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        z = (x * x).sum()
    with refused("saved_hooks/mutation-inside-only"):
        z.backward()
    assert x.grad is None


def saving_on_the_cpu_changes_no_gradient():
    """save_on_cpu() is a pair of hooks, in place of those around it: backward gets what was saved.

    Rules: saved_hooks/pack-and-unpack, saved_hooks/innermost-alone.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: t * 2 if t.is_floating_point() else t, lambda t: t
    ):
        with torch.autograd.graph.save_on_cpu():
            y = x * x
        z = x * x
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    z.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def write_whose_result_could_not_be_packed_has_happened():
    """The history is that of the write, and what it should have saved is missing.

    Rule: saved_hooks/failed-pack-saves-nothing.
    """
    x = torch.tensor([4.0, 9.0], requires_grad=True)
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        with refused("saved_hooks/pack-in-place-refused"):
            y.sqrt_()
    assert y.tolist() == [4.0, 6.0] and y.grad_fn.name() == "SqrtBackward0"
    with refused("saved_hooks/failed-pack-saves-nothing"):
        y.sum().backward()
    assert x.grad is None


def gradient_that_does_not_need_the_result_that_could_not_be_packed():
    """Only the exponent's formula needs the result. Rule: saved_hooks/failed-pack-saves-nothing."""
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    n = torch.tensor([2.0, 2.0], requires_grad=True)
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: t.mul_(2) if t.tolist() == [1.0, 16.0] else t, lambda t: t
    ):
        with refused("saved_hooks/pack-in-place-refused"):
            y.pow_(n)
    y.sum().backward(inputs=[x], retain_graph=True)
    assert x.grad.tolist() == [2.0, 8.0]
    with refused("saved_hooks/failed-pack-saves-nothing"):
        y.sum().backward()
    assert n.grad is None


def positions_that_a_hook_spoils():
    """A pack hook of a later node that writes to it spoils it for the node that saved it.

    Rules: saved_hooks/pack-and-unpack, save/modified-refused.
    """
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = a.mul(0.0)
    b[[0]] = 1.0
    g = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        with refused("saved_hooks/pack-in-place-refused"):
            b.backward(g, create_graph=True)
    with refused("save/modified-refused"):
        b.backward(g)
