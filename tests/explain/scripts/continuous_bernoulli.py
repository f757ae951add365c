"""A variational autoencoder of grey values, with a likelihood on the unit interval."""

import torch
from torch import nn
from torch.distributions import ContinuousBernoulli, Normal, kl_divergence

torch.manual_seed(0)


class Autoencoder(nn.Module):
    def __init__(self, pixels=6, latent=2):
        super().__init__()
        self.encoder = nn.Linear(pixels, 2 * latent)
        self.decoder = nn.Linear(latent, pixels)

    def forward(self, x):
        mean, log_scale = self.encoder(x).chunk(2, dim=-1)
        posterior = Normal(mean, log_scale.exp())
        code = posterior.rsample()
        return ContinuousBernoulli(logits=self.decoder(code)), posterior


model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
images = torch.rand(4, 6)
prior = Normal(torch.zeros(2), torch.ones(2))

for epoch in range(2):
    likelihood, posterior = model(images)
    fit = likelihood.log_prob(images).sum(-1)
    distance = kl_divergence(posterior, prior).sum(-1)
    bound = (fit - distance).mean()
    optimizer.zero_grad()
    (-bound).backward()
    optimizer.step()

with torch.no_grad():
    likelihood, _ = model(images)
    reconstruction = likelihood.mean
    spread = likelihood.stddev
    drawn = likelihood.sample()
