"""Hooks around the states of modules and optimizers, and what is saved and loaded besides tensors."""

import warnings

import torch

from specs.cases._measures import error_kinds


def hooks_are_called_around_saving():
    """Those before see where and how; those after change the dict, and at the root may return another.

    Rule: nn/buffers-belong-to-the-state.
    """
    m = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.BatchNorm1d(1, affine=False))
    seen = []
    first = m[1].register_state_dict_pre_hook(
        lambda own, prefix, keep: seen.append((own is m[1], prefix, keep))
    )
    after = lambda own, state, prefix, meta: seen.append((list(state), prefix, meta)) or state.update(more=1)
    last = m[1].register_state_dict_post_hook(after)
    state = m.state_dict(keep_vars=True)
    stats = ["1.running_mean", "1.running_var", "1.num_batches_tracked"]
    assert list(state) == ["0.weight", *stats, "more"] and state["0.weight"] is m[0].weight
    assert seen == [(True, "1.", True), (["0.weight", *stats], "1.", {"version": 2})]
    assert {at: dict(meta) for at, meta in state._metadata.items()} == {
        "": {"version": 1}, "0": {"version": 1}, "1": {"version": 2},
    }  # fmt: skip
    first.remove()
    last.remove()
    given = {"a": 1}
    assert list(m.state_dict(destination=given, prefix="p.")) == [
        "a",
        "p.0.weight",
        *(f"p.{n}" for n in stats),
    ]
    assert len(seen) == 2 and len(given) == 5
    m[0]._register_state_dict_hook(lambda own, state, prefix, meta: {"not": "used"})
    assert len(m.state_dict()) == 4 and m[0].state_dict() == {"not": "used"}


def hooks_are_called_around_loading():
    """Those before see what is to be loaded, and may take it out; those after may forgive what is missing.

    Rule: nn/buffers-belong-to-the-state.
    """
    m = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.BatchNorm1d(1, affine=False))
    state = m.state_dict()
    seen = []
    before = lambda own, given, prefix, *more: seen.append((own is m[1], sorted(given), prefix, more[1]))
    first = m[1].register_load_state_dict_pre_hook(before)
    m.register_load_state_dict_post_hook(lambda own, keys: seen.append((own is m, *map(list, keys))))
    assert str(m.load_state_dict(state)) == "<All keys matched successfully>"
    stats = ["1.num_batches_tracked", "1.running_mean", "1.running_var"]
    assert seen == [(True, stats, "1.", True), (True, [], [])]
    first.remove()
    m[1]._register_load_state_dict_pre_hook(lambda given, prefix, *more: given.pop(prefix + "running_mean"))
    keys = m.load_state_dict({**state, "0.x": 1}, strict=False)
    assert keys.missing_keys == ["1.running_mean"] and keys.unexpected_keys == ["0.x"]
    m[1].register_load_state_dict_post_hook(lambda own, keys: keys.missing_keys.clear())
    assert m.load_state_dict(state).missing_keys == [] and len(seen) == 4
    old = {name: x for name, x in state.items() if "batches" not in name}
    assert torch.nn.BatchNorm1d(1, affine=False).load_state_dict(
        {n[2:]: x for n, x in old.items() if "1" in n}
    )
    n = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.BatchNorm1d(1, affine=False))
    n.load_state_dict({**state, "0.weight": torch.tensor([[5.0]])}, assign=True)
    assert n[0].weight.item() == 5.0 and n[0].weight.requires_grad and n[0].weight._version == 0
    assert (
        n[1].running_var is state["1.running_var"]
        or n[1].running_var.data_ptr() == m[1].running_var.data_ptr()
    )


def a_module_may_save_other_things():
    """An extra state, or what it puts in by itself, comes back to it.

    Rule: nn/buffers-belong-to-the-state.
    """
    noted = {"get_extra_state": lambda self: {"note": 3}}
    noted["set_extra_state"] = lambda self, state: setattr(self, "note", state["note"])
    Noted = type("Noted", (torch.nn.Linear,), noted)
    norm = torch.nn.BatchNorm1d
    save = lambda self, state, prefix, keep: (
        norm._save_to_state_dict(self, state, prefix, keep),
        state.update({prefix + "mine": 7}),
    )
    load = lambda self, state, prefix, *more: (
        setattr(self, "got", state.pop(prefix + "mine")),
        norm._load_from_state_dict(self, state, prefix, *more),
    )
    Own = type("Own", (norm,), {"_save_to_state_dict": save, "_load_from_state_dict": load})
    m = torch.nn.Sequential(Noted(1, 1, bias=False), Own(1, affine=False))
    state = m.state_dict()
    stats = ["1.running_mean", "1.running_var", "1.num_batches_tracked"]
    assert list(state) == ["0.weight", "0._extra_state", *stats, "1.mine"]
    assert m.load_state_dict(state).missing_keys == [] and (m[0].note, m[1].got) == (3, 7)
    del state["0._extra_state"]
    m[0].note = 0
    assert m.load_state_dict(state, strict=False).missing_keys == ["0._extra_state"] and m[0].note == 0
    plain = torch.nn.Linear(1, 1, bias=False)
    keys = plain.load_state_dict({"weight": torch.ones(1, 1), "_extra_state": 1}, strict=False)
    assert keys.unexpected_keys == ["_extra_state"]


