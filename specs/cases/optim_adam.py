"""Adam and AdamW: what they write, and what they refuse."""

import torch

from specs.case import refused


def adam_wants_gradients_of_its_own_dtype():
    """A parameter may have a grad of another dtype, and Adam refuses it before it writes.

    Rules: optim/adam-wants-one-dtype, grad/own-dtype-fits-the-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad_dtype = None
    x.grad = torch.tensor([1.0, 2.0], dtype=torch.float64)
    with refused("optim/adam-wants-one-dtype"):
        torch.optim.Adam([x], lr=0.5).step()
    assert x.tolist() == [1.0, 2.0]
    with refused("optim/adam-wants-one-dtype"):
        torch.optim.AdamW([x], lr=0.5, weight_decay=0.5).step()
    assert x.tolist() == [0.75, 1.5]
