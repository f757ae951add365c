"""A normalising flow of coupling layers, and multivariate normals with their divergence."""

import torch
import torch.distributions as D
import torch.nn as nn

torch.manual_seed(0)


class Coupling(nn.Module):
    def __init__(self, dim, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(dim // 2, 8), nn.Tanh(), nn.Linear(8, dim))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        out = torch.cat([b, a] if self.flip else [a, b], dim=1)
        return out, s.sum(1)


class Flow(nn.Module):
    def __init__(self, dim=4, n=3):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(dim, i % 2 == 1) for i in range(n)])
        self.register_buffer("loc", torch.zeros(dim))
        self.register_buffer("cov", torch.eye(dim))

    @property
    def prior(self):
        return D.MultivariateNormal(self.loc, self.cov)

    def log_prob(self, x):
        total = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, ld = layer(x)
            total = total + ld
        return self.prior.log_prob(x) + total


flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=1e-2)
base = D.Independent(D.Normal(torch.zeros(4), torch.ones(4)), 1)
for i in range(3):
    x = base.sample((6,)) * 2 + 1
    loss = -flow.log_prob(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, loss.item() > 0)

loc = torch.zeros(2, requires_grad=True)
scale_tril = torch.tensor([[1.0, 0.0], [0.5, 2.0]], requires_grad=True)
mvn = D.MultivariateNormal(loc, scale_tril=scale_tril)
z = mvn.rsample((5,))
mvn.log_prob(z).sum().backward()
print(loc.grad is not None, scale_tril.grad.shape)
transformed = D.TransformedDistribution(
    D.Normal(torch.zeros(2), torch.ones(2)), [D.transforms.ExpTransform()]
)
print(transformed.log_prob(torch.ones(2)))
kl = D.kl_divergence(mvn, D.MultivariateNormal(torch.zeros(2), torch.eye(2)))
kl.backward()
print(kl.item() > 0, mvn.entropy())
