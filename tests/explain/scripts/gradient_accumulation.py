"""Gradient accumulation: several small batches make one step, and the sum equals that of the large batch."""

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 1))
data, target = torch.randn(8, 3), torch.randn(8, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulation_steps = 4

optimizer.zero_grad()
for i, (x, y) in enumerate(zip(data.chunk(4), target.chunk(4))):
    loss = criterion(model(x), y) / accumulation_steps
    loss.backward()
    if (i + 1) % accumulation_steps == 0:
        accumulated = [p.grad.clone() for p in model.parameters()]
        optimizer.step()
        optimizer.zero_grad()

for p in model.parameters():
    assert p.grad is None

model2 = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 1))
model2.load_state_dict(model.state_dict())
criterion(model2(data), target).backward()
whole = [p.grad for p in model2.parameters()]
criterion(model(data), target).backward()
for p, expected in zip(model.parameters(), whole):
    assert torch.allclose(p.grad, expected, atol=1e-6)
print(len(accumulated), accumulated[0].shape)
