"""Weights of several originals, calls with other parameters, packed sequences, hooks of all modules."""

import importlib

import torch

from specs.cases._measures import error_kinds, filled, graded, wave


def _plain(forward, back=None):
    """Return a parametrization by functions."""
    own = {"forward": lambda self, *x: forward(*x)}
    own |= {"right_inverse": lambda self, x: back(x)} if back else {}
    return type("P", (torch.nn.Module,), own)()


def weights_of_several_originals():
    """A right inverse may give several tensors; what is assigned later must be as many, of the same dtypes.

    Rule: nn/parametrized-is-computed.
    """
    n, p = torch.nn, torch.nn.utils.parametrize
    m = filled(n.Linear(2, 2, dtype=torch.float64))
    w = m.weight.detach().clone()
    p.register_parametrization(
        m, "weight", _plain(lambda a, b: a * b, lambda x: (x / 2, torch.full((2, 2), 2.0).double()))
    )
    many = m.parametrizations.weight
    assert [m.weight.equal(w), many.is_tensor, many.ntensors, [k for k, _ in m.named_parameters()]] == [
        True,
        False,
        2,
        ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"],
    ]
    assert graded(m(w), *m.parameters()) == [(2, 2), 10.8661, 16.0, 14.7427, 6.3621]
    m.weight = w * 3
    assert [(m.weight - w * 3).abs().max().item(), many.original0.equal(w * 1.5), many.unsafe] == [
        0.0,
        True,
        False,
    ]
    p.register_parametrization(m, "weight", _plain(lambda x: x + 1), unsafe=True)
    assert [
        m.weight.equal(w * 3 + 1),
        many.unsafe,
        len(many),
        p.type_before_parametrizations(m).__name__,
    ] == [True, True, 2, "Linear"]
    assert (
        error_kinds(
            [
                lambda: setattr(m, "weight", w),
                lambda: p.remove_parametrizations(m, "weight", leave_parametrized=False),
            ]
        )
        == "oV"
    )
    p.remove_parametrizations(m, "weight")
    assert [m.weight.equal(w * 3 + 1), type(m.weight).__name__, m.weight.requires_grad, type(m).__name__] == [
        True,
        "Parameter",
        True,
        "Linear",
    ]
    k = n.Linear(2, 2, dtype=torch.float64)
    wrong = [3, (w,), (w, w.float()), (w, w)]
    p.register_parametrization(k, "weight", _plain(lambda a, b: a - b, lambda x: wrong[-1]), unsafe=True)
    assert error_kinds([lambda: (wrong.pop(), setattr(k, "weight", w))] * 3) == "VVV"
    j = n.Linear(2, 2, dtype=torch.float64)
    back = [w]
    p.register_parametrization(j, "weight", _plain(lambda x: x, lambda x: back[-1]))
    assert (
        error_kinds(
            [
                lambda: (back.append(w.float()), setattr(j, "weight", w)),
                lambda: (back.append(3), setattr(j, "weight", w)),
                lambda: p.register_parametrization(n.Linear(2, 2), "bias", _plain(lambda x: x, lambda x: 3)),
                lambda: p.register_parametrization(
                    n.Linear(2, 2), "bias", _plain(lambda x: x, lambda x: (x, 3))
                ),
                lambda: p.register_parametrization(
                    n.Linear(2, 2), "bias", _plain(lambda x: x, lambda x: x.double())
                ),
                lambda: p.register_parametrization(n.Linear(2, 2), "bias", _plain(lambda x: x.double())),
                lambda: p.register_parametrization(n.Linear(2, 2), "bias", _plain(lambda x: x[0])),
                lambda: p.register_parametrization(n.Linear(2, 2), "bias", _plain(lambda x: 3)),
                lambda: p.register_parametrization(j, "weight", _plain(lambda x: x, lambda x: x.float())),
                lambda: p.register_parametrization(j, "weight", _plain(lambda x: x, lambda x: x[0])),
                lambda: p.register_parametrization(j, "weight", _plain(lambda x: x, lambda x: 3)),
                lambda: p.register_parametrization(j, "weight", _plain(lambda x: x.float())),
                lambda: j.__getstate__(),
            ]
        )
        == "VVVVVVVVVVVVo"
    )


