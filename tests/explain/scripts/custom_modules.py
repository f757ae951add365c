"""Modules of one's own: buffers, optional parameters, a running mean, parameter lists, dicts and children."""

import torch
import torch.nn as nn


class RunningCentre(nn.Module):
    """Subtract a running mean, which is a buffer; scale by a parameter that may be absent."""

    def __init__(self, size, affine=True, momentum=0.1):
        super().__init__()
        self.momentum = momentum
        if affine:
            self.weight = nn.Parameter(torch.empty(size))
        else:
            self.register_parameter("weight", None)
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("steps", torch.tensor(0, dtype=torch.long))
        self.register_buffer("scratch", torch.zeros(size), persistent=False)
        self.reset_parameters()

    def reset_parameters(self):
        if self.weight is not None:
            nn.init.ones_(self.weight)

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(x.mean(dim=0), self.momentum)
                self.steps += 1
        x = x - self.mean
        return x if self.weight is None else x * self.weight

    def extra_repr(self):
        return f"momentum={self.momentum}"


class Mixture(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(dim, 1) for _ in range(n)])
        self.gates = nn.ParameterList([nn.Parameter(torch.tensor(float(i))) for i in range(n)])
        self.extra = nn.ParameterDict({"bias": nn.Parameter(torch.zeros(1))})
        self.blocks = nn.ModuleDict({"centre": RunningCentre(dim), "plain": RunningCentre(dim, affine=False)})
        self.temperature = 2.0

    def forward(self, x, which="centre"):
        x = self.blocks[which](x)
        gates = torch.softmax(torch.stack(list(self.gates)) / self.temperature, dim=0)
        outs = torch.cat([expert(x) for expert in self.experts], dim=1)
        return outs @ gates + self.extra["bias"]


torch.manual_seed(0)
model = Mixture(3, 2)
print(model)
x = torch.randn(4, 3)
out = model(x)
out.mean().backward()
for name, p in model.named_parameters():
    print(name, tuple(p.shape), p.grad is not None)
print(sorted(model.state_dict().keys()))
print([name for name, _ in model.named_children()], len(list(model.modules())))
model.eval()
before = model.blocks["centre"].mean.clone()
model(x, "centre")
print(torch.equal(before, model.blocks["centre"].mean), model.blocks["centre"].steps)
model.double()
print(model(x.double()).dtype)
