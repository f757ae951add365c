"""An image is the parameter: content and style losses over fixed features, optimised by LBFGS and Adam."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

features = nn.Sequential(
    nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(2, 3, 3, padding=1)
).eval()
for p in features.parameters():
    p.requires_grad_(False)


def gram_matrix(input):
    a, b, c, d = input.size()
    f = input.view(a * b, c * d)
    return torch.mm(f, f.t()).div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super().__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        self.loss = F.mse_loss(gram_matrix(input), self.target)
        return input


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


content, style = torch.rand(1, 1, 4, 4), torch.rand(1, 1, 4, 4)
content_loss, style_loss = ContentLoss(features(content)), StyleLoss(features(style))
model = nn.Sequential(*features, content_loss, style_loss)
image = content.clone()
image.requires_grad_(True)
model.requires_grad_(False)
optimizer = torch.optim.LBFGS([image], max_iter=2)
run = [0]
while run[0] < 2:

    def closure():
        with torch.no_grad():
            image.clamp_(0, 1)
        optimizer.zero_grad()
        model(image)
        loss = content_loss.loss + 1000 * style_loss.loss
        loss.backward()
        run[0] += 1
        return loss

    optimizer.step(closure)
with torch.no_grad():
    image.clamp_(0, 1)
print(image.min() >= 0, image.grad.shape, run[0] >= 2)


def total_variation(img):
    return (img[..., 1:, :] - img[..., :-1, :]).abs().mean() + (img[..., 1:] - img[..., :-1]).abs().mean()


adam = torch.optim.Adam([image], lr=0.05)
adam.zero_grad()
(total_variation(image) + F.huber_loss(image, style)).backward()
adam.step()
