"""torch.func: arguments and results in containers, of several kinds and depths."""

import collections
import functools
import typing

import torch

from specs.cases._measures import error_kinds


class _Pair(typing.NamedTuple):
    """Two of anything."""

    a: object
    b: object


def _dots(pair):
    return _Pair((pair.a * pair.b).sum(), [pair.a * 2, {"b": pair.b}])


def mapped_over_containers():
    """Each element, or all at once. Rules: functional/vmap-in-dims, functional/vmap-hides-data."""
    f = torch.func
    a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.5, -1.0], [2.0, 0.25]])
    out = f.vmap(_dots)(_Pair(a, b))
    assert [type(out).__name__, out.a.tolist(), out.b[0].tolist(), out.b[1]["b"].tolist()] == [
        "_Pair",
        [-1.5, 7.0],
        [[2.0, 4.0], [6.0, 8.0]],
        [[0.5, -1.0], [2.0, 0.25]],
    ]
    out = f.vmap(_dots, in_dims=(_Pair(0, None),))(_Pair(a, b[0]))
    assert [out.a.tolist(), out.b[1]["b"].tolist()] == [[-1.5, -2.5], [[0.5, -1.0], [0.5, -1.0]]]
    out = f.vmap(_dots, in_dims=(_Pair(1, 0),))(_Pair(a, b))
    assert out.b[0].tolist() == [[2.0, 6.0], [4.0, 8.0]]
    named = f.vmap(lambda d: {"y": d["x"] * 2, "z": d["x"].sum()}, in_dims=({"x": 1},))({"x": a})
    assert {name: x.tolist() for name, x in named.items()} == {"y": [[2.0, 6.0], [4.0, 8.0]], "z": [4.0, 6.0]}
    ordered = f.vmap(lambda d: collections.OrderedDict(z=d["x"], y=d["x"] + 1))(collections.OrderedDict(x=a))
    assert [type(ordered).__name__, list(ordered), ordered["y"].tolist()] == [
        "OrderedDict",
        ["z", "y"],
        [[2.0, 3.0], [4.0, 5.0]],
    ]
    assert f.vmap(lambda x, n: x * n, in_dims=(0, None))(a, 3).tolist() == [[3.0, 6.0], [9.0, 12.0]]
    assert f.vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(a)[0].tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert f.vmap(functools.partial(torch.add, alpha=2))(a, b).tolist() == [[2.0, 0.0], [7.0, 4.5]]
    assert f.vmap(f.vmap(lambda x, y: x * y, (0, None)), (0, 0))(a, b[:, 0]).tolist() == [
        [0.5, 1.0],
        [6.0, 8.0],
    ]
    assert f.vmap(lambda x: x.sum(), chunk_size=1)(a).tolist() == [3.0, 7.0]
    assert f.vmap(lambda x: x.sum(), in_dims=-1)(a).tolist() == [4.0, 6.0]
    assert (
        error_kinds(
            [
                lambda: f.vmap(lambda x: x.tolist())(a),
                lambda: f.vmap(lambda x: 2.0)(a),
                lambda: f.vmap(lambda x: None)(a),
                lambda: f.vmap(torch.sum, in_dims=2)(a),
                lambda: f.vmap(torch.sum, in_dims=None)(a),
                lambda: f.vmap(torch.sum, in_dims=(0, 0))(a),
                lambda: f.vmap(torch.sum, in_dims="a")(a),
                lambda: f.vmap(torch.add)(a, torch.ones(3)),
                lambda: f.vmap(torch.sum)(),
                lambda: f.vmap(torch.sum)(3.0),
                lambda: f.vmap(lambda x: (x, x), out_dims=(0, 0, 0))(a),
                lambda: f.vmap(torch.sum, chunk_size=0)(a),
                lambda: f.vmap(lambda x: x.item())(a[0]),
                lambda: f.vmap(lambda x: x if x > 1 else -x)(a[0]),
                lambda: f.vmap(torch.rand_like)(a),
                lambda: f.vmap(torch.rand_like, randomness="some")(a),
            ]
        )
        == "oVVVVVVVVVVVoooo"
    )


