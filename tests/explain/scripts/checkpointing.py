"""Gradient checkpointing: blocks run again in backward instead of keeping what they computed."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, dim=4, depth=2, use_checkpoint=True):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.use_checkpoint = use_checkpoint

    def forward(self, x):
        for block in self.blocks:
            if self.use_checkpoint and self.training:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return x


net = Net()
x = torch.randn(3, 4, requires_grad=True)
net(x).pow(2).sum().backward()
with_checkpoint = x.grad.clone()

x.grad = None
net.zero_grad()
net.use_checkpoint = False
net(x).pow(2).sum().backward()
print(torch.allclose(with_checkpoint, x.grad))

stack = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh())
out = checkpoint_sequential(stack, 2, x, use_reentrant=False)
out.sum().backward()
print(stack[0].weight.grad.shape)
