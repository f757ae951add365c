"""Groups of parameters, states that are saved, and L-BFGS, which keeps the most."""

import torch

from specs.cases._measures import stepped


def every_setting_of_lbfgs():
    """It calls the closure again and again, and knows the curvature from what it kept of earlier steps.

    Rules: optim/updates-by-its-algorithm, optim/closure-records.
    """
    a = torch.tensor([1.0, 4.0], dtype=torch.float64)
    x = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.LBFGS([x], lr=0.5, max_iter=4, history_size=2)
    calls = []
    closure = lambda: (calls.append(o.zero_grad()), (a * (x - 1) ** 4).sum())[1]
    graded = lambda: ((loss := closure()).backward(), loss)[1]
    assert o.step(graded).item() == 65.0
    assert [round(v, 6) for v in x.tolist()] == [1.883535, 0.028804] and len(calls) == 4
    assert o.step(graded).item() < 65.0 and len(calls) == 8
    assert [round(v, 6) for v in x.tolist()] == [1.590748, 0.486822]
    y = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    p = torch.optim.LBFGS([y], line_search_fn="strong_wolfe", max_iter=3)
    loss = lambda: (p.zero_grad(), (a * (y - 1) ** 4).sum())[1]
    p.step(lambda: ((found := loss()).backward(), found)[1])
    assert [round(v, 6) for v in y.tolist()] == [1.933324, 0.124144]
    q = torch.optim.LBFGS([y], max_iter=10, max_eval=3, tolerance_change=0.0)
    evals = []
    q.step(lambda: (evals.append(q.zero_grad()), (found := (a * (y - 1) ** 4).sum()).backward(), found)[2])
    assert len(evals) == 3 and q.state[y]["func_evals"] == 3
    assert [round(v, 6) for v in y.tolist()] == [1.59312, 0.904321]
    r = torch.optim.LBFGS([y], tolerance_grad=100.0)
    few = []
    r.step(lambda: (few.append(r.zero_grad()), (found := (a * (y - 1) ** 4).sum()).backward(), found)[2])
    assert len(few) == 1


def groups_have_settings_of_their_own():
    """The rest is the optimizer's; a group that is added later is stepped as well.

    Rule: optim/groups-have-their-own-settings.
    """
    x = torch.tensor([1.0], requires_grad=True)
    y = torch.tensor([1.0], requires_grad=True)
    z = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.SGD([{"params": [x]}, {"params": y, "lr": 0.25, "weight_decay": 1.0}], lr=0.5)
    o.add_param_group({"params": [z], "lr": 0.125, "maximize": True})
    assert [group["lr"] for group in o.param_groups] == [0.5, 0.25, 0.125]
    assert [group["momentum"] for group in o.param_groups] == [0, 0, 0]
    (x + y + z).sum().backward()
    o.step()
    assert x.tolist() == [0.5] and y.tolist() == [0.5] and z.tolist() == [1.125]
    p = torch.optim.AdamW([{"params": [x], "betas": (0.0, 0.0), "eps": 0.0}, {"params": [y]}], lr=0.5)
    assert p.param_groups[0]["betas"] == (0.0, 0.0) and p.param_groups[1]["betas"] == (0.9, 0.999)
    p.zero_grad()
    assert x.grad is None and y.grad is None
    assert o.defaults["lr"] == 0.5 and "params" not in o.defaults


def a_state_goes_on_where_it_was_left():
    """Settings and states are restored, for parameters in the same order; the next step is the same.

    Rule: optim/state-comes-back.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    o = torch.optim.Adam([{"params": [y]}, {"params": [x], "lr": 0.25}], lr=0.5, betas=(0.5, 0.75))
    assert stepped(o, x, 1.0, -4.0) == [[0.75, -2.75], [0.938551, -2.938551]]
    state = o.state_dict()
    assert [group["params"] for group in state["param_groups"]] == [[0], [1]]
    assert list(state["state"]) == [1] and list(state["state"][1]) == ["step", "exp_avg", "exp_avg_sq"]
    assert state["state"][1]["step"].item() == 2.0 and state["param_groups"][1]["lr"] == 0.25
    z = x.detach().clone().requires_grad_()
    w = torch.ones(2, dtype=torch.float64, requires_grad=True)
    p = torch.optim.Adam([{"params": [w]}, {"params": [z]}], lr=8.0)
    p.load_state_dict(state)
    assert p.param_groups[1]["lr"] == 0.25 and p.param_groups[0]["betas"] == (0.5, 0.75)
    assert p.state[z]["step"].item() == 2.0 and p.param_groups[1]["params"][0] is z
    assert stepped(o, x, 0.5, 2.0) == [[1.014415, -3.014415], [0.932238, -2.932238]]
    assert stepped(p, z, 0.5, 2.0) == [[0.855788, -2.855788], [0.682239, -2.682239]]
    q = torch.optim.SGD([x], lr=0.5, momentum=0.5)
    assert q.state_dict()["state"] == {}
    q.step()
    assert q.state_dict()["state"][0]["momentum_buffer"] is q.state[x]["momentum_buffer"]
    assert q.state[x]["momentum_buffer"].tolist() == [2.0, -4.0]