def differentiated_in_containers():
    """With respect to all that an argument holds. Rule: functional/transforms-leave-no-history."""
    f = torch.func
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0])
    loss = lambda pair: _dots(pair).a
    g = f.grad(loss)(_Pair(a, b))
    assert [type(g).__name__, g.a.tolist(), g.b.tolist(), g.a.requires_grad] == [
        "_Pair",
        [0.5, -1.0],
        [1.0, 2.0],
        False,
    ]
    g, value = f.grad_and_value(lambda d: (d["x"] * d["y"][0]).sum())({"x": a, "y": [b]})
    assert [g["x"].tolist(), g["y"][0].tolist(), value.item()] == [[0.5, -1.0], [1.0, 2.0], -1.5]
    g, aux = f.grad(lambda x, y: ((x * y).sum(), {"y": y}), argnums=(0, 1), has_aux=True)(a, b)
    assert [[x.tolist() for x in g], aux["y"].tolist()] == [[[0.5, -1.0], [1.0, 2.0]], [0.5, -1.0]]
    j = f.jacrev(lambda d: {"p": d["x"] ** 2, "q": d["x"].sum()})({"x": a})
    assert [j["p"]["x"].tolist(), j["q"]["x"].tolist()] == [[[2.0, 0.0], [0.0, 4.0]], [1.0, 1.0]]
    j = f.jacfwd(lambda pair: pair.a * pair.b)(_Pair(a, b))
    assert [type(j).__name__, j.a.tolist(), j.b.tolist()] == [
        "_Pair",
        [[0.5, 0.0], [0.0, -1.0]],
        [[1.0, 0.0], [0.0, 2.0]],
    ]
    h = f.hessian(lambda x, y: (x * x * y).sum(), argnums=(0, 1))(a, b)
    assert [[x.tolist() for x in row] for row in h] == [
        [[[1.0, 0.0], [0.0, -2.0]], [[2.0, 0.0], [0.0, 4.0]]],
        [[[2.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]],
    ]
    out, pull = f.vjp(lambda pair: [pair.a * pair.b, pair.a.sum()], _Pair(a, b))
    (g,) = pull([torch.ones(2), torch.tensor(2.0)])
    assert [out[1].item(), g.a.tolist(), g.b.tolist()] == [3.0, [2.5, 1.0], [1.0, 2.0]]
    out, pushed = f.jvp(lambda d: {"y": d["x"] ** 3}, ({"x": a},), ({"x": b},))
    assert [out["y"].tolist(), pushed["y"].tolist()] == [[1.0, 8.0], [1.5, -12.0]]
    out, line = f.linearize(lambda x: {"y": x.sin()}, a)
    assert [round(v, 5) for v in line(b)["y"].tolist()] == [0.27015, 0.41615]
    assert (
        error_kinds(
            [
                lambda: f.grad(lambda x: x * 2)(a),
                lambda: f.grad(lambda x: 2.0)(a),
                lambda: f.grad(lambda x: x.sum(), argnums=1)(a),
                lambda: f.grad(lambda x: x.sum())(3.0),
                lambda: f.grad(lambda x: x.sum(), has_aux=True)(a),
                lambda: f.grad(lambda x: x.sum())(torch.ones(2).long()),
                lambda: f.jacrev(lambda x: [1.0])(a),
                lambda: f.jvp(lambda x: x, (a,), (b, b)),
                lambda: f.jvp(lambda x: x, a, b),
                lambda: f.vjp(lambda x: [x], a)[1](a),
                lambda: f.jacfwd(lambda x: x, argnums=(0, 2))(a),
            ]
        )
        == "oooVooooooo"
    )
