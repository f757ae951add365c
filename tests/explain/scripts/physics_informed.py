"""A physics-informed network for u'' = -u: derivatives of the output with respect to the input enter the loss."""

import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


class PINN(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(a, b) for a, b in zip(layers[:-1], layers[1:])])
        for linear in self.linears:
            nn.init.xavier_normal_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x):
        for linear in self.linears[:-1]:
            x = torch.tanh(linear(x))
        return self.linears[-1](x)


def derivative(y, x):
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True, retain_graph=True)[0]


model = PINN([1, 8, 8, 1])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x_physics = torch.linspace(0, 3, 7).view(-1, 1).requires_grad_(True)
x_boundary = torch.zeros(1, 1, requires_grad=True)

for i in range(2):
    optimizer.zero_grad()
    u = model(x_physics)
    du_dx = derivative(u, x_physics)
    d2u_dx2 = derivative(du_dx, x_physics)
    physics = torch.mean((d2u_dx2 + u) ** 2)
    u0 = model(x_boundary)
    boundary = torch.squeeze(u0) ** 2 + (torch.squeeze(derivative(u0, x_boundary)) - 1) ** 2
    loss = physics + 0.1 * boundary
    loss.backward()
    optimizer.step()
    print(i, loss.item() > 0, x_physics.grad is not None)

lbfgs = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=3, history_size=5)


def closure():
    lbfgs.zero_grad()
    u = model(x_physics)
    loss = ((derivative(derivative(u, x_physics), x_physics) + u) ** 2).mean() + model(x_boundary).pow(
        2
    ).sum()
    loss.backward()
    return loss


before = closure().item()
lbfgs.step(closure)
print(closure().item() < before)
torch.set_default_dtype(torch.float32)
