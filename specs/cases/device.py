"""Devices: copies on another device, and operands that may meet. Gradients are in ``device_gradient``.

`cuda` stands for the device that is there: a real one, or a stand-in.
"""

import torch

from specs.case import refused, warned


# -- copies ----------------------------------------------------------------------------------------
def a_moved_leaf_is_no_leaf():
    """The copy is the result of an op, and the gradient goes on to the leaf, on the leaf's own device.

    Rules: device/copy-is-an-op, device/gradient-comes-back. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.cuda()
    assert y.is_leaf is False and y.requires_grad is True and str(y.device) == "cuda:0"
    assert y.grad_fn.name() == "ToCopyBackward0"
    z = y * y
    z.backward(torch.ones(2, device="cuda"))
    assert x.grad.tolist() == [2.0, 4.0] and str(x.grad.device) == "cpu"
    assert x.is_leaf is True and y.is_leaf is False


def a_moved_leaf_has_no_grad():
    """Reading the copy's grad warns and shows None.

    Rules: device/copy-is-an-op, grad/non-leaf-read-warns. Source: seed 000_725a8afb72183ef2.txt.
    """
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]], requires_grad=True).cuda()
    b = torch.tensor([[1.0, 0.0], [2.0, 1.0]], requires_grad=True).cuda()
    s = (a @ b).sum()
    loss = 10 - s
    loss.backward()
    with warned("grad/non-leaf-read-warns"):
        a.grad
    assert a.is_leaf is False and a.grad is None
    assert b.is_leaf is False and b.grad is None


def a_moved_leaf_can_retain_its_grad():
    """The retained grad of a moved leaf is filled like that of any result, on the copy's device.

    Rules: device/copy-is-an-op, retain/fills-grad. Source: seed 000_725a8afb72183ef2.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x.cuda()
    a.retain_grad()
    loss = (a * 3).sum()
    loss.backward()
    assert a.grad.tolist() == [3.0, 3.0] and str(a.grad.device) == "cuda:0"
    assert x.grad.tolist() == [3.0, 3.0] and str(x.grad.device) == "cpu"


def what_is_made_there_is_a_leaf():
    """With device= there is no copy on the way.

    Rule: device/made-there-is-a-leaf. Source: seed 000_725a8afb72183ef2.txt, seed 001_ab61d14c9099960f.txt.
    """
    a = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    assert a.is_leaf is True and a.grad_fn is None and str(a.device) == "cuda:0"
    loss = 10 - (a * 2).sum()
    loss.backward()
    assert a.grad.tolist() == [-2.0, -2.0] and str(a.grad.device) == "cuda:0"


def a_moved_tensor_without_grad_is_a_leaf():
    """Nothing is recorded for it, so it can be asked for a gradient afterwards.

    Rule: device/copy-is-an-op. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0]).cuda()
    assert x.is_leaf is True and x.grad_fn is None
    x.requires_grad_()
    assert x.is_leaf is True and x.requires_grad is True
    x.backward(torch.ones(2, device="cuda"))
    assert x.grad.tolist() == [1.0, 1.0]


def who_is_there_already_is_not_copied():
    """So is a leaf still one after `.cuda()` of a tensor that is there, and `.cpu()` of one on the CPU.

    Rule: device/there-already-is-itself.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    y = x.cuda()
    assert y.is_leaf is True and y.grad_fn is None
    z = x.to("cuda:0")
    assert z.is_leaf is True
    w = torch.tensor([1.0], requires_grad=True)
    v = w.cpu()
    assert v.is_leaf is True
    c = w.to("cpu", copy=True)
    assert c.is_leaf is False and c.grad_fn.name() == "ToCopyBackward0"


def a_round_trip_is_two_copies():
    """A tensor moved there and back is no leaf, and the gradient comes all the way.

    Rules: device/copy-is-an-op, device/gradient-comes-back.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.cuda()
    z = y.cpu()
    assert str(z.device) == "cpu" and z.is_leaf is False
    w = z * x
    w.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    t = x.to("cuda", torch.float64)
    assert t.dtype == torch.float64 and t.grad_fn.name() == "ToCopyBackward0"
    t.sum().backward()
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [3.0, 5.0]


def ops_and_factories_stay_with_their_operands():
    """Ops and *_like factories create their results on the device of their operand.

    Rule: device/like-its-model.
    """
    x = torch.tensor([1.0, 2.0], device="cuda")
    y = torch.zeros_like(x)
    z = x.new_ones(3)
    w = x.sum()
    v = torch.zeros_like(x, device="cpu")
    u = y.type(torch.float64)
    assert str(u.device) == "cuda:0" and u.dtype == torch.float64
    assert str(y.device) == "cuda:0" and str(z.device) == "cuda:0"
    assert str(w.device) == "cuda:0" and str(v.device) == "cpu"


# -- meetings --------------------------------------------------------------------------------------
def tensors_in_two_places_do_not_meet():
    """Neither is moved in silence. Rule: device/one-for-all."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, 4.0], device="cuda")
    with refused("device/one-for-all"):
        x * y
    with refused("device/one-for-all"):
        y.dot(x)
    with refused("device/one-for-all"):
        y.add_(x)
    assert y.tolist() == [3.0, 4.0]


def shapes_are_looked_at_before_places():
    """An elementwise op checks shapes before devices. Rules: op/shapes-broadcast, device/one-for-all."""
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0, 5.0], device="cuda")
    with refused("op/shapes-broadcast"):
        x * y


