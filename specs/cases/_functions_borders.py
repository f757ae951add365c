"""Custom functions of the menu that mark, write and save what they were given, or views of it."""

import torch


class KeptFirst(torch.autograd.Function):
    """Gives its first input back as it came, and saves it."""

    @staticmethod
    def forward(x, y):
        return x, y * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output[0])

    @staticmethod
    def backward(ctx, g, h):
        return g, h * 2


class KeptAlone(torch.autograd.Function):
    """Saves its output, which is its input as it came."""

    @staticmethod
    def forward(x):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        return g


class WrittenView(torch.autograd.Function):
    """Writes to a view of its second input, and marks the view."""

    @staticmethod
    def forward(ctx, x, y):
        v = y.view(-1)
        v.mul_(2)
        ctx.mark_dirty(v)
        return x * 2, v

    @staticmethod
    def backward(ctx, g, h):
        return g * 2, h


class WrittenFirst(torch.autograd.Function):
    """Writes to its first input; the second makes it be recorded."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2, g


class WrittenUnmarked(torch.autograd.Function):
    """Writes to its input, does not say so, and gives a view of it."""

    @staticmethod
    def forward(ctx, x):
        v = x.view(-1)
        v.mul_(2)
        return v

    @staticmethod
    def backward(ctx, g):
        return g * 3


class TwoDtypes(torch.autograd.Function):
    """Gives its input in single and in double precision."""

    @staticmethod
    def forward(ctx, x):
        return x * 1, x.double()

    @staticmethod
    def backward(ctx, g, h):
        return g + h.float()


class MarkedInput(torch.autograd.Function):
    """Gives its first input back without gradient, and has a tangent for it nevertheless."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_non_differentiable(x)
        return x, y * 2

    @staticmethod
    def jvp(ctx, t, u):
        return t, u * 2


class OncePair(torch.autograd.Function):
    """Two outputs whose gradient cannot be differentiated again."""

    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g, h):
        return g * 2 + h * 3


class SaidTwice(torch.autograd.Function):
    """Marks and saves twice; the second time counts."""

    @staticmethod
    def forward(ctx, x):
        a, b = x * 2, x * 3
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 5, None)
        ctx.mark_non_differentiable(a)
        ctx.mark_non_differentiable(b)
        return a, b

    @staticmethod
    def backward(ctx, g, h):
        return g * ctx.saved_tensors[0]


class Failing(torch.autograd.Function):
    """Its backward fails."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        raise ValueError("it fails")


class LooksAtNothing(torch.autograd.Function):
    """Saves nothing, and asks for it nevertheless."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        assert ctx.saved_tensors == ()
        return g * 2


class GuessesSecond(torch.autograd.Function):
    """Takes an undefined gradient for ones, but only for its second input."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (torch.zeros_like(x), torch.ones_like(y)) if g is None else (g * y, g * x)


class TurnedTangent(torch.autograd.Function):
    """Its jvp gives a tangent of another shape, with as many elements."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def jvp(ctx, t):
        return (t * 2).view(-1, 1)


class ReadByTheOldName(torch.autograd.Function):
    """Reads what it saved by a name that is deprecated."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_variables
        return g * 2 * x
