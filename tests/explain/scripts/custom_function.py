"""Custom autograd functions: a straight-through sign, an exponential that saves its result, a Legendre polynomial."""

import math

import torch


class SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.sign(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input.abs() > 1] = 0
        return grad_input


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        ctx.mark_non_differentiable(torch.tensor(0.0))
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


x = torch.tensor([-1.5, -0.5, 0.5, 2.0], requires_grad=True)
SignSTE.apply(x).sum().backward()
print(x.grad)

y = torch.tensor([0.0, 1.0], requires_grad=True)
Exp.apply(y).sum().backward()
print(torch.allclose(y.grad, y.exp()))

t = torch.tensor([0.3, -0.2], dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(LegendrePolynomial3.apply, (t,), eps=1e-6, atol=1e-4))
print(torch.autograd.gradcheck(Exp.apply, (t,)))

grid = torch.linspace(-math.pi, math.pi, 10)
target = torch.sin(grid)
a = torch.full((), 0.0, requires_grad=True)
b = torch.full((), -1.0, requires_grad=True)
c = torch.full((), 0.0, requires_grad=True)
d = torch.full((), 0.3, requires_grad=True)
P3 = LegendrePolynomial3.apply
for step in range(3):
    prediction = a + b * P3(c + d * grid)
    loss = (prediction - target).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        a -= 5e-3 * a.grad
        b -= 5e-3 * b.grad
        c -= 5e-3 * c.grad
        d -= 5e-3 * d.grad
        a.grad = None
        b.grad = None
        c.grad = None
        d.grad = None
print(f"y = {a.item():.4f} + {b.item():.4f} * P3({c.item():.4f} + {d.item():.4f} x)")
print(Scale.apply(x, 3.0).grad_fn.name())
