"""Groups of parameters, states that are saved, and L-BFGS, which keeps the most."""

import torch

from specs.case import warned
from specs.cases._measures import error_kinds, stepped


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


def a_state_is_fitted_to_its_parameters():
    """Counts stay as they are; other numbers take the dtype, in whatever they are kept.

    Rule: optim/state-comes-back.
    """
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = torch.ones(2, dtype=torch.int64)
    one = torch.tensor([1.0])
    own = {"step": one, "n": torch.tensor([2]), "l": [one, {"step": one, "k": one}], "t": (one, 2), "u": None}
    state = {0: own, 1: {"n": one, "step": one}, "more": {"v": one}, 7: 3}
    o = torch.optim.SGD([x, y], lr=1.0)
    o.load_state_dict({"state": state, "param_groups": [{"params": [0, 1], "lr": 5.0}]})
    kept = o.state[x]
    assert kept["step"] is one and kept["n"].dtype is torch.float64 and kept["u"] is None
    assert kept["l"][0].dtype is torch.float64 and kept["l"][1]["step"] is one
    assert kept["l"][1]["k"].dtype is torch.float64 and type(kept["l"]) is list
    assert kept["t"][0].dtype is torch.float64 and kept["t"][1] == 2 and type(kept["t"]) is tuple
    assert o.state[y]["n"].dtype is torch.float32 and o.state[y]["step"] is one
    assert o.state["more"]["v"] is one and o.state[7] == 3 and kept is not own
    assert o.state["new"] == {} and list(o.state_dict()["state"]) == [0, 1, "more", 7, "new"]


def settings_that_a_state_lacks():
    """Those that PyTorch got later are as they were before it; the others are missing.

    Rule: optim/state-comes-back.
    """
    x = torch.ones(1, requires_grad=True)
    lists = [1]
    o = torch.optim.SGD([("x", x)], lr=1.0, momentum=0.5, maximize=True)
    o.state[x]["k"] = 1
    o.load_state_dict({"state": {0: {"k": 2}}, "param_groups": [{"params": [0], "lr": 5.0, "mine": lists}]})
    group = o.param_groups[0]
    assert group["params"][0] is x and group["param_names"] == ["x"] and o.state[x]["k"] == 2
    assert group["lr"] == 5.0 and group["mine"] == [1] and group["mine"] is not lists
    later = ["nesterov", "maximize", "foreach", "differentiable", "fused"]
    assert sorted(group) == sorted(["lr", "mine", "params", "param_names", *later])
    assert [group[name] for name in later] == [False, False, None, False, False]
    names = [{"params": [0], "param_names": ["y"]}]
    o.load_state_dict({"state": {}, "param_groups": names})
    assert o.param_groups[0]["param_names"] == ["y"] and "lr" not in o.param_groups[0]
    a = torch.optim.AdamW([x])
    a.load_state_dict({"state": {}, "param_groups": [{"params": [0]}]})
    assert a.param_groups[0]["decoupled_weight_decay"] is True and a.param_groups[0]["amsgrad"] is False
    r = torch.optim.RMSprop([x], momentum=0.5)
    r.load_state_dict({"state": {}, "param_groups": [{"params": [0]}]})
    assert r.param_groups[0]["momentum"] == 0 and r.param_groups[0]["centered"] is False


def states_go_by_the_order_of_parameters():
    """Not by their numbers; of other groups they are refused. Rule: optim/state-comes-back."""
    x = torch.ones(1, requires_grad=True)
    y = torch.ones(1, requires_grad=True)
    o = torch.optim.SGD([x, y], lr=1.0)
    o.load_state_dict({"state": {5: {"k": 1}}, "param_groups": [{"params": [9, 5], "lr": 3.0}]})
    assert o.state[y]["k"] == 1 and list(o.state) == [y] and o.param_groups[0]["lr"] == 3.0
    apart = [{"params": [0]}, {"params": [1]}]
    calls = [
        lambda given=given: o.load_state_dict({"state": {}, "param_groups": given})
        for given in (apart, apart[:1])
    ]
    assert error_kinds(calls) == "VV" and o.state[y]["k"] == 1
    with warned("optim/same-parameter-twice-warns"):
        p = torch.optim.SGD([x, y, x], lr=1.0)
    p.state[x]["k"] = 4
    p.state["own"] = 2
    state = p.state_dict()
    assert state["param_groups"][0]["params"] == [2, 1, 2] and state["state"] == {2: {"k": 4}, "own": 2}
    seen = []
    first = o.register_load_state_dict_post_hook(lambda own: seen.append(1))
    o.register_load_state_dict_post_hook(lambda own: seen.append(2), prepend=True)
    o.register_load_state_dict_pre_hook(lambda own, given: seen.append(3))
    o.register_load_state_dict_pre_hook(lambda own, given: seen.append(4), prepend=True)
    o.register_state_dict_post_hook(lambda own, given: seen.append(5))
    o.register_state_dict_post_hook(lambda own, given: seen.append(6), prepend=True)
    o.load_state_dict(o.state_dict())
    assert seen == [6, 5, 4, 3, 2, 1]
    first.remove()
    o.load_state_dict(o.state_dict())
    assert seen[6:] == [6, 5, 4, 3, 2]
