"""Programs on which the reference and torch once differed for a reason that is no rule of its own.

Each is as a campaign reduced it; what a rule speaks of is a case in ``specs/cases`` instead. ``{Affine}``,
``{Within}`` and the like stand for the text of these modules and functions.
"""

from __future__ import annotations

import pytest

from conformance.adapters import load
from conformance.comparison.judge import Decision
from conformance.grading.cases import lacks_device
from conformance.grading.participants import Participants
from conformance.program.parsing import parse
from specs.callbacks import CLASSES, MODULES
from specs.fact import DENSITIES

PROGRAMS = {
    "zeros keep their signs where they are equal": """
a = torch.tensor(-4.0, requires_grad=True)
b = a.mul(0.0)
h = torch.tensor(1)
h.fill_(b)
k = h.maximum(b)
p = k.sqrt()
q, r = torch.autograd.grad(p, [k, p])
""",
    "nextafter has a gradient": """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([1.0, 3.0], requires_grad=True)
c = torch.nextafter(a, b)
c.sum().backward()
""",
    "running logarithms of sums do not overflow where they are differentiated": """
a = torch.tensor([[-900.0, 900.0, 1.0], [2.0, 3.0, 900.0]], requires_grad=True)
b = torch.logcumsumexp(a, 1)
c = (b * torch.tensor([1.0, -2.0, 3.0])).sum()
c.backward()
""",
    "shares of a quantile have a gradient": """
a = torch.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 6.0]], requires_grad=True)
b = torch.tensor([0.25, 0.625], requires_grad=True)
c = torch.quantile(a, b, dim=1)
d = torch.nanquantile(a, b)
e = c.sum() + d.sum()
e.backward()
""",
    "one quantity has a covariance without dimensions": """
a = torch.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
b = torch.cov(a)
c = torch.corrcoef(a)
b.backward()
""",
    "correlations lie between -1 and 1": """
a = torch.tensor([[2.0, -2.0, 2.0, -2.0, 0.0], [1.0, 1.0, -1.0, -1.0, 0.0]], requires_grad=True)
b = torch.corrcoef(a)
b.sum().backward()
""",
    "copies of views have nodes of their own": """
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
b = torch.transpose_copy(a, 0, 1)
c = torch.view_copy(a, (4,))
d, e = torch.unbind_copy(a)
f = torch.diag(a)
g = (b.sum() + c.prod() + d.sum() + e.sum() + f.prod())
g.backward()
""",
    "pieces that are taken for copies come from one node": """
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b, c = torch.unsafe_split(a, 2)
d = b.mul_(2)
e = b.sum() + c.sum()
e.backward()
""",
    "dimensions of size 1 are contracted with any": """
a = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
b = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
c = torch.tensordot(a, b, ([0], [1]))
c.sum().backward()
""",
    "what is contracted to one number is an inner product": """
a = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
b = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
c = torch.tensordot(a, b, ([1], [0]))
c.sum().backward()
""",
    "an index of take_along_dim is counted around": """
a = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
b = torch.tensor([[-1, 4, -5]])
c = torch.take_along_dim(a, b, 1)
c.sum().backward()
""",
    "subscripts are numbers, too": """
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
b = torch.einsum(a, [0, 1], a, [1, 2], [0, 2])
c = torch.einsum(a, [0, 0])
d = torch.einsum(a, [..., 27], [27, ...])
""",
    "sorting with a word on stability is an overload of its own": """
a = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
b, c = torch.sort(a, stable=True)
d, e = a.sort(descending=True)
b.prod().backward()
""",
    "a roll through everything is one node": """
a = torch.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
b = torch.roll(a, 1)
c = torch.roll(torch.tensor(2.0, requires_grad=True), 3)
b.prod().backward()
""",
    "the signs of a number are copied": """
a = torch.tensor([3.0, -1.0, 0.0], requires_grad=True)
b = torch.copysign(a, -2.0)
c = torch.copysign(torch.tensor([3, -1]), -2.0)
b.sum().backward()
""",
    "mantissas, blocks and inner products have nodes of their own": """
a = torch.tensor([3.0, -1.0], requires_grad=True)
b, c = torch.frexp(a)
d = torch.block_diag(a, b, a)
e = torch.vdot(a, b)
f = d.sum() + e
f.backward()
""",
    "a tensor of no dimensions is filled by index": """
a = torch.tensor(3.0, requires_grad=True)
b = torch.index_fill(a, 0, torch.tensor([0]), torch.tensor(2.0))
c = torch.diff(torch.tensor([1.0, 2.0], requires_grad=True), n=0)
d = torch.narrow(torch.tensor([1.0, 2.0, 3.0]), 0, torch.tensor(1), 2)
b.backward()
""",
    "there are no more differences than neighbours": """
a = torch.tensor([[3.0, 1.0, 2.0]], requires_grad=True)
b = torch.diff(a, n=5)
b.sum().backward()
""",
    "the imaginary part of a logarithm of sums is between -pi and pi": """
a = torch.tensor([2.0 + 7.0j, 2.0 + 8.0j], requires_grad=True)
b = torch.logsumexp(a, 0)
c = torch.logsumexp(a, 0, keepdim=True)
""",
    "combinations are masked from grids": """
a = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
b = torch.combinations(a, 2)
c, d = torch.meshgrid(a, b[0], indexing="xy")
e = (c * d).sum() + b.prod()
e.backward()
""",
    "equal singular values have a norm with a gradient": """
a = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
b = torch.linalg.norm(a, "nuc", keepdim=True)
b.sum().backward()
""",
    "zeros without memory are not deep-copied, nor are views of them": """
a = torch.tensor([3.0, 1.0], requires_grad=True)
b = torch.abs(a)
c, = torch.autograd.grad(b.sum(), a, create_graph=True)
d, = torch.autograd.grad(c.sum(), a)
e = copy.deepcopy(d)
f = copy.deepcopy(d[:0])
g = copy.deepcopy(d.clone())
h = copy.deepcopy([a, d])
""",
    "an out that requires grad takes a result where nothing is recorded, and is resized without a write": """
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = a * 1
c = torch.zeros(5)
d = torch.zeros(0)
e = torch.add(c, 1, out=d)
with torch.no_grad():
    f = torch.mul(b, 2, out=a)
    g = torch.mul(c, 2, out=b)
    h = torch.mul(c, 2, out=a)
""",
    "zeros without memory are copied to what shows an element twice": """
a = torch.tensor([1.0, 2.0], requires_grad=True)
d = a.sum()
i = d.__abs__()
j, = torch.autograd.grad(i, d, create_graph=True)
k, = torch.autograd.grad(j, d)
m, = torch.autograd.grad(d, a)
m.copy_(k)
""",
    "the data of what is detached from an inference tensor is computed with as that is": """
a = torch.tensor(2.0)
f = a.ge(a)
with torch.inference_mode():
    h = f.where(f, a)
j = h.detach()
a.data = j
n = a.sum()
b = torch.tensor(3.0)
b.data = a
o = b.sum()
""",
    "a copy of zeros without memory has the layout of one zero that is expanded": """
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
y = x.detach()
a = x.abs()
b, = torch.autograd.grad(a, x, y, create_graph=True)
c, = torch.autograd.grad(b, x, y)
d = torch.tensor(c.t())
e = torch.tensor(c[:1, :1])
d.as_strided_scatter(d, (3, 2), (2, 1))
d.view(-1)
f = e.grad
e.requires_grad = True
e.backward(d[:1, :1])
""",
    "index_add hands rows on to scatter_add only if it does not scale them": """
x = torch.tensor([[1.0, 2.0]])
y = x.index_add(0, torch.tensor([0]), x, alpha=2)
try:
    y = x.index_add(0, torch.tensor([1]), x, alpha=2)
except Exception as error:
    print(type(error).__name__, error)
try:
    y = x.index_add(1, torch.tensor([0, 2]), x)
except Exception as error:
    print(type(error).__name__, error)
""",
    "sizes of complex numbers lie as the numbers, also where there are none": """
d = torch.ones(2, 0, dtype=torch.complex128)
d.t_()
v = d.abs()
j = torch.view_as_complex(v)
""",
    "a number that was given first is packed by no hook, nor where it is divided anew": """
i = torch.tensor([-1.0, 1.0, 0.5], requires_grad=True)
j = torch.div(0.5, i)
k = torch.tensor([1.5, 1.0, -0.5])
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t.clone()):
    n, = torch.autograd.grad(j, i, k, create_graph=True)
m, = torch.autograd.grad(n, i, k)
""",
    "what a function that raises was given is rounded like the result": """
e = torch.tensor([complex(1.0, -1.0), complex(0.5, 1.0), complex(-1.0, -0.5), 0j], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
    try:
        f = e.sigmoid()
    except Exception as error:
        print(type(error).__name__, error)
""",
    "chance decides how often a result of assigned inference data was written": """
a = torch.tensor(2.0, requires_grad=True)
with torch.inference_mode():
    torch.autograd.backward([a], [a])
d = a.grad
a.data = d
m = a.sum()
""",
    "a gradient of a dtype that a non-leaf has from a leaf meets zeros of the value's": """
a = torch.tensor([[-1.0, 2.0]], dtype=torch.float64, requires_grad=True)
a.grad_dtype = torch.float32
b = torch.diagonal(a, -1, dim1=-1, dim2=0)
a.requires_grad = False
a[None, 1:] = b
b[[0]] = 1.0
a.backward(a)
""",
    "clamp_ looks at the dtype of its result before it looks for overlaps": """
d = torch.tensor(2)
u = d.as_strided((2,), (0,))
u.clamp_(0.0)
""",
    "deg2rad of an inference tensor refuses its out before complex numbers": """
with torch.inference_mode():
    h = torch.tensor(complex(2.0, 0.0), requires_grad=True)
i = h.deg2rad()
""",
    "a mask of another shape is seen through a view, and so is what it masks": """
a = torch.tensor([-3.0, 2.0, 0.0, 1.0], requires_grad=True)
with torch.inference_mode():
    b = a.neg()
b.data = a
f = torch.tensor([False, False, True, False])
h = torch.masked_fill(a, f, -2.0)
f.data = torch.tensor([False])
with torch.inference_mode():
    h.backward(b)
    c = b.masked_fill(torch.tensor(True), 0)
""",
    "what a custom function was told to save does not keep its graph alive": """
a = torch.tensor([[-2.0, 1.0, 2.0], [3.0, 4.0, -1.0]], requires_grad=True)
b = KeepsOutput.apply(a)
with torch.no_grad():
    a.swapdims_(0, 1)
b = a.detach()
f, h = torch.autograd.grad(a, [a, a], b)
""",
    "nor does one that is refused": """
a = torch.tensor([[-2.0, 1.0, 2.0], [3.0, 4.0, -1.0]], requires_grad=True)
with torch.inference_mode():
    with torch.enable_grad():
        c = KeepsOutput.apply(a)
with torch.no_grad():
    a.swapdims_(0, 1)
b = a.detach()
f, h = torch.autograd.grad(a, [a, a], b)
""",
    "a bias of several dimensions is added in a product only where it is one row": """
x = torch.tensor([[[1.0, 2.0, 3.0]], [[1.0, 0.0, 2.0]]])
w = torch.tensor([[1.0, 2.0, 3.0], [1.0, 0.0, 2.0]], requires_grad=True)
c = torch.nn.functional.linear(x, w, torch.tensor([[1.0]]))
d = torch.nn.functional.linear(x, w, torch.tensor([[1.0, 2.0]]))
""",
    "one gradient of a run is rounded as the one that it came from": """
a = torch.tensor([[-1.5, 2.0]], requires_grad=True)
b = a.sigmoid()
f = b ** 3.0
h, i = torch.autograd.grad(f, [b, a], b, create_graph=True)
k, m = torch.autograd.grad([i, i], [a, h], [a, a])
""",
    "nothing is read where index tensors together name no position": """
a = torch.tensor([[], []])
b = torch.tensor([[], []], dtype=torch.int64)
c = torch.tensor([[1], [2]])
d = a[b, c]
""",
    "joined, what is of another dtype is not cast in the history": """
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
y = torch.tensor([[1.0], [2.0]], requires_grad=True)
z = torch.tensor([], dtype=torch.complex64, requires_grad=True)
a = torch.stack([x, y[:, 0]])
b = torch.cat([y, z])
c, d = torch.autograd.grad(b, [y, z], b, create_graph=True)
""",
    "zeros of a real value put into a complex gradient are nothing to warn of": """
b = torch.tensor([complex(-4.0, -3.0), complex(-3.0, 4.0)])
c = torch.tensor(-2.0, requires_grad=True)
b.fill_(c)
b[[True, False]] = c
b.backward(b)
""",
    "nor are zeros of a complex value put into a real one": """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.mul(1.0)
b[[True, False]] = torch.tensor(complex(3.0, 0.0))
b.backward(a)
c, = torch.autograd.grad(b, b, a)
""",
    "a mask leaves what it does not name alone, also where that shows again": """
a = torch.ones(3)
b = a.as_strided((2, 2), (1, 1))
b.masked_fill_(torch.tensor([[False, True], [False, True]]), 2.0)
b[torch.tensor([[False, True], [False, True]])] = 3.0
""",
    "what a root holds is not summed into, where gradients have two dtypes": """
a = torch.tensor(2.0, requires_grad=True)
c = a.bfloat16()
c.add_(a)
f = a.register_hook(lambda g: g.detach())
a.grad_dtype = None
c.register_hook(lambda g: g.detach())
c.backward(c)
""",
    "half precision where elements overlap is laid out as float32 is": """
a = torch.tensor([[[2.0, 1.0], [-0.5, 0.5]], [[-1.5, 2.0], [1.0, -0.5]]])
c = a.bfloat16()
j = c.as_strided((3, 2), (1, 1))
k = torch.nn.Parameter(j)
m = k.t()
n = m.neg()
m.backward(n)
m.backward(n)
m.backward(n)
""",
    "half precision without elements is laid out by rows": """
a = torch.ones(2, 0, dtype=torch.bfloat16, requires_grad=True)
a.backward(a)
a.backward(a, create_graph=True)
""",
    "a mean is differentiated twice by as many elements as there are by then": """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.maximum(a)
b.register_hook(lambda g: g.detach())
c = torch.nn.functional.mse_loss(b, a)
c.backward(create_graph=True)
h = a.grad
q = torch.tensor(2.0)
b.data = q
h.backward(a)
""",
    "a tensor made like an integer one holds no gradient of a mean": """
a = torch.tensor(2.0, requires_grad=True)
j = torch.tensor([False, False])
n = torch.nn.functional.mse_loss(a, a)
a.requires_grad = False
a.data = j
n.backward()
""",
    "a result without elements has the strides that its operands' order gives": """
a = torch.tensor([1.0, 2.0])
b = torch.zeros((2, 0))
c = b.permute(-1, -2)
d = c.__rsub__(a)
e = torch.view_as_complex(d)
""",
    "a diagonal of no rows begins where it would if there were any": """
a = torch.tensor([1.0, 2.0])
b = a.view((1, -1, 2))
c = b[0:0]
d = c.diagonal(-1, dim1=2)
e = d.as_strided((2,), (1,))
""",
    "a leaf is refused before zeros without memory are": """
a = torch.tensor(2.0, requires_grad=True)
d, e = Pair.apply(a)
n = torch.abs(e)
p, = torch.autograd.grad(n, e, create_graph=True)
q, = torch.autograd.grad(p, e)
q.resize_as_(a)
q.requires_grad_()
q.set_(q)
""",
    "a gradient may have fewer dimensions than positions were given for": """
a = torch.tensor(2.0, requires_grad=True)
d = torch.tensor([False, False])
e = a.where(d, 2.0)
q = torch.view_as_complex(e)
q.unsqueeze_(-1)
q[[0, -1]] = -1
q.backward(q)
""",
    "zeros without memory get it where they are": """
a = torch.tensor([[4.0, 1.0], [2.0, -4.0]], requires_grad=True, device='cuda')
d = torch.tensor([[4.0, 1.0], [2.0, -4.0]], device='cuda')
e = a.abs()
h, = torch.autograd.grad(e, a, d, create_graph=True)
i, = torch.autograd.grad(h, a, d)
e.set_(i)
""",
    "a stale view whose data is elsewhere has its base's device": """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.cuda()
k = b.as_strided((2,), (1,))
q = b.view(1, -1, 1)
k.data = a
u = torch.tensor([1.0, 2.0], device='cuda:0')
q[0, ..., 0] = 3.0
k.backward(u)
""",
    "a stale view whose data is complex takes no complex gradient to a real base": """
b = torch.tensor([1.0, 2.0], requires_grad=True) * 1
k = b.as_strided((2,), (1,))
q = b.view(1, -1, 1)
k.data = torch.ones(2, dtype=torch.complex64)
q[0, 0, 0] = 3.0
n = k.grad_fn
k.register_hook(lambda g: g * 2)
k.backward(torch.ones(2, dtype=torch.complex64))
""",
    "a mask's shape is looked at before the value's, unless it is written": """
a = torch.tensor([[-1.5, 2.0, 1.0], [-0.5, 0.5, -1.5]])
f = torch.tensor([True, False], device='cuda:1')
i = a.masked_fill(f, a)
a.masked_fill_(f, a)
""",
    "the last dtype's parameters are the first that a step changes": """
c = torch.tensor([1, 2], device='cuda')
f = torch.tensor(-4.0, requires_grad=True, device='cuda')
m, = c.chunk(1, -1)
f.backward()
r = torch.optim.SGD([m, f])
m.grad = c
r.step()
""",
    "nodes that a backward's own thread makes are younger than those before it": """
e = torch.ones((2,), dtype=torch.float64, requires_grad=True, device='cuda')
i = torch.tensor([1.0, 2.0], requires_grad=True, device='cuda')
e.register_post_accumulate_grad_hook(lambda x: 3)
m = e.abs()
p, = torch.autograd.grad(m, e, i, create_graph=True)
p.backward(m)
""",
    "the gradient of a loss between two dtypes is made in the operand's, and not cast to it": """
x = torch.ones(2, requires_grad=True)
y = torch.zeros(2, dtype=torch.float64)
l = torch.nn.functional.mse_loss(x, y)
l.backward(create_graph=True)
h = x.grad
""",
    "a write may be refused after it is done, where the base has shrunk": """
i = torch.tensor([[complex(4.0, -1.0), complex(-1.0, 2.0), complex(2.0, -3.0)]], requires_grad=True)
i.backward(i, create_graph=True)
j = i.grad
r = j.real
j.data = torch.tensor(complex(3.0, 1.0))
r.sin_()
""",
    "what a sum leaves that cancels may be nothing to one and positive to the other": """
a = torch.tensor([[2.0, -2.0], [2.0, 2.0]], requires_grad=True)
b = a.sin()
h = b.matmul(b)
k = h[1, 1]
m = k.log()
n = k.reciprocal()
m.backward(retain_graph=True)
n.backward()
""",
    "what unpack gives of a view that has no accumulator fills nothing that is seen": """
a = torch.tensor([1.0, -0.5, 0.5, -1.5], requires_grad=True)
b = a.sum()
(m,) = torch.autograd.grad(b, a, b)
m.register_hook(lambda g: g / 2)
n = torch.ones((4,), requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    q = m.div(n)
(s,) = torch.autograd.grad(q, n, n, create_graph=True)
s.backward(m)
""",
    "what stands behind a dimension of none is taken off a gradient first": """
f = torch.tensor([[2.0], [0.5]], requires_grad=True)
i = torch.tensor(2.0)
m = f.narrow(-2, 2, 0)
(q,) = m.split(1, 1)
with torch.set_grad_enabled(False):
    f.mul_(i)
m.backward(q, create_graph=True)
""",
    "a loss lies in memory for that of each element": """
a = torch.tensor([1.0, 2.0])
e = torch.nn.functional.mse_loss(a, a)
k = e.as_strided((0,), (1,), storage_offset=1)
k[[0, -1]] = 0.0
""",
    "what is made as a backward begins is older than what its threads make": """
a = torch.tensor([1.0, 2.0], requires_grad=True, device='cuda')
b = a.relu()
d = b[None, 0]
d.mul_(d)
h = d[None, ...]
b.relu_()
h.backward()
""",
    "a bias that is not laid out by rows is added to the product": """
h = torch.tensor([3.0, 2.0])
i = torch.tensor([[-1.0, 0.0], [-1.0, 1.0]], requires_grad=True)
one = torch.ones(())
j = one.expand((2,))
k = torch.nn.functional.linear(h, i, j)
with torch.inference_mode():
    p = torch.tensor(2.0)
p.data = one
q = torch.nn.functional.linear(h, i, p)
""",
    "a complex sum multiplies by 1 what is added, which is then no number in either part": """
a = torch.tensor([[], []])
a = a.mean()
e = torch.tensor([complex(-1.0, 3.0)], requires_grad=True)
i = e.sub(a)
e.backward(i)
e.backward(e, create_graph=True)
""",
    "a bool to the power of 1 is an integer, also where an inference tensor is copied": """
a = torch.tensor(2.0, requires_grad=True)
with torch.inference_mode():
    e = torch.tensor([True, True])
e = e.detach()
e.fill_(a)
i = e.pow(1)
j = e.pow(1.0)
""",
    "what is no number does not fit integers, which is said before that they have no history": """
a = torch.tensor([], requires_grad=True)
e = a.mean(0)
h = torch.tensor(2)
i = torch.tensor([False, True])
j = h.masked_fill(i, e)
""",
    "a position is looked at before the version of what is no view": """
a = torch.tensor(2.0)
with torch.inference_mode():
    b = torch.tensor(3.0)
    d = torch.tensor([[3.0, 4.0]])
b.data = a
d.data = d.detach().clone()
c = torch.tensor(2)
with torch.inference_mode():
    e = b.index_select(-1, c)
    f = d.index_select(0, c)
    h = torch.stack([d, d], -1)
    i = torch.stack([d, d], 0)
""",
    "a step that is refused leaves no momentum": """
with torch.inference_mode():
    h = torch.tensor([1.0, 2.0], requires_grad=True)
p = torch.optim.SGD([h], lr=0.5, momentum=0.5)
torch.autograd.backward([h], [h])
p.step()
p.step()
""",
    "views that a custom function gives of bools are no several differentiable ones": """
c = torch.tensor([True, False])
e = torch.tensor(3.0, requires_grad=True)
c.fill_(e)
c, *_ = Twins.apply(c)
c.mul_(c)
""",
    "a product is differentiated in the dtype of the gradient": """
a = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
b = a.minimum(a)
i = b.prod()
m = b.prod(0)
z = torch.ones((2,))
b.data = z
k, = torch.autograd.grad(i, b, create_graph=True)
n, = torch.autograd.grad(m, b, create_graph=True)
""",
    "the size of a complex number rounds, and that of a real one does not": """
a = torch.tensor([[4.0, 1.0], [-2.0, 3.0]], dtype=torch.float64)
m = torch.view_as_complex(a)
s = m.abs()
""",
    "a gradient that is a conjugate is a view": """
b = torch.tensor([complex(1.0, 1.0), complex(2.0, 0.0)], dtype=torch.complex128)
q = torch.tensor([complex(1.0, 2.0), complex(2.0, -1.0)], dtype=torch.complex128, requires_grad=True)
r = q.log()
s, = torch.autograd.grad(r, q, b, create_graph=True)
t, = torch.autograd.grad(s, q, b)
""",
    "a saved conjugate knows that its tensor was written": """
x = torch.tensor([complex(1.0, 1.0), complex(2.0, 0.0)], requires_grad=True)
w = x.mul(1.0)
o = torch.tensor([complex(1.0, 0.0), complex(1.0, 0.0)], requires_grad=True)
y = w.mul(w)
g, = torch.autograd.grad(y, w, o, create_graph=True)
with torch.no_grad():
    w.mul_(2.0)
g.backward(o)
""",
    "a checkpointed function is given values that were rounded": """
a = torch.tensor([1.0, 2.0])
a.sin_()
b = torch.utils.checkpoint.checkpoint(lambda t: t.clone().mul_(t), a)
""",
    "a parameter has one grad by whichever name of its module it is read": """
{Affine}a = torch.tensor(2.0)
d = torch.tensor([[2.0, -1.0], [3.0, 1.0]])
e = torch.tensor([-4.0, -3.0], dtype=torch.float64)
f = Affine(d, e)
h = f.bias
i = torch.optim.Adam([h, a], lr=0.25)
k = h.sum()
k.backward()
i.step()
v = h.mul(h)
w = v.sum()
w.backward()
c, g = f.parameters()
""",
    "conjugates without dimensions are tensors of their dtype": """
a = torch.tensor(complex(1.1, 3.0), dtype=torch.complex128, requires_grad=True)
b = torch.tensor(complex(7.0, -2.1), dtype=torch.complex128, requires_grad=True)
c = torch.tensor(complex(0.9, 2.0), dtype=torch.complex128, requires_grad=True)
d = b.mul(c)
e = a.mul(d)
f = torch.tensor(complex(0.3, 7.0), dtype=torch.complex128)
g, = torch.autograd.grad([e], [a], [f], create_graph=True)
h, = torch.autograd.grad([g], [b], [f])
""",
    **{
        f"{name} rounds {dtype} as often as PyTorch": f"""
a = torch.tensor([0.1, 0.3, -1.7, 2.5, 100.0], dtype=torch.{dtype}, requires_grad=True)
b = torch.optim.{name}([a], lr=0.25{more})
c = a.mul(a)
d = c.sum()
d.backward()
b.step()
e = a.mul(a)
f = e.sum()
f.backward()
b.step()
"""
        for name, more in (("Adam", ""), ("AdamW", ", betas=(0.4, 0.7), amsgrad=True"))
        for dtype in ("float16", "bfloat16")
    },
    "Adam changes a complex parameter by its parts": """
a = torch.tensor([complex(0.1, 3.0), complex(-1.7, 2.0)], requires_grad=True)
b = torch.optim.Adam([a], lr=0.25)
c = a.mul(a)
d = torch.view_as_real(c)
e = d.sum()
e.backward()
b.step()
""",
    "what hooks make of the total weight divides a loss's gradient": """
a = torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.25, 2.0]], requires_grad=True)
b = torch.tensor([1, 2])
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2 if t.is_floating_point() else t, lambda t: t):
    c = torch.nn.functional.cross_entropy(a, b)
c.backward()
""",
    "the second derivative of log_softmax has nodes of PyTorch's ages": """
a = torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.25, 2.0]], requires_grad=True)
b = torch.tensor([1, 2])
c = torch.nn.functional.cross_entropy(a, b)
d, = torch.autograd.grad(c, a, create_graph=True)
e = d.mul(d)
f = e.sum()
g, = torch.autograd.grad(f, a, create_graph=True)
h = g.mul(g)
i = h.sum()
i.backward()
""",
    "anomaly mode names the node in whose backward a failing one was made": """
{Once}a = torch.tensor(2.0, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    b = Once.apply(a)
    c, = torch.autograd.grad(b, a, a, create_graph=True)
    c.backward(b)
""",
    "a clip writes to the grad of a parameter that was assigned to a module": """
{Affine}b = torch.tensor([[-1.0, 2.0]])
c = torch.tensor([-1.5])
d = Affine(b, c)
e, f = d.parameters()
j = torch.view_as_complex(e)
n = torch.view_as_real(j)
p = torch.nn.Parameter(n)
d.weight = p
u, v = d.parameters()
x = torch.optim.Adam([v, u], lr=0.25, weight_decay=0.5)
a1 = u.sum()
a1.backward()
x.step()
d1 = u.mul(u)
e1 = d1.sum()
e1.backward()
x.step()
x.zero_grad()
h1 = u.mul(u)
i1 = h1.sum()
i1.backward()
j1 = torch.nn.utils.clip_grad_norm_([v, u], 1.0)
""",
    "the conjugate of a complex number is made on the CPU, whatever the gradient's device": """
a = torch.tensor([complex(1.0, 2.0)], requires_grad=True).cuda()
b = a.mul(complex(0.0, 2.0))
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
    c, = torch.autograd.grad(b, a, a, create_graph=True)
d = c.grad_fn
""",
    "and so is that of a divisor": """
a = torch.tensor([complex(1.0, 2.0)], requires_grad=True).cuda()
b = a.div(complex(0.0, 2.0))
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
    c, = torch.autograd.grad(b, a, a, create_graph=True)
d = c.grad_fn
""",
    "an integer is made of a number just below it": """
a = torch.tensor([[-2.0, 2.0]])
b = torch.nn.functional.softmax(a, dim=1)
c = b.sum()
h = torch.tensor([1, 2])
h.fill_(c)
""",
    "logaddexp looks at shapes before it looks for a kernel": """
b = torch.tensor([[1, 0, 0], [1, 0, 0]])
k = b.t()
q = k.logaddexp(b)
""",
    "layer_norm saves its bias, too": """
a = torch.tensor([1.0, -1.0, 0.0], requires_grad=True)
b = torch.tensor([4.0, -1.0, 2.0], requires_grad=True)
c = torch.nn.functional.layer_norm(a, (3,), None, b)
with torch.no_grad():
    b.tanh_()
c.backward(a)
""",
    "layer_norm keeps the statistics of what it was given": """
import torch
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
b = torch.tensor([1.0, 2.0], requires_grad=True)
c = torch.nn.functional.layer_norm(a, (2,), b)
c.data = a
c -= 2.0
c.backward(torch.tensor([[3.0, 1.0], [-2.0, 2.0]]))
""",
    "what layer_norm returns, and its gradient, lie row by row": """
a = torch.tensor([[1.0, -1.0], [0.0, 3.0]], requires_grad=True)
b = a.t()
c = torch.nn.functional.layer_norm(b, (2,))
b.retain_grad()
c.backward(b)
d = b.grad
""",
    "any number of tensors are joined by one node": """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.stack([a, a, a, a, a, a, a, a, a, a])
c = torch.cat([a, a, a, a, a, a, a, a, a, a, a])
d, = torch.autograd.grad(b, a, b, create_graph=True)
d.backward(a)
c.backward(c)
""",
    "an empty result of half precision keeps the order of its operand's dimensions": """
a = torch.tensor([[], [], []], dtype=torch.float16, requires_grad=True).t()
b = a * 2.0
c = a.gt(1.0)
d = a.prod(0)
""",
    "rms_norm returns rows, and computes half precision as float32": """
a = torch.tensor([[1.0, -1.0], [0.0, 3.0]], requires_grad=True)
b = torch.nn.functional.rms_norm(a.t(), (2,))
c = torch.tensor([0.0, 0.0009765625], dtype=torch.float16, requires_grad=True)
d = torch.nn.functional.rms_norm(c, (2,))
e = torch.nn.functional.rms_norm(torch.tensor([0.5, 2.0], dtype=torch.bfloat16), (2,))
d.backward(c)
""",
    "the gradient of a norm lies as its operand, and that of a count of elements is undefined": """
a = torch.tensor([[1.0, -1.0], [0.0, 3.0], [2.0, 2.0]], requires_grad=True)
b = a.t().clone()
b.retain_grad()
c = b.norm(dim=0)
c.backward(c)
d = b.norm(0)
d.backward()
""",
    "a weight's gradient rounds as equal elements do that are scaled before their mean is subtracted": """
a = torch.tensor([27.0, 27.0], dtype=torch.float64)
b = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
c = torch.nn.functional.layer_norm(a, (2,), b)
c.backward(b)
""",
    "equal elements are normalised to 0 on a device as well": """
a = torch.tensor([[0.0, 2.0], [3.0, 3.0]], device='cuda')
b = torch.tensor([1.0, 2.0], device='cuda')
c = torch.nn.functional.layer_norm(a, (2,), b, b)
""",
    "how often a gradient was written is chance in a module's parameter too": """
{Affine}

a = torch.tensor([[1.0, 2.0], [3.0, 4.0], [-1.0, -2.0]])
b = Affine(a)
c, = b.parameters()
d = b(c)
e = b(c)
e.backward(d)
f = c.grad
b.weight = torch.nn.Parameter(f)
g, = b.parameters()
h = Affine(f)
i, = h.parameters()
""",
    "how often a gradient was written is chance in a module that holds that module": """
{Affine}

{Detached}

a = torch.tensor([[2.0, 1.0], [-0.5, 0.5]])
b = Affine(a, torch.tensor(2.0))
c = Detached(b)
d, e = c.parameters()
f = d.mul(d)
g, = torch.autograd.grad(f, d, a)
b.weight = torch.nn.Parameter(g)
h, i = c.parameters()
""",
    "an entry of a module's state is the parameter, with its rounded gradient": """
{Affine}

a = torch.tensor([[-1.0, -2.0]])
b = Affine(a)
c, = b.parameters()
d = c.mul(c)
d.tanh_()
d.backward(a)
e = b.state_dict(keep_vars=True)
f = e['weight']
""",
    "layer_norm without a weight records nothing of an inference tensor": """
with torch.inference_mode():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.nn.functional.layer_norm(a, (2,))
""",
    "a copy of a copy of nothing is one": """
import copy
a = torch.tensor([[], []])
b = copy.deepcopy(a)
c = copy.deepcopy(b)
d = copy.deepcopy(a.t())
""",
    "a hook writes into a saved conjugate": """
m = torch.tensor([complex(-3.0, 2.0), complex(2.0, 0.0)], dtype=torch.complex128, requires_grad=True)
n = m.dot(m)
p, = torch.autograd.grad(n, m, n, create_graph=True)
p.backward(m, retain_graph=True)
r = torch.tensor(complex(1.0, -1.0), dtype=torch.complex128, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
    w, = torch.autograd.grad(n, m, r, create_graph=True)
""",
    "a bias cancels what layer_norm has rounded": """
a = torch.tensor([[6.0, 4.0]], dtype=torch.float64)
h = torch.tensor([-3.0, 2.0], dtype=torch.float64)
i = torch.tensor([3.0, 2.0], dtype=torch.float64)
j = torch.nn.functional.layer_norm(a, (2,), h, i)
""",
    "a gradient was resized by another name before it is normalised": """
k = torch.tensor([[1.0, 4.0], [-1.0, 2.0]], requires_grad=True)
k.sum().backward()
q = k.grad
v = k.grad
v.resize_(2, 1)
w = torch.tensor([1.0, 2.0])
y = torch.nn.functional.layer_norm(q, (2,), w, w)
""",
    "a refused set_() beside hooks leaves the rounding of its tensor": """
f = torch.tensor([[True, False, True, True], [True, False, True, True]])
j = f.tanh()
k = torch.tensor(2.0, dtype=torch.float64)
m = j.sum()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t.clone()):
    m.set_(k)
""",
    "a root of what cancels turns by its rounding": """
a = torch.tensor([3.0, 3.0], dtype=torch.float64)
c = torch.tensor([complex(0.0, 0.0), complex(1.0, 0.5)])
d = c.logaddexp(c)
f = torch.clone(d)
m = torch.tensor([complex(2.0, 3.0), complex(3.0, 3.0)], dtype=torch.complex128, requires_grad=True)
n = m.abs()
q, = torch.autograd.grad(n, m, a, create_graph=True)
r, = torch.autograd.grad(q, m, m)
r.sqrt_()
""",
    "a dtype that nobody sees any more may be a coarse one": """
d = torch.tensor(0.5, dtype=torch.float16, requires_grad=True)
e = d.clone()
e.sigmoid_()
f = torch.tensor(1.0, requires_grad=True)
i, = torch.autograd.grad(e, d, f, create_graph=True)
j = torch.tensor(1.0)
k, m = torch.autograd.grad(i, [f, d], j)
q = torch.tensor(2.0)
w = torch.tensor(2)
q.data = w
""",
    "a kernel that broadcasts asks for the version of what was an inference tensor": """
a = torch.tensor([3.0, -2.0, 0.0, 2.0])
b = a.reshape(1, 4)
i = torch.tensor([[False]])
j = torch.tensor(-2.0, requires_grad=True)
with torch.inference_mode():
    q = torch.tensor(2.0)
q.data = b
s = q.masked_fill(i, j)
with torch.inference_mode():
    s.backward(q)
k = j.grad
""",
    "the norm that a clip returns is rounded, and so is its gradient": """
a = torch.tensor([3.0, 1.0, -2.0], dtype=torch.float64, requires_grad=True)
c = torch.optim.AdamW([a], lr=0.25)
d = a.mul(a)
e = d.sum()
e.backward()
c.step()
c.zero_grad()
f = a.mul(a)
h = f.sum()
h.backward()
i = torch.nn.utils.clip_grad_norm_([a], 1.0)
i.requires_grad = True
m = torch.cos(i)
m.backward()
""",
    "a parameter's data is no parameter": """
import copy
k = torch.tensor([[3.0, 3.0]])
p = torch.nn.Parameter(k)
m = torch.tensor([[1.0, 2.0]])
m.data = p
x = copy.deepcopy(m)
""",
    "a norm of single elements is an absolute value": """
with torch.inference_mode():
    p = torch.tensor([[-2.0], [3.0]], requires_grad=True)
x = p.norm(2, 1, True)
y = p.norm(2, 1)
z = p.norm(2, 0, True)
""",
    "a conjugated row by a column": """
d = torch.tensor([[complex(1, 1)], [complex(2, -1)]], dtype=torch.complex128, requires_grad=True)
f = torch.tensor([complex(1.0, 0.0), complex(-2.0, 0.0)], dtype=torch.complex128, requires_grad=True)
k = f.matmul(d)
r, = torch.autograd.grad(k, f, k, create_graph=True)
r.backward(f, create_graph=True)
s = d.grad
""",
    "hooks are given what a write in place has rounded": """
j = torch.tensor([1.0, -1.0], requires_grad=True)
k = j.clone()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2 if t.is_floating_point() else t, lambda t: t):
    k.sigmoid_()
""",
    "the second derivative of abs lies as its gradient does": """
a = torch.tensor([[complex(4.0, -1.0), complex(-1.0, 2.0)], [complex(2.0, 1.0), 1j]], requires_grad=True)
b = a.transpose(0, 1)
c = b.abs()
d = torch.tensor([[-0.5, -1.0], [0.5, 1.0]], requires_grad=True)
e, = torch.autograd.grad(c, a, d, create_graph=True)
f = torch.tensor([[complex(1.0, 0.0), complex(-0.0, -2.0)], [complex(-1.0, 1.0), complex(2.0, 0.0)]])
g, h = torch.autograd.grad(e, [d, a], f)
""",
    "groups of no sample are normalised": """
a = torch.tensor([[0.0, 1.0]], requires_grad=True)[:0]
b = torch.nn.functional.group_norm(a, 1)
b.backward(b)
""",
    "a loss that refuses its target has saved what it was given": """
d = torch.tensor([[3.0, -2.0], [0.0, 2.0]], requires_grad=True)
e = torch.tensor([1, 2])
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    f = torch.nn.functional.cross_entropy(d, e)
""",
    "what is assigned inference data is so by each of its names": """
a = torch.tensor(2.0)
with torch.inference_mode():
    e = a.relu()
h = a.contiguous()
h.data = e
r = a.pow(1.0)
""",
    "a grad that is a parameter is clamped by one write, a plain one by two": """
a = torch.tensor(2.0)
b = torch.nn.Parameter(a)
a.grad = b
torch.nn.utils.clip_grad_value_([a], 2.0)
c = torch.tensor(2.0)
d = torch.tensor(3.0)
c.grad = d
torch.nn.utils.clip_grad_value_([c], 2.0)
""",
    "a pack hook writes to the conjugate of the number that a product has saved": """
d = torch.tensor([complex(1.0, 1.0), complex(-0.0, -1.0)], requires_grad=True)
e = d.mul(complex(0.0, 2.0))
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
    try:
        e.backward(d, create_graph=True)
    except Exception as error:
        print(type(error).__name__, error)
try:
    e.backward(d)
except Exception as error:
    print(type(error).__name__, error)
""",
    "a tensor made of an inference tensor begins at version 1": """
with torch.inference_mode():
    a = torch.tensor([1.0, 2.0])
b = torch.tensor(a)
c = a.new_tensor(a)
""",
    "before 2.12 a recomputation unpacks an empty tensor first": """
a = torch.tensor(3.0, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t.clone()):
    e = torch.utils.checkpoint.checkpoint(lambda t: t.clone().mul_(t), a, use_reentrant=False)
e.backward()
""",
    "CUDA raises complex numbers to powers by their logarithms": """
q = torch.tensor(complex(-2.0, 1.0), dtype=torch.complex128, device='cuda')
r = torch.pow(q, 3.0)
""",
    "CUDA refuses a value of the memory that a mask chooses from": """
a = torch.tensor([1.0, 2.0, 3.0], device='cuda')
b = a[2]
c = a[:2]
c[[True, False]] = b
d = a.as_strided((), (), 1)
try:
    a[[True, False, True]] = d
except Exception as error:
    print(type(error).__name__, error)
""",
    "CUDA refuses a value of another dtype where a mask chooses": """
a = torch.tensor([1.0, 2.0], device='cuda')
d = torch.tensor(False, device='cuda')
a[[True, False]] = d
b = a * 2
""",
    "CUDA finds an operand elsewhere before its dtype": """
t = torch.tensor(2.0, device='cuda', requires_grad=True)
t.backward(t)
v = t.grad
w = torch.zeros((2, 2, 2), dtype=torch.int64)
v.data = w
try:
    t.backward(t)
except Exception as error:
    print(type(error).__name__, error)
""",
    "estimates of a batch norm in training that are written before backward": """
a = torch.tensor([[0.0, 4.0], [2.0, 0.0], [4.0, 2.0]], requires_grad=True)
b = torch.zeros(2)
c = torch.ones(2)
d = torch.nn.functional.batch_norm(a, b, c, training=True, momentum=0.5)
c.add_(1)
d.backward(a)
""",
    "a loss of one row whose target is another by now": """
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = torch.tensor(1)
c = torch.nn.functional.cross_entropy(a, b)
b.data = torch.tensor(2)
c.backward()
""",
    "a loss whose targets are fewer than its rows by now": """
a = torch.tensor([[1.0, 2.0], [3.0, 1.0]], requires_grad=True)
b = torch.tensor([0, 1])
c = torch.nn.functional.cross_entropy(a, b)
b.data = torch.tensor([2])
c.backward()
""",
    "a loss of an image whose targets are a row by now": """
a = torch.arange(12.0).reshape(1, 3, 2, 2).requires_grad_()
b = torch.tensor([[[1, 0], [2, 1]]])
c = torch.nn.functional.nll_loss(a, b)
b.data = torch.tensor([1, 0])
c.backward()
""",
    "a write to what was pooled": """
a = torch.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
b = a * 2
c = torch.nn.functional.max_pool2d(b, 2)
b.zero_()
c.sum().backward()
""",
    "a write to what was averaged": """
a = torch.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
b = a * 2
c = torch.nn.functional.avg_pool2d(b, 2)
b.zero_()
c.sum().backward()
""",
    "a write to what was padded": """
a = torch.arange(4.0).reshape(1, 1, 4).requires_grad_()
b = a * 2
c = torch.nn.functional.pad(b, (1, 1), mode='reflect')
b.zero_()
c.sum().backward()
""",
    "a convolution whose image has another dtype by now": """
a = torch.ones(1, 1, 3, 3, requires_grad=True)
b = torch.ones(1, 1, 2, 2, requires_grad=True)
c = torch.nn.functional.conv2d(a, b)
a.data = a.data.double()
c.sum().backward()
""",
    "a convolution whose image is of integers by now": """
a = torch.ones(1, 1, 3, dtype=torch.float64)
b = torch.ones(1, 1, 2, dtype=torch.float64, requires_grad=True)
c = torch.nn.functional.conv1d(a, b)
a.data = torch.ones(1, 1, 3, dtype=torch.int64)
c.sum().backward()
""",
    "a convolution whose kernel has another dtype by now, which its gradient does not read": """
a = torch.ones(1, 1, 3, dtype=torch.float64)
b = torch.ones(1, 1, 2, dtype=torch.float64, requires_grad=True)
c = torch.nn.functional.conv1d(a, b)
b.data = torch.ones(1, 1, 2)
c.sum().backward()
""",
    "a clip reads the grads twice, and warns as often of a non-leaf": """
a = torch.ones(2, requires_grad=True)
b = a.mul(2.0)
a.sum().backward()
c = torch.nn.utils.clip_grad_norm_([b, a], 1.0)
d = torch.nn.utils.clip_grad_norm_([b], 1.0)
""",
    "a normalized layer whose weight has another dtype by now": """
a = torch.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
b = torch.ones(3, requires_grad=True)
c = torch.nn.functional.layer_norm(a, [3], b)
b.data = b.data.double()
c.sum().backward()
""",
    "a normalized batch that has another dtype by now": """
a = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
b = torch.ones(2, requires_grad=True)
c = torch.nn.functional.batch_norm(a, None, None, b, b, True)
a.data = a.data.double()
c.sum().backward()
""",
    "a pool of what has another dtype by now": """
a = torch.arange(16.0).reshape(1, 1, 4, 4).clone().requires_grad_()
b = torch.nn.functional.max_pool2d(a, 2)
a.data = a.data.double()
b.sum().backward()
""",
    "padding of what has another dtype by now": """
a = torch.arange(4.0).reshape(1, 1, 4).clone().requires_grad_()
b = torch.nn.functional.pad(a, (1, 1), mode='reflect')
a.data = a.data.double()
b.sum().backward()
""",
    "a huber loss of two dtypes": """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([1.5, 4.0], dtype=torch.float64)
c = torch.nn.functional.huber_loss(a, b)
c.backward()
""",
    "scores that have another dtype by now": """
a = torch.tensor([[1.0, 2.0], [3.0, 1.0]], requires_grad=True)
b = torch.tensor([0, 1])
c = torch.nn.functional.multi_margin_loss(a, b)
a.data = a.data.double()
c.backward()
""",
    "a cross product of two dtypes": """
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = torch.tensor([1.0, 0.0, 2.0], dtype=torch.float64)
c = torch.linalg.cross(a, b)
""",
    "the gradients of pools and of padding depend on the input, too": """
a = torch.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
b = torch.nn.functional.max_pool2d(a, 2)
c, = torch.autograd.grad(b.sum(), a, create_graph=True)
d, = torch.autograd.grad(c.sum(), a)
e = torch.nn.functional.avg_pool2d(a, 2)
f, = torch.autograd.grad(e.sum(), a, create_graph=True)
g, = torch.autograd.grad(f.sum(), a)
h = torch.nn.functional.pad(a, (1, 1, 1, 1), mode='reflect')
i, = torch.autograd.grad(h.sum(), a, create_graph=True)
j, = torch.autograd.grad(i.sum(), a)
""",
    "complex numbers are convolved by three convolutions of real ones": """
a = torch.tensor([[[1 + 2j, 3.0, -1j]]], requires_grad=True)
b = torch.tensor([[[1j, 2.0]]], requires_grad=True)
c = torch.tensor([1 - 1j], requires_grad=True)
d = torch.nn.functional.conv1d(a, b, c)
e = torch.nn.functional.conv_transpose1d(a, b)
d.abs().sum().backward()
e.abs().sum().backward()
""",
    "what is scattered has another dtype": """
a = torch.zeros(2, dtype=torch.float64)
b = torch.tensor([1])
c = torch.tensor([2.0])
d = a.scatter_add(0, b, c)
""",
    "a rectified NaN passes its gradient on": """
a = torch.tensor([float("nan"), -1.0, 2.0], requires_grad=True)
b = torch.relu(a)
b.sum().backward()
c = a.detach().sign()
""",
    "a scaled exponential unit has no second derivative at zero": """
a = torch.tensor([0.0, -1.0, 1.0], dtype=torch.float64, requires_grad=True)
b = torch.nn.functional.selu(a)
c, = torch.autograd.grad(b.sum(), [a], create_graph=True)
c.sum().backward()
""",
    "a divergence of two numbers is divided by no batch": """
a = torch.tensor(-1.0, requires_grad=True)
b = torch.tensor(0.5)
c = torch.nn.functional.kl_div(a, b, reduction="batchmean")
c.backward()
""",
    "an inverse hyperbolic cosine in place has a node of its own": """
a = torch.tensor([1.5, 2.0], requires_grad=True)
b = a * 1
c = b[:1]
c.acosh_()
d = a.div(4.0)
d.arctanh_()
""",
    "a quotient is rounded in place": """
a = torch.tensor([1.5, 2.0], requires_grad=True)
b = a * 3
c = b[:1]
c.div_(2, rounding_mode="trunc")
b.sum().backward()
b.div_(a, rounding_mode="floor")
""",
    "what has no derivative takes no number": """
a = torch.tensor([3.0, 4.0], requires_grad=True)
b = torch.floor_divide(a, 2)
c = a * 1
d = torch.floor_divide(0.5, a)
e = a * 2
""",
    "a logarithm times a number is differentiated twice by way of numbers": """
a = torch.tensor([1.0, 2.0, 0.5], requires_grad=True)
b = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
c = torch.xlogy(0.5, a)
d = torch.xlogy(a, 0.5)
e = torch.xlogy(a, b)
f = torch.special.xlog1py(0.5, a)
g = torch.special.xlog1py(a, 2)
(h,) = torch.autograd.grad(c, a, b, create_graph=True)
(i,) = torch.autograd.grad(d, a, b, create_graph=True)
(j,) = torch.autograd.grad(e, a, b, create_graph=True)
(k,) = torch.autograd.grad(f, a, b, create_graph=True)
(m,) = torch.autograd.grad(g, a, b, create_graph=True)
n = (h + i + j + k + m).sum()
n.backward()
""",
    "a conjugate shows the memory of its source, and set_ takes it": """
a = torch.tensor([1.0 + 2.0j, 1.0j, 3.0 + 1.0j])
b = a[1:].conj()
c = b.imag
d = b[1:]
e = d.conj()
f = torch.tensor([1.0 + 0.0j])
f.set_(b)
f.mul_(2)
""",
    "zeros without memory are not written where dtypes differ": """
a = torch.tensor([4.0, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
b = torch.tensor([-0.5, 0.5, -1.5])
a.grad_dtype = None
a.grad = b
c = a.grad
c.add_(a)
d = a.abs()
(e,) = torch.autograd.grad(d, a, c, create_graph=True)
e.backward(a)
""",
    "products and sums are written in place by nodes of their own": """
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
b = torch.ones(3, 2, 2, dtype=torch.float64)
c = (a * 1).addbmm_(b, b, beta=2, alpha=3)
d = (a * 1).addr_(a[0], a[1])
e = (a * 1).ldexp_(a)
f = (a * 1).polygamma_(2)
g = (a * 1).cumprod_(0)
h = (a * 1).cumsum_(0, dtype=torch.float64)
i = (a * 1).float_power_(2)
j = (a * 1).float_power_(a)
k = c.sum() + d.sum() + e.sum() + f.sum() + g.sum() + h.sum() + i.sum() + j.sum()
k.backward()
""",
    "a view is written by a running product": """
a = torch.tensor([[1.0, 0.0], [3.0, 4.0]], requires_grad=True)
b = a * 2
c = b[1].cumprod_(0)
d = b.select(1, 0).cumprod_(0)
b.sum().backward()
""",
    "signs, conjugates and steps are written in place": """
a = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j], requires_grad=True)
b = (a * 1).sgn_()
c = (a * 1).conj_physical_()
d = torch.conj_physical(a)
e = a.real.conj_physical()
f = (b + c + d).abs().sum()
f.backward()
g = torch.tensor([-1.0, 0.0])
h = g.heaviside_(torch.tensor(0.5))
i = torch.conj_physical_(g)
""",
    "shrinking and slopes are methods": """
a = torch.tensor([-1.0, 0.25, 2.0], requires_grad=True)
b = a.hardshrink(0.5)
c = a.prelu(torch.tensor([0.25]))
d = b.sum() + c.sum()
d.backward()
""",
    "slopes and noise are written in place": """
a = torch.tensor([-1.0, 2.0, -3.0], requires_grad=True)
b = torch.nn.functional.rrelu(a * 2, 0.25, 0.5, False, True)
c = torch.rrelu_(a * 2, 0.25, 0.25, True)
d = torch.nn.functional.alpha_dropout(a * 2, 1.0, True, True)
e = (b + c + d).sum()
e.backward()
""",
    "integers between two ends are cut off, and the ends are first": """
a = torch.linspace(4.3, 1, 9, dtype=torch.int64)
b = torch.linspace(-1.9, -5.9, 7, dtype=torch.int16)
c = torch.logspace(0, 3, 5, dtype=torch.int64)
d = torch.logspace(0.5, 2, 4, 5.0, dtype=torch.int64)
e = torch.logspace(2.5, 3, 1, dtype=torch.int64)
f = torch.linspace(-1, 3, 3, dtype=torch.uint8)
""",
    "a range of integers starts at an integer and keeps to its step": """
a = torch.arange(0.0, -8.000001, -4.0, dtype=torch.int64)
b = torch.arange(0.5, 5.5, 1.5, dtype=torch.int64)
c = torch.arange(-3.5, 3, dtype=torch.int8)
d = torch.arange(1.9, dtype=torch.int64)
""",
    "two numbers make a tensor": """
a = torch.add(2, 3.5)
b = torch.mul(True, 3)
c = torch.floor_divide(5, 2)
d = torch.div(1, 2)
""",
    "a number is divided by a tensor, rounded": """
a = torch.tensor([3.0, -4.0], requires_grad=True)
b = torch.div(5.5, a, rounding_mode="floor")
c = torch.div(a, a, rounding_mode=None)
d = torch.div(5.5, a, rounding_mode=None)
e = torch.remainder(5.5, a.detach())
f = torch.floor_divide(5, a.detach())
c.sum().backward()
""",
    "a product with a logarithm of a number has a node of its own": """
a = torch.tensor([0.0, 1.5, 2.0], requires_grad=True)
b = torch.xlogy(a, 2.0)
c = torch.xlogy(2.0, a + 1.0)
d = torch.special.xlog1py(a, 2)
e = torch.special.xlog1py(2, a)
f = torch.xlogy(a, 0.0)
g = (b + c + d + e).sum()
g.backward()
""",
    "a sum of no exponentials has a logarithm": """
a = torch.zeros(0, 2, requires_grad=True)
b = torch.logsumexp(a, 0)
c = torch.logsumexp(a, 1, True)
b.sum().backward()
""",
    "running extremes keep to what is no number": """
a = torch.tensor([1.0, float("nan"), 2.0, float("nan"), 3.0], requires_grad=True)
b, c = torch.cummax(a, 0)
d, e = torch.cummin(a, 0)
b.sum().backward()
""",
    "infinities survive in a loss, in a complex number and in logarithms of shares": """
a = torch.tensor([float("inf"), 1.0, float("-inf")])
b = torch.nn.functional.hinge_embedding_loss(a, torch.tensor([1.0, 1.0, -1.0]), reduction="none")
c = torch.view_as_real(torch.complex(a, torch.tensor([1.0, float("inf"), 2.0])))
d = torch.special.log_ndtr(a)
e = torch.pow(a, -0.5)
f = torch.heaviside(torch.tensor([float("nan"), 0.0]), torch.tensor([2.0, 3.0]))
""",
    "a scatter adds or multiplies": """
a = torch.tensor([[5.0, 6.0, 7.0], [8.0, 9.0, 10.0]])
b = torch.tensor([[0, 0, 1]])
d = a.scatter(0, b, 2.0, reduce="add")
e = torch.scatter(a, 0, b, 2.5, reduce="multiply")
f = a.clone().scatter_(0, b, 2, reduce="add")
h = a.long().scatter(0, b, 2.7, reduce="add")
k = (a > 6).scatter(0, b, True, reduce="add")
""",
    "samples lie at places of their own": """
a = torch.tensor([[0.0, 1.0, 4.0, 9.0], [16.0, 25.0, 36.0, 49.0], [1.0, 2.0, 3.0, 5.0]], requires_grad=True)
b = torch.tensor([0.0, 2.0, 4.0, 6.0])
c, d = torch.gradient(a, spacing=[2.0, 0.5], edge_order=2)
(e,) = torch.gradient(a, spacing=(b,), dim=1)
(f,) = torch.gradient(a, spacing=(b,), dim=1, edge_order=2)
g = (c + d * d + e * e + f * f).sum()
g.backward()
""",
    "a copy is asked for by its place": """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.to("cpu", torch.float32, False, True)
b.sum().backward()
""",
    "windows of bools are bools": """
a = torch.tensor([[True, False, True], [False, False, True]]).reshape(1, 1, 2, 3)
b = torch.nn.functional.unfold(a, 2)
""",
    "half precision is reached by way of single precision": """
a = torch.tensor([1.00048828125 + 1e-9, 2049.0000001], dtype=torch.float64)
b = a.half()
""",
    "indices of elements are views of one tensor": """
a, b = torch.tensor([[1, 0], [0, 2]]).nonzero(as_tuple=True)
c, d = torch.unravel_index(torch.tensor([3, 5]), (2, 3))
(e,) = torch.tensor(3).nonzero(as_tuple=True)
""",
    "a score alone has a margin with a weight": """
a = torch.tensor(2.0, requires_grad=True)
b = torch.nn.functional.multi_margin_loss(a, torch.tensor(0), weight=torch.tensor([3.0]))
""",
    "the sign's part in a sign that is copied has a gradient of zeros": """
a = torch.tensor([0.0, 2.0, -3.0], requires_grad=True)
b = torch.tensor([1.0, -2.0, 0.0], requires_grad=True)
c = torch.copysign(a, b)
d, e = torch.autograd.grad(c.sum(), [a, b], create_graph=True)
f, g = torch.autograd.grad(d.sum(), [a, b], allow_unused=True)
""",
    "a divisor whose elements are its grad's, too, divides by others the second time": """
h = torch.tensor(-4.0)
n = torch.tensor([[[1.0, -2.0, 2.0], [-1.0, 3.0, 1.0]]])
s = torch.tensor(2.0, requires_grad=True)
s.data = h
n.div_(s)
s.grad = h
n.backward(n, retain_graph=True)
a, = torch.autograd.grad(n, s, n)
""",
    "a strict product with a Hessian asks for a history before it counts elements": """
a = torch.tensor([1.0, 2.0])
with torch.inference_mode():
    try:
        b, c = torch.autograd.functional.vhp(lambda t: t * t, a, a, strict=True)
    except RuntimeError as error:
        print(error)
""",
    "a deep copy has the grad_dtype of its own dtype": """
import copy
a = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
a.grad_dtype = torch.float32
b = copy.deepcopy(a)
c = b.sum()
c.backward()
""",
    "an edge of a custom function's result holds a view of it, and data may leave that without a version": """
{Within}a = torch.tensor(2.0, requires_grad=True)
with torch.inference_mode():
    with torch.enable_grad():
        b = Within.apply(a)
c = torch.autograd.graph.get_gradient_edge(b)
b.data = a
d = torch.autograd.graph.get_gradient_edge(b)
e = Within.apply(a)
with torch.inference_mode():
    f = torch.autograd.graph.get_gradient_edge(e)
g = torch.autograd.graph.get_gradient_edge(e)
torch.autograd.backward(g)
h = a.grad
""",
    "the gradient of a target is no negated one": """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([1.0, 3.0], requires_grad=True)
c = torch.nn.functional.smooth_l1_loss(a, b)
d = torch.nn.functional.huber_loss(a, b)
e = torch.autograd.grad(c, b)[0].reciprocal()
f = torch.autograd.grad(d, b)[0].reciprocal()
""",
    "a deep copy of an array of numpy's has the gaps that the array has": """
import copy
a = torch.tensor([[-1.0, -2.0, 1.0], [2.0, 3.0, 4.0]])
b, c, d = a.unbind(-1)
e = c.numpy()
f = torch.from_numpy(e)
g = copy.deepcopy(f)
h = torch.as_strided(g, (2,), (1,), 1)
""",
    "a deep copy without elements keeps its strides": """
import copy
a = torch.ones(2, 3)
b = a.narrow(1, 0, 0)
c = b.numpy()
d = torch.from_numpy(c)
e = copy.deepcopy(d)
""",
    "a logarithm of what a bias has nearly cancelled": """
a = torch.tensor([[-1.0, 2.0]])
b = torch.tensor([3.0, -2.0])
c = torch.tensor([3.0, 3.0])
d = torch.nn.functional.layer_norm(a, (2,), b, c)
e = d.log()
""",
    "a power that is a copy of an inference tensor hands its gradient on": """
with torch.inference_mode():
    a = torch.tensor([2.0], requires_grad=True)
a.cos_()
b = a.pow(1)
torch.autograd.backward([b, b], [a, a])
c, d = torch.autograd.grad(b, [a, a], a)
""",
    "a softmax of one number is not always 1": """
a = torch.tensor(float("nan"), requires_grad=True)
b = torch.nn.functional.softmax(a, 0)
c = torch.nn.functional.log_softmax(a, 0)
d, = torch.autograd.grad(c, a)
e = torch.tensor(2.0, requires_grad=True)
f = torch.nn.functional.log_softmax(e, 0)
g, = torch.autograd.grad(f, e, a)
""",
    "a normalised row may miss 0 by as much as its scale says": """
a = torch.tensor([[1.0, 2.0, 3.0], [0.5, 3.0, 2.5]], requires_grad=True)
b = torch.nn.functional.layer_norm(a, (2, 3))
c = b.sqrt()
""",
    "a node keeps no gradient that it has handed on": """
a = torch.tensor([4.0, 1.0, -2.0, 3.0], requires_grad=True)
a.register_hook(lambda g: g * 2)
b = a.half()
b.add_(a)
c, d, e, *_ = torch.unbind(b, 0)
a.grad_dtype = None
d.backward()
""",
    "swapping dimensions of zeros in inference mode is a write": """
a = torch.tensor([[2.0, 1.0]], requires_grad=True)
b = torch.abs(a)
c, = torch.autograd.grad(b, a, a, create_graph=True)
d, = torch.autograd.grad(c, a, a)
with torch.inference_mode():
    try:
        d.swapdims_(0, 1)
    except Exception as error:
        print(error)
d.swapaxes_(0, 1)
""",
    "complex powers are off by as much as their logarithms are large": """
a = torch.tensor(4.0, requires_grad=True)
b = torch.tensor([complex(32.0, 0.0), complex(32.0, 0.0)], dtype=torch.complex128)
c = torch.pow(a, b)
""",
    "thirds round, and so do sums of them": """
a = torch.tensor([[3.0, -2.0, 1.0], [7.0, 5.0, -1.0]], requires_grad=True)
b = torch.tensor([3.0, 7.0, 1.5], requires_grad=True)
c = a.div(b)
d = c.sum()
d.backward()
e = a.reciprocal()
f = e.pow(3)
g = torch.arange(1.0, 20.0).div(7).cumsum(0)
""",
}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=why, marks=[pytest.mark.device] if "cuda" in text else [])
        for why, text in PROGRAMS.items()
    ],
)
def test_they_agree(text):
    """torch and the reference agree on the program at every density."""
    for name, source in {**CLASSES, **MODULES}.items():
        text = text.replace(f"{{{name}}}", source + "\n\n")
    program = parse("import torch\n" + text)
    if lacking := lacks_device(load("torch").capabilities, program):
        pytest.skip(lacking)
    for density in DENSITIES:
        found = Participants("reference", "torch").judged(program, density).found
        assert found.decision is Decision.AGREE, density
