"""Operands in several places: numbers, positions, and what is refused first."""

import torch

from specs.case import refused


def two_numbers_do_not_go_with_a_tensor():
    """One operand may be a number from the CPU, not two.

    Rules: device/number-goes-with-all, device/one-for-all.
    """
    x = torch.tensor([3.0, 4.0], device="cuda")
    a = torch.tensor(2.0)
    y = torch.addcmul(x, x, a)
    assert y.tolist() == [9.0, 12.0]
    with refused("device/one-for-all"):
        torch.addcmul(x, a, a)
    with refused("device/one-for-all"):
        x.addcdiv(a, a)


def a_write_is_refused_before_places_are_looked_at():
    """A write that autograd cannot track is refused first, wherever the operand is.

    Rules: write/leaf-refused, write/no-grad-view-refused, device/one-for-all.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    y = torch.tensor([3.0, 4.0])
    with refused("write/leaf-refused"):
        x.add_(y)
    with refused("write/leaf-refused"):
        x.index_add_(0, torch.tensor([0, 1]), y)
    z = x * 1
    with torch.no_grad():
        v = z[:]
    with refused("write/no-grad-view-refused"):
        v.mul_(y)
    with refused("device/one-for-all"):
        z.add_(y)
    assert z._version == 0 and v.tolist() == [1.0, 2.0]


def positions_on_another_device_are_refused():
    """They may be on the CPU, not on a second device.

    Rules: device/one-for-all, device/indices-may-be-on-the-cpu.
    """
    x = torch.tensor([3.0, 4.0], device="cuda:0")
    i = torch.tensor([1], device="cuda:1")
    with refused("device/one-for-all"):
        x[i]
    with refused("device/one-for-all"):
        x[i] = 1.0
    with refused("device/one-for-all"):
        x.cpu()[i]
    assert x.tolist() == [3.0, 4.0]


def a_complex_number_fills_beside_itself():
    """On one device its real part is copied; from another it is refused, whichever of both is the CPU.

    Rules: device/copy-crosses, op/value-overflow.
    """
    x = torch.zeros(2, device="cuda")
    c = torch.tensor(complex(1.0, 2.0), device="cuda")
    x.fill_(c)
    assert x.tolist() == [1.0, 1.0]
    y = torch.zeros(2)
    with refused("op/value-overflow"):
        y.fill_(c)
    with refused("op/value-overflow"):
        x.fill_(c.cpu())
    assert y.tolist() == [0.0, 0.0]


def a_number_fills_with_its_gradient():
    """The gradient is a sum where the number is. Rule: device/copy-crosses."""
    w = torch.tensor(3.0, requires_grad=True, device="cuda")
    x = torch.ones(2, device="cuda").fill_(w)
    x.sum().backward()
    assert x.tolist() == [3.0, 3.0] and w.grad.item() == 2.0 and str(w.grad.device) == "cuda:0"
    y = torch.ones(2).fill_(w)
    assert str(y.device) == "cpu" and y.grad_fn.name() == x.grad_fn.name()
    y.sum().backward()
    assert w.grad.item() == 4.0 and str(w.grad.device) == "cuda:0"


def a_choice_is_among_numbers_of_the_cpu_too():
    """Both may be such, beside a condition on a device. Rule: device/number-goes-with-all."""
    m = torch.tensor([True, False], device="cuda")
    x = torch.tensor([3.0, 4.0], device="cuda")
    a = torch.tensor(1.0)
    y = torch.where(m, a, torch.tensor(2.0))
    assert y.tolist() == [1.0, 2.0] and str(y.device) == "cuda:0"
    z = torch.where(m, x, a)
    assert z.tolist() == [3.0, 1.0] and (x * a).tolist() == [3.0, 4.0]


def means_of_inference_tensors_differ_by_device():
    """On the CPU the sum is divided where it was written, which is refused; on a device it is not.

    Rules: inference/alone-but-for-calls, write/out-is-not-recorded.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 3.0], requires_grad=True)
        y = torch.tensor([1.0, 3.0], requires_grad=True, device="cuda")
    with refused("write/out-is-not-recorded"):
        x.mean()
    z = y.mean()
    assert z.item() == 2.0 and z.requires_grad is False


