"""The fast gradient sign attack, projected gradient descent, and adversarial training."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.Hardtanh(), nn.Linear(8, 3))
data = torch.rand(4, 1, 4, 4)
target = torch.tensor([0, 1, 2, 1])


def fgsm_attack(image, epsilon, data_grad):
    perturbed = image + epsilon * data_grad.sign()
    return torch.clamp(perturbed, 0, 1)


data.requires_grad = True
output = model(data)
init_pred = output.max(1, keepdim=True)[1]
loss = F.nll_loss(F.log_softmax(output, dim=1), target)
model.zero_grad()
loss.backward()
data_grad = data.grad.data
perturbed = fgsm_attack(data, 0.1, data_grad)
print(perturbed.requires_grad, perturbed.is_leaf, (perturbed - data).abs().max() <= 0.1 + 1e-6)


def pgd(model, x, y, epsilon=0.1, alpha=0.03, steps=3):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(steps):
        loss = nn.CrossEntropyLoss()(model(x + delta), y)
        loss.backward()
        delta.data = (delta + alpha * delta.grad.detach().sign()).clamp(-epsilon, epsilon)
        delta.grad.zero_()
    return delta.detach()


clean = data.detach()
delta = pgd(model, clean, target)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = 0.5 * F.cross_entropy(model(clean), target) + 0.5 * F.cross_entropy(model(clean + delta), target)
    loss.backward()
    optimizer.step()
print(delta.abs().max().item() <= 0.1, delta.requires_grad, model[1].weight.grad.shape)