def calls_with_other_parameters():
    """By their names, tied ones together; the module's own stay as they are.

    Rule: functional/transforms-leave-no-history.
    """
    n, call = torch.nn, torch.func.functional_call
    m = filled(n.Linear(2, 2, dtype=torch.float64))
    x, w = wave(1, 2), wave(2, 2)
    assert graded(call(m, {"weight": w}, x), x, w) == [(1, 2), 31.2067, -7.3581, -10.7291]
    assert graded(call(m, [{"weight": w}, {"bias": w[0]}], (x,)), x, w) == [(1, 2), 26.4037, -7.3581, -5.7291]
    assert [m.weight is next(m.parameters()), call(m, {}, None, {"input": x}).equal(m(x))] == [True, True]
    tied = n.Sequential(m, m)
    tied.more = n.Linear(2, 2, bias=False, dtype=torch.float64)
    tied.more.weight = m.weight
    assert graded(call(tied, {"more.weight": w}, x), x, w) == [(1, 2), -0.8479, 0.5572, -362.5502]
    assert graded(call(tied, {"more.weight": w}, x, tie_weights=False), x, w) == [
        (1, 2),
        -0.8479,
        0.5572,
        -362.5502,
    ]
    assert (
        error_kinds(
            [
                lambda: call(tied, {"more.weight": w, "0.weight": w.clone()}, x),
                lambda: call(m, 3, x),
                lambda: call(m, [3], x),
                lambda: call(m, [{"bias": w[0]}, {"bias": w[1]}], x),
                lambda: call(m, {"bias": w[0]}, x, strict=True),
                lambda: call(m, {"bias": w[0], "weight": w, "nope": w}, x, strict=True),
                lambda: call(m, {"bias": 3}, x),
                lambda: torch.func.stack_module_state([]),
                lambda: torch.func.stack_module_state([m, n.Linear(2, 2).eval()]),
                lambda: torch.func.stack_module_state([m, n.Identity()]),
                lambda: torch.func.stack_module_state(
                    [m, n.Linear(2, 2, dtype=torch.float64).requires_grad_(False)]
                ),
            ]
        )
        == "-VVVooToooo"
    )
    b = n.BatchNorm1d(2)
    state = dict(b.named_buffers())
    given = {k: v.clone() for k, v in state.items()}
    call(b, given, torch.ones(2, 2))
    assert [b.running_mean.tolist(), given["running_mean"].tolist(), b.num_batches_tracked.item()] == [
        [0.0, 0.0],
        [0.10000000149011612, 0.10000000149011612],
        0,
    ]
    params, buffers = torch.func.stack_module_state([b, n.BatchNorm1d(2)])
    assert [
        {k: (tuple(v.shape), v.requires_grad, v.is_leaf) for k, v in s.items()} for s in (params, buffers)
    ] == [
        {"weight": ((2, 2), True, True), "bias": ((2, 2), True, True)},
        {
            "running_mean": ((2, 2), False, True),
            "running_var": ((2, 2), False, True),
            "num_batches_tracked": ((2,), False, True),
        },
    ]
    v, y = w.detach(), x.detach()
    found, back = torch.func.vjp(lambda v: call(m, {"weight": v, "bias": v[0]}, y), v)
    assert [
        found.requires_grad,
        back(found)[0].requires_grad,
        found.equal(call(m, {"weight": w, "bias": w[0]}, x)),
    ] == [False, False, True]
    gradient = torch.func.grad(lambda v: call(m, {"weight": v}, y).pow(3).sum())(v)
    assert [[round(e, 4) for e in gradient.flatten().tolist()], gradient.requires_grad, w.grad] == [
        [508.4208, -644.2064, 670.8052, -849.9594],
        True,
        None,
    ]


