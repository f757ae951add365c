"""The custom functions that cases and programs call: a menu, so that a program stays a value.

Plain PyTorch; cases import what they call. `specs.callbacks` hands the text of each to whoever prints or runs
a program. All keep to exact arithmetic.
"""

import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Tenfold(torch.autograd.Function):
    """Its backward is not the derivative of its forward."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 10


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * x

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return g * x * 2


class KeepsOutput(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y if ctx.needs_input_grad[0] else None, g * x if ctx.needs_input_grad[1] else None


class Asks(torch.autograd.Function):
    """Its first gradient tells whether the second is wanted."""

    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * 4 if ctx.needs_input_grad[1] else g, None


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 4

    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h * 4


class Lazy(torch.autograd.Function):
    """Its backward is given None for what nobody used."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 4

    @staticmethod
    def backward(ctx, g, h):
        if g is None:
            return h
        return g * 2 if h is None else g * 2 + h * 4


class Marked(torch.autograd.Function):
    """Its second output has no gradient."""

    @staticmethod
    def forward(ctx, x):
        y = x * 4
        ctx.mark_non_differentiable(y)
        return x * 2, y

    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h


class Same(torch.autograd.Function):
    """Gives its input back as it came."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Flat(torch.autograd.Function):
    """Gives a view of its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.view(-1)

    @staticmethod
    def backward(ctx, g):
        return g.reshape(ctx.shape)


class Twins(torch.autograd.Function):
    """Gives two views of its input."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x), x.view_as(x)

    @staticmethod
    def backward(ctx, g, h):
        return g + h


class KeepsOnCtx(torch.autograd.Function):
    """Keeps on ctx what it computed, which has no history."""

    @staticmethod
    def forward(ctx, x):
        ctx.kept = x.exp()
        return ctx.kept * 1

    @staticmethod
    def backward(ctx, g):
        return g * ctx.kept


class Written(torch.autograd.Function):
    """Writes to its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


class WrittenPair(torch.autograd.Function):
    """Writes to its input, and gives something else besides."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x, x * 2

    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h * 4


class Forgotten(torch.autograd.Function):
    """Marks its input dirty, and does not return it."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Stranger(torch.autograd.Function):
    """Marks dirty what is no input."""

    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Surplus(torch.autograd.Function):
    """Gives None more often than it has arguments."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2, None, None


class TooMany(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2, g * 2


class ForNumber(torch.autograd.Function):
    """Gives a gradient for a number."""

    @staticmethod
    def forward(ctx, x, factor):
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return g, g


class GivesNumber(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return 3


class WrongShape(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g.new_ones(7)


class Nothing(torch.autograd.Function):
    """Gives no gradient."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return None


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * 2


class Apart(torch.autograd.Function):
    """Has a setup_context of its own, and a factor by default."""

    @staticmethod
    def forward(x, factor=2):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.factor = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


class ApartSame(torch.autograd.Function):
    """Saves its input and gives it back as it came."""

    @staticmethod
    def forward(x):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return g


class SavesNumber(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(3)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class MarksNumber(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_non_differentiable(3)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class NoForward(torch.autograd.Function):
    @staticmethod
    def backward(ctx, g):
        return g


class NoBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


class BothWays(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def vjp(ctx, g):
        return g * 2


class MarkedSame(torch.autograd.Function):
    """Its output is its input, and has no gradient."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g
