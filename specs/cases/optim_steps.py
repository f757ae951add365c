"""The arithmetic of optimizers' steps, with each of their settings."""

import torch


def settings_of_momentum():
    """Nesterov's momentum looks ahead, dampening weakens what comes in, and to maximize is to go up.

    Rules: optim/step-is-not-recorded, optim/momentum-is-its-own.
    """
    w = torch.tensor([8.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=1.0, momentum=0.5, nesterov=True)
    w.sum().backward()
    o.step()
    assert w.tolist() == [6.5]
    o.step()
    assert w.tolist() == [4.75]
    v = torch.tensor([8.0], requires_grad=True)
    p = torch.optim.SGD([v], lr=1.0, momentum=0.5, dampening=0.5)
    v.sum().backward()
    p.step()
    assert v.tolist() == [7.0]
    p.step()
    assert v.tolist() == [6.0]
    p.step()
    assert v.tolist() == [5.0]
    u = torch.tensor([1.0], requires_grad=True)
    q = torch.optim.SGD([u], lr=0.5, maximize=True)
    u.sum().backward()
    q.step()
    assert u.tolist() == [1.5]


def adam_corrects_its_means():
    """The first means are as if there had been many; AdamW's decay is no part of the gradient, Adam's is.

    Rules: optim/step-is-not-recorded, optim/step-is-a-write.
    """
    w = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.Adam([w], lr=0.5, betas=(0.5, 0.75), eps=0.0)
    (w * 4).sum().backward()
    o.step()
    assert w.tolist() == [0.5]
    v = torch.tensor([1.0], requires_grad=True)
    p = torch.optim.AdamW([v], lr=0.5, betas=(0.5, 0.75), eps=0.0, weight_decay=0.5)
    (v * 4).sum().backward()
    p.step()
    assert v.tolist() == [0.25]
    u = torch.tensor([8.0], requires_grad=True)
    q = torch.optim.Adam([u], lr=0.5, betas=(0.5, 0.75), eps=0.0, weight_decay=0.5)
    (u * 4).sum().backward()
    q.step()
    assert u.tolist() == [7.5] and u.grad.tolist() == [4.0]


def amsgrad_divides_by_the_largest():
    """A small gradient after a large one is divided by the large one's size; without amsgrad by its own.

    Rules: optim/step-is-not-recorded, optim/step-is-a-write.
    """
    w = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.Adam([w], lr=0.5, betas=(0.0, 0.0), eps=0.0, amsgrad=True)
    w.grad = torch.tensor([4.0])
    o.step()
    assert w.tolist() == [0.5]
    w.grad = torch.tensor([1.0])
    o.step()
    assert w.tolist() == [0.375]
    v = torch.tensor([1.0], requires_grad=True)
    p = torch.optim.Adam([v], lr=0.5, betas=(0.0, 0.0), eps=0.0)
    v.grad = torch.tensor([4.0])
    p.step()
    v.grad = torch.tensor([1.0])
    p.step()
    assert v.tolist() == [0.0]


def every_parameter_is_stepped_and_cleared():
    """Not the first alone, by the step, by filling with zeros, nor by dropping.

    Rules: optim/step-is-not-recorded, nn/zero-grad-forgets, nn/zero-grad-fills-in-place.
    """
    v = torch.tensor([1.0], requires_grad=True)
    w = torch.tensor([2.0], requires_grad=True)
    o = torch.optim.SGD([v, w], lr=0.5)
    (v + w * 2).sum().backward()
    o.step()
    assert v.tolist() == [0.5] and w.tolist() == [1.0]
    o.zero_grad(set_to_none=False)
    assert v.grad.tolist() == [0.0] and w.grad.tolist() == [0.0]
    o.zero_grad()
    assert v.grad is None and w.grad is None


def clipping_leaves_what_is_small():
    """A norm below the limit scales nothing, and elements within the limits stay.

    Rules: grad/accumulates, nn/clipping-values-takes-a-grad.
    """
    x = torch.tensor([3.0, -4.0], requires_grad=True)
    (x * x).sum().backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [12.0, -16.0]
    n = torch.nn.utils.clip_grad_norm_([x], 100.0)
    assert n.item() == 20.0 and x.grad.tolist() == [12.0, -16.0]
    torch.nn.utils.clip_grad_value_([x], 14.0)
    assert x.grad.tolist() == [12.0, -14.0]
    torch.nn.utils.clip_grad_value_([x], 2.0)
    assert x.grad.tolist() == [2.0, -2.0]
