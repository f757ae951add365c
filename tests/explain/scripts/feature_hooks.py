"""Hooks that collect activations and gradients of a layer, as for class activation maps."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

model = nn.Sequential(
    nn.Conv2d(1, 2, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(2, 3, 3, padding=1),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(48, 2),
)
model.eval()
activations, gradients = {}, {}


def get_activation(name):
    def hook(module, input, output):
        activations[name] = output.detach()

    return hook


def save_gradient(module, grad_input, grad_output):
    gradients["conv2"] = grad_output[0]


handles = [
    model[2].register_forward_hook(get_activation("conv2")),
    model[2].register_full_backward_hook(save_gradient),
]
image = torch.rand(1, 1, 4, 4, requires_grad=True)
scores = model(image)
target = scores.argmax(dim=1).item()
model.zero_grad()
scores[0, target].backward()

weights = gradients["conv2"].mean(dim=(2, 3), keepdim=True)
cam = F.relu((weights * activations["conv2"]).sum(dim=1, keepdim=True))
cam = F.interpolate(cam, size=(8, 8), mode="bilinear", align_corners=False)
cam = (cam - cam.min()) / (cam.max() - cam.min() + 1e-8)
print(cam.shape, activations["conv2"].requires_grad)
saliency, _ = image.grad.data.abs().max(dim=1)
print(saliency.shape)
for handle in handles:
    handle.remove()

h = model[0](image)
h.retain_grad()
seen = []
h.register_hook(lambda g: seen.append(g.norm()))
model[1:](h).sum().backward()
print(len(seen), h.grad is not None, h.is_leaf)

frozen = [p.register_hook(lambda g: g * 0) for p in model[0].parameters()]
model.zero_grad()
model(image.detach()).sum().backward()
print(model[0].weight.grad.abs().sum().item())
