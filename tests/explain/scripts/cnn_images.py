"""A small convolutional network on random images: convolution, batch norm, pooling, a step schedule."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self, num_classes=3):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 4, kernel_size=3, padding=1)
        self.bn1 = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(4, 8, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(8)
        self.gap = nn.AdaptiveAvgPool2d((1, 1))
        self.drop = nn.Dropout2d(0.2)
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x):
        x = self.pool(F.relu(self.bn1(self.conv1(x))))
        x = F.avg_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        x = self.drop(x)
        x = torch.flatten(self.gap(x), 1)
        return self.fc(x)


images = torch.randn(6, 1, 8, 8)
targets = torch.tensor([0, 1, 2, 0, 1, 2])

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)

for epoch in range(2):
    net.train()
    for i in range(0, 6, 3):
        optimizer.zero_grad(set_to_none=True)
        output = net(images[i : i + 3])
        loss = F.cross_entropy(output, targets[i : i + 3], label_smoothing=0.1)
        loss.backward()
        optimizer.step()
    scheduler.step()
    print(epoch, round(loss.item(), 4), scheduler.get_last_lr())

net.eval()
with torch.inference_mode():
    probabilities = F.softmax(net(images), dim=-1)
    confidence, prediction = torch.max(probabilities, 1)
print(prediction.shape, bool((confidence <= 1).all()))
for name, buffer in net.named_buffers():
    print(name, tuple(buffer.shape))
