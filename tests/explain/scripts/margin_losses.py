"""A tower trained with losses of margins, pairs, triplets and several labels."""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    dim: int = 6
    emb: int = 4
    margin: float = 0.5
    lr: float = 0.05
    steps: int = 3


cfg = Config()
torch.manual_seed(42)


class Tower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cfg.dim, 8), nn.PReLU(), nn.Dropout(0.2), nn.Linear(8, cfg.emb))

    def forward(self, x):
        return F.normalize(self.net(x), p=2, dim=-1)


def contrastive(a, b, label, margin):
    d = F.pairwise_distance(a, b, keepdim=True)
    return torch.mean((1 - label) * d.pow(2) + label * torch.clamp(margin - d, min=0.0).pow(2))


net = Tower(cfg)
opt = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=0.9, nesterov=True)
a, b, c = (torch.randn(5, cfg.dim) for _ in range(3))
label = torch.randint(0, 2, (5, 1)).float()
triplet = nn.TripletMarginLoss(margin=cfg.margin, p=2)
dist = nn.TripletMarginWithDistanceLoss(
    distance_function=lambda u, v: 1.0 - F.cosine_similarity(u, v), margin=0.3
)
cosine = nn.CosineEmbeddingLoss(margin=0.1)
ranking = nn.MarginRankingLoss(margin=0.2)
multi = nn.MultiMarginLoss()
multilabel = nn.MultiLabelSoftMarginLoss()
mlm = nn.MultiLabelMarginLoss()
for step in range(cfg.steps):
    ea, eb, ec = net(a), net(b), net(c)
    losses = {
        "contrastive": contrastive(ea, eb, label, cfg.margin),
        "triplet": triplet(ea, eb, ec),
        "triplet_d": dist(ea, eb, ec),
        "cosine": cosine(ea, eb, 1 - 2 * label.squeeze(1)),
        "ranking": ranking(ea.sum(1), eb.sum(1), torch.ones(5)),
        "multi": multi(ea, torch.tensor([0, 1, 2, 3, 0])),
        "multilabel": multilabel(ea, (eb.detach() > 0).float()),
        "mlm": mlm(ea, torch.tensor([[0, 1, -1, -1]] * 5)),
        "hinge": F.hinge_embedding_loss(ea, torch.sign(eb.detach())),
        "soft": F.soft_margin_loss(ea, torch.sign(ec.detach())),
    }
    total = sum(losses.values())
    opt.zero_grad()
    total.backward()
    opt.step()
    print(step, {k: round(v.item(), 3) for k, v in losses.items()})
