"""Ops outside inference mode on inference tensors alone; what these are otherwise lives in inference."""

import torch

from specs.case import refused


def inference_tensors_alone_make_no_graph():
    """The flag of an inference tensor counts beside a normal tensor only.

    Rule: inference/alone-records-nothing.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x + x
    z = x + torch.ones(2)
    assert y.requires_grad is False and y.is_leaf is True
    assert z.requires_grad is True
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def what_a_kernel_calls_is_recorded_beside_inference_tensors():
    """A clone is made by writing to a new tensor, which is a normal one.

    Rule: inference/alone-but-for-calls.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        mask = torch.tensor([True, False])
    y = x.clone()
    assert y.requires_grad is True and y.grad_fn.name() == "torch::autograd::CopyBackwards"
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert (x**1).requires_grad is True and (x**2).requires_grad is False
    assert (3 - x).grad_fn.name() == "SubBackward0"
    with refused("write/out-is-not-recorded"):
        x.mean()
    with refused("inference/not-saved"):
        x.masked_fill(mask, 0.0)
    with torch.inference_mode():
        every = torch.tensor(True)
    assert x.masked_fill(every, 0.0).requires_grad is False


def a_copy_of_an_inference_tensor_begins_at_version_one():
    """The elements are written into a new tensor, which counts.

    Rule: inference/copy-counts.
    """
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0])
        z = torch.tensor([1.0]).clone()
    y = x.clone()
    assert y._version == 1
    assert x.double()._version == 1
    assert x.long()._version == 1
    assert y.clone()._version == 0
    assert z.clone()._version == 1
    assert (x * 2)._version == 0
