"""A variational autoencoder: the reparametrisation trick, and a divergence from the standard normal."""

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
from torch.nn import functional as F

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self, d=6, hidden=5, latent=2):
        super().__init__()
        self.fc1 = nn.Linear(d, hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, d)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 6))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x.view(-1, 6), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
batch = torch.rand(4, 1, 2, 3)
for epoch in range(2):
    optimizer.zero_grad()
    recon, mu, logvar = model(batch)
    loss = loss_function(recon, batch, mu, logvar)
    loss.backward()
    optimizer.step()

mu, logvar = model.encode(batch.view(-1, 6))
posterior = Normal(mu, (0.5 * logvar).exp())
prior = Normal(torch.zeros_like(mu), torch.ones_like(mu))
z = posterior.rsample()
divergence = kl_divergence(posterior, prior).sum()
closed_form = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
print(torch.allclose(divergence, closed_form), z.requires_grad, posterior.sample().requires_grad)
elbo = -F.binary_cross_entropy(model.decode(z), batch.view(-1, 6), reduction="sum") - divergence
(-elbo).backward()
