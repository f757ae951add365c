"""Ops that few call: order statistics, differences, spectra, repeated elements, by their derivatives."""

import torch

from specs.cases._measures import derivatives, error_kinds, graded, ramp, wave


def values_by_their_rank():
    """Along a dimension, or of all. Rule: op/derivatives-beyond-programs."""
    t = wave(2, 5)
    assert derivatives(t.quantile(0.3, 1), t) == [
        [0.0, 0.2, 0.0, 0.8, 0.0, 0.0, 0.0, 0.4, 1.6, 0.0],
        [1.36, 2.72],
    ]
    assert derivatives(t.quantile(torch.tensor([0.25, 0.5], dtype=torch.float64)), t)[:2] == [
        [0.0, 1.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0, 0.25, 0.0],
        [1.25, 2.0],
    ]
    assert [
        t.quantile(0.3, interpolation=how).item() for how in ("lower", "higher", "midpoint", "nearest")
    ] == [-2.1036774620197414, -1.8920062382698206, -1.997841850144781, -1.8920062382698206]
    n = t.detach().clone()
    n[0, 1] = float("nan")
    n.requires_grad_()
    assert derivatives(n.nanquantile(0.5, 1), n)[:1] == [[0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 2.0, 0.0, 0.0]]
    assert derivatives(n.nanmean(1), n)[:1] == [[0.25, 0.0, 0.25, 0.25, 0.25, 0.4, 0.4, 0.4, 0.4, 0.4]]
    assert derivatives(n.nansum(1), n)[:1] == [[1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0]]
    assert [str(v) for v in n.quantile(0.5, 1).tolist()][0] == "nan"
    assert derivatives(t.median(1)[0], t) == [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0], [2.0, 4.0]]
    assert derivatives(n.nanmedian(), n) == [[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [2.0]]
    assert derivatives(t.kthvalue(2, 1)[0], t) == [
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0],
        [2.0, 4.0],
    ]
    assert derivatives(t.msort(), t)[:1] == [[1.0, 2.0, 3.0, 4.0, 10.0, 6.0, 7.0, 8.0, 9.0, 5.0]]
    assert derivatives(t.topk(2, 1)[0], t)[:1] == [[1.0, 0.0, 0.0, 0.0, 2.0, 4.0, 3.0, 0.0, 0.0, 0.0]]
    o = ramp(1)[0]
    assert [
        o.median(0)[1].item(),
        o.mode(0)[0].item(),
        o.kthvalue(1)[0].item(),
        o.sort()[1].item(),
        o.topk(1)[0].requires_grad,
    ] == [0, -2.0, -2.0, 0, True]
    m = torch.tensor([[2.0, 1.0, 2.0], [3.0, 3.0, 1.0]], requires_grad=True)
    values, places = m.mode(1)
    values.sum().backward()
    assert [values.tolist(), places.tolist(), m.grad.tolist()] == [
        [2.0, 3.0],
        [2, 1],
        [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    ]
    assert (
        error_kinds(
            [
                lambda: torch.zeros(0).median(0),
                lambda: torch.zeros(0, 2).max(0),
                lambda: t.kthvalue(6, 1),
                lambda: t.topk(6, 1),
                lambda: t.quantile(1.5),
                lambda: t.quantile(0.5, interpolation="some"),
                lambda: torch.ones(3).long().quantile(0.5),
                lambda: t.quantile(torch.tensor([0.5])),
            ]
        )
        == "IIoooooo"
    )


def sums_of_neighbours():
    """Integrals, differences, gradients between points. Rule: op/derivatives-beyond-programs."""
    t = wave(2, 4)
    x = torch.tensor([0.0, 1.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(torch.trapezoid(t, x), t, x) == [
        [0.5, 1.5, 1.5, 0.5, 1.0, 3.0, 3.0, 1.0],
        [-4.33784, 5.81268, 3.69255, -5.1674],
        [10.15052, 8.03039, -10.98008, -8.85995, 20.30104, 16.06078, -21.96016, -17.7199],
        [-10.0, -5.0, 5.0, 10.0],
        [51.21149, 92.33533],
    ]
    assert derivatives(torch.trapezoid(t, dx=0.5, dim=0), t)[:1] == [
        [0.25, 0.5, 0.75, 1.0, 0.25, 0.5, 0.75, 1.0]
    ]
    assert derivatives(torch.cumulative_trapezoid(t, x), t, x)[:2] == [
        [3.0, 8.0, 6.5, 1.5, 7.5, 18.5, 14.0, 3.0],
        [-31.89182, 39.12576, 8.26825, -15.50219],
    ]
    assert derivatives(torch.gradient(t, dim=1)[0], t)[:1] == [[-2.0, -0.5, -3.0, 5.5, -8.0, 1.5, -5.0, 11.5]]
    assert derivatives(torch.gradient(t, spacing=(x.detach(),), dim=1)[0], t)[:1] == [
        [-2.33333, 1.5, -5.16667, 6.0, -9.0, 6.83333, -10.5, 12.66667]
    ]
    assert derivatives(torch.gradient(t, spacing=2.0, edge_order=2, dim=1)[0], t)[:1] == [
        [-1.25, 1.25, -3.75, 3.75, -5.25, 5.25, -7.75, 7.75]
    ]
    assert [len(torch.gradient(t)), tuple(torch.gradient(t)[1].shape)] == [2, (2, 4)]
    assert derivatives(t.diff(prepend=t[:, :1], append=t[:, :1]), t)[:1] == [
        [3.0, -1.0, -1.0, -1.0, 3.0, -1.0, -1.0, -1.0]
    ]
    assert derivatives(t.diff(n=2), t)[:1] == [[1.0, 0.0, -3.0, 2.0, 3.0, -2.0, -5.0, 4.0]]
    assert derivatives(t.cov(), t)[:1] == [
        [5.31564, 2.29817, -3.64438, -3.96944, 9.93643, 3.35166, -7.01964, -6.26844]
    ]
    assert derivatives(t.corrcoef(), t)[:1] == [
        [0.2339, 0.79689, -0.00764, -1.02316, 0.56031, -0.50728, -0.54867, 0.49564]
    ]
    w = torch.tensor([1, 2, 1, 0])
    a = torch.tensor([0.5, 1.0, 2.0, 1.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(t.cov(correction=0, fweights=w, aweights=a), t, a)[:2] == [
        [1.77444, 3.07448, -4.84892, 0.0, 3.48753, 5.17044, -8.65797, 0.0],
        [7.89276, -5.21839, 0.636, 0.0],
    ]
    assert [t[0].cov().ndim, t[0].corrcoef().tolist(), t[:0].cov().shape == (0, 0)] == [0, 1.0, True]
    assert (
        error_kinds(
            [
                lambda: torch.trapezoid(t, x[:3]),
                lambda: torch.trapezoid(t, x, dx=1.0),
                lambda: torch.gradient(t[:, :1], dim=1),
                lambda: torch.gradient(t, edge_order=3),
                lambda: t.cov(fweights=a),
                lambda: t.cov(aweights=w),
                lambda: t.cov(fweights=w[:2]),
                lambda: t.cov(fweights=-w),
                lambda: t.cov(fweights=w[None]),
                lambda: wave(1, 1, 2).cov(),
                lambda: t.diff(n=-1),
            ]
        )
        == "oTooooooooo"
    )


def elements_that_are_repeated():
    """As often as numbers say, joined, or paired. Rule: op/derivatives-beyond-programs."""
    t = wave(3)
    n = torch.tensor([2, 0, 1])
    assert derivatives(t.repeat_interleave(n), t) == [[3.0, 0.0, 3.0], [6.0, 6.0, 6.0]]
    assert derivatives(ramp(2, 2).detach().repeat_interleave(2, 1) * t[0], t)[:1] == [[51.33333, 0.0, 0.0]]
    assert [torch.repeat_interleave(n).tolist(), t.repeat_interleave(n, output_size=3).shape == (3,)] == [
        [0, 0, 2],
        True,
    ]
    assert derivatives(torch.combinations(t), t)[:1] == [[4.0, 7.0, 10.0]]
    assert derivatives(torch.combinations(t, 2, with_replacement=True), t)[:1] == [[11.0, 28.0, 39.0]]
    assert [
        torch.combinations(t, 1).shape,
        torch.combinations(t, 0).shape,
        torch.combinations(t[:1], 2).shape,
    ] == [torch.Size([3, 1]), torch.Size([0]), torch.Size([0, 2])]
    assert derivatives(torch.cartesian_prod(t, t[:2]), t)[:1] == [[22.0, 36.0, 20.0]]
    assert torch.cartesian_prod(t).shape == (3,)
    assert derivatives(torch.block_diag(t[None], t[:, None]), t)[:1] == [[9.0, 14.0, 19.0]]
    assert [
        torch.vander(t, 2).shape,
        torch.vander(t, increasing=True)[:, 0].tolist(),
        error_kinds([lambda: graded(torch.vander(t, 3), t)]),
    ] == [torch.Size([3, 2]), [1.0, 1.0, 1.0], "o"]
    assert derivatives(torch.atleast_3d(t).squeeze(), t)[:1] == [[1.0, 2.0, 3.0]]
    assert derivatives(torch.column_stack((t, t * t)), t)[:1] == [[8.56802, 12.58851, -23.76773]]
    assert derivatives(torch.dstack((t, t)), t)[:1] == [[3.0, 7.0, 11.0]]
    first, second = torch.tensor_split(wave(5), 2)
    assert [
        first.shape,
        second.shape,
        [x.shape[0] for x in wave(5).tensor_split((1, 4))],
        [x.shape[0] for x in wave(5).tensor_split(torch.tensor([2, 3]))],
    ] == [torch.Size([3]), torch.Size([2]), [1, 3, 1], [2, 1, 2]]
    assert [
        [x.shape[0] for x in wave(5).split((2, 3))],
        [x.shape[0] for x in wave(5).chunk(3)],
        wave(2, 2).hsplit(2)[1].shape,
        wave(2, 2).vsplit((1,))[0].shape,
    ] == [[2, 3], [2, 2, 1], torch.Size([2, 1]), torch.Size([1, 2])]
    assert (
        error_kinds(
            [
                lambda: t.repeat_interleave(-n),
                lambda: t.repeat_interleave(n[:2]),
                lambda: t.repeat_interleave(n.double()),
                lambda: torch.combinations(ramp(2, 2)),
                lambda: torch.combinations(t, -1),
                lambda: torch.cartesian_prod(ramp(2, 2)),
                lambda: t.tensor_split(0),
                lambda: t.tensor_split(torch.tensor([[1]])),
                lambda: t.tensor_split(torch.tensor([1.0])),
                lambda: t.split((1, 1)),
                lambda: t.split(-1),
                lambda: t.chunk(0),
                lambda: t.dsplit(1),
                lambda: torch.vander(ramp(2, 2)),
                lambda: torch.block_diag(wave(1, 1, 1)),
            ]
        )
        == "ooNoooooooooooo"
    )


def spectra_of_frames():
    """Windows of a signal, transformed, and back. Rule: op/derivatives-beyond-programs."""
    t = wave(12)
    w = torch.hann_window(4, dtype=torch.float64)
    s = t.stft(4, 2, window=w, return_complex=True)
    assert [tuple(s.shape), s.dtype is torch.complex128] == [(3, 7), True]
    assert graded(torch.view_as_real(s), t) == [(3, 7, 2), 3.1901, -175.0]
    assert graded(s.istft(4, 2, window=w), t) == [(12,), -31.9138, 650.0]
    assert graded(
        torch.view_as_real(t.stft(4, 2, win_length=2, window=w[:2] + 1, center=False, return_complex=True)), t
    ) == [(3, 5, 2), -40.8767, -272.5]
    assert graded(
        torch.view_as_real(t.stft(4, 2, window=w, normalized=True, onesided=False, return_complex=True)), t
    ) == [(4, 7, 2), 79.2668, -1386.0]
    k = torch.kaiser_window(5, True, 6.0, dtype=torch.float64)
    assert [
        [round(v, 5) for v in k.tolist()],
        k.requires_grad,
        torch.kaiser_window(4, False).shape == (4,),
    ] == [[0.01487, 0.33902, 0.8954, 0.8954, 0.33902], False, True]
    assert [
        [round(v, 5) for v in each(4).tolist()]
        for each in (torch.hamming_window, torch.blackman_window, torch.bartlett_window)
    ] == [[0.08, 0.54, 1.0, 0.54], [-0.0, 0.34, 1.0, 0.34], [0.0, 0.5, 1.0, 0.5]]
    assert torch.hann_window(1).tolist() == [1.0] and torch.hann_window(0).tolist() == []
    assert (
        error_kinds(
            [
                lambda: t.stft(4, 2, window=w),
                lambda: t.stft(20, 2, return_complex=True, center=False),
                lambda: t.stft(4, 0, return_complex=True),
                lambda: t.stft(4, 2, window=w[:3], return_complex=True),
                lambda: torch.hann_window(-1),
                lambda: torch.hann_window(3, dtype=torch.int64),
            ]
        )
        == "oooooo"
    )


def parts_of_numbers():
    """Mantissas, powers in double precision, integers in place. Rule: op/derivatives-beyond-programs."""
    t = torch.tensor([1.5, -6.0, 0.375], dtype=torch.float64, requires_grad=True)
    mantissa, exponent = t.frexp()
    assert [mantissa.tolist(), exponent.tolist(), exponent.dtype is torch.int32, exponent.requires_grad] == [
        [0.75, -0.75, 0.75],
        [1, 3, -1],
        True,
        False,
    ]
    assert derivatives(mantissa, t) == [[0.5, 0.25, 6.0], [0.5, 0.0625, 24.0]]
    assert derivatives(t.ldexp(torch.tensor([1, 2, 3])), t)[:1] == [[2.0, 8.0, 24.0]]
    assert derivatives(t.float_power(2), t) == [
        [3.0, -24.0, 2.25],
        [12.0, -192.0, 27.0],
        [18.0, 576.0, 3.375],
    ]
    f = torch.tensor([1.5, 2.0], requires_grad=True)
    y = f.float_power(3)
    y.sum().backward()
    assert [y.dtype is torch.float64, y.tolist(), f.grad.tolist(), f.grad.dtype is torch.float32] == [
        True,
        [3.375, 8.0],
        [6.75, 12.0],
        True,
    ]
    b = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    assert [b.float_power_(2).tolist(), b.cumsum_(0).tolist(), b.cumprod_(0).tolist(), b._version] == [
        [1.0, 4.0, 9.0],
        [1.0, 5.0, 14.0],
        [1.0, 5.0, 70.0],
        3,
    ]
    assert [torch.range(1, 2, 0.5).tolist(), torch.range(0, 2).dtype is torch.float32] == [
        [1.0, 1.5, 2.0],
        True,
    ]
    i = torch.tensor([6, 9, -4])
    assert [
        i.gcd(torch.tensor([4, 6, 6])).tolist(),
        i.lcm(torch.tensor([4, 6, 6])).tolist(),
        i.bitwise_left_shift(1).tolist(),
    ] == [[2, 3, 2], [12, 18, 12], [12, 18, -8]]
    assert [
        i.fill_(torch.tensor(2)).tolist(),
        torch.fill(t, 3.0).requires_grad,
        torch.fill(t, t[0]).requires_grad,
    ] == [[2, 2, 2], True, True]
    h, s = torch.zeros(2, 2), torch.tensor([5.0, 7.0], requires_grad=True)
    y = torch.as_strided_scatter(h, s, (2,), (3,))
    y.sum().backward()
    assert [y.tolist(), s.grad.tolist()] == [[[5.0, 0.0], [0.0, 7.0]], [1.0, 1.0]]
    assert [torch.aminmax(t)[1].item(), torch.aminmax(t, dim=0)[0].item()] == [1.5, -6.0]
    assert (
        error_kinds(
            [
                lambda: torch.ones(2).long().frexp(),
                lambda: f.detach().float_power_(2),
                lambda: torch.ones(2).float_power("a"),
                lambda: torch.float_power(2, 3),
                lambda: torch.range(1, 0),
                lambda: torch.ones(2).bool().cumprod_(0),
                lambda: torch.ones(2).gcd(torch.ones(2)),
                lambda: torch.ones(2).bitwise_and(1),
                lambda: torch.isin("a", t),
                lambda: torch.fill(t, torch.ones(2)),
            ]
        )
        == "ooTToNNNTo"
    )
