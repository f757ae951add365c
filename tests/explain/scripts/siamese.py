"""A siamese network: one encoder for both inputs, contrastive and triplet losses, hard negatives."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 8), nn.PReLU(), nn.Linear(8, 3))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, label):
        distance = F.pairwise_distance(a, b)
        same = (1 - label) * torch.pow(distance, 2)
        other = label * torch.pow(torch.clamp(self.margin - distance, min=0.0), 2)
        return torch.mean(same + other)


encoder = Encoder()
criterion = ContrastiveLoss()
triplet = nn.TripletMarginLoss(margin=0.5)
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)
x1, x2 = torch.randn(6, 5), torch.randn(6, 5)
label = torch.tensor([0.0, 1.0, 0.0, 1.0, 1.0, 0.0])

for _ in range(2):
    optimizer.zero_grad()
    a, b = encoder(x1), encoder(x2)
    loss = criterion(a, b, label)
    loss.backward()
    optimizer.step()

anchor, positive = encoder(x1), encoder(x1 + 0.1)
with torch.no_grad():
    distances = torch.cdist(anchor, encoder(x2))
    hardest = distances.argmin(dim=1)
negative = encoder(x2[hardest])
loss = triplet(anchor, positive, negative)
optimizer.zero_grad()
loss.backward()
similarity = F.cosine_similarity(anchor, negative)
print(similarity.shape, encoder.net[0].weight.grad.norm() > 0)

z = torch.cat([anchor, positive]).detach().requires_grad_()
sim = z @ z.t() / 0.5
sim.fill_diagonal_(float("-inf")) if not sim.requires_grad else None
mask = torch.eye(12, dtype=torch.bool)
sim = sim.masked_fill(mask, float("-inf"))
targets = torch.cat([torch.arange(6, 12), torch.arange(6)])
F.cross_entropy(sim, targets).backward()
print(z.grad.shape)
