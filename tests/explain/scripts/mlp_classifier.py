"""A multilayer perceptron on two moons of points: mini-batches, Adam, accuracy on held-out data."""

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)

angle = torch.rand(40) * torch.pi
upper = torch.stack([torch.cos(angle[:20]), torch.sin(angle[:20])], dim=1)
lower = torch.stack([1 - torch.cos(angle[20:]), 0.5 - torch.sin(angle[20:])], dim=1)
points = torch.cat([upper, lower]) + 0.05 * torch.randn(40, 2)
labels = torch.cat([torch.zeros(20, dtype=torch.long), torch.ones(20, dtype=torch.long)])

dataset = TensorDataset(points, labels)
train_set, test_set = random_split(dataset, [32, 8], generator=torch.Generator().manual_seed(1))
train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
test_loader = DataLoader(test_set, batch_size=8)


class MLP(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(hidden, 2),
        )

    def forward(self, x):
        return self.net(x)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = MLP().to(device)
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-4)

for epoch in range(2):
    model.train()
    running_loss = 0.0
    for batch, (x, y) in enumerate(train_loader):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        logits = model(x)
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * x.size(0)
    print(f"epoch {epoch}: loss {running_loss / len(train_set):.4f}")

model.eval()
correct = total = 0
with torch.no_grad():
    for x, y in test_loader:
        x, y = x.to(device), y.to(device)
        predicted = model(x).argmax(dim=1)
        total += y.size(0)
        correct += (predicted == y).sum().item()
print(f"accuracy {100 * correct / total:.1f} %")
print(sum(p.numel() for p in model.parameters() if p.requires_grad))
