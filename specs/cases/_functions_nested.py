"""Custom functions of the menu that run a backward within their own."""

import torch


class Within(torch.autograd.Function):
    """Finds its derivative by a backward of its own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            squares = (inner * inner).sum()
        squares.backward()
        return g * inner.grad
