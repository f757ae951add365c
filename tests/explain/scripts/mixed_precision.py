"""Tensors of several dtypes: casts in a graph, half precision, a loss scaled by hand, integer indices."""

import torch
from torch import nn

torch.manual_seed(0)
master = nn.Parameter(torch.randn(3, 3))
x = torch.randn(2, 3)
optimizer = torch.optim.SGD([master], lr=0.1)
scale = 128.0

for step in range(2):
    optimizer.zero_grad()
    half = master.half()
    out = x.half() @ half
    loss = (out.float() ** 2).mean()
    (loss * scale).backward()
    with torch.no_grad():
        master.grad.div_(scale)
    if torch.isfinite(master.grad).all():
        optimizer.step()
print(half.dtype, half.is_leaf, master.grad.dtype, out.dtype)

w = torch.ones(3, dtype=torch.float64, requires_grad=True)
mixed = w * torch.ones(3, dtype=torch.float32) + torch.arange(3)
print(mixed.dtype)
mixed.sum().backward()
print(w.grad.dtype)
bf = w.to(torch.bfloat16)
print(bf.dtype, bf.requires_grad, w.type(torch.float32).dtype)

idx = torch.tensor([2, 0, 2])
picked = w[idx]
picked.pow(2).sum().backward()
print(w.grad)
flags = w > 0
print(flags.dtype, flags.requires_grad, flags.int().sum())
try:
    torch.arange(3, requires_grad=True)
except RuntimeError as error:
    print(error)
counts = torch.bincount(idx, minlength=4)
table = torch.zeros(4).scatter_add_(0, idx, torch.ones(3))
print(torch.equal(counts.float(), table))
with torch.autocast(device_type="cpu", enabled=False):
    print((w.float() @ w.float()).dtype)
