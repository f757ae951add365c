"""Parts of PyTorch that scripts use now and then, against torch: what each line prints, on both sides."""

from __future__ import annotations

import pytest

import reference_impl
from scripts_run import printed

torch = pytest.importorskip("torch")

OPTIMIZERS = {
    "ASGD": ["lr=0.1", "lr=0.1, lambd=0.1, t0=1, weight_decay=0.1", "lr=0.1, maximize=True"],
    "Adafactor": ["lr=0.1", "lr=0.1, weight_decay=0.1, d=2.0, eps=(1e-3, 1e-2)", "maximize=True"],
    "Muon": ["lr=0.1", "lr=0.1, nesterov=False, weight_decay=0.0", "adjust_lr_fn='match_rms_adamw'"],
}
STEPS = """
torch.manual_seed(0)
x = torch.arange(6.0).view(3, 2).sin().requires_grad_()
opt = torch.optim.{name}([x], {how})
for n in range(4):
    opt.zero_grad()
    (x * torch.arange(1.0, 7.0).view(3, 2).cos()).pow(2).sum().backward()
    opt.step()
print([round(v, 2) for v in x.flatten().tolist()], sorted(opt.state[x]))
"""
HOOKS = """
x = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([x], lr=0.1)
told = []
before = opt.register_step_pre_hook(lambda o, args, kwargs: told.append(("before", o is opt, len(args))))
after = opt.register_step_post_hook(lambda o, args, kwargs: told.append(("after", x._version)))
schedule = torch.optim.lr_scheduler.StepLR(opt, 1)
x.sum().backward()
opt.step()
schedule.step()
before.remove()
opt.step(lambda: x.sum())
after.remove()
opt.step()
wrong = opt.register_step_pre_hook(lambda o, args, kwargs: 1)
try:
    opt.step()
except RuntimeError:
    told.append("refused")
print(told, x._version)


class Own(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})

    def step(self, closure=None):
        return "own"


own = Own([x])
own.register_step_post_hook(lambda *given: print(len(given)))
print(own.step())
"""
BUFFERS = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Buffer(torch.ones(2))
        self.b = torch.nn.Buffer(torch.zeros(1), persistent=False)
        self.w = torch.nn.Parameter(torch.ones(2))


net = Net()
print(sorted(dict(net.named_buffers())), sorted(net.state_dict()), isinstance(net.a, torch.nn.Buffer))
net.a = torch.zeros(2)
try:
    net.a = 3
except TypeError as error:
    print(error)
t = torch.ones(2, requires_grad=True) * 2
made = torch.nn.Buffer(t)
print(made.is_leaf, made.requires_grad, made is t, made.data_ptr() == t.data_ptr())
w, state = net.w, {k: v.clone() for k, v in net.state_dict().items()}
print(net.load_state_dict(state, assign=True))
print(net.w is w, net.a is state["a"], net.w.data_ptr() == state["w"].data_ptr(), net.w.requires_grad)
net.w.requires_grad_(False)
state["w"] = torch.full((2,), 5.0, dtype=torch.float64, requires_grad=True)
net.load_state_dict(state, assign=True)
print(net.w, net.w.requires_grad)
state["w"] = torch.nn.Parameter(torch.ones(2))
net.load_state_dict(state, assign=True)
print(net.w is state["w"], net.w.requires_grad)
for wrong in ({"w": torch.ones(3), "a": torch.ones(2)}, {"w": torch.ones(2)}):
    try:
        net.load_state_dict(wrong, assign=True)
    except RuntimeError as error:
        print(error)
"""
FORMATS = """
nn, F, last = torch.nn, torch.nn.functional, torch.channels_last
x = torch.arange(24.0).view(1, 2, 3, 4)
y = x.to(memory_format=last)
print(last, y.stride(), y.is_contiguous(), y.is_contiguous(memory_format=last))
print(y.to(memory_format=last) is y, y.contiguous(memory_format=last) is y)
print(x.contiguous(memory_format=last).stride(), y.contiguous().stride(), y.clone().stride())
print(y.clone(memory_format=torch.contiguous_format).stride(), x.clone(memory_format=last).stride())
h = torch.ones(1, 2, 3, 4, requires_grad=True) * 2
print(h.to(memory_format=last).grad_fn.name(), h.contiguous(memory_format=last).grad_fn.name())
conv = nn.Conv2d(2, 3, 2)
print(conv(y).stride(), conv(y).is_contiguous(memory_format=last), (y + 1).stride())
conv.to(memory_format=last)
print(conv.weight.stride(), conv.bias.stride(), conv.weight.is_leaf, conv(x).stride())
conv(y).mean().backward()
print(conv.weight.grad.stride())
for layer in (nn.BatchNorm2d(2), nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d((1, 2)), nn.ReLU(),
              nn.Upsample(scale_factor=2), nn.Upsample(scale_factor=2, mode="bilinear"), nn.GroupNorm(1, 2),
              nn.ConvTranspose2d(2, 3, 2), nn.AdaptiveMaxPool2d((1, 2)), nn.ZeroPad2d(1), nn.Softmax(1),
              nn.LayerNorm((2, 3, 4))):
    print(type(layer).__name__, layer(y).stride())
