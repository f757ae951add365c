"""The first tutorial: fit a cubic by hand, then with nn, then with an optimizer."""

import math

import torch

x = torch.linspace(-math.pi, math.pi, 20)
y = torch.sin(x)

a = torch.tensor(0.1, requires_grad=True)
b = torch.tensor(0.2, requires_grad=True)
c = torch.tensor(-0.1, requires_grad=True)
d = torch.tensor(0.0, requires_grad=True)
learning_rate = 1e-4
for t in range(3):
    y_pred = a + b * x + c * x**2 + d * x**3
    loss = (y_pred - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        a -= learning_rate * a.grad
        b -= learning_rate * b.grad
        c -= learning_rate * c.grad
        d -= learning_rate * d.grad
        a.grad.zero_()
        b.grad.zero_()
        c.grad.zero_()
        d.grad = None
print(f"{a.item():.4f} {b.item():.4f} {c.item():.4f} {d.item():.4f}")

p = torch.tensor([1, 2, 3])
xx = x.unsqueeze(-1).pow(p)
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
with torch.no_grad():
    model[0].weight.fill_(0.01)
    model[0].bias.zero_()
loss_fn = torch.nn.MSELoss(reduction="sum")
for t in range(2):
    loss = loss_fn(model(xx), y)
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for param in model.parameters():
            param -= 1e-6 * param.grad

optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for t in range(3):
    y_pred = model(xx)
    loss = loss_fn(y_pred, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
linear_layer = model[0]
print(f"Result: y = {linear_layer.bias.item():.4f} + {linear_layer.weight[:, 0].item():.4f} x")
