"""Hooks of the last node of each layer, layers in place, and a model in DataParallel."""

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(3, 4), nn.ELU(inplace=True), nn.Linear(4, 2), nn.Hardswish(inplace=True), nn.Linear(2, 1)
)
seen = []


def hook(module, gin, gout):
    seen.append((type(module).__name__, len(gin), gout[0].shape))


for m in model:
    m.register_backward_hook(hook)
par = nn.DataParallel(model)
out = par(torch.randn(5, 3))
out.mean().backward()
print(seen)
print([k for k in par.state_dict()][:2], model[0].weight.grad.norm() > 0)
y = torch.fmax(model[0].weight, torch.zeros(1)).sum() + torch.special.digamma(model[0].weight.abs()).sum()
y.backward()
z = torch.copysign(model[2].weight, torch.ones(1)).sum()
z.backward()
w = nn.ELU(inplace=True)(model[0].weight * 2)
print(w.grad_fn)