def a_default_device_is_for_what_is_made():
    """Factories and modules use it, unless they are told another; what is like a tensor stays beside it.

    Rule: device/default-is-for-what-is-made.
    """
    x = torch.ones(2)
    with torch.device("cuda"):
        made = [torch.zeros(2), torch.tensor(1.0), torch.randn(2), torch.nn.Linear(2, 1).weight]
        others = [torch.zeros(2, device="cpu"), torch.zeros_like(x), x.new_ones(1), x * 2, x]
        assert torch.get_default_device().type == "cuda"
        assert torch.as_tensor(x).is_cuda
    assert all(each.is_cuda for each in made) and all(each.is_cpu for each in others)
    torch.set_default_device("cuda")
    y = torch.ones(2)
    torch.set_default_device(None)
    assert y.is_cuda and torch.ones(2).is_cpu
    assert torch.get_default_device().type == "cpu"


def what_is_put_fits_before_its_place_is_looked_at():
    """Sizes are refused first, then devices. Rules: device/one-for-all, op/index-put-shape."""
    x = torch.tensor([1.0, 2.0, 3.0], device="cuda")
    i = torch.tensor([0, 2])
    with refused("op/index-put-shape"):
        x[i] = torch.ones(3)
    with refused("device/one-for-all"):
        x[i] = torch.ones(2)
    x[i] = torch.tensor(5.0)
    assert x.tolist() == [5.0, 2.0, 5.0]


def what_cannot_be_saved_is_refused_before_places_are_looked_at():
    """An inference tensor beside one that requires grad, wherever it is.

    Rules: inference/not-saved, device/one-for-all.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    with torch.inference_mode():
        i = torch.tensor([3.0, 4.0])
    with refused("inference/not-saved"):
        x * i
    with refused("device/one-for-all"):
        x + i
    with refused("device/one-for-all"):
        x.detach() * i
    y = x * 1
    with refused("inference/not-saved"):
        y.mul_(i)
    assert y._version == 0


def a_number_of_the_cpu_excuses_no_other_operand():
    """Positions on a second device are refused all the same.

    Rules: device/one-for-all, device/number-goes-with-all.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device="cuda:0")
    i = torch.tensor([1], device="cuda:1")
    five = torch.tensor(5.0)
    x[torch.tensor([0]), torch.tensor([1])] = five
    with refused("device/one-for-all"):
        x[i, i] = five
    with refused("device/one-for-all"):
        x[torch.tensor([0]), i] = five
    assert x.tolist() == [[1.0, 5.0], [3.0, 4.0]]


def zeros_without_memory_go_with_few_ops_anywhere():
    """They are added and multiplied wherever they are, and compared beside themselves alone.

    Rules: device/zeros-meet-all, device/one-for-all.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (z,) = torch.autograd.grad(g.sum(), x)
    y = torch.ones(2)
    assert (z + y).tolist() == [1.0, 1.0]
    with refused("device/one-for-all"):
        z.maximum(y)
    with refused("device/one-for-all"):
        z.eq(y)
    with refused("device/one-for-all"):
        z.atan2(y)


def a_value_that_fills_has_no_dimensions():
    """Be it there or elsewhere. Rules: op/fill-value, device/copy-crosses."""
    x = torch.zeros(2, device="cuda")
    a = torch.tensor(3.0)
    b = torch.tensor([3.0])
    with refused("op/fill-value"):
        x.fill_(b)
    with refused("op/fill-value"):
        x.fill_(b.cuda())
    x.fill_(a)
    assert x.tolist() == [3.0, 3.0] and x._version == 1


def kernels_of_a_device_cast_for_themselves():
    """On the CPU a copy is cast, which asks for the history of a view that may be used only where nothing is
    recorded.

    Rule: inference/alone-but-for-calls.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, z = x.chunk(2)
    with torch.inference_mode():
        narrow = torch.tensor([3.0])
        wide = torch.tensor([4.0], dtype=torch.float64)
    z.data = narrow
    z.copy_(narrow)
    with refused("view/stale-tag-refused"):
        wide + z
    u = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    v, w = u.chunk(2)
    with torch.inference_mode():
        narrow = torch.tensor([3.0], device="cuda")
        wide = torch.tensor([4.0], dtype=torch.float64, device="cuda")
    w.data = narrow
    w.copy_(narrow)
    assert (wide + w).tolist() == [7.0]


