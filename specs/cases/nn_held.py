"""Modules that hold others, and what they refuse to hold."""

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def containers_are_lists_and_dicts():
    """They append, insert, replace, cut and join as Python's own do.

    Rule: nn/assigned-parameters-are-found.
    """
    n = torch.nn
    a, b, c = n.Linear(1, 1), n.ReLU(), n.Linear(1, 2)
    s = n.Sequential(a)
    assert [
        s.append(b) is s,
        s.extend([c]) is s,
        s.insert(1, n.Tanh()) is s,
        len(s),
        [type(m).__name__ for m in s],
        s[-1] is c,
        s[0] is a,
    ] == [True, True, True, 4, ["Linear", "Tanh", "ReLU", "Linear"], True, True]
    assert [
        len(list(s.parameters())),
        s.pop(1).__class__.__name__,
        len(s),
        [k for k, _ in s.named_parameters()],
        type(s[1:]).__name__,
        len(s[1:]),
        b in list(s),
    ] == [4, "Tanh", 3, ["0.weight", "0.bias", "2.weight", "2.bias"], "Sequential", 2, True]
    del s[1]
    assert [[k for k, _ in s.named_children()], s[1] is c] == [["0", "1"], True]
    s[0] = b
    t = s + n.Sequential(n.Tanh())
    assert [s[0] is b, len(t), len(s), len(t * 2), type(t).__name__] == [True, 3, 2, 6, "Sequential"]
    t += n.Sequential(b)
    t *= 2
    assert [len(t), t[-1] is b] == [8, True]
    d = n.ModuleDict([("x", a)])
    assert [
        list(d.keys()),
        list(d.values())[0] is a,
        [k for k, _ in d.items()],
        "x" in d,
        len(d),
        list(d),
    ] == [["x"], True, ["x"], True, 1, ["x"]]
    d.update({"y": b})
    d["z"] = c
    assert [d.pop("y") is b, list(d), d["z"] is c, [k for k, _ in d.named_parameters()]] == [
        True,
        ["x", "z"],
        True,
        ["x.weight", "x.bias", "z.weight", "z.bias"],
    ]
    d.update(n.ModuleDict({"w": b}))
    d.update([("v", c)])
    assert list(d) == ["x", "z", "w", "v"]
    del d["w"]
    d.clear()
    assert [len(d), list(d.parameters())] == [0, []]
    r = n.ModuleList([a, b])
    assert [
        r.append(c) is r,
        r.insert(0, b) is None,
        r.extend([a]) is r,
        len(r),
        r[0] is b,
        r[-1] is a,
        len(r[1:3]),
        type(r[:1]).__name__,
    ] == [True, True, True, 5, True, True, 2, "ModuleList"]
    r[1] = c
    del r[0]
    r += [n.Tanh()]
    assert [
        r[0] is c,
        len(r),
        len(r + [a]),
        [k for k, _ in r.named_children()],
        r.pop(0) is c,
        len(r),
        a in r,
    ] == [True, 5, 6, ["0", "1", "3", "4"], True, 4, True]
    del r[1:]
    assert len(r) == 1
    p = n.ParameterList([torch.ones(1), n.Parameter(torch.zeros(2))])
    assert [
        len(p),
        type(p[0]).__name__,
        p.append(torch.ones(3)) is p,
        p.extend([torch.ones(4)]) is p,
        [tuple(x.shape) for x in p],
        p[-1].shape == (4,),
    ] == [2, "Parameter", True, True, [(1,), (2,), (3,), (4,)], True]
    p[0] = torch.ones(5)
    assert [
        tuple(p[0].shape),
        type(p[0]).__name__,
        [k for k, _ in p.named_parameters()],
        p[0].requires_grad,
    ] == [(5,), "Parameter", ["0", "1", "2", "3"], True]
    q = n.ParameterDict({"a": torch.ones(1)})
    q["b"] = n.Parameter(torch.ones(2))
    q.update({"c": torch.ones(3)})
    assert [
        sorted(q),
        len(q),
        sorted(q.keys()),
        "a" in q,
        q["c"].shape == (3,),
        [tuple(x.shape) for x in q.values()],
        [k for k, _ in q.items()],
        type(q["a"]).__name__,
    ] == [["a", "b", "c"], 3, ["a", "b", "c"], True, True, [(1,), (2,), (3,)], ["a", "b", "c"], "Parameter"]
    del q["a"]
    assert [sorted(q), sorted(k for k, _ in q.named_parameters())] == [["b", "c"], ["b", "c"]]
    assert (
        error_kinds(
            [
                lambda: s[5],
                lambda: s["0"],
                lambda: s.insert(9, a),
                lambda: s.append(3),
                lambda: r[4],
                lambda: r.append(3),
                lambda: r.extend(3),
                lambda: d["u"],
                lambda: d.update(3),
                lambda: d.update([3]),
                lambda: p[9],
                lambda: q["u"],
                lambda: n.ModuleList([3]),
                lambda: n.ModuleDict({"a": 3}),
                lambda: n.ModuleList([a])(1),
                lambda: s + 1,
                lambda: n.Sequential(a, 3),
                lambda: d.pop("u"),
            ]
        )
        == "ITITITTKTTIATTNVTK"
    )


