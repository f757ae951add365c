"""Matrix factorisation with embeddings: dot products of users and items, biases, weight decay, an own sampler."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
ratings = torch.tensor([[0, 0, 5], [0, 1, 3], [1, 0, 4], [1, 2, 1], [2, 1, 2], [2, 2, 5]])
users, items, scores = ratings[:, 0], ratings[:, 1], ratings[:, 2].float()


class MF(nn.Module):
    def __init__(self, n_users, n_items, k=3):
        super().__init__()
        self.user_emb = nn.Embedding(n_users, k)
        self.item_emb = nn.Embedding(n_items, k)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        self.offset = nn.Parameter(torch.tensor([3.0]))
        self.user_emb.weight.data.uniform_(0, 0.05)
        self.item_emb.weight.data.uniform_(0, 0.05)
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.item_bias.weight)

    def forward(self, u, i):
        dot = (self.user_emb(u) * self.item_emb(i)).sum(1)
        return dot + self.user_bias(u).squeeze() + self.item_bias(i).squeeze() + self.offset


model = MF(3, 3)
sampler = WeightedRandomSampler(weights=[1.0, 1.0, 1.0, 2.0, 2.0, 1.0], num_samples=6, replacement=True)
loader = DataLoader(TensorDataset(users, items, scores), batch_size=3, sampler=sampler)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=1e-3)
for epoch in range(2):
    for u, i, s in loader:
        loss = nn.functional.mse_loss(model(u, i), s)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
rmse = torch.sqrt(torch.mean((model(users, items) - scores) ** 2))
full = model.user_emb.weight @ model.item_emb.weight.T
print(rmse.item() > 0, full.shape, full.requires_grad)
recommendation = full.detach().numpy().argsort(axis=1)
print(recommendation.shape)