def a_shape_may_be_that_of_a_tensor_elsewhere():
    """One of which the size alone is read. The parts of a product are on one device, and an out= beside them.

    Rule: device/one-for-all.
    """
    x = torch.tensor([1.0, 2.0], device="cuda")
    y = torch.tensor([[3.0, 4.0]])
    z = torch.tensor([5.0, 6.0])
    assert x.view_as(y).tolist() == [[1.0, 2.0]] and x.expand_as(y.expand(2, 2)).tolist() == [[1.0, 2.0]] * 2
    assert y.reshape_as(x).tolist() == [3.0, 4.0] and y.sum_to_size(1, 2).tolist() == [[3.0, 4.0]]
    with refused("device/one-for-all"):
        torch.outer(x, z)
    out = torch.zeros(2, device="cuda")
    torch.add(x, x, out=out)
    assert out.tolist() == [2.0, 4.0] and str(out.device) == "cuda:0"
    torch.div(x, x, out=out)
    assert out.tolist() == [1.0, 1.0] and str(out.device) == "cuda:0"
    with refused("device/one-for-all"):
        torch.add(x, z, out=out)
    with refused("device/one-for-all"):
        torch.add(x, x, out=z)
    with refused("device/one-for-all"):
        torch.add(z, z, out=out)
    assert out.tolist() == [1.0, 1.0] and z.tolist() == [5.0, 6.0]


def a_view_without_history_is_refused_for_its_place():
    """As long as nothing is recorded, nothing else is in the way. Rule: device/one-for-all."""
    x = torch.tensor([1.0, 2.0], device="cuda")
    y = torch.tensor([3.0, 4.0])
    with torch.no_grad():
        v = x[:]
    with refused("device/one-for-all"):
        v.mul_(y)
    v.mul_(x)
    assert x.tolist() == [1.0, 4.0]
    w = torch.tensor([1.0, 1.0], requires_grad=True, device="cuda")
    with refused("write/no-grad-view-refused"):
        v.mul_(w)


def decompositions_are_beside_what_they_are_of():
    """So are their gradients. Rule: device/gradient-comes-back."""
    x = torch.tensor([2.0, 4.0], requires_grad=True)
    y = x.cuda().diag()
    made = []
    made += [torch.linalg.slogdet(y)[1], torch.linalg.eigvalsh(y)]
    assert [str(m.device) for m in made] == ["cuda:0", "cuda:0"]
    (made[0] * 4 + made[1].sum()).backward()
    assert [round(v, 4) for v in x.grad.tolist()] == [3.0, 2.0] and str(x.grad.device) == "cpu"


def a_mask_is_on_the_device_of_what_it_fills():
    """It does not matter with what it is filled. Rule: device/one-for-all."""
    x = torch.tensor([1.0, 2.0], device="cuda")
    m = torch.tensor([True, False])
    with refused("device/one-for-all"):
        x.masked_fill(m, 1.0)
    with refused("device/one-for-all"):
        x.masked_fill_(m, 1.0)
    assert x.masked_fill(m.to("cuda"), 5.0).tolist() == [5.0, 2.0]


def a_state_moves_to_its_parameters_device():
    """All but counts of steps. Rule: optim/state-comes-back."""
    x = torch.tensor([1.0], device="cuda", requires_grad=True)
    one = torch.tensor(1.0)
    o = torch.optim.SGD([x], lr=1.0)
    state = {0: {"k": one, "step": one}}
    o.load_state_dict({"state": state, "param_groups": [{"params": [0], "lr": 1.0}]})
    assert o.state[x]["k"].device == x.device and o.state[x]["step"] is one
