"""States of modules and optimizers: names, hooks around saving and loading, refusals, in torch's words."""

from __future__ import annotations

import pytest

import reference_impl
from scripts_run import printed

torch = pytest.importorskip("torch")

MODULES = """
import copy
nn = torch.nn
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.full((2,), 0.5))
        self.register_buffer("b", torch.zeros(2))
        self.register_buffer("n", torch.zeros(1), persistent=False)
        self.sub = nn.Sequential(nn.Linear(2, 2, bias=False), nn.BatchNorm1d(2))
        self.extra = 1
    def get_extra_state(self):
        return {"e": self.extra}
    def set_extra_state(self, state):
        self.extra = state["e"]
def told(call, *args, **kwargs):
    try:
        print(call(*args, **kwargs))
    except Exception as error:
        print(isinstance(error, RuntimeError), str(error)[:400])
"""
SAVED = (
    MODULES
    + """
m = Counted()
m.register_state_dict_pre_hook(lambda m, prefix, keep: print("before", prefix, keep))
m.sub[0].register_state_dict_post_hook(lambda m, state, at, meta: print("after", at, meta, list(state)))
m.sub._register_state_dict_hook(lambda m, state, prefix, meta: {"not": "used below the root"})
state = m.state_dict()
print(list(state), state["w"].requires_grad, state["w"].data_ptr() == m.w.data_ptr(), dict(state._metadata))
print(list(m.state_dict(prefix="p.", keep_vars=True).values())[0].requires_grad)
print(list(m.state_dict({"a": 1}, "q.")))
m.register_state_dict_post_hook(lambda *given: {})
told(m.state_dict)
m._register_state_dict_hook(lambda *given: {"x": 1})
told(copy.deepcopy(m).state_dict)
told(nn.Linear(1, 1)._register_state_dict_hook, list(m._state_dict_hooks.values())[0])
told(nn.Linear(1, 1).get_extra_state)
told(nn.Linear(1, 1).set_extra_state, 1)
"""
)
LOADED = (
    MODULES
    + """
state = Counted().state_dict()
m = Counted()
def before(m, state, prefix, meta, strict, missing, unexpected, wrong):
    print("before", prefix, dict(meta), strict, sorted(state), missing, unexpected, wrong)
    state.pop(prefix + "w", None)
first = m.register_load_state_dict_pre_hook(before)
m.register_load_state_dict_post_hook(lambda m, keys: print("after", keys))
emptying = m.sub.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
for how in ({}, {"strict": False}, {"assign": True}):
    told(m.load_state_dict, state, **how)
first.remove()
emptying.remove()
print(state._metadata)
bad = dict(state)
del bad["b"]
bad |= {"zz.q": torch.ones(1), "sub.0.weight": torch.ones(3), "sub.9.x": 1, "sub.1.running_mean": 3}
told(m.load_state_dict, bad)
told(m.load_state_dict, {name: x for name, x in state.items() if "w" in name}, strict=False)
told(nn.BatchNorm1d(2).load_state_dict, {"weight": torch.ones(2)})
told(nn.BatchNorm1d(2, track_running_stats=False).load_state_dict, {"weight": torch.ones(2)})
m.sub[0].register_load_state_dict_post_hook(lambda m, keys: keys)
told(m.load_state_dict, state)
n = Counted()
n.load_state_dict({**state, "w": nn.Parameter(torch.ones(2), False), "b": torch.ones(2)}, assign=True)
print(n.w.requires_grad, n.w, n.b, n.w._version)
"""
)
OWN = (
    MODULES
    + """
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))
    def _save_to_state_dict(self, state, prefix, keep_vars):
        super()._save_to_state_dict(state, prefix, keep_vars)
        state[prefix + "mine"] = 7
    def _load_from_state_dict(self, state, prefix, *more):
        self.got = state.pop(prefix + "mine")
        super()._load_from_state_dict(state, prefix, *more)
m = nn.Sequential(Own())
told(m.state_dict)
told(m.load_state_dict, m.state_dict())
print(m[0].got)
"""
)
PARTS = (
    MODULES
    + """
m = Counted()
for name in ("b", "w", "q", "sub.1.running_mean", "sub.7.q", "extra"):
    told(m.get_buffer, name)
    told(m.get_parameter, name)
    told(m.get_submodule, name)
for name in ("sub.0", "sub.z", "", "w", "new", "b.c"):
    told(m.set_submodule, name, nn.Identity())
    told(m.set_submodule, name, nn.Identity(), strict=True)
told(m.set_submodule, "new", 3)
print(m, m.type(torch.float64).w.dtype, m.type("torch.FloatTensor").b.dtype)
"""
)
OPTIMIZERS = """
x = torch.ones(2, requires_grad=True)
y = torch.ones(1, dtype=torch.float64, requires_grad=True)
adam = torch.optim.Adam([{"params": [x]}, {"params": [y], "lr": 0.5}])
(x.sum() * 2).backward()
y.sum().backward()
adam.step()
adam.register_state_dict_pre_hook(lambda own: print("saves"))
adam.register_state_dict_pre_hook(lambda own: print("first"), prepend=True)
adam.register_state_dict_post_hook(lambda own, state: dict(state, more=1))
adam.register_load_state_dict_pre_hook(lambda own, state: print("loads", sorted(state)))
adam.register_load_state_dict_pre_hook(lambda own, state: {k: v for k, v in state.items() if k != "more"})
adam.register_load_state_dict_post_hook(lambda own: print("loaded"))
state = adam.state_dict()
print(sorted(state), sorted(state["state"]), sorted(state["state"][0]), state["state"][0] is adam.state[x])
group = adam.param_groups[0]
adam.load_state_dict(state)
print(group is adam.param_groups[0], adam.param_groups[1]["lr"], adam.state[x] is state["state"][0])
print(adam.state[x]["exp_avg"] is state["state"][0]["exp_avg"])
sgd = torch.optim.SGD([x], lr=1.0, momentum=0.5)
sgd.step()
other = torch.optim.SGD([torch.ones(2, dtype=torch.float64, requires_grad=True)], lr=2.0)
other.load_state_dict(sgd.state_dict())
print(list(other.state.values()), other.param_groups[0]["lr"], other.param_groups[0]["momentum"])
decayed = torch.optim.AdamW([x], lr=0.5)
decayed.load_state_dict(torch.optim.Adam([x], lr=0.25, weight_decay=0.5).state_dict())
decayed.step()
print(decayed.param_groups[0]["decoupled_weight_decay"], decayed.param_groups[0]["lr"], x)
"""
SCHEDULES = """
import copy
optim, L = torch.optim, torch.optim.lr_scheduler
class Over:
    def __init__(self):
        self.k = 3
    def __call__(self, n):
        return self.k / (n + 1)
def told(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except (RuntimeError, ValueError, KeyError) as error:
        print(type(error).__name__, str(error))
def fresh(rate=0.1):
    return optim.SGD([torch.ones(2, requires_grad=True)], lr=rate, momentum=0.9)
def group(o):
    o.add_param_group({"params": [torch.ones(1, requires_grad=True)], "lr": 1.0})
for make in (lambda o: L.LambdaLR(o, Over()), lambda o: L.MultiplicativeLR(o, lambda n: 0.5),
             lambda o: L.OneCycleLR(o, 0.1, 5, three_phase=True), lambda o: L.CyclicLR(o, 0.01, 0.1, 2),
             lambda o: L.CyclicLR(o, 0.01, 0.1, 2, scale_fn=Over()), lambda o: L.OneCycleLR(o, 0.1, 5),
             lambda o: torch.optim.swa_utils.SWALR(o, [0.05] * len(o.param_groups), 2, "linear")):
    o = fresh()
    s = make(o)
    for _ in range(3):
        o.step()
        s.step()
    state = s.state_dict()
    print(state, list(o.param_groups[0]))
    other = make(fresh())
    other.load_state_dict(copy.deepcopy(state))
    print(other.get_last_lr(), other.state_dict() == state)
for least in (0, [0.01]):
    o = fresh()
    s = L.ReduceLROnPlateau(o, patience=0, min_lr=least)
    s.step(1.0)
    group(o)
    told(s.step, 2.0)
    print([each["lr"] for each in o.param_groups], s.min_lrs)
told(L.ChainedScheduler, [])
told(L.StepLR, fresh(), 1, last_epoch=3)
told(torch.optim.swa_utils.SWALR, fresh(), 0.1, anneal_strategy="x")
told(torch.optim.swa_utils.SWALR, fresh(), 0.1, -1)
told(torch.optim.swa_utils.SWALR, fresh(), [0.1, 0.2])
for kind in (optim.SGD, optim.Adam, optim.RMSprop, optim.Adagrad, optim.NAdam, optim.Adadelta, optim.ASGD):
    rate = torch.tensor(0.1)
    x = torch.ones(2, requires_grad=True)
    o = kind([x], lr=rate)
    x.grad = torch.tensor([0.5, -1.0])
    s = L.ExponentialLR(o, 0.5)
    o.step()
    s.step()
    print([round(v, 4) for v in x.tolist()], rate.item(), s.base_lrs, o.param_groups[0]["lr"] is rate)
"""
SAVED_WHOLE = """
import collections, io, math, copy, pickle
nn = torch.nn
def there_and_back(o, **how):
    file = io.BytesIO()
    torch.save(o, file)
    file.seek(0)
    return torch.load(file, **how)
def told(call, *args, **kwargs):
    try:
        print(call(*args, **kwargs))
    except Exception as error:
        print(type(error).__name__.replace("NoSuch", ""), str(error).split(" GLOBAL ")[0])
x = torch.arange(4.0)
a, b, c = there_and_back([x, x[1:3], x.view(2, 2).t()])
a.zero_()
print(b, c, b.storage_offset(), c.stride(), a._version)
for kind in (torch.bfloat16, torch.complex64, torch.bool, torch.int64):
    print(there_and_back(x.to(kind)[1:3]))
m = nn.ModuleList([nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)])
m[1].weight = m[0].weight
state = there_and_back(m.state_dict())
state["0.weight"].zero_()
print(state["1.weight"])
told(there_and_back, nn.ReLU())
told(there_and_back, nn.ReLU(), weights_only=False)
for o in (math.sin, int, frozenset([1]), range(3), collections.defaultdict(int), {1}, 1j,
        bytearray(b"x"), collections.Counter("a"), torch.float32, torch.Size([2]), torch.device("cpu"),
        torch.zeros(0), x.expand(2, 4)):
    told(there_and_back, o)
told(torch.save, x, "/nowhere/at/all")
x.requires_grad_().note = [1]
p = nn.Parameter(torch.ones(2))
p.note = 2
for way in (copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o)), there_and_back):
    print(getattr(way(x), "note", None), way(x).note is x.note, getattr(way(p), "note", None))
a = torch.tensor([3.0, 1.0], requires_grad=True)
slope, = torch.autograd.grad(a.abs().sum(), a, create_graph=True)
zeros, = torch.autograd.grad(slope.sum(), a)
for way in (copy.deepcopy, copy.copy, pickle.dumps, there_and_back):
    try:
        way(zeros)
    except RuntimeError:
        print("zeros have no memory")
"""
SCRIPTS = {
    "saved": SAVED, "loaded": LOADED, "overridden": OWN, "parts": PARTS, "optimizers": OPTIMIZERS,
    "schedules": SCHEDULES, "saved whole": SAVED_WHOLE,
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_prints_what_torch_prints(script: str) -> None:
    """Names, their order, hooks and words are those of torch."""
    assert printed(torch, script) == printed(reference_impl, script)