print(torch.cat([y, y], 1).stride(), torch.cat([x, y], 1).is_contiguous(), y.flatten(1).stride())
for wrong in (lambda: y.view(-1), lambda: torch.ones(2).to(memory_format=last)):
    try:
        wrong()
    except RuntimeError as error:
        print("refused")
print(torch.empty(2, 3, 4, 5, memory_format=last).stride())
print(torch.ones(1, 2, 2, 2, 2).to(memory_format=torch.channels_last_3d).stride())
"""
DTYPES = """
x = torch.ones(2)
print(torch.arange(3).sum(dtype=float).dtype)
for kind in (int, float, bool, complex):
    print(torch.zeros(2, dtype=kind).dtype, torch.tensor([1], dtype=kind).dtype, x.to(kind).dtype)
    print(torch.full((2,), 1, dtype=kind).dtype, torch.zeros_like(x, dtype=kind).dtype)
    print(x.new_zeros(2, dtype=kind).dtype, x.to("cpu", kind).dtype)
try:
    x.type(float)
except ValueError as error:
    print(error)
"""
OPS = """
z = torch.tensor([1 + 1j, -1 + 0j, 2 - 3j], requires_grad=True)
angles = torch.angle(z)
print(angles, angles.grad_fn.name())
angles.sum().backward()
print(z.grad)
w = torch.tensor([1.0, -2.0, 0.0], requires_grad=True)
w.angle().sum().backward()
print(w.angle(), w.grad, torch.tensor([1, -1]).angle())
x = torch.tensor([[3.0, 4.0], [0.3, 0.4]], dtype=torch.float64, requires_grad=True)
for p in (1, 2, 3.5, float("inf")):
    for dim in (0, 1, -1):
        cut = x.renorm(p, dim, 1.0)
        grad, = torch.autograd.grad(cut.pow(2).sum(), x, create_graph=True)
        again, = torch.autograd.grad(grad.pow(2).sum(), x, allow_unused=True)
        print(cut, grad.mul(1e6).round().abs(), cut.grad_fn.name())
print(torch.full((2, 2), 4.0).renorm_(2, 0, 1.0)._version)
for wrong in ((2, 5, 1.0), (0, 0, 1.0), (2, 0, -1.0)):
    try:
        x.renorm(*wrong)
    except (RuntimeError, IndexError) as error:
        print(isinstance(error, IndexError))
a = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
b = torch.tensor([[9.0, 8.0], [7.0, 0.5], [3.0, 4.0], [2.0, 2.0]], requires_grad=True)
at = torch.tensor([0, 2, 0, 2])
for reduce in ("prod", "mean", "amax", "amin"):
    for include in (True, False):
        a.grad = b.grad = None
        out = a.index_reduce(0, at, b, reduce, include_self=include)
        (out * torch.arange(1.0, 7.0).view(3, 2)).sum().backward()
        print(out, out.grad_fn.name(), a.grad, b.grad)
zero = torch.zeros(3)
print(zero.index_reduce_(0, torch.tensor([0, 0]), torch.tensor([2.0, 3.0]), "prod", include_self=False))
for wrong in ("sum", [0, 5], [0]):
    try:
        index = torch.tensor([0, 0] if wrong == "sum" else wrong)
        zero.index_reduce(0, index, torch.ones(2), wrong if wrong == "sum" else "amax")
    except (RuntimeError, IndexError) as error:
        print(error)
"""
POOLS = """
nn, F = torch.nn, torch.nn.functional
x = torch.sin(torch.arange(2 * 3 * 7 * 8.0)).view(2, 3, 7, 8).requires_grad_()
u = torch.linspace(0.05, 0.95, 12).view(2, 3, 2)
out, index = F.fractional_max_pool2d(x, 2, output_size=(3, 4), return_indices=True, _random_samples=u)
out.pow(2).sum().backward()
print(out, index, out.grad_fn.name(), x.grad.sum())
print(F.fractional_max_pool2d(x[0], (3, 2), output_ratio=(0.5, 0.5), _random_samples=u[:1]))
print(nn.FractionalMaxPool2d(3, output_ratio=(0.5, 0.5))(x).shape)
print(nn.FractionalMaxPool3d(2, (1, 2, 2))(x).shape)
for wrong in (lambda: F.fractional_max_pool2d(x, 6, output_size=4), lambda: nn.FractionalMaxPool2d(3),
              lambda: nn.FractionalMaxPool2d(3, 2, 0.5), lambda: nn.FractionalMaxPool2d(3, None, 1.5),
              lambda: F.fractional_max_pool2d(x, 3)):
    try:
        wrong()
    except (RuntimeError, ValueError) as error:
        print(error)
