"""Wasserstein critic with a gradient penalty: the norm of an input gradient is part of the loss."""

import torch
from torch import autograd, nn, optim

torch.manual_seed(0)


def gradient_penalty(critic, real, fake, weight=10.0):
    alpha = torch.rand(real.size(0), 1, device=real.device).expand_as(real)
    interpolates = (alpha * real + (1 - alpha) * fake).detach()
    interpolates.requires_grad_(True)
    scores = critic(interpolates)
    gradients = autograd.grad(
        outputs=scores,
        inputs=interpolates,
        grad_outputs=torch.ones(scores.size(), device=real.device),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return weight * ((gradients.norm(2, dim=1) - 1) ** 2).mean()


critic = nn.Sequential(nn.Linear(2, 8), nn.ELU(), nn.Linear(8, 1))
generator = nn.Linear(2, 2)
optimizer_c = optim.RMSprop(critic.parameters(), lr=5e-5)
optimizer_g = optim.RMSprop(generator.parameters(), lr=5e-5)
one = torch.tensor(1.0)
mone = one * -1

for iteration in range(2):
    for p in critic.parameters():
        p.requires_grad = True
    real = torch.randn(6, 2) + 2
    with torch.no_grad():
        noise = torch.randn(6, 2)
    fake = generator(noise).data
    critic.zero_grad()
    score_real = critic(real).mean()
    score_real.backward(mone)
    score_fake = critic(fake).mean()
    score_fake.backward(one)
    penalty = gradient_penalty(critic, real, fake)
    penalty.backward()
    optimizer_c.step()

    for p in critic.parameters():
        p.requires_grad = False
    generator.zero_grad()
    score = critic(generator(torch.randn(6, 2))).mean()
    score.backward(mone)
    optimizer_g.step()
    wasserstein = score_real - score_fake
    print(iteration, penalty.item() >= 0, wasserstein.requires_grad)
