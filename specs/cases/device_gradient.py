"""Gradients between devices: where they come from, and where they belong."""

import warnings

import torch

from specs.case import refused, warned


def two_copies_of_a_leaf_add_up():
    """Each brings its gradient, and the leaf gets the sum; so with two devices.

    Rule: device/gradient-comes-back.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x.cuda()
    b = x.cuda()
    s = (a * b).sum()
    s.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def double_backward_goes_through_a_copy():
    """The gradient of a copy is a copy, which can be differentiated. Rule: device/gradient-comes-back."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.cuda()
    (g,) = torch.autograd.grad((y * y * y).sum(), x, create_graph=True)
    assert g.tolist() == [3.0, 12.0] and str(g.device) == "cpu" and g.requires_grad is True
    g.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def copy_from_elsewhere_keeps_the_gradient():
    """copy_() crosses devices, and so does its gradient. Rule: device/copy-crosses."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.zeros(2, device="cuda")
    y.copy_(x)
    assert y.tolist() == [1.0, 2.0] and str(y.device) == "cuda:0" and y.is_leaf is False
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and str(x.grad.device) == "cpu"


def a_gradient_belongs_where_its_tensor_is():
    """One that is given is checked, unless it has no dimensions.

    Rules: device/gradient-elsewhere, device/one-element-gradient-follows.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.cuda()
    with refused("device/gradient-elsewhere"):
        y.backward(torch.ones(2))
    assert x.grad is None
    z = x.cuda().sum()
    z.backward(torch.tensor(2.0))
    assert x.grad.tolist() == [2.0, 2.0]


def a_grad_elsewhere_cannot_be_assigned():
    """A grad on another device than its leaf cannot be assigned.

    Rule: device/grad-is-beside-its-leaf. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("device/grad-is-beside-its-leaf"):
        x.grad = torch.tensor([1.0, 2.0], device="cuda")
    y = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    with refused("device/grad-is-beside-its-leaf"):
        y.grad = torch.tensor([1.0, 2.0])
    y.grad = torch.tensor([1.0, 2.0], device="cuda")
    assert x.grad is None and y.grad.tolist() == [1.0, 2.0]


def a_gradient_straight_from_another_device_is_warned_of():
    """Not so where it was computed with on its own device first.

    Rule: device/leaf-fed-from-elsewhere-warns.
    """
    x = torch.tensor(2.0, device="cuda:0", requires_grad=True)
    y = x.to("cuda:1")
    with warned("device/leaf-fed-from-elsewhere-warns"):
        y.backward()
    z = (x * 2).to("cuda:1")
    z.backward()
    assert x.grad.item() == 3.0


def a_grad_is_on_the_very_device_of_its_leaf():
    """Another of the same kind is refused as well. Rule: device/grad-is-beside-its-leaf."""
    x = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda:0")
    with refused("device/grad-is-beside-its-leaf"):
        x.grad = torch.tensor([1.0, 2.0], device="cuda:1")
    assert x.grad is None


def what_is_saved_on_the_cpu_comes_back_to_its_device():
    """Backward gets it where it was. Rules: device/gradient-comes-back, saved_hooks/pack-and-unpack."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.to("cuda")
    with torch.autograd.graph.save_on_cpu():
        z = y * y
    assert str(z.grad_fn._saved_self.device) == "cuda:0"
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0] and str(x.grad.device) == "cpu"


def a_failed_backward_on_a_device_leaves_what_was_done():
    """On one device nodes run in their order, as on the CPU, and what comes after the failure is not done.

    Rules: backward/failure-leaves-what-was-done, backward/latest-first, save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    w = torch.tensor([0.0, 1.0], requires_grad=True, device="cuda")
    b = w.exp()
    a = x * 2
    s = b.sum() + a.sum()
    with torch.no_grad():
        b.mul_(2)
    with refused("save/modified-refused"):
        s.backward()
    assert x.grad.tolist() == [2.0, 2.0] and w.grad is None
    c = x * 3
    d = w.exp()
    t = c.sum() + d.sum()
    with torch.no_grad():
        d.mul_(2)
    with refused("save/modified-refused"):
        t.backward()
    assert x.grad.tolist() == [2.0, 2.0] and w.grad is None


def a_backward_that_fails_on_a_device_goes_no_further():
    """Nothing comes back to the CPU from there, and what the CPU did before is done.

    Rules: save/modified-refused, backward/failure-leaves-what-was-done, device/gradient-comes-back.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.cuda()
    z = y.exp()
    s = (z * 2).cpu()
    with torch.no_grad():
        z.mul_(2)
    s.retain_grad()
    with refused("save/modified-refused"):
        s.sum().backward()
    assert x.grad is None and s.grad.tolist() == [1.0, 1.0]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def hooks_on_a_device_are_called_in_the_order_of_nodes():
    """The latest first, as on the CPU. Rules: hook/once-for-each-gradient, backward/latest-first."""
    seen = []
    x = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    a = x * 2
    b = x * 3
    a.register_hook(lambda g: seen.append("a"))
    b.register_hook(lambda g: seen.append("b"))
    x.register_hook(lambda g: seen.append("x"))
    (a + b).sum().backward()
    assert seen == ["b", "a", "x"] and x.grad.tolist() == [5.0, 5.0]


