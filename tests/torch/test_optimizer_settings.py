"""Settings of optimizers: those that are refused, recorded steps, and steps that a device may capture."""

from __future__ import annotations

import pytest

import reference_impl
from scripts_run import printed

torch = pytest.importorskip("torch")

START = """
optim = torch.optim
def told(call, *args, **kwargs):
    try:
        print(type(call(*args, **kwargs)).__name__)
    except Exception as error:
        print(type(error).__name__.replace("Refused", ""), error)
def rounded(x):
    return None if x is None else [round(v, 3) for v in x.tolist()]
def fresh():
    return [torch.tensor([1.0, -2.0], requires_grad=True)]
"""
REFUSED = """
several, one = torch.tensor([0.1, 0.2]), torch.tensor(0.9)
for kind in (optim.SGD, optim.Adam, optim.NAdam, optim.Adafactor, optim.Adagrad):
    told(kind, fresh(), lr=several)
    told(kind, fresh(), lr=torch.tensor([0.1]))
for wrong in ({"momentum": -1}, {"weight_decay": -1}, {"lr": None}, {"fused": True, "foreach": True},
        {"fused": True, "differentiable": True}, {"capturable": True}, {"nothing": 1}):
    told(optim.SGD, fresh(), **wrong)
for wrong in ({"betas": (0, 0)}, {"betas": (one, 0.9)}, {"betas": (one, one), "foreach": True},
        {"betas": (0.9,)}, {"betas": 0.9}, {"betas": (several, several)}, {"lr": one, "foreach": True},
        {"fused": True, "foreach": True}, {"fused": True, "differentiable": True}):
    told(optim.Adam, fresh(), **wrong)
told(optim.Adagrad, fresh(), capturable=True)
told(optim.NAdam, fresh(), fused=True)
x = torch.ones(2, 2, requires_grad=True)
x.grad = torch.ones(2, 2)
told(optim.Muon([x], ns_steps=100).step)
told(optim.Muon([x], ns_coefficients=(1, 2)).step)
o = optim.Adam([x], betas=(torch.tensor([0.9]), torch.tensor([0.5])))
o.step()
print(x.tolist(), o.param_groups[0]["betas"], x._version)
"""
RECORDED = """
KINDS = [
    (optim.SGD, {"momentum": 0.9, "weight_decay": 0.1}), (optim.Adam, {}), (optim.AdamW, {}),
    (optim.NAdam, {"weight_decay": 0.1}), (optim.RAdam, {"betas": (0.5, 0.5)}), (optim.Adamax, {}),
    (optim.Adamax, {"weight_decay": 0.1}),
    (optim.Adadelta, {}), (optim.Adagrad, {}), (optim.RMSprop, {}), (optim.Rprop, {}),
    (optim.ASGD, {"t0": 1}),
]
for kind, how in KINDS:
    w, g = torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([0.5, 0.25], requires_grad=True)
    x = w.clone()
    o = kind([x], lr=0.1, differentiable=True, **how)
    for n in (1.0, 2.0, 3.0):
        x.grad = g * n + 0.3
        o.step()
    print(kind.__name__, rounded(x), x.grad_fn.name(), [v.requires_grad for v in o.state[x].values()])
    try:
        x.pow(2).sum().backward()
    except RuntimeError as error:
        print("modified" in str(error))
    print(rounded(w.grad), rounded(g.grad))
    leaves = fresh() + fresh()
    for leaf in leaves:
        leaf.grad = torch.ones(2)
    o = kind(leaves, differentiable=True, **how)
    told(o.step)
    print([sorted(o.state[leaf]) for leaf in leaves])
    told(kind, [w * 1])
"""
CAPTURED = """
for kind in (optim.Adam, optim.NAdam, optim.ASGD, optim.Adadelta, optim.RMSprop):
    x, y = fresh() + fresh()
    x.grad = torch.ones(2)
    o = kind([x, y], capturable=True)
    try:
        o.step()
    except AssertionError as error:
        print(str(error).split(" ['cuda'")[0])
    print(x.tolist(), sorted(o.state[x]), y in o.state)
for kind, how in ((optim.SGD, {}), (optim.Adam, {}), (optim.Adagrad, {})):
    x, = fresh()
    y = (x * x).sum()
    x.grad = torch.ones(2)
    kind([x], lr=0.1, fused=True, **how).step()
    print(rounded(x), x._version)
    told(y.backward)
    print(rounded(x.grad))
"""
SEARCHED = """
m = fresh()[0]
o = optim.LBFGS([m], lr=0.5, max_iter=3)
def closure():
    o.zero_grad()
    loss = (m - 3).pow(2).sum() + m.prod()
    loss.backward()
    return loss
for n in range(2):
    o.step(closure)
    print(rounded(m), [(k, type(v).__name__) for k, v in o.state[m].items() if k != "t"])
print(o.state[m]["d"]._version, o.state[m]["prev_flat_grad"]._version)
print([x is None for x in o.state[m]["al"]][:4])
o = optim.LBFGS([m], max_iter=0)
o.step(closure)
print(o.state[m])
o = optim.LBFGS([m], line_search_fn="other")
told(o.step, closure)
o = optim.LBFGS([m], lr=torch.tensor(0.1))
o.step(closure)
print(rounded(m))
"""
SCRIPTS = {
    "refused": REFUSED, "recorded": RECORDED, "captured": CAPTURED, "searched": SEARCHED,
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_prints_what_torch_prints(script: str) -> None:
    """Values, states, histories and words are those of torch."""
    assert printed(torch, START + script) == printed(reference_impl, START + script)