def parts_of_modules_are_found_by_their_names():
    """Buffers and modules by dotted names; a module takes another's place.

    Rule: nn/state-names-each-place.
    """
    m = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.Sequential(torch.nn.BatchNorm1d(1)))
    m.add_module("same", m[0])
    assert [name for name in m.state_dict() if "weight" in name] == ["0.weight", "1.0.weight", "same.weight"]
    assert m.get_buffer("1.0.running_var") is m[1][0].running_var and m.get_submodule("1.0") is m[1][0]
    assert m.get_parameter("same.weight") is m[0].weight and m.get_submodule("") is m
    other = torch.nn.Linear(1, 2)
    m.set_submodule("1.0", other)
    assert m[1][0] is other
    m.set_submodule("1.more", other)
    assert m[1].more is other


def hooks_are_called_around_an_optimizers_state():
    """Each may change or replace it; what is loaded takes the parameters' dtype.

    Rule: optim/state-comes-back.
    """
    x = torch.ones(2, requires_grad=True)
    o = torch.optim.SGD([x], lr=1.0, momentum=0.5)
    x.grad = torch.ones(2)
    o.step()
    seen = []
    o.register_state_dict_pre_hook(lambda own: seen.append("second"))
    o.register_state_dict_pre_hook(lambda own: seen.append("first"), prepend=True)
    o.register_state_dict_post_hook(lambda own, state: dict(state, more=1))
    state = o.state_dict()
    assert seen == ["first", "second"] and list(state) == ["state", "param_groups", "more"]
    assert state["state"][0] is o.state[x]
    y = torch.ones(2, dtype=torch.float64, requires_grad=True)
    p = torch.optim.SGD([y], lr=2.0)
    p.register_load_state_dict_pre_hook(lambda own, given: seen.append(sorted(given)))
    p.register_load_state_dict_pre_hook(
        lambda own, given: {name: given[name] for name in ("state", "param_groups")}
    )
    p.register_load_state_dict_post_hook(lambda own: seen.append(own is p))
    group = p.param_groups[0]
    p.load_state_dict(state)
    assert seen[2:] == [["more", "param_groups", "state"], True] and "more" in state
    assert p.param_groups[0] is not group and group["lr"] == 2.0
    assert p.param_groups[0]["lr"] == 1.0 and p.param_groups[0]["momentum"] == 0.5
    assert p.state[y]["momentum_buffer"].dtype is torch.float64


def a_states_place_is_given_by_position():
    """With a warning; what is in it is named by the whole prefix. Rule: nn/buffers-belong-to-the-state."""
    m = torch.nn.Sequential(torch.nn.BatchNorm1d(1, affine=False))
    given = {}
    with warnings.catch_warnings(record=True, action="always") as told:
        assert m.state_dict(given, "part.", True) is given
    assert [each.category for each in told] == [FutureWarning]
    stats = ["running_mean", "running_var", "num_batches_tracked"]
    assert list(given) == [f"part.0.{name}" for name in stats]
    assert given["part.0.running_mean"] is m[0].running_mean
    with warnings.catch_warnings(record=True, action="always"):
        assert m.state_dict(given, "more.", False, "not used") is given
    assert given["more.0.running_mean"] is not m[0].running_mean and len(given) == 6
    assert list(m.state_dict(prefix="part.")._metadata) == ["part", "part.0"]


def a_hook_after_saving_changes_the_dict_alone():
    """One that returns another is refused, but for those that PyTorch keeps to itself.

    Rule: nn/buffers-belong-to-the-state.
    """
    m = torch.nn.BatchNorm1d(1, affine=False)
    m.register_state_dict_post_hook(lambda own, state, prefix, meta: {"another": 1})
    assert error_kinds([m.state_dict]) == "o"
    n = torch.nn.BatchNorm1d(1, affine=False)
    n._register_state_dict_hook(lambda own, state, prefix, meta: {"another": len(state)})
    assert n.state_dict() == {"another": 3}


def what_is_no_part_is_not_found():
    """Nor is what is a part of another kind; a module takes the place of another alone.

    Rule: nn/state-names-each-place.
    """
    m = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.Sequential(torch.nn.BatchNorm1d(1)))
    m.note = 3
    m.same = m[0]
    assert [name for name in m.state_dict() if "0.weight" not in name][-1] == "same.weight"
    names = ["0.weight", "2", "note", "0.none.x", ".", "0."]
    assert error_kinds([lambda n=n: m.get_submodule(n) for n in names]) == "AAAAAA"
    names = ["1.0.running_mean", "0.bias", "0.none", "0", "note", "", "2.weight"]
    assert error_kinds([lambda n=n: m.get_parameter(n) for n in names]) == "AAAAAAA"
    names = ["0.weight", "1.0.none", "note", "1.0", "2.running_mean"]
    assert error_kinds([lambda n=n: m.get_buffer(n) for n in names]) == "AAAAA"
    other = torch.nn.Linear(1, 2)
    names = ["", "0.weight", "note", "2.x"]
    assert error_kinds([lambda n=n: m.set_submodule(n, other) for n in names]) == "VAAA"
    assert error_kinds([lambda: m.set_submodule("0", 3), lambda: m.set_submodule("0.weight", 3)]) == "VV"
    assert error_kinds([lambda: m.set_submodule("1.none", other, strict=True)]) == "A"
    assert m.set_submodule("1.0", other, strict=True) is None and m[1][0] is other and len(m[1]) == 1
