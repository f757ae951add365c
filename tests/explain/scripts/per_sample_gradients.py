"""The gradients of each sample, clipped one by one, as for private training; and an ensemble at once."""

import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Tanh(), nn.Linear(4, 1))
parameters = {name: p.detach() for name, p in model.named_parameters()}
x, y = torch.randn(5, 3), torch.randn(5, 1)


def loss(parameters, sample, target):
    prediction = functional_call(model, parameters, (sample.unsqueeze(0),))
    error = (prediction.squeeze(0) - target) ** 2
    return torch.where(error > 1, error.sqrt(), error).mean()


model.eval()
per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
norms = torch.stack([g.flatten(1).norm(dim=1) for g in per_sample.values()]).norm(dim=0)
factors = (1.0 / (norms + 1e-6)).clamp(max=1.0)
for name, p in model.named_parameters():
    g = per_sample[name]
    p.grad = (g * factors.view(-1, *[1] * (g.ndim - 1))).mean(0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.step()

members = [nn.Linear(3, 2) for _ in range(3)]
stacked, buffers = stack_module_state(members)


def member(parameters, buffers, sample):
    return functional_call(members[0], (parameters, buffers), (sample,))


outputs = vmap(member, in_dims=(0, 0, None))(stacked, buffers, x)
spread = outputs.var(dim=0).sum()
spread.backward()
weight = stacked["weight"]
optimizer = torch.optim.Adam(stacked.values(), lr=0.1)
optimizer.step()
