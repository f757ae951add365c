"""Bayes by backprop: weights drawn from a Normal with learned mean and scale, a prior, several samples a step."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Bernoulli, Categorical, Normal, Uniform

torch.manual_seed(0)


class BayesLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.mu = nn.Parameter(torch.empty(n_out, n_in).uniform_(-0.2, 0.2))
        self.rho = nn.Parameter(torch.full((n_out, n_in), -3.0))
        self.prior = Normal(0.0, 1.0)
        self.kl = 0.0

    def forward(self, x):
        q = Normal(self.mu, F.softplus(self.rho))
        w = q.rsample()
        self.kl = (q.log_prob(w) - self.prior.log_prob(w)).sum()
        return x @ w.t()


layer = BayesLinear(2, 1)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
x = torch.randn(10, 2)
y = x @ torch.tensor([[1.0], [-2.0]]) + 0.1 * torch.randn(10, 1)
for step in range(2):
    optimizer.zero_grad()
    loss = 0.0
    for _ in range(2):
        prediction = layer(x)
        likelihood = Normal(prediction, torch.tensor(0.1)).log_prob(y).sum()
        loss = loss + layer.kl / 100 - likelihood
    loss.backward()
    optimizer.step()
print(layer.mu.grad.shape, layer.rho.grad is not None)

probs = torch.tensor([0.2, 0.8], requires_grad=True)
coin = Bernoulli(probs=probs)
heads = coin.sample((3,))
(-coin.log_prob(heads).sum()).backward()
print(probs.grad.shape, heads.requires_grad, coin.entropy().shape)
die = Categorical(logits=torch.zeros(6))
print(die.sample((4,)).shape, round(die.entropy().item(), 4), die.probs.sum().item())
box = Uniform(torch.tensor(0.0), torch.tensor([1.0, 2.0]))
print(box.sample().shape, box.log_prob(torch.tensor([0.5, 1.5])), box.mean)
