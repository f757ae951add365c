"""Custom functions with a jvp, that cases of forward mode call."""

import torch


class Sheared(torch.autograd.Function):
    """Its jvp is given a tensor's tangent, nothing for a number, and zeros for a tensor without a tangent."""

    @staticmethod
    def forward(ctx, x, factor, y):
        ctx.factor = factor
        return x * factor + y

    @staticmethod
    def jvp(ctx, t, nothing, u):
        assert nothing is None
        return t * ctx.factor * 10 + u


class Larger(torch.autograd.Function):
    """The larger of two, and where the first is: the second result can have no tangent."""

    @staticmethod
    def forward(ctx, x, y):
        where = x > y
        ctx.mark_non_differentiable(where)
        ctx.save_for_forward(where)
        return torch.maximum(x, y), where

    @staticmethod
    def jvp(ctx, t, u):
        (where,) = ctx.saved_tensors
        return torch.where(where, t, u), None


class ShearedOnce(torch.autograd.Function):
    """Without materialized zeros its jvp is given None."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x + y

    @staticmethod
    def jvp(ctx, t, u):
        assert u is None
        return t * 3


class JvpOfTwo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def jvp(ctx, t):
        return t, t


class JvpOfMarked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x > 0
        ctx.mark_non_differentiable(y)
        return x * 2, y

    @staticmethod
    def jvp(ctx, t):
        return t, t


class FirstRow(torch.autograd.Function):
    """A view, whose tangent is the same view."""

    @staticmethod
    def forward(ctx, x):
        return x[0]

    @staticmethod
    def jvp(ctx, t):
        return t[0]


class RowOfTheSecond(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return y[0]

    @staticmethod
    def jvp(ctx, t, u):
        return u[0]


class CopiedRow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[0]

    @staticmethod
    def jvp(ctx, t):
        return t[0] * 1


class RowOfAnother(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[0]

    @staticmethod
    def jvp(ctx, t):
        return t.clone()[0]


class DoubledInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def jvp(ctx, t):
        return t.mul_(20)


class DoubledAside(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def jvp(ctx, t):
        return t * 2


class DoubledInACopy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def jvp(ctx, t):
        return t.clone().mul_(2)


class TripledTangent(torch.autograd.Function):
    """Its jvp is not that of its forward."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t * 3
