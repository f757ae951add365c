"""An ordinary differential equation solved by Runge-Kutta, differentiated through and by the adjoint method."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_printoptions(precision=4)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Softplus(), nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y)


def rk4(f, y, ts):
    path = [y]
    for t0, t1 in zip(ts[:-1], ts[1:]):
        h = t1 - t0
        k1 = f(t0, y)
        k2 = f(t0 + h / 2, y + h * k1 / 2)
        k3 = f(t0 + h / 2, y + h * k2 / 2)
        k4 = f(t1, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return torch.stack(path)


class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, field, y0, ts, *params):
        with torch.no_grad():
            path = rk4(field, y0, ts)
        ctx.field = field
        ctx.save_for_backward(path, ts)
        return path[-1].clone()

    @staticmethod
    def backward(ctx, grad):
        path, ts = ctx.saved_tensors
        params = tuple(ctx.field.parameters())
        adjoint, totals = grad.clone(), [torch.zeros_like(p) for p in params]
        for i in reversed(range(len(ts) - 1)):
            h = ts[i + 1] - ts[i]
            with torch.enable_grad():
                y = path[i].detach().requires_grad_()
                f = ctx.field(ts[i], y)
            gy, *gp = torch.autograd.grad(f, (y, *params), adjoint)
            adjoint = adjoint + h * gy
            totals = [t + h * g for t, g in zip(totals, gp)]
        return None, adjoint, None, *totals


field = Field()
y0 = torch.tensor([[1.0, 0.0]], requires_grad=True)
ts = torch.linspace(0, 1, 6)
path = rk4(field, y0, ts)
path[-1].sum().backward()
exact = y0.grad.clone()
y0.grad = None
field.zero_grad()
final = Adjoint.apply(field, y0, ts, *field.parameters())
final.sum().backward()
print(path.shape, torch.allclose(exact, y0.grad, atol=0.2), final.grad_fn is not None)
