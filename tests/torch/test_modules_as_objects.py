"""Modules as objects: hooks around calls, containers, calls with other tensors, parametrizations."""

from __future__ import annotations

import pytest

import reference_impl
from scripts_run import printed

torch = pytest.importorskip("torch")

START = """
import collections, copy, pickle, warnings
nn, F = torch.nn, torch.nn.functional
def told(call, *args, **kwargs):
    try:
        made = call(*args, **kwargs)
        print(type(made).__name__)
    except Exception as error:
        print(type(error).__name__.replace("Refused", ""), error)
def warned(call, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        told(call, *args)
    print([str(each.message) for each in caught])
def filled(m):
    with torch.no_grad():
        for at, p in enumerate(m.parameters()):
            p.copy_((torch.arange(float(p.numel())) + at).sin().reshape(p.shape))
    return m
class Fails(nn.Module):
    def forward(self, x):
        raise ValueError("boom")
"""
HOOKS = """
log = []
m = Fails()
m.register_forward_hook(lambda m, a, o: log.append(("always", o)), always_call=True)
m.register_forward_hook(lambda m, a, o: log.append("not"))
m.register_forward_hook(lambda m, a, k, o: log.append(k), always_call=True, with_kwargs=True)
def bad(m, a, o):
    raise KeyError("in hook")
m.register_forward_hook(bad, always_call=True)
warned(m, 1)
m = nn.ReLU()
m.register_forward_hook(bad)
m.register_forward_hook(lambda m, a, o: log.append(o.shape), always_call=True)
told(m, torch.ones(2))
print(log)
log.clear()
m = filled(nn.Linear(2, 3))
m.register_full_backward_pre_hook(lambda m, g: (g[0] * 3,))
m.register_full_backward_pre_hook(lambda m, g: log.append(g[0].sum().item()), prepend=True)
m.register_full_backward_hook(lambda m, i, g: log.append("last"))
m.register_full_backward_hook(lambda m, i, g: log.append("first"), True)
m(torch.ones(1, 2, requires_grad=True)).sum().backward()
print(log)
Pair = collections.namedtuple("Pair", "a b")
class Gives(nn.Module):
    def __init__(self, give):
        super().__init__()
        self.give = give
    def forward(self, x):
        return self.give(x)
for give in (lambda x: {"a": x}, lambda x: [x], lambda x: 5, lambda x: Pair(x, x + 1)):
    m = Gives(give)
    m.register_full_backward_hook(lambda *given: None)
    warned(m, torch.ones(1, requires_grad=True))
"""
GLOBAL = """
M = nn.modules.module
log = []
name = lambda m: type(m).__name__
handles = [
    M.register_module_forward_pre_hook(lambda m, a: log.append(("before", name(m)))),
    M.register_module_forward_hook(lambda m, a, k, o: log.append(("after", name(m), k)), with_kwargs=True),
    M.register_module_full_backward_hook(lambda m, i, o: log.append(("full", name(m), i[0] is None))),
    M.register_module_full_backward_pre_hook(lambda m, o: log.append(("pre", name(m)))),
]
m = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
m.register_forward_hook(lambda *given: log.append("own"))
m(torch.ones(1, 2)).sum().backward()
for handle in handles:
    handle.remove()
log.append("removed")
m(torch.ones(1, 2)).sum().backward()
told(M.register_module_backward_hook, print)
handle = M.register_module_forward_hook(lambda m, a, o: log.append((name(m), o)), always_call=True)
told(nn.Sequential(Fails()), 1)
handle.remove()
print(log)
log.clear()
for kind in ("parameter", "buffer", "module"):
    register = getattr(M, f"register_module_{kind}_registration_hook")
    handles.append(register(lambda m, n, v, kind=kind: log.append((kind, n))))
m = nn.Sequential(nn.Linear(2, 2, bias=False), nn.BatchNorm1d(2))
m.x = nn.ReLU()
m.register_parameter("none", None)
handles.append(M.register_module_parameter_registration_hook(lambda m, n, v: nn.Parameter(torch.ones(3))))
m.p = nn.Parameter(torch.ones(2))
for handle in handles:
    handle.remove()
print(m.p.shape, log)
"""
MODULES = """
class Takes(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
class Bare(nn.Module):
    def __init__(self):
        pass
told(Takes, 1)
told(Takes, a=1)
told(Bare(), 1)
told(lambda: list(Bare().parameters()))
m = nn.Linear(2, 2)
m.sub = nn.ReLU()
told(setattr, m, "sub", 5)
m.sub = None
print("bias" in dir(m), m._get_name(), m.call_super_init, m)
class Said(nn.Module):
    def extra_repr(self):
        return "a=1\\nb=2"
print(Said())
l = filled(nn.Linear(1, 1))
m = nn.ModuleDict({"a": l, "b": nn.Sequential(l)})
print([n for n, _ in m.named_modules(remove_duplicate=False)], len(list(m.modules(remove_duplicate=False))))
print([n for n, _ in m.named_parameters(remove_duplicate=False)])
m._apply(lambda x: x * 2)
print(l.weight.tolist(), m.share_memory() is m)
told(m.update, 5)
told(m.update, [5])
told(m.update, [[1]])
m = nn.Sequential(collections.OrderedDict(a=nn.ReLU()))
told(m.insert, 0, nn.ReLU())
m = nn.Sequential(nn.ReLU())
told(m.__iadd__, [nn.ReLU()])
told(m.forward, input=torch.ones(1))
told(nn.ModuleList([nn.ReLU()]).__delitem__, 10)
told(nn.utils.vector_to_parameters, 5, l.parameters())
told(nn.utils.vector_to_parameters, torch.ones(1), l.parameters())
l.weight.grad = torch.ones(1, 1)
told(nn.utils.clip_grad_norm_, l.parameters(), "a")
"""
PARAMETERS = """
p = nn.ParameterList([nn.Parameter(torch.ones(2)), torch.ones(2, 3), 5])
print(p, len(p), [type(x).__name__ for x in p], list(p.state_dict()))
p += [torch.ones(1)]
print(p[1:], p[-1], list(dict(p.named_parameters())), len(copy.deepcopy(p)))
told(lambda: p[20])
told(p.extend, 5)
told(p.extend, torch.ones(2))
told(p, 1)
p = nn.ParameterDict({"b": torch.ones(1), "a": nn.Parameter(torch.ones(2)), "n": 5})
print(p, list(p), list(reversed(p)), [type(x).__name__ for x in p.values()])
print(p.setdefault("c", torch.ones(4)).shape, p.get("q", 3), p.popitem()[0], p.pop("n"))
q = p | nn.ParameterDict([("k", torch.ones(1))])
q |= p
print(list(q), list(q.copy().keys()), list(q.fromkeys(["x"], torch.ones(1))))
for wrong in (5, [5], [(1, 2, 3)]):
    told(p.update, wrong)
told(lambda: p[5])
told(lambda: p["z"])
told(p, 1)
p.clear()
print(len(p), p)
"""
CALLED = """
call, stack = torch.func.functional_call, torch.func.stack_module_state
m = filled(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
x = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
own = {k: v.detach().clone() for k, v in m.named_parameters()}
told(call, m, own, x, strict=True)
told(call, m, {**own, "z": x}, x, strict=True)
told(call, m, (own, own), x)
told(call, m, 5, x)
told(call, m, [1], x)
told(call, m, {"0.weight": 5}, x)
told(call, m, own, (), {"input": x})
l = filled(nn.Linear(2, 2))
m = nn.Sequential(l, nn.Linear(2, 2, bias=False))
m[1].weight = l.weight
a, b = torch.eye(2), torch.ones(2, 2)
print(call(m, {"0.weight": a}, x), call(m, {"0.weight": a}, x, tie_weights=False))
print(call(m, {"0.weight": a, "1.weight": b}, x, tie_weights=False).shape)
told(call, m, {"0.weight": a, "1.weight": b}, x)
told(call, m, {"0.weight": a, "1.weight": a}, x)
print(l.weight is m[1].weight)
class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(2))
    def forward(self, x):
        self.n = self.n + 1
        return x * self.n
m, given = Counts(), {"n": torch.ones(2)}
print(call(m, given, torch.ones(2)), given, m.n)
told(stack, [nn.Linear(1, 1), nn.ReLU()])
told(stack, [nn.Linear(1, 1), nn.Linear(1, 1).eval()])
told(stack, [nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)])
p, n = stack([nn.BatchNorm1d(1).requires_grad_(False)] * 2)
print(p["weight"].requires_grad, n["running_var"].shape)
"""
PARAMETRIZED = """
P = nn.utils.parametrize
class Step(nn.Module):
    def __init__(self, there, back=None):
        super().__init__()
        self.there = there
        if back:
            self.right_inverse = back
    def forward(self, *x):
        return self.there(*x)
same = lambda x: x
def missing(x):
    raise NotImplementedError
STEPS = [
    (same, lambda x: 5), (same, lambda x: x.double()), (same, lambda x: x[0]), (same, missing),
    (lambda x: x.double(), None), (lambda x: x[0], None), (lambda x: 5, None),
    (lambda a, b: a + b, lambda x: (x / 2, x / 2)), (lambda a, b: a, lambda x: (x, 1)),
]
for there, back in STEPS:
    m = nn.Linear(2, 2)
    told(P.register_parametrization, m, "weight", Step(there, back))
    told(P.register_parametrization, nn.Linear(2, 2), "weight", Step(there, back), unsafe=True)
    m = nn.Linear(2, 2)
    P.register_parametrization(m, "weight", Step(same, same))
    told(P.register_parametrization, m, "weight", Step(there, back))
class Turns(nn.Module):
    def __init__(self, *gives):
        super().__init__()
        self.gives = list(gives)
    def forward(self, *x):
        return x[0]
    def right_inverse(self, x):
        return self.gives.pop(0)(x)
for first, then in ((same, lambda x: 5), (same, lambda x: x.double()), (lambda x: (x, x), lambda x: 5),
        (lambda x: (x, x), lambda x: (x,)), (lambda x: (x, x), lambda x: (x, x.double()))):
    m = nn.Linear(2, 2)
    P.register_parametrization(m, "weight", Turns(first, then))
    told(setattr, m, "weight", torch.ones(2, 2))
print(m.__class__.__name__, P.type_before_parametrizations(m).__name__, P.type_before_parametrizations(m[0])
    if isinstance(m, nn.Sequential) else m)
told(pickle.dumps, m)
"""
SCRIPTS = {
    "hooks": HOOKS, "hooks of all": GLOBAL, "modules": MODULES, "parameters": PARAMETERS, "called": CALLED,
    "parametrized": PARAMETRIZED,
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_prints_what_torch_prints(script: str) -> None:
    """Calls of hooks, their order, values and words are those of torch."""
    assert printed(torch, START + script) == printed(reference_impl, START + script)
