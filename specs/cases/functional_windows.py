"""torch.func: windows on the memory of an element, rules that are called again, tangents of factors."""

import torch

from specs.cases._measures import derivatives, refusal_kinds


class _Ruleless(torch.autograd.Function):
    """Nothing says how it is mapped."""

    @staticmethod
    def forward(x):
        return x * 10

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 10


class _Tenfold(_Ruleless):
    """Its rule notes what it is given."""

    seen = []

    @staticmethod
    def vmap(info, in_dims, x):
        _Tenfold.seen.append((info.batch_size, in_dims, tuple(x.shape)))
        return x * 10, in_dims[0]


def windows_of_an_element_end_where_it_does():
    """Within a map they count from the element's first place. Rule: op/derivatives-beyond-programs."""
    m = torch.vmap
    x = torch.arange(12.0, dtype=torch.float64).reshape(3, 4)
    assert m(lambda t: t.as_strided((2,), (2,)))(x).tolist() == [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]
    assert m(lambda t: t.as_strided((2, 2), (1, 2)))(x).tolist() == [
        [[0.0, 2.0], [1.0, 3.0]],
        [[4.0, 6.0], [5.0, 7.0]],
        [[8.0, 10.0], [9.0, 11.0]],
    ]
    assert m(lambda t: t[1:].as_strided((2,), (1,)))(x).tolist() == [[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]]
    assert m(lambda t: t.as_strided((2,), (3,)), in_dims=1)(x).tolist() == [
        [0.0, 3.0],
        [1.0, 4.0],
        [2.0, 5.0],
        [3.0, 6.0],
    ]
    assert m(lambda t: t.as_strided((4,), (1,)))(x).tolist() == [
        [0.0, 1.0, 2.0, 3.0],
        [4.0, 5.0, 6.0, 7.0],
        [8.0, 9.0, 10.0, 11.0],
    ]
    assert m(lambda t, u: t.as_strided((2,), (1,)) + u.as_strided((2,), (2,)))(x, x.flip(0)).tolist() == [
        [8.0, 11.0],
        [8.0, 11.0],
        [8.0, 11.0],
    ]
    assert m(lambda t: t.as_strided((2,), (1,), 1))(x).tolist() == [[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]]
    assert m(lambda t: t.as_strided((0,), (9,)))(x).shape == (3, 0)
    assert (
        refusal_kinds(
            [
                lambda: m(lambda t: t.as_strided((5,), (1,)))(x),
                lambda: m(lambda t: t.as_strided((3,), (2,)))(x),
                lambda: m(lambda t: t.as_strided((3,), (2,)))(x[:2]),
                lambda: m(lambda t: t.as_strided((2,), (4,)))(x),
                lambda: m(lambda t: t[1:].as_strided((4,), (1,)))(x),
                lambda: m(lambda t: t[1:].as_strided((3,), (1,), 0))(x),
                lambda: x.as_strided((-1,), (1,)),
                lambda: x.as_strided((2,), (-1,)),
                lambda: x.as_strided((2,), (1, 1)),
                lambda: x.as_strided((13,), (1,)),
                lambda: x.as_strided((2,), (1,), -1),
            ]
        )
        == "ooooooooooo"
    )
    w = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(w.softmax(0).as_strided((2,), (2,)), w) == [
        [-0.03065, -0.19751, 0.22816],
        [0.00449, 0.12364, -0.12813],
        [-0.01675, 0.10038],
    ]


def rules_are_called_for_each_call():
    """Each once for all elements, in their order. Rules: functional/vmap-needs-a-rule."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert refusal_kinds([lambda: torch.vmap(_Ruleless.apply)(x)]) == "o"
    _Tenfold.seen.clear()
    assert torch.vmap(lambda t: _Tenfold.apply(_Tenfold.apply(t)))(x).tolist() == [
        [100.0, 200.0],
        [300.0, 400.0],
        [500.0, 600.0],
    ]
    assert _Tenfold.seen == [(3, (0,), (3, 2)), (3, (0,), (3, 2))]
    _Tenfold.seen.clear()
    assert torch.vmap(lambda t: _Tenfold.apply(t.sum()) + _Tenfold.apply(t) * _Tenfold.apply(t[0]))(
        x
    ).tolist() == [[130.0, 230.0], [970.0, 1270.0], [2610.0, 3110.0]]
    assert _Tenfold.seen == [(3, (0,), (3,)), (3, (0,), (3, 2)), (3, (0,), (3,))]


def factors_have_tangents():
    """Those of one result, and those whose pivots have none. Rule: op/derivatives-beyond-programs."""
    fw, la = torch.autograd.forward_ad, torch.linalg
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    t = torch.tensor([[1.0, 0.5], [0.5, -1.0]], dtype=torch.float64)
    w = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]], dtype=torch.float64)
    with fw.dual_level():
        d = fw.make_dual(a.detach(), t)
        found = [la.pinv(fw.make_dual(w, w * w)), *la.lu_factor(d), *la.slogdet(d), la.svdvals(d)]
        made = [fw.unpack_dual(each).tangent for each in found]
        assert [None if each is None else (each * 1e4).round().tolist() for each in made] == [
            [[-7778.0, 4444.0], [-4444.0, -3889.0], [4444.0, -6111.0]],
            [[10000.0, 5000.0], [0.0, -12500.0]],
            None,
            0.0,
            0.0,
            [-0.0, 0.0],
        ]
        spread = torch.var_mean(d, dim=1)
        assert [(fw.unpack_dual(each).tangent * 1e4).round().tolist() for each in spread] == [
            [5000.0, -30000.0],
            [7500.0, -2500.0],
        ]
        system = la.solve(d, d.mT @ d), la.inv(d), la.det(d), la.matrix_power(d, 3)
        assert [(fw.unpack_dual(each).tangent * 1e4).round().tolist() for each in system] == [
            [[10000.0, 5000.0], [5000.0, -10000.0]],
            [[-2000.0, -1000.0], [-1000.0, 2000.0]],
            0.0,
            [[200000.0, 100000.0], [100000.0, -200000.0]],
        ]
    assert derivatives(la.pinv(a), a) == [
        [0.08, -0.16, -0.36, -0.28],
        [-0.16, -0.064, 0.048, -0.208],
        [-0.16, 0.08, 0.16, 0.0],
    ]
