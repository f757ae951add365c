"""Fine tuning: a frozen backbone, a new head, then the last block thawed with a smaller learning rate."""

import copy

import torch
from torch import nn
from torch.optim import lr_scheduler

torch.manual_seed(0)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU())
        self.layer2 = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6), nn.ReLU())
        self.fc = nn.Linear(6, 10)

    def forward(self, x):
        return self.fc(self.layer2(self.layer1(x)))


pretrained = Backbone()
state = copy.deepcopy(pretrained.state_dict())
model = Backbone()
print(model.load_state_dict(state))

for param in model.parameters():
    param.requires_grad = False
model.fc = nn.Linear(model.fc.in_features, 2)
trainable = [name for name, p in model.named_parameters() if p.requires_grad]
print(trainable)

criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.05, momentum=0.9)
scheduler = lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))

for epoch in range(2):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
frozen = model.layer1[0].weight
print(frozen.grad, model.fc.weight.grad.shape, torch.equal(frozen, pretrained.layer1[0].weight))

for param in model.layer2.parameters():
    param.requires_grad_(True)
optimizer = torch.optim.AdamW(
    [{"params": model.layer2.parameters(), "lr": 1e-4}, {"params": model.fc.parameters()}],
    lr=1e-3,
    weight_decay=0.01,
)
loss = criterion(model(x), y)
loss.backward()
optimizer.step()
print([group["lr"] for group in optimizer.param_groups], model.layer2[0].weight.grad is not None)
