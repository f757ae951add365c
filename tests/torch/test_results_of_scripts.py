"""Memory, versions and last digits of results, and containers, that scripts meet: as torch prints them."""

from __future__ import annotations

import pytest

import reference_impl
from scripts_run import printed

torch = pytest.importorskip("torch")

PACKED = """
from importlib import import_module
rnn = import_module(f"{torch.__name__}.nn.utils.rnn")
given = [torch.ones(5, 2, requires_grad=True), torch.ones(3, 2), torch.ones(3, 2)]
def told(x):
    names, todo = [], [x.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None:
            names.append(node.name())
            todo += [target for target, _ in node.next_functions]
    print(x._version, x.stride(), x._is_view(), names)
for first in (True, False):
    padded = rnn.pad_sequence(given, batch_first=first)
    told(padded)
    for length in (None, 8):
        packed = rnn.pack_padded_sequence(padded, torch.tensor([5, 3, 3]), batch_first=first)
        told(rnn.pad_packed_sequence(packed, batch_first=first, total_length=length)[0])
"""
LAID_OUT = """
F = torch.nn.functional
x = torch.arange(144.0).view(2, 2, 6, 6)
made = [F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 3), F.interpolate(x, scale_factor=2)]
made += [F.pad(x, (1, 1, 1, 1), mode=mode) for mode in ("reflect", "replicate")]
made += [x.rot90(k, dims) for k in (1, 2, 3) for dims in ((2, 3), (0, 3))]
made += [(x > 70).nonzero(), torch.tensor([0, 2]).nonzero(), torch.tensor(1).nonzero()]
made += [F.one_hot(torch.tensor([0, 2])), F.one_hot(torch.tensor([[0], [2]]), 4)]
for each in made:
    print(each.shape, each.stride(), each._version, each.tolist() if each.ndim < 4 else 0)
"""
SPACED = """
F = torch.nn.functional
for count in (1, 2, 5, 7):
    print(torch.linspace(-1, 1, count).tolist())
for count in (5, 6, 8):
    grid = F.affine_grid(torch.eye(2, 3)[None], (1, 1, count, count), align_corners=False).requires_grad_()
    image = torch.arange(float(count**2)).view(1, 1, count, count).sin()
    F.grid_sample(image, grid, align_corners=False).sum().backward()
    print(grid.tolist(), [round(x, 4) for x in grid.grad[0, 1, :, 0].tolist()])
x = torch.ones(2, 2, requires_grad=True)
for p in ("fro", None, 1):
    print(torch.norm(x, p=p), x.norm(p, dim=1), torch.norm(x, p, dtype=torch.float64))
nn = torch.nn
named = nn.ParameterDict({"b": nn.Parameter(x), "a": nn.Parameter(x)})
named.update([("c", x.detach())])
print(list(named), named.pop("a").shape, named.get("z", 1), list(named.keys()))
x.grad = x.detach() * 3
print(nn.utils.clip_grad_norm_([x], 1.0, norm_type="inf"), x.grad)
class Around(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)
import copy
print(copy.deepcopy(Around(nn.Linear(2, 1))).in_features)
"""
KEPT = """
nn = torch.nn
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.count = nn.Linear(1, 1), 3
    def get_extra_state(self):
        return {"count": self.count}
    def set_extra_state(self, state):
        self.count = state["count"] + 1
net, other = nn.Sequential(Counted()), nn.Sequential(Counted())
state = net.state_dict()
print(list(state), state["0._extra_state"], other.load_state_dict(state), other[0].count)
del state["0._extra_state"]
print(other.load_state_dict(state, strict=False))
x, kept = torch.ones(4), []
torch.manual_seed(0)
print(torch.dropout(x, 0.0, True), torch.dropout(x, 0.5, False))
"""
REACHED = """
d = torch.distributions
c = d.constraints
x = torch.tensor([0.5, -0.2, 1.0])
for registry in (d.transform_to, d.biject_to):
    for each in (c.real, c.positive, c.nonnegative, c.unit_interval, c.interval(-1.0, 3.0),
                 c.greater_than(2.0), c.simplex, c.real_vector, c.independent(c.positive, 1)):
        made = registry(each)
        y = made(x)
        print(type(made).__name__, *([round(v, 4) for v in each.tolist()] for each in (y, made.inv(y))))
print([round(v, 4) for v in d.transform_to(c.lower_cholesky)(torch.ones(2, 2)).flatten().tolist()])
@d.transform_to.register(type(c.boolean))
def made(constraint):
    return d.AffineTransform(0.0, 2.0)
print(d.transform_to(c.boolean)(x))
try:
    d.biject_to.register(1, made)
except TypeError as error:
    print(str(error))
"""
NORMED = """
linalg = torch.linalg
x = torch.tensor([[[1.0, 2.0], [3.0, 5.0]], [[1.0, -2.0], [0.0, 1.0]]], requires_grad=True)
for order in ("fro", "nuc", 1, -2, 2, float("inf")):
    for dim in ((0, 1), (2, 0), (-2, -1)):
        norm = linalg.matrix_norm(x, order, dim, keepdim=True)
        names, node = [], norm.grad_fn
        while node is not None:
            names.append(node.name())
            node = node.next_functions[0][0] if node.next_functions else None
        print(order, norm.shape, [round(v, 4) for v in norm.flatten().tolist()], names)
y = torch.zeros(3)
y.index_fill_(0, torch.tensor([0, 2]), (value := torch.tensor(2.0, requires_grad=True)) * 3)
(y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
print(y, y.grad_fn.name(), value.grad)
"""
CLUSTERED = """
nn = torch.nn
for cutoffs in ([], [3, 2], [2, 9], [2.5]):
    try:
        nn.AdaptiveLogSoftmaxWithLoss(4, 9, cutoffs)
    except ValueError as error:
        print(error)
layer = nn.AdaptiveLogSoftmaxWithLoss(4, 9, [2, 5], div_value=2.0, head_bias=True)
for at, p in enumerate(layer.parameters()):
    p.data = (torch.arange(float(p.numel())).view(p.shape) * (0.3 + at)).sin()
x = (torch.arange(20.0).view(5, 4) / 3).cos().requires_grad_()
for target in ([0, 1, 4, 8, 5], [0, 0, 1, 1, 0], [8, 8, 8, 8, 8]):
    x.grad = None
    out = layer(x, torch.tensor(target))
    out.loss.backward()
    print([round(v, 4) for v in out.output.tolist()], [round(v, 4) for v in x.grad[0].tolist()])
    print(out.output.grad_fn.name(), out._fields)
print([round(v, 4) for v in layer.log_prob(x)[1].tolist()], layer.predict(x))
print(layer(x[0], torch.tensor(7)).output.shape, layer)
for given in ((x, torch.tensor([0])), (x[0], torch.tensor([0])), (x, torch.tensor([0, 1, 2, 3, 9]))):
    try:
        layer(*given)
    except RuntimeError as error:
        print(str(error).split(" but ")[0])
"""
RECURRENT = """
nn = torch.nn
def told(call, *given):
    try:
        call(*given)
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__, str(error))
def names(x):
    names, todo = [], [x.grad_fn]
    while todo:
        node = todo.pop(0)
        if node is not None:
            names.append(node.name())
            todo += [target for target, _ in node.next_functions]
    print(names)
x = torch.arange(6.0).view(3, 1, 2).requires_grad_()
for layer in (nn.RNN(2, 3, 2), nn.RNN(2, 3, bidirectional=True)):
    names(layer(x)[0])
for cell in (nn.RNNCell(2, 3), nn.LSTMCell(2, 3)):
    out = cell(x[0])
    (out[0] if isinstance(out, tuple) else out).grad_fn
    cell.weight_ih.data.copy_(torch.ones(cell.weight_ih.shape))
    with torch.no_grad():
        cell.weight_ih.add_(0)
    try:
        (out[0] if isinstance(out, tuple) else out).sum().backward()
    except RuntimeError:
        print([p.grad is None for p in cell.parameters()])
for layer in (nn.RNN(2, 3), nn.GRU(2, 3)):
    for given in ((x[0, 0],), (x.double(),), (x, x[0]), (x[0], x)):
        told(layer, *given)
told(nn.LSTM(2, 3), x, (x[0], x[0]))
for given in ((x[0], torch.ones(3, 3)), (x[0], torch.ones(1, 2))):
    told(nn.RNNCell(2, 3), *given)
"""
SCRIPTS = {
    "clustered": CLUSTERED,
    "normed": NORMED, "reached": REACHED, "kept": KEPT, "spaced": SPACED, "packed": PACKED,
    "laid out": LAID_OUT, "recurrent": RECURRENT,
}  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_prints_the_same(name):
    """Each line does."""
    assert printed(torch, SCRIPTS[name]) == printed(reference_impl, SCRIPTS[name])