def data_of_its_own_device_leaves_the_end_in_its_place():
    """Graphs of before and after end in one node; not so if the data moved.

    Rules: device/data-moves-the-end, leaf/edges-end-in-accumulators.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True, device="cuda")
    y = x * 2
    x.data = torch.tensor([3.0, 4.0], device="cuda")
    z = x * 3
    assert z.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0]
    x.data = torch.tensor([5.0, 6.0])
    w = x * 4
    assert w.grad_fn.next_functions[0][0] is not y.grad_fn.next_functions[0][0]
    w.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0] and str(x.grad.device) == "cpu"


def a_root_of_one_element_begins_on_its_device():
    """The gradient of 1 is where the root is, whatever dimensions it has.

    Rules: backward/implicit-one, device/gradient-comes-back.
    """
    x = torch.tensor([3.0], device="cuda", requires_grad=True)
    x.backward()
    assert x.grad.tolist() == [1.0] and str(x.grad.device) == "cuda:0"
    w = torch.tensor([[2.0]], requires_grad=True)
    y = w.cuda() * 5
    y.backward()
    assert w.grad.tolist() == [[5.0]] and str(w.grad.device) == "cpu"


def what_is_copied_over_on_a_device_gets_zeros_there():
    """The source gets its gradient where it is, in its own dtype. Rule: device/copy-crosses."""
    x = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    w = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    y = x * 2
    y.copy_(w)
    (y * 5).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0] and str(x.grad.device) == "cuda:0"
    assert w.grad.tolist() == [5.0, 5.0] and str(w.grad.device) == "cpu" and w.grad.dtype == torch.float64


def leaves_that_are_roots_may_be_on_several_devices():
    """All are fed from the first one's device. Rule: device/leaf-fed-from-elsewhere-warns."""
    x = torch.tensor(2.0, device="cuda:0", requires_grad=True)
    y = torch.tensor(2.0, device="cuda:1", requires_grad=True)
    with warned("device/leaf-fed-from-elsewhere-warns"):
        torch.autograd.backward([x, y])
    assert x.grad.item() == 1.0 and y.grad.item() == 1.0


def a_gradient_from_its_own_device_or_the_cpu_is_not_warned_of():
    """Nor is one that goes on to another node. Rule: device/leaf-fed-from-elsewhere-warns."""
    x = torch.tensor(2.0, device="cuda:0", requires_grad=True)
    w = torch.tensor(2.0, requires_grad=True)
    seen = []
    y = (x * 2).to("cuda:1")
    y.register_hook(lambda g: seen.append(g.item()))
    with warnings.catch_warnings(record=True, action="always") as told:
        y.backward()
        x.cpu().backward()
        w.to("cuda:0").backward()
    assert told == [] and seen == [1.0] and x.grad.item() == 3.0 and w.grad.item() == 1.0
    z = x.to("cuda:1")
    with warned("device/leaf-fed-from-elsewhere-warns"):
        z.backward()


def a_leaf_on_a_device_may_get_no_gradient():
    """A function may have none for it; what is beside it has its own.

    Rules: device/grad-is-beside-its-leaf, device/gradient-comes-back.
    """
    x = torch.tensor(2.0, device="cuda", requires_grad=True)
    w = torch.tensor(5.0, requires_grad=True)
    seen = []
    made = type(
        "Made",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, a, b: a * b),
            "backward": staticmethod(lambda ctx, g: (seen.append(g.item()), (None, g * 3))[1]),
        },
    )
    made.apply(x, w.to("cuda")).backward()
    assert seen == [1.0] and x.grad is None
    assert w.grad.item() == 3.0 and w.grad.device == w.device
    with refused("device/grad-is-beside-its-leaf"):
        x.grad = torch.tensor(1.0)
