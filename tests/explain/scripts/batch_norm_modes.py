"""Dropout and batch norm in training and evaluation, instance norm, group norm, and frozen statistics."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.arange(12.0).view(4, 3)

bn = nn.BatchNorm1d(3, momentum=0.5)
bn.train()
y = bn(x)
print(bn.running_mean, bn.num_batches_tracked)
bn.eval()
y = bn(x)
y.sum().backward()
print(bn.weight.grad, bn.bias.grad)
bn.reset_running_stats()
print(bn.running_mean)

drop = nn.Dropout(0.5)
ones = torch.ones(1000)
kept = drop(ones)
print(set(kept.unique().tolist()) <= {0.0, 2.0}, drop.eval()(ones) is ones)


def freeze_bn(module):
    if isinstance(module, nn.modules.batchnorm._BatchNorm):
        module.eval()
        module.weight.requires_grad = False
        module.bias.requires_grad = False


net = nn.Sequential(
    nn.Conv2d(2, 4, 1), nn.BatchNorm2d(4), nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True)
)
net.train()
net.apply(freeze_bn)
out = net(torch.randn(2, 2, 3, 3))
out.pow(2).mean().backward()
for name, p in net.named_parameters():
    print(name, p.requires_grad, p.grad is not None)

ln = nn.LayerNorm(3, elementwise_affine=False)
print(ln(x).mean(dim=-1).abs().max() < 1e-6)
rms = x / x.pow(2).mean(-1, keepdim=True).add(1e-6).sqrt()
print(rms.shape)
