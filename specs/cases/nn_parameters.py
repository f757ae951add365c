"""Lists and dicts of parameters, which hold other values too."""

import torch

from specs.cases._measures import error_kinds


def lists_of_parameters():
    """Tensors become parameters, other values stay; positions count from both ends.

    Rule: nn/assigned-parameters-are-found.
    """
    n = torch.nn
    p, t = n.Parameter(torch.ones(2)), torch.zeros(1, 3)
    m = n.ParameterList([p, t, 3, "four"])
    assert [len(m), m[0] is p, type(m[1]).__name__, m[2], m[-1], [k for k, _ in m.named_parameters()]] == [
        4,
        True,
        "Parameter",
        3,
        "four",
        ["0", "1"],
    ]
    assert [m.append(torch.ones(1)) is m, len(m), m[4].requires_grad, m[4].tolist()] == [True, 5, True, [1.0]]
    m[-2] = torch.full((2,), 5.0)
    m[2] = n.Parameter(torch.full((1,), 6.0), False)
    assert [[k, v.tolist(), v.requires_grad] for k, v in m.named_parameters()] == [
        ["0", [1.0, 1.0], True],
        ["1", [[0.0, 0.0, 0.0]], True],
        ["4", [1.0], True],
        ["3", [5.0, 5.0], True],
        ["2", [6.0], False],
    ]
    assert [
        [type(each).__name__ for each in m],
        [each.numel() for each in m[1:4]],
        type(m[::2]).__name__,
    ] == [["Parameter", "Parameter", "Parameter", "Parameter", "Parameter"], [3, 1, 2], "ParameterList"]
    m += [7.0]
    assert [len(m), m[5], m.extend((8, 9)) is m, [m[6], m[7]], len(n.ParameterList())] == [
        6,
        7.0,
        True,
        [8, 9],
        0,
    ]
    assert [m.extend(k for k in (1,)) is m, m[8], list(m.state_dict())] == [
        True,
        1,
        ["0", "1", "4", "3", "2"],
    ]
    half = n.ParameterList([torch.zeros(2).half(), torch.zeros(1, dtype=torch.complex64), 3, [4]])
    assert str(half).split("\n") == [
        "ParameterList(",
        "    (0): Parameter containing: [torch.float16 of size 2]",
        "    (1): Parameter containing: [torch.complex64 of size 1]",
        "    (2): Object of type: int",
        "    (3): Object of type: list",
        ")",
    ]
    assert (
        error_kinds(
            [
                lambda: m[9],
                lambda: m[-10],
                lambda: m["0"],
                lambda: m.__setitem__(9, 1),
                lambda: m.extend(3),
                lambda: m.extend(torch.ones(2)),
                lambda: m(1),
                lambda: n.ParameterDict({})(1),
            ]
        )
        == "IITITToo"
    )


def dicts_of_parameters():
    """They are dicts, those of plain mappings are sorted by name; names are strings.

    Rule: nn/assigned-parameters-are-found.
    """
    n = torch.nn
    p, q = n.Parameter(torch.ones(2)), n.Parameter(torch.zeros(1))
    d = n.ParameterDict({"b": p, "a": q, "c": 3})
    assert [list(d), list(d.keys()), [v is p for v in d.values()], [k for k, _ in d.items()], len(d)] == [
        ["a", "b", "c"],
        ["a", "b", "c"],
        [False, True, False],
        ["a", "b", "c"],
        3,
    ]
    assert [[k for k, _ in d.named_parameters()], "a" in d, "z" in d, list(reversed(d)), d["c"]] == [
        ["a", "b"],
        True,
        False,
        ["c", "b", "a"],
        3,
    ]
    d["z"] = torch.ones(1, 2)
    assert [type(d["z"]).__name__, list(d.state_dict()), d.get("z") is d["z"], d.get("y"), d.get("y", 5)] == [
        "Parameter",
        ["a", "b", "z"],
        True,
        None,
        5,
    ]
    assert [
        d.pop("b") is p,
        list(d),
        d.popitem()[0],
        d.setdefault("a", 1) is q,
        d.setdefault("e", 6),
        list(d),
    ] == [True, ["a", "c", "z"], "z", True, 6, ["a", "c", "e"]]
    other = d | n.ParameterDict([("y", p), ("a", p)])
    assert [list(other), other["a"] is p, d["a"] is q, type(other).__name__] == [
        ["a", "c", "e", "y"],
        True,
        True,
        "ParameterDict",
    ]
    d |= {"y": 1, "x": 2}
    assert [list(d), d["y"], d["x"], hasattr(d, "x")] == [["a", "c", "e", "x", "y"], 1, 2, True]
    c = d.copy()
    del c["a"]
    assert ["a" in c, "a" in d, [k for k, _ in c.named_parameters()], d.update({}) is None] == [
        False,
        True,
        [],
        True,
    ]
    k = n.ParameterDict().fromkeys(["v", "u"], torch.ones(1))
    assert [list(k), k["v"] is k["u"], type(k["v"]).__name__, k["u"].tolist()] == [
        ["v", "u"],
        False,
        "Parameter",
        [1.0],
    ]
    assert list(n.ParameterDict().fromkeys("ab", 3).items()) == [("a", 3), ("b", 3)]
    d.clear()
    assert [len(d), list(d.named_parameters()), hasattr(d, "a")] == [0, [], False]
    s = n.ParameterDict(
        [("r", torch.zeros(2, 3)), ("s", torch.zeros(1).double()), ("t", torch.zeros(1).bfloat16())]
    )
    s["u"] = 5
    s.v = q
    assert [str(s).split("\n"), list(s), [k for k, _ in s.named_parameters()]] == [
        [
            "ParameterDict(",
            "    (r): Parameter containing: [torch.FloatTensor of size 2x3]",
            "    (s): Parameter containing: [torch.DoubleTensor of size 1]",
            "    (t): Parameter containing: [torch.BFloat16Tensor of size 1]",
            "    (u): Object of type: int",
            ")",
        ],
        ["r", "s", "t", "u"],
        ["r", "s", "t", "v"],
    ]
    assert (
        error_kinds(
            [
                lambda: d.update(3),
                lambda: d.update([3]),
                lambda: d.update([("a", 1, 2)]),
                lambda: n.ModuleDict().update(3),
                lambda: n.ModuleDict().update([3]),
                lambda: n.ModuleDict().update([("a", 1, 2)]),
                lambda: d["a"],
            ]
        )
        == "TTVTTVA"
    )
    assert (
        error_kinds(
            [lambda: d[3], lambda: d.__setitem__(3, 4), lambda: d.pop("a"), lambda: d.__delitem__("a")]
        )
        == "TTAK"
    )