def a_number_goes_with_tensors_anywhere():
    """As an operand, not as what is written to; its gradient comes back to the CPU.

    Rules: device/number-goes-with-all, device/one-element-gradient-follows.
    """
    s = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor([3.0, 4.0], device="cuda")
    z = y * s
    assert z.tolist() == [6.0, 8.0] and str(z.device) == "cuda:0"
    z.sum().backward()
    assert s.grad.item() == 7.0 and str(s.grad.device) == "cpu"
    t = torch.tensor(2.0)
    u = torch.tensor(3.0, device="cuda")
    with refused("device/one-for-all"):
        t.mul_(u)


def zeros_without_memory_go_with_tensors_anywhere():
    """The second derivative of abs is met by what lies elsewhere; other zeros are not, and nothing writes
    to it.

    Rules: device/zeros-meet-all, device/one-for-all, write/zeros-without-memory. Source: PyTorch
    BinaryOps.cpp.
    """
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs(), x, torch.ones(2), create_graph=True)
    (z,) = torch.autograd.grad(g, x, torch.ones(2))
    far = torch.tensor([3.0, 4.0], device="cuda")
    y = z + far
    assert str(y.device) == "cuda:0" and y.tolist() == [3.0, 4.0]
    y = far - z
    assert str(y.device) == "cuda:0" and y.tolist() == [3.0, 4.0]
    y = z * far
    assert str(y.device) == "cuda:0" and y.tolist() == [0.0, 0.0]
    with refused("device/one-for-all"):
        z.clone() * far
    with refused("write/zeros-without-memory"):
        z.mul_(far)


def positions_may_be_on_the_cpu():
    """In brackets, and nowhere else. Rule: device/indices-may-be-on-the-cpu."""
    x = torch.tensor([3.0, 4.0], device="cuda")
    i = torch.tensor([1])
    y = x[i]
    assert y.tolist() == [4.0] and str(y.device) == "cuda:0"
    with refused("device/one-for-all"):
        x.index_select(0, i)


# -- ways out --------------------------------------------------------------------------------------
def a_number_from_elsewhere_is_brought_over():
    """fill_() makes a number of it, which must fit, where on one device its real part would be copied.

    Rules: device/copy-crosses, op/value-overflow. Source: PyTorch Fill.cpp.
    """
    x = torch.ones(2, device="cuda")
    w = torch.tensor(3.0, requires_grad=True)
    y = x.clone().fill_(w)
    assert y.tolist() == [3.0, 3.0] and y.grad_fn.name() == "FillBackward3"
    y.backward(torch.ones(2, device="cuda"))
    assert w.grad.tolist() == 2.0 and str(w.grad.device) == "cpu"
    z = torch.tensor(complex(1.0, 2.0))
    with refused("op/value-overflow"):
        x.fill_(z)


def numpy_takes_what_is_on_the_cpu():
    """Whereas tolist() and item() bring the elements over themselves. Rule: device/numpy-takes-the-cpu-s."""
    x = torch.tensor([1.0, 2.0], device="cuda")
    with refused("device/numpy-takes-the-cpu-s"):
        x.numpy()
    assert x.tolist() == [1.0, 2.0]


def memory_is_not_set_across_devices():
    """set_() looks at the memory of a device and stays there. Rule: device/memory-stays-where-it-is."""
    x = torch.tensor([1.0, 2.0], device="cuda")
    with refused("device/memory-stays-where-it-is"):
        x.set_(torch.tensor([1.0, 2.0]))
    assert x.tolist() == [1.0, 2.0]


def a_device_that_is_not_there_is_refused():
    """A device beyond those that exist is refused, whatever its number. Rule: device/ordinal-exists."""
    with refused("device/ordinal-exists"):
        torch.zeros(2, device="cuda:99")
    x = torch.zeros(2)
    with refused("device/ordinal-exists"):
        x.to("cuda:99")
    assert str(x.device) == "cpu"


# -- modules ---------------------------------------------------------------------------------------
def a_moved_module_keeps_its_parameters():
    """Moving a module swaps its parameters' memory: they stay leaves, and get their grads on the device.

    Rule: nn/to-swaps-data. Source: seed 000_725a8afb72183ef2.txt.
    """
    m = torch.nn.Linear(3, 3)
    w = m.weight
    m.cuda()
    assert m.weight is w and w.is_leaf is True and str(w.device) == "cuda:0"
    m(torch.ones(1, 3, device="cuda")).sum().backward()
    assert str(w.grad.device) == "cuda:0" and w.grad.tolist() == [[1.0] * 3] * 3


def a_tensor_moves_with_its_data():
    """The old end of its graphs is of no use any more: gradients arrive where the tensor is now.

    Rule: device/data-moves-the-end.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    x.data = x.data.cuda()
    assert x.is_leaf is True and str(x.device) == "cuda:0"
    z = x * 3
    z.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and str(x.grad.device) == "cuda:0"
    assert str(y.device) == "cpu"


def zeros_without_memory_stay_without_on_a_device():
    """A dot product with them is again without memory, and that they are elsewhere is told numpy first.

    Rules: device/numpy-takes-the-cpu-s, op/zeros-pass-on.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    ones = torch.ones_like(x)
    (g,) = torch.autograd.grad(x.abs(), x, ones, create_graph=True)
    (h,) = torch.autograd.grad(g, x, ones)
    assert x.detach().dot(h).add(1.0).item() == 1.0
    with refused("device/numpy-takes-the-cpu-s"):
        h.numpy()


def a_number_from_the_cpu_to_the_power_of_a_tensor_elsewhere():
    """The op takes both, and so does the gradient of either: that of one to any power is zero.

    Rule: device/number-may-come-first.
    """
    x = torch.tensor(1.0, requires_grad=True)
    y = torch.tensor([3.0], requires_grad=True, device="cuda")
    x.pow(y).sum().backward()
    assert x.grad.item() == 3.0 and x.grad.is_cpu
    assert y.grad.tolist() == [0.0]