def sequences_packed_and_padded():
    """The longest first, in the order of steps; padding has no gradient.

    Rule: op/derivatives-beyond-programs.
    """
    r = torch.nn.utils.rnn
    a, b, c = wave(2, 2), wave(4, 2), wave(1, 2)
    s = r.pad_sequence([a, b, c], padding_value=0.5)
    assert [graded(s, a, b, c), s[:, 2, 0].tolist()[1:]] == [
        [(4, 3, 2), 29.7875, 58.0, 572.0, 17.0],
        [0.5, 0.5, 0.5],
    ]
    assert graded(r.pad_sequence([a, b], batch_first=True, padding_side="left"), a, b) == [
        (2, 4, 2),
        -37.4684,
        70.0,
        492.0,
    ]
    p = r.pack_sequence([a, b, c], enforce_sorted=False)
    assert [graded(p.data, a, b, c), p.batch_sizes.tolist(), p.sorted_indices.tolist()] == [
        [(7, 2), -38.0575, 78.0, 388.0, 17.0],
        [3, 2, 1, 1],
        [1, 0, 2],
    ]
    assert [p.unsorted_indices.tolist(), p._fields, type(p).__name__] == [
        [1, 0, 2],
        ("data", "batch_sizes", "sorted_indices", "unsorted_indices"),
        "PackedSequence",
    ]
    out, sizes = r.pad_packed_sequence(p, batch_first=True, padding_value=-1.0, total_length=5)
    assert [graded(out, a, b, c), sizes.tolist(), out[2, :, 0].tolist()[1:]] == [
        [(3, 5, 2), -348.768, 30.0, 564.0, 65.0],
        [2, 4, 1],
        [-1.0, -1.0, -1.0, -1.0],
    ]
    q = r.pack_padded_sequence(s, torch.tensor([4, 3, 1]))
    assert [graded(q.data, a, b), q.batch_sizes.tolist(), q.sorted_indices, q.unsorted_indices] == [
        [(8, 2), 44.6582, 58.0, 227.0],
        [3, 2, 2, 1],
        None,
        None,
    ]
    assert [tuple(x.shape) for x in r.unpack_sequence(p)] == [(2, 2), (4, 2), (1, 2)]
    assert [tuple(x.shape) for x in r.unpad_sequence(s.detach(), torch.tensor([2, 4, 1]))] == [
        (2, 2),
        (4, 2),
        (1, 2),
    ]
    assert [q.float().data.dtype is torch.float32, q.half().data.dtype is torch.float16, q.double() is q] == [
        True,
        True,
        True,
    ]
    assert [q.to(torch.float32).batch_sizes is q.batch_sizes, q.to("cpu") is q] == [True, True]
    assert (
        error_kinds(
            [
                lambda: r.pad_sequence([a], padding_side="up"),
                lambda: r.pad_sequence(3),
                lambda: r.pad_sequence([]),
                lambda: r.pack_padded_sequence(s, [1, 2, 3]),
                lambda: r.pack_padded_sequence(s, [2, 1]),
                lambda: r.pack_padded_sequence(s, [2, 1, 0]),
                lambda: r.pad_packed_sequence(p, total_length=3),
            ]
        )
        == "ooooooV"
    )


def hooks_of_all_modules():
    """They are called before a module's own, and may replace what it is given, gives or registers.

    Rule: nn/forward-hooks-replace.
    """
    n = torch.nn
    g = importlib.import_module(f"{n.__name__}.modules.module")
    m, x, seen = filled(n.Linear(1, 1, dtype=torch.float64)), torch.ones(1, 1, dtype=torch.float64), []
    x.requires_grad_()
    plain = m(x).item()
    m.register_forward_pre_hook(lambda s, a: seen.append(("own", len(a))))
    with g.register_module_forward_pre_hook(lambda s, a: (seen.append(type(s).__name__), 3 * a[0])[1]):
        tripled = m(x).item()
    assert [round(tripled - plain, 6), seen, m(x).item() == plain] == [
        1.682942,
        ["Linear", ("own", 1), ("own", 1)],
        True,
    ]
    with g.register_module_forward_hook(lambda s, a, k, y: y * 2 + len(k), with_kwargs=True):
        assert [m(input=x).item() == 2 * plain + 1, m(x).item() == 2 * plain] == [True, True]
    with g.register_module_forward_hook(lambda s, a, y: seen.append(y), always_call=True):
        assert error_kinds([lambda: m(x, x)]) == "T"
    assert seen[3:] == [("own", 0), ("own", 1), ("own", 2), None]
    with g.register_module_parameter_registration_hook(
        lambda s, k, p: n.Parameter(p + 1) if k == "bias" else None
    ):
        k = n.Linear(1, 1)
        k.bias = n.Parameter(torch.zeros(1))
    assert k.bias.tolist() == [1.0]
    with g.register_module_buffer_registration_hook(lambda s, k, b: b * 2):
        k.register_buffer("own", torch.ones(1))
    with g.register_module_module_registration_hook(lambda s, k, c: n.Identity() if k == "a" else None):
        k.add_module("a", n.Tanh())
        k.b = n.Tanh()
    assert [k.own.tolist(), type(k.a).__name__, type(k.b).__name__] == [[2.0], "Identity", "Tanh"]
