"""An exponential moving average of weights beside the model, without gradients of its own."""

import copy

import torch
import torch.nn as nn

torch.manual_seed(0)


class EMA:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for average, current in zip(self.shadow.parameters(), model.parameters()):
            average.mul_(self.decay).add_(current, alpha=1 - self.decay)
        for average, current in zip(self.shadow.buffers(), model.buffers()):
            average.copy_(current)


model = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
ema = EMA(model)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
x = torch.randn(8, 2)
y = x.sum(dim=1, keepdim=True)
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.smooth_l1_loss(model(x), y)
    loss.backward()
    optimizer.step()
    ema.update(model)

student, teacher = model(x), ema.shadow(x)
consistency = nn.functional.mse_loss(student, teacher)
consistency.backward()
print(teacher.requires_grad, student.requires_grad, ema.shadow[0].weight.grad)

averaged = torch.optim.swa_utils.AveragedModel(model)
averaged.update_parameters(model)
print(averaged.n_averaged.item())