def modules_refuse_names_and_values():
    """Names with dots, names that are taken, and values that are none.

    Rule: nn/only-a-parameter-takes-its-place.
    """
    n = torch.nn
    m = n.Linear(1, 1)
    with refused("nn/only-a-parameter-takes-its-place"):
        m.weight = torch.ones(1, 1)
    assert (
        error_kinds(
            [
                lambda: m.register_parameter("a.b", None),
                lambda: m.register_parameter("", None),
                lambda: m.register_parameter(3, None),
                lambda: m.register_parameter("forward", None),
                lambda: m.register_parameter("c", m.weight * 2),
                lambda: m.register_buffer("a.b", None),
                lambda: m.register_buffer("", None),
                lambda: m.register_buffer(3, None),
                lambda: m.register_buffer("weight", None),
                lambda: m.register_buffer("d", 3),
                lambda: m.register_buffer("forward", None),
                lambda: m.add_module("a.b", None),
                lambda: m.add_module("", None),
                lambda: m.add_module(3, None),
                lambda: m.add_module("e", 3),
                lambda: m.add_module("weight", None),
                lambda: m.register_module("forward", None),
                lambda: m.get_parameter("nope"),
                lambda: m.get_parameter("forward"),
                lambda: m.get_submodule("nope"),
                lambda: m.nope,
                lambda: m.load_state_dict(3),
                lambda: m.train(1),
                lambda: m.to(torch.int64),
                lambda: n.Module()(1),
                lambda: delattr(m, "nope"),
                lambda: m.requires_grad_(3),
                lambda: m.apply(3),
            ]
        )
        == "KKTKTKKTKTKKKTTKKAAAATVTNATT"
    )
    m.register_parameter("none", None)
    m.register_buffer("kept", torch.ones(1))
    m.register_buffer("lost", torch.ones(1), persistent=False)
    m.add_module("absent", None)
    assert [
        m.none,
        m.absent,
        sorted(m.state_dict()),
        [k for k, _ in m.named_buffers()],
        [k for k, _ in m.named_children()],
        m.get_parameter("weight") is m.weight,
    ] == [None, None, ["bias", "kept", "weight"], ["kept", "lost"], [], True]
    m.kept = None
    assert [m.kept, sorted(m.state_dict()), [k for k, _ in m.named_buffers()]] == [
        None,
        ["bias", "weight"],
        ["lost"],
    ]
    m.none = n.Parameter(torch.ones(2))
    m.weight = None
    assert [[k for k, _ in m.named_parameters()], m.weight] == [["bias", "none"], None]
    del m.none
    assert [
        hasattr(m, "none"),
        n.Parameter().shape == (0,),
        n.Parameter(torch.ones(1), False).requires_grad,
        m.half().bias.dtype is torch.float16,
        m.float() is m,
        m.bfloat16().bias.dtype is torch.bfloat16,
    ] == [False, True, False, True, True, True]
    k = n.Sequential(n.Linear(1, 1), n.BatchNorm1d(1))
    assert [
        [name for name, _ in k.named_modules()],
        [name for name, _ in k.named_modules(prefix="p")],
        [name for name, _ in k.named_parameters("p", recurse=False)],
        len(list(k.buffers())),
        len(list(k.buffers(recurse=False))),
        len(list(k.modules())),
        len(list(k.children())),
    ] == [["", "0", "1"], ["p", "p.0", "p.1"], [], 3, 0, 3, 2]
    assert [
        sorted(k.state_dict(prefix="x."))[:2],
        k.get_submodule("1") is k[1],
        k.get_submodule("") is k,
        k.get_parameter("0.bias") is k[0].bias,
        str(k.load_state_dict(k.state_dict())),
        k.state_dict()["0.weight"].requires_grad,
        k.state_dict(keep_vars=True)["0.weight"].requires_grad,
    ] == [["x.0.bias", "x.0.weight"], True, True, True, "<All keys matched successfully>", False, True]
    seen = k.load_state_dict({"0.weight": torch.ones(1, 1), "extra": torch.ones(1)}, strict=False)
    assert [
        seen.missing_keys[:3],
        seen.unexpected_keys,
        k[0].weight.item(),
        list(k.load_state_dict({}, False).missing_keys)[:2],
    ] == [["0.bias", "1.weight", "1.bias"], ["extra"], 1.0, ["0.weight", "0.bias"]]
    assert [
        [m.training for m in k.eval().modules()],
        k.train().training,
        k.train(False).training,
        k.requires_grad_(False)[0].weight.requires_grad,
        k.zero_grad(),
    ] == [[False, False, False], True, False, False, None]


def freezing_reaches_inner_modules():
    """At any depth, and only the parameters. Rule: nn/freezes-the-parameters-themselves."""
    inner = torch.nn.Sequential(torch.nn.Linear(1, 1))
    inner.register_buffer("seen", torch.zeros(1))
    outer = torch.nn.Sequential(torch.nn.Sequential(inner), torch.nn.Linear(1, 1))
    assert outer.requires_grad_(False) is outer
    assert [p.requires_grad for p in outer.parameters()] == [False] * 4
    assert outer(torch.ones(1, 1)).requires_grad is False
    outer[0].requires_grad_()
    assert [p.requires_grad for p in outer.parameters()] == [True, True, False, False]
    assert inner.seen.requires_grad is False
