"""Regression with validation, early stopping and the best checkpoint saved and restored."""

import io
import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

torch.manual_seed(0)


class Curve(Dataset):
    def __init__(self, n, transform=None):
        self.x = torch.linspace(-1, 1, n).unsqueeze(1)
        self.y = self.x**3
        self.transform = transform

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        x, y = self.x[index], self.y[index]
        if self.transform:
            x = self.transform(x)
        return {"input": x, "target": y, "index": index}


class EarlyStopping:
    def __init__(self, patience=1, delta=0.0):
        self.patience, self.delta = patience, delta
        self.best, self.counter, self.stop = None, 0, False

    def __call__(self, loss):
        if self.best is None or loss < self.best - self.delta:
            self.best, self.counter = loss, 0
            return True
        self.counter += 1
        self.stop = self.counter >= self.patience
        return False


data = Curve(20, transform=lambda x: x * 2)
indices = torch.randperm(len(data)).tolist()
train = DataLoader(Subset(data, indices[:15]), batch_size=5, shuffle=True, num_workers=0, drop_last=True)
valid = DataLoader(Subset(data, indices[15:]), batch_size=5)

model = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
loss_fn = nn.HuberLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
stopper = EarlyStopping(patience=1)
path = os.path.join(tempfile.mkdtemp(), "best.pt")

for epoch in range(3):
    model.train()
    for batch in train:
        loss = loss_fn(model(batch["input"]), batch["target"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val = sum(loss_fn(model(b["input"]), b["target"]).item() * len(b["index"]) for b in valid) / 5
    if stopper(val):
        torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    if stopper.stop:
        break

checkpoint = torch.load(path)
restored = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
restored.load_state_dict(checkpoint["model"])
resumed = torch.optim.Adam(restored.parameters(), lr=0.05)
resumed.load_state_dict(checkpoint["optimizer"])
print(checkpoint["epoch"] >= 0, len(resumed.state_dict()["state"]))
buffer = io.BytesIO()
torch.save(restored.state_dict(), buffer)
buffer.seek(0)
print(list(torch.load(buffer).keys()))
