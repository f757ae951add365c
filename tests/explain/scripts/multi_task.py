"""Two tasks on one trunk: losses weighted by learned uncertainties, and what each contributes to the trunk."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 8), nn.SiLU())
        self.regress = nn.Linear(8, 1)
        self.classify = nn.Linear(8, 3)
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        shared = self.trunk(x)
        return self.regress(shared).squeeze(-1), self.classify(shared)


model = MultiTask()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x = torch.randn(6, 4)
y_reg, y_cls = x.sum(1), torch.randint(3, (6,))
class_weights = torch.tensor([1.0, 2.0, 0.5])

for step in range(2):
    pred, logits = model(x)
    losses = torch.stack(
        [
            F.l1_loss(pred, y_reg),
            F.cross_entropy(logits, y_cls, weight=class_weights),
        ]
    )
    total = (torch.exp(-model.log_vars) * losses + model.log_vars).sum()
    shared = list(model.trunk.parameters())
    norms = []
    for loss in losses:
        grads = torch.autograd.grad(loss, shared, retain_graph=True)
        norms.append(torch.cat([g.reshape(-1) for g in grads]).norm())
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    print(step, [round(n.item(), 3) > 0 for n in norms], model.log_vars.grad.shape)

only = model.regress(model.trunk(x)).sum()
g = torch.autograd.grad(only, model.classify.weight, allow_unused=True)
print(g)
