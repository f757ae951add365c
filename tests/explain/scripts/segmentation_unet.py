"""A little U-Net: transposed convolution, skip connections, a dice loss and pixel weights."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class DoubleConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True)
        )

    def forward(self, x):
        return self.block(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = DoubleConv(1, 2)
        self.down2 = DoubleConv(2, 4)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(4, 2, kernel_size=2, stride=2)
        self.conv = DoubleConv(4, 2)
        self.out = nn.Conv2d(2, 1, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(self.pool(d1))
        u = self.up(d2)
        if u.shape[-2:] != d1.shape[-2:]:
            u = F.pad(u, [0, d1.shape[-1] - u.shape[-1], 0, d1.shape[-2] - u.shape[-2]])
        return self.out(self.conv(torch.cat([d1, u], dim=1)))


def dice_loss(logits, target, smooth=1.0):
    p = torch.sigmoid(logits).flatten(1)
    t = target.flatten(1)
    intersection = (p * t).sum(1)
    return 1 - ((2 * intersection + smooth) / (p.sum(1) + t.sum(1) + smooth)).mean()


net = UNet()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
image = torch.rand(2, 1, 6, 6)
target = (image > 0.5).float()
pos_weight = torch.tensor([2.0])
for _ in range(2):
    logits = net(image)
    loss = F.binary_cross_entropy_with_logits(logits, target, pos_weight=pos_weight) + dice_loss(
        logits, target
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
up = nn.Upsample(scale_factor=2, mode="nearest")
print(up(image).shape, (torch.sigmoid(logits) > 0.5).float().mean() >= 0)
