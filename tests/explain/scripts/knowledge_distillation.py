"""Distillation: a student follows a teacher's softened probabilities, with temperature and hard labels."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(4, 16), nn.ReLU6(), nn.Linear(16, 3))
student = nn.Sequential(nn.Linear(4, 3))
teacher.requires_grad_(False).eval()
T, alpha = 4.0, 0.7
optimizer = torch.optim.SGD(student.parameters(), lr=0.5)
scheduler = CosineAnnealingLR(optimizer, T_max=3)
x, labels = torch.randn(12, 4), torch.randint(0, 3, (12,))


def distillation_loss(s_logits, t_logits, labels):
    soft = nn.KLDivLoss(reduction="batchmean")(
        F.log_softmax(s_logits / T, dim=1), F.softmax(t_logits / T, dim=1)
    )
    return alpha * T * T * soft + (1 - alpha) * F.cross_entropy(s_logits, labels)


for epoch in range(3):
    with torch.no_grad():
        t_logits = teacher(x)
    s_logits = student(x)
    loss = distillation_loss(s_logits, t_logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(epoch, round(scheduler.get_last_lr()[0], 4), teacher[0].weight.grad)

agreement = (student(x).argmax(-1) == teacher(x).argmax(-1)).float().mean().item()
hot = F.one_hot(labels, num_classes=3).float()
brier = ((F.softmax(student(x), -1) - hot) ** 2).sum(-1).mean()
print(0 <= agreement <= 1, brier.requires_grad)
