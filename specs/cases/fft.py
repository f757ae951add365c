"""torch.fft: values and derivatives of discrete Fourier transforms."""

import torch

from specs.cases._measures import derivatives, error_kinds, graded, ramp, wave


def _pair(out):
    """Return a result as real numbers."""
    return torch.view_as_real(out.resolve_conj()) if out.is_complex() else out


def derivatives_of_transforms_along_a_dimension():
    """There and back, cut or padded, in each normalization. Rule: op/derivatives-beyond-programs."""
    fft = torch.fft
    x = torch.tensor([2.0, -1.0, 0.5], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([1.0, 0.25, -3.0], dtype=torch.float64, requires_grad=True)
    c = torch.complex(x, y)
    assert derivatives(_pair(fft.fft(c)), x, y) == [
        [9.0, -1.26795, -4.73205],
        [12.0, -4.73205, -1.26795],
        [6.0, 12.0, 18.0, 24.0, 30.0, 36.0],
    ]
    assert derivatives(_pair(fft.ifft(c)), x, y) == [
        [3.0, -1.57735, -0.42265],
        [4.0, -0.42265, -1.57735],
        [0.66667, 1.33333, 2.0, 2.66667, 3.33333, 4.0],
    ]
    assert derivatives(_pair(fft.fft(x)), x) == [[9.0, -1.26795, -4.73205], [6.0, 0.0, 24.0, -6.0, 24.0, 6.0]]
    assert derivatives(_pair(fft.ifft(x)), x) == [
        [3.0, -1.57735, -0.42265],
        [0.66667, 0.0, 2.66667, -0.66667, 2.66667, 0.66667],
    ]
    assert derivatives(_pair(fft.rfft(x)), x) == [[4.0, -3.9641, 2.9641], [6.0, 0.0, 9.0, 12.0]]
    assert derivatives(_pair(fft.ihfft(x)), x) == [[1.33333, 0.98803, -1.32137], [0.66667, 0.0, 1.0, 1.33333]]
    assert derivatives(fft.irfft(c), x, y) == [[2.5, -1.0, -0.5], [0.0, 1.0, 0.0], [0.0, 0.5, 2.0, 2.5]]
    assert derivatives(fft.hfft(c), x, y) == [[10.0, -4.0, -2.0], [0.0, -4.0, 0.0], [0.0, 8.0, 32.0, 40.0]]
    w = wave(3, 4)
    z = torch.complex(w, w.flip(0))
    how, ways = ((2, "ortho"), (5, "forward")), ((2, 0, "ortho"), (5, 1, "forward"))
    assert [graded(_pair(fft.fft(z, n, 0, p)), w) for n, p in (*how, (3, "backward"))] == [
        [(2, 4, 2), -146.3504, 381.8377],
        [(5, 4, 2), -153.0501, 727.5897],
        [(3, 4, 2), -300.4842, 588.2975],
    ]
    assert [graded(_pair(fft.ifft(z, n, 0, p)), w) for n, p in (*how, (3, "backward"))] == [
        [(2, 4, 2), -146.3504, 381.8377],
        [(5, 4, 2), -746.5439, 3222.0514],
        [(3, 4, 2), -106.8094, 343.9008],
    ]
    assert [graded(_pair(fft.fft(w, n, 0, p)), w) for n, p in (*how, (3, None))] == [
        [(2, 4, 2), -63.845, -19.799],
        [(5, 4, 2), -45.7337, 135.7302],
        [(3, 4, 2), -71.6947, -536.8513],
    ]
    assert [graded(_pair(fft.ifft(w, n, 0, p)), w) for n, p in (*how, (3, None))] == [
        [(2, 4, 2), -63.845, -19.799],
        [(5, 4, 2), -346.1079, -1298.6511],
        [(3, 4, 2), -54.8776, -105.0496],
    ]
    assert [graded(_pair(fft.rfft(w, n, d, p)), w) for n, d, p in ways] == [
        [(2, 4, 2), -63.845, -19.799],
        [(3, 3, 2), 5.9932, 77.7132],
    ]
    assert [graded(fft.irfft(z, n, d, p), w) for n, d, p in (*ways, (4, 0, None))] == [
        [(2, 4), -33.5214, -2.8284],
        [(3, 5), 59.2558, 762.9909],
        [(4, 4), -19.3336, 6.0],
    ]
    assert [graded(fft.hfft(z, n, d, p), w) for n, d, p in (*ways, (4, 0, None))] == [
        [(2, 4), -33.5214, -2.8284],
        [(3, 5), 13.7249, 89.4018],
        [(4, 4), -173.5487, -808.0],
    ]
    assert [graded(_pair(fft.ihfft(w, n, d, p)), w) for n, d, p in ways] == [
        [(2, 4, 2), -63.845, -19.799],
        [(3, 3, 2), 7.3407, 1165.8076],
    ]
    assert graded(fft.irfft(w), w) == [(3, 6), 15.9635, 139.5]
    assert graded(fft.hfft(w, dim=0), w) == [(4, 4), -125.4416, -392.0]


def derivatives_of_transforms_along_several_dimensions():
    """All, the last two, or those that are named, of each size. Rule: op/derivatives-beyond-programs."""
    fft = torch.fft
    w = wave(2, 3, 4)
    z = torch.complex(w, w.flip(0))
    assert [graded(_pair(f(z)), w) for f in (fft.fft2, fft.ifft2, fft.fftn, fft.ifftn)] == [
        [(2, 3, 4, 2), 2177.3504, 1944.0],
        [(2, 3, 4, 2), 181.4459, 162.0],
        [(2, 3, 4, 2), 1038.8146, -1944.0],
        [(2, 3, 4, 2), 54.0108, -81.0],
    ]
    assert [graded(_pair(f(w)), w) for f in (fft.fft2, fft.ifft2, fft.fftn, fft.ifftn)] == [
        [(2, 3, 4, 2), 1151.8617, 2346.2975],
        [(2, 3, 4, 2), 75.0082, 240.4752],
        [(2, 3, 4, 2), 1016.1646, -4997.7025],
        [(2, 3, 4, 2), 37.2135, -185.7624],
    ]
    assert [graded(_pair(f(w)), w) for f in (fft.rfft2, fft.rfftn, fft.irfft2, fft.irfftn)] == [
        [(2, 3, 3, 2), 862.4547, 2149.7231],
        [(2, 3, 3, 2), 219.6097, -3610.2769],
        [(2, 3, 6), 64.7699, 167.0],
        [(2, 3, 6), 30.2559, -147.5],
    ]
    assert [graded(_pair(fft.fft2(z, (2, 5), norm=p)), w) for p in ("ortho", "forward", "backward")] == [
        [(2, 2, 5, 2), 395.1473, 777.9203],
        [(2, 2, 5, 2), 124.9566, 246.0],
        [(2, 2, 5, 2), 1249.5656, 2460.0],
    ]
    assert [graded(_pair(fft.ifft2(z, (2, -1), (0, 1), p)), w) for p in ("ortho", "forward", "backward")] == [
        [(2, 3, 4, 2), 601.1728, -83.2827],
        [(2, 3, 4, 2), 1472.5665, -204.0],
        [(2, 3, 4, 2), 245.4278, -34.0],
    ]
    assert [graded(_pair(fft.fftn(z, s)), w) for s in ((3,), (2, 3), (1, 2, 3))] == [
        [(2, 3, 3, 2), -197.2831, 7002.0],
        [(2, 2, 3, 2), 440.9634, 900.0],
        [(1, 2, 3, 2), 98.0213, -18.0],
    ]
    assert [
        graded(_pair(fft.ifftn(z, s, d)), w) for s, d in ((3, (0,)), ((4, 2), (-1, 0)), (None, (1, 2)))
    ] == [
        [(3, 3, 4, 2), -414.8803, 6996.3387],
        [(2, 3, 4, 2), -42.002, 737.0],
        [(2, 3, 4, 2), 181.4459, 162.0],
    ]
    assert [graded(_pair(fft.rfft2(w, (3, 5), norm=p)), w) for p in ("ortho", "forward", "backward")] == [
        [(2, 3, 3, 2), 159.9295, 300.8412],
        [(2, 3, 3, 2), 41.2936, 77.6769],
        [(2, 3, 3, 2), 619.4044, 1165.1529],
    ]
    assert [
        graded(_pair(fft.rfftn(w, s, d)), w) for s, d in (((3,), (0,)), ((4, 2), (-1, 0)), (None, (1,)))
    ] == [
        [(2, 3, 4, 2), -554.7067, -4234.2159],
        [(2, 3, 4, 2), -687.0092, -2056.0],
        [(2, 2, 4, 2), 228.6601, 4433.9691],
    ]
    assert [graded(fft.irfft2(z, (3, 5), norm=p), w) for p in ("ortho", "forward", "backward")] == [
        [(2, 3, 5), 251.2765, 617.0579],
        [(2, 3, 5), 973.1896, 2389.8549],
        [(2, 3, 5), 64.8793, 159.3237],
    ]
    assert [graded(fft.irfftn(z, s, d), w) for s, d in (((3,), (0,)), ((4, 2), (-1, 0)), (None, (1,)))] == [
        [(3, 3, 4), -277.2424, -537.6001],
        [(2, 3, 4), -42.8778, -121.0],
        [(2, 4, 4), 252.8997, 1252.0],
    ]


def frequencies_and_their_order():
    """Of whole and of half transforms, and with zero in the middle. Rule: op/derivatives-beyond-programs."""
    fft = torch.fft
    assert [[round(v, 5) for v in fft.fftfreq(n, 0.5).tolist()] for n in (1, 4, 5)] == [
        [0.0],
        [0.0, 0.5, -1.0, -0.5],
        [0.0, 0.4, 0.8, -0.8, -0.4],
    ]
    assert [[round(v, 5) for v in fft.rfftfreq(n, 0.5).tolist()] for n in (1, 4, 5)] == [
        [0.0],
        [0.0, 0.5, 1.0],
        [0.0, 0.4, 0.8],
    ]
    assert [f(3).dtype for f in (fft.fftfreq, fft.rfftfreq)] == [torch.float32, torch.float32]
    x = fft.fftfreq(4, dtype=torch.float64, requires_grad=True)
    assert (x.dtype, x.is_leaf, x.requires_grad, fft.rfftfreq(4, 2).tolist()) == (
        torch.float64,
        True,
        True,
        [0.0, 0.125, 0.25],
    )
    y = fft.rfftfreq(6, dtype=torch.float64, requires_grad=True)
    assert derivatives(_pair(fft.fft(x * x)), x) == [
        [0.0, 0.0, 4.0, 4.0],
        [0.0, 0.0, -64.0, -128.0],
        [-12.0, 0.0, 8.0, -4.0, -4.0, 0.0, 8.0, 4.0],
    ]
    assert (y.dtype, y.requires_grad, y.tolist()) == (
        torch.float64,
        True,
        [0.0, 0.16666666666666666, 0.3333333333333333, 0.5],
    )
    w = ramp(3, 4)
    assert graded(fft.fftshift(w), w) == [(3, 4), 5.8182, 434.0]
    assert [graded(fft.fftshift(w, d), w) for d in (0, -1, (1, 0))] == [
        [(3, 4), 16.7273, 458.0],
        [(3, 4), 93.0909, 626.0],
        [(3, 4), 5.8182, 434.0],
    ]
    assert [graded(fft.ifftshift(w, d), w) for d in (None, 0, 1, (-1,))] == [
        [(3, 4), 5.8182, 434.0],
        [(3, 4), 16.7273, 458.0],
        [(3, 4), 93.0909, 626.0],
        [(3, 4), 93.0909, 626.0],
    ]
    assert fft.fftshift(torch.arange(5)).tolist() == [3, 4, 0, 1, 2]
    assert fft.ifftshift(torch.arange(5)).tolist() == [2, 3, 4, 0, 1]


def dtypes_of_transforms_and_what_they_do_not_take():
    """Integers count as floats; half precision, complex numbers and sizes may be refused.

    Rule: op/derivatives-beyond-programs.
    """
    fft = torch.fft
    x = torch.tensor([2.0, -1.0, 0.5], dtype=torch.float64, requires_grad=True)
    n = torch.tensor([1, 2, 3, 4])
    assert derivatives(_pair(fft.fft(x * x)), x) == [
        [36.0, 2.5359, -4.73205],
        [1296.0, -12.86156, 89.56922],
        [268.3923, 0.0, 297.80385, 0.58846, 297.80385, -0.58846],
    ]
    assert [f(n).dtype for f in (fft.fft, fft.rfft, fft.fftn, fft.rfftn)] == [
        torch.complex64,
        torch.complex64,
        torch.complex64,
        torch.complex64,
    ]
    assert [f(n).dtype for f in (fft.irfft, fft.hfft, fft.ihfft, fft.irfftn)] == [
        torch.float32,
        torch.float32,
        torch.complex64,
        torch.float32,
    ]
    assert [f(x).dtype for f in (fft.fft, fft.irfft, fft.hfft, fft.ifft2)[:3]] == [
        torch.complex128,
        torch.float64,
        torch.float64,
    ]
    assert [round(v, 5) for v in fft.irfft(n).tolist()] == [2.5, -0.66667, 0.0, -0.16667, 0.0, -0.66667]
    c = torch.complex(x, x)
    assert "-" not in error_kinds(
        [
            lambda: fft.fft(x.half()),
            lambda: fft.fftn(x.bfloat16()),
            lambda: fft.rfft(c),
            lambda: fft.ihfft(c),
            lambda: fft.rfftn(c),
            lambda: fft.rfft2(c.reshape(1, 3)),
        ]
    )
    assert (
        error_kinds(
            [
                lambda: fft.fft(x, 0),
                lambda: fft.fftn(x, (-2,)),
                lambda: fft.irfft(x, -1),
                lambda: fft.irfft(x, 0),
                lambda: fft.irfft(x[:1]),
                lambda: fft.irfft2(c.reshape(1, 3), (1, 0)),
                lambda: fft.rfft(x, -1),
                lambda: fft.fft(x, norm="own"),
                lambda: fft.ifftn(x, norm="own"),
                lambda: fft.hfft(c, 0),
                lambda: fft.hfft(c[:1]),
                lambda: fft.irfftn(x, (-1,)),
            ]
        )
        == "ooooooooooo-"
    )
