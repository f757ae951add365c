"""Custom functions whose gradients are checked, right and wrong ones."""

import torch


class OnesForUndefined(torch.autograd.Function):
    """Its backward takes an undefined gradient for ones."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return torch.ones(2, dtype=torch.float64) if g is None else g * 2


class SumOrOne(torch.autograd.Function):
    """Its jvp takes an undefined tangent for zeros."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x + y

    @staticmethod
    def backward(ctx, g):
        return g, g

    @staticmethod
    def jvp(ctx, t, u):
        if t is None:
            return u
        return t if u is None else t + u


class SumOrTwice(torch.autograd.Function):
    """Its jvp takes an undefined tangent for the other one."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x + y

    @staticmethod
    def backward(ctx, g):
        return g, g

    @staticmethod
    def jvp(ctx, t, u):
        if t is None:
            return u * 2
        return t if u is None else t + u


class SingleGradient(torch.autograd.Function):
    """Its gradient is of single precision."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return (g * 2).float()


class CubedWithWrongTangent(torch.autograd.Function):
    """A cube; its gradient is right backward, and wrong forward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        class Gradient(torch.autograd.Function):
            @staticmethod
            def forward(ctx, g, x):
                ctx.save_for_backward(g, x)
                ctx.save_for_forward(g, x)
                return g * 3 * x * x

            @staticmethod
            def backward(ctx, h):
                g, x = ctx.saved_tensors
                return h * 3 * x * x, h * g * 6 * x

            @staticmethod
            def jvp(ctx, t, u):
                g, x = ctx.saved_tensors
                return t * 3 * x * x + g * 12 * x * u

        return Gradient.apply(g, *ctx.saved_tensors)

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return 3 * x * x * t
