"""Steps of an optimizer whose parameters are on devices."""

import torch

from specs.case import refused


def a_step_on_a_device_decays_by_what_was_before():
    """On the CPU a grad that shows another parameter's memory has changed with it by then.

    Rule: device/steps-are-taken-together.
    """
    x = torch.tensor([2.0], requires_grad=True)
    y = torch.tensor([3.0], requires_grad=True)
    x.grad = torch.tensor([1.0])
    y.grad = x.detach()
    torch.optim.SGD([x, y], lr=0.5, weight_decay=1.0).step()
    assert x.item() == 0.5 and y.item() == 1.25
    x = torch.tensor([2.0], requires_grad=True, device="cuda")
    y = torch.tensor([3.0], requires_grad=True, device="cuda")
    x.grad = torch.tensor([1.0], device="cuda")
    y.grad = x.detach()
    torch.optim.SGD([x, y], lr=0.5, weight_decay=1.0).step()
    assert x.item() == 0.5 and y.item() == 0.5


def a_step_on_a_device_wants_grads_of_its_parameters_kind():
    """A float16 grad is refused beside a float32 parameter, and the one before it has not changed.

    Rules: device/step-needs-them-alike, grad/own-dtype.
    """
    x = torch.tensor([2.0], requires_grad=True, device="cuda")
    y = torch.tensor([2.0], requires_grad=True, device="cuda")
    x.grad = torch.tensor([1.0], device="cuda")
    y.grad_dtype = torch.float16
    y.grad = torch.tensor([1.0], dtype=torch.float16, device="cuda")
    there = torch.optim.SGD([x, y], lr=0.5)
    with refused("device/step-needs-them-alike"):
        there.step()
    assert x.tolist() == [2.0] and x._version == 0


def a_grad_that_left_its_device_fails_the_step():
    """Moved to the CPU by way of .data it is refused as integers, and fails the step as floats.

    Rules: device/step-needs-them-alike, device/one-for-all.
    """
    x = torch.tensor([2.0], requires_grad=True, device="cuda")
    x.backward(torch.tensor([1.0], device="cuda"))
    there = torch.optim.SGD([x], lr=0.5)
    x.grad.data = torch.tensor([1])
    with refused("device/step-needs-them-alike"):
        there.step()
    x.grad.data = torch.tensor([1.0])
    with refused("device/one-for-all"):
        there.step()


def bfloat16_grads_go_along():
    """bfloat16 grads are cast when a float32 parameter is updated. Rule: device/bfloat16-states-mix."""
    x = torch.tensor([2.0], requires_grad=True, device="cuda")
    x.grad_dtype = torch.bfloat16
    x.grad = torch.tensor([1.0], dtype=torch.bfloat16, device="cuda")
    torch.optim.SGD([x], lr=0.5).step()
    assert x.tolist() == [1.5]


def a_nesterov_step_on_a_device_changes_the_grad():
    """On the CPU the grad stays as it was, and with weight decay on a device, too.

    Rules: device/nesterov-changes-grads, optim/leaves-grads-alone.
    """
    x = torch.tensor([1.0], requires_grad=True)
    y = torch.tensor([1.0], requires_grad=True, device="cuda")
    z = torch.tensor([1.0], requires_grad=True, device="cuda")
    x.grad = torch.tensor([2.0])
    y.grad = torch.tensor([2.0], device="cuda")
    z.grad = torch.tensor([2.0], device="cuda")
    torch.optim.SGD([x], lr=0.5, momentum=0.5, nesterov=True).step()
    torch.optim.SGD([y], lr=0.5, momentum=0.5, nesterov=True).step()
    torch.optim.SGD([z], lr=0.5, momentum=0.5, nesterov=True, weight_decay=1.0).step()
    assert x.grad.tolist() == [2.0] and x.grad._version == 0
    assert y.grad.tolist() == [3.0] and y.grad._version == 1
    assert z.grad.tolist() == [2.0] and z.grad._version == 0
    assert x.tolist() == [-0.5] and y.tolist() == [-0.5]


def the_dtype_that_came_last_is_stepped_first():
    """A step takes all parameters of a dtype together, and shows the order where it is refused.

    Rules: device/steps-are-taken-together, write/overlap-refused.
    """
    x = torch.ones(1, device="cuda", requires_grad=True)
    y = torch.ones(1, device="cuda", dtype=torch.float64).expand(2).requires_grad_()
    x.grad = torch.ones(1, device="cuda")
    y.grad = torch.ones(2, device="cuda", dtype=torch.float64)
    a = torch.optim.SGD([x, y], lr=0.5)
    with refused("write/overlap-refused"):
        a.step()
    assert x.tolist() == [1.0]
    b = torch.optim.SGD([y, x], lr=0.5)
    with refused("write/overlap-refused"):
        b.step()
    assert x.tolist() == [0.5]


def a_refused_step_on_a_device_has_decayed_all():
    """On the CPU the parameter before the refused one has been stepped by then.

    Rules: device/steps-are-taken-together, optim/adam-wants-one-dtype.
    """
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    y.grad_dtype = torch.float32
    x.grad, y.grad = torch.tensor([1.0], dtype=torch.float64), torch.tensor([1.0])
    with refused("optim/adam-wants-one-dtype"):
        torch.optim.AdamW([x, y], lr=0.5, weight_decay=1.0).step()
    assert x.item() < 0.75 and y.item() == 1.0
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True, device="cuda")
    y = torch.tensor([2.0], dtype=torch.float64, requires_grad=True, device="cuda")
    y.grad_dtype = torch.float32
    x.grad = torch.tensor([1.0], dtype=torch.float64, device="cuda")
    y.grad = torch.tensor([1.0], device="cuda")
    with refused("optim/adam-wants-one-dtype"):
        torch.optim.AdamW([x, y], lr=0.5, weight_decay=1.0).step()
    assert x.item() == 1.0 and y.item() == 1.0
