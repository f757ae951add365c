"""Autograd on one page, as courses show it: leaves, accumulation, detach, in-place, retain_graph, hooks."""

import numpy as np
import torch

x = torch.ones(2, 2, requires_grad=True)
y = x + 2
z = y * y * 3
out = z.mean()
out.backward()
print(x.grad, y.grad_fn, x.is_leaf, y.is_leaf)

x.grad.zero_()
out = (x * 2).sum()
out.backward(retain_graph=True)
out.backward()
print(x.grad)

a = torch.randn(2, 2)
a = (a * 3) / (a - 1)
print(a.requires_grad)
a.requires_grad_(True)
b = (a * a).sum()
print(b.grad_fn is not None)

v = torch.tensor([0.1, 1.0, 0.0001])
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
u = w * 2
while u.data.norm() < 1000:
    u = u * 2
u.backward(v)
print(w.grad)

d = u.detach()
print(d.requires_grad, d.data_ptr() == u.data_ptr(), (w**2).requires_grad)
with torch.no_grad():
    print((w**2).requires_grad)

n = np.ones(3)
t = torch.from_numpy(n)
np.add(n, 1, out=n)
print(t, t.requires_grad)

try:
    q = torch.ones(3, requires_grad=True)
    r = q.sigmoid()
    r += 1
    r.sum().backward()
except RuntimeError as error:
    print(type(error).__name__, "modified by an inplace operation" in str(error))

try:
    q = torch.ones(3, requires_grad=True)
    s = (q**2).sum()
    s.backward()
    s.backward()
except RuntimeError as error:
    print("second time" in str(error))

try:
    q.add_(1)
except RuntimeError as error:
    print(error)

m = torch.ones(5)
weights = torch.randn(5, 3, requires_grad=True)
bias = torch.zeros(3, requires_grad=True)
loss = torch.nn.functional.binary_cross_entropy_with_logits(torch.matmul(m, weights) + bias, torch.zeros(3))
print("Gradient function =", loss.grad_fn is not None)
loss.backward()
print(weights.grad.shape, bias.grad.shape)
inp = torch.eye(4, 5, requires_grad=True)
o = (inp + 1).pow(2).t()
o.backward(torch.ones_like(o), retain_graph=True)
first = inp.grad.clone()
o.backward(torch.ones_like(o), retain_graph=True)
print(torch.equal(inp.grad, 2 * first))