y = torch.cos(torch.arange(2 * 5 * 6 * 7.0)).view(1, 2, 5, 6, 7).requires_grad_()
v = torch.linspace(0.1, 0.9, 6).view(1, 2, 3)
out, index = F.fractional_max_pool3d(y, 2, output_size=(2, 3, 4), return_indices=True, _random_samples=v)
print(out, index, out.grad_fn.name())
out, index = F.adaptive_max_pool3d(y, (2, 3, None), return_indices=True)
out.sum().backward()
print(out, index, out.grad_fn.name(), y.grad.sum())
print(nn.AdaptiveMaxPool3d(2), nn.AdaptiveMaxPool3d(2)(y[0]).shape)
net = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.Sequential(nn.BatchNorm1d(2, affine=False)))
weight = net[1].weight
made = nn.SyncBatchNorm.convert_sync_batchnorm(net)
print(made[1], made[1].weight is weight, made[2][0], made[1](torch.ones(2, 4, 3, 3)).grad_fn.name())
print(made[1].num_batches_tracked, [name for name, _ in made.named_parameters()])
try:
    nn.SyncBatchNorm(3)(torch.ones(3))
except ValueError as error:
    print(error)
"""
MORE = """
print(torch.GradScaler is torch.amp.GradScaler, torch.ones(2)[torch.newaxis].shape)
x = torch.tensor([1.0, 2.0], requires_grad=True)
out, push = torch.func.linearize(lambda v: v.sin(), x.detach())
print(out, push(torch.ones(2)))
print(torch.msort(torch.tensor([3.0, 1.0])), torch.gcd(torch.tensor([4]), torch.tensor([6])))
xs = [torch.ones(2), torch.full((3,), 2.0)]
print(torch._foreach_norm(xs), torch._foreach_mul(xs, 2), torch._foreach_add(xs, xs))
print(torch._foreach_mul_(xs, [2.0, 3.0]), xs, [v._version for v in xs])
z = torch.tensor([1.5 + 2j])
for name in ("floor", "ceil_", "round_", "trunc", "frac", "erf", "atan2", "fmod", "remainder_"):
    try:
        getattr(z.clone(), name)(*[z] * (name in ("atan2", "fmod", "remainder_")))
    except NotImplementedError as error:
        print(error)
"""
AROUND = """
nn, F, P = torch.nn, torch.nn.functional, torch.nn.utils.parametrize
x = torch.arange(12.0).view(1, 3, 4).requires_grad_()
for sides in ((1, 1), (2, 0), (0, 3), (-1, 2)):
    out = F.pad(x, sides, mode="circular")
    grad, = torch.autograd.grad((out * out).sum(), x)
    print(out.tolist(), out.grad_fn.name(), out._version, grad)
print(F.pad(torch.arange(8.0).view(1, 1, 2, 2, 2), (1, 1, 1, 1, 1, 0), mode="circular")._version)
for k in (torch.fft.fftfreq(5), torch.fft.rfftfreq(5), torch.fft.fftfreq(4, 0.5, requires_grad=True)):
    print(k, k._version, k.is_leaf, k.requires_grad)
calls = []


class Twice(nn.Module):
    def forward(self, x):
        calls.append("twice")
        return x * 2

    def right_inverse(self, x):
        calls.append("half")
        return x / 2


layer = nn.Linear(2, 2)
for unsafe in (False, False, True):
    P.register_parametrization(layer, "weight", Twice(), unsafe=unsafe)
    print(calls)
P.remove_parametrizations(layer, "weight")
print(calls)
"""
TWICE = """
F = torch.nn.functional
numbers = [0.3, -1.2, 2.5, -0.1, 3.0, -3.0, 4.0, -4.0, 0.5, -0.5]
x = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
v = torch.linspace(0.3, 1.3, 10, dtype=torch.float64)
for name in ("hardshrink", "softshrink", "hardswish", "logsigmoid", "selu", "celu"):
    out = getattr(F, name)(x)
    first, = torch.autograd.grad((out * v).pow(2).sum(), x, create_graph=True)
    second, = torch.autograd.grad((first * v).pow(2).sum(), x, create_graph=True)
    third, = torch.autograd.grad(second.sum(), x)
    print(name, out.grad_fn.name(), first.grad_fn.name())
    print([[round(n, 4) + 0.0 for n in each.tolist()] for each in (out, first, second, third)])
"""
SCRIPTS = {
    "twice": TWICE,
    "around": AROUND,
    "more": MORE,
} | {
    "hooks": HOOKS,
    "buffers": BUFFERS,
    "formats": FORMATS,
    "dtypes": DTYPES,
    "ops": OPS,
    "pools": POOLS,
}


@pytest.mark.parametrize(
    "how", [(name, how) for name, hows in OPTIMIZERS.items() for how in hows], ids=" ".join
)
def test_an_optimizer_steps_as_torchs(how):
    """Parameters and the names of the state are torch's; Muon rounds to bfloat16."""
    script = STEPS.format(name=how[0], how=how[1])
    assert printed(torch, script) == printed(reference_impl, script)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_prints_the_same(name):
    """Each line does."""
    assert printed(torch, SCRIPTS[name]) == printed(reference_impl, SCRIPTS[name])
