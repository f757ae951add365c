"""Linear algebra under older names, and factors with exchanges of rows."""

import torch

from specs.cases._measures import derivatives, error_kinds


def linear_algebra_under_older_names():
    """It gives the same, under other names and with other settings. Rule: op/derivatives-beyond-programs."""
    a = torch.tensor([[2.0, 1.0], [-1.0, 0.5], [3.0, -2.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, -2.0], [1.0, 3.0], [0.25, 1.5]], dtype=torch.float64, requires_grad=True)
    u, s, v = torch.svd(a)
    assert derivatives(u @ v.mT, a) == [
        [-0.6999, 1.0334, 1.62711, 2.86132, 1.30816, 1.68081],
        [-7.38777, -14.04026, -4.03897, 2.04942, -0.18578, 4.77413],
        [-0.44601, 0.80861, 1.61188, 3.34034, 1.04034, 1.54796],
    ]
    assert [tuple(x.shape) for x in (u, s, v)] == [(3, 2), (2,), (2, 2)]
    assert [tuple(x.shape) for x in torch.svd(a, some=False)] == [(3, 3), (2,), (2, 2)]
    assert [x.sum().item() for x in torch.svd(a, compute_uv=False)[::2]] == [0.0, 0.0]
    assert [tuple(x.shape) for x in torch.svd(a, compute_uv=False)] == [(3, 3), (2,), (2, 2)]
    assert derivatives(torch.svd(a, compute_uv=False).S, a) == [
        [1.05856, 1.56917, -0.22737, 0.18078, 0.53117, -1.02501],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 4.0],
    ]
    p = a.t() @ a
    assert derivatives(torch.cholesky_solve(b.t(), torch.linalg.cholesky(p)), a, b) == [
        [-2.47715, -5.6681, -0.08861, -0.17968, 0.92941, 2.04591],
        [0.43662, 1.13615, 0.61972, 1.48357, 0.80282, 1.83099],
        [-59.43638, -137.15771, -2.12175, -4.89897, 22.28523, 51.43581],
        [6.9398, 16.03809, 9.18128, 21.22219, 11.42276, 26.40629],
        [-2.5164, 5.74663, 2.98577, -5.78173, 13.30493, 6.91698],
    ]
    assert derivatives(
        torch.cholesky_solve(b.t(), torch.linalg.cholesky(p, upper=True), upper=True), a, b
    ) == [
        [-2.47715, -5.6681, -0.08861, -0.17968, 0.92941, 2.04591],
        [0.43662, 1.13615, 0.61972, 1.48357, 0.80282, 1.83099],
        [-59.43638, -137.15771, -2.12175, -4.89897, 22.28523, 51.43581],
        [6.9398, 16.03809, 9.18128, 21.22219, 11.42276, 26.40629],
        [-2.5164, 5.74663, 2.98577, -5.78173, 13.30493, 6.91698],
    ]
    assert derivatives(torch.triangular_solve(b[:2], a[:2]).solution, a, b) == [
        [4.375, -7.0, 0.0, -46.0, 0.0, 0.0],
        [0.5, 1.0, 5.0, 6.0, 0.0, 0.0],
        [572.46875, -1291.375, 0.0, -17429.25, 0.0, 0.0],
        [-2.1875, -4.375, 938.375, 1140.75, 0.0, 0.0],
        [-176.21875, -503.5, 388.0, 1128.0],
    ]
    assert derivatives(torch.triangular_solve(b[:2], a[:2], upper=False)[0], a, b) == [
        [4.125, 0.0, 6.5, -47.0, 0.0, 0.0],
        [3.5, 5.0, 6.0, 8.0, 0.0, 0.0],
        [497.46875, 0.0, 1134.1875, -18416.625, 0.0, 0.0],
        [510.5625, 679.375, 1128.0, 1504.0, 0.0, 0.0],
        [2.46875, 9.125, 492.4375, 828.25],
    ]
    assert derivatives(torch.triangular_solve(b[:2], a[:2], transpose=True)[0], a, b) == [
        [-2.375, 6.5, 0.0, -73.0, 0.0, 0.0],
        [-2.5, -3.0, 6.0, 8.0, 0.0, 0.0],
        [-1017.78125, 1952.4375, 0.0, -43309.875, 0.0, 0.0],
        [-920.9375, -1227.125, 1752.0, 2336.0, 0.0, 0.0],
        [-1.90625, -5.375, 459.3125, 2404.75],
    ]
    assert derivatives(b[:2].triangular_solve(a[:2], False, True, True)[0], a, b) == [
        [0.0, 0.0, -7.0, 0.0, 0.0, 0.0],
        [1.0, 2.0, 4.0, 6.0, 0.0, 0.0],
        [0.0, 0.0, -32.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 14.0, 28.0, 0.0, 0.0],
        [24.0, 58.0, 8.0, 12.0],
    ]
    assert torch.triangular_solve(b[:2], a[:2]).cloned_coefficient.tolist() == [[2.0, 1.0], [-1.0, 0.5]]
    assert derivatives(torch.pinverse(a), a) == [
        [-0.79039, 0.07728, 0.76559, 1.8894, 0.59902, 0.67531],
        [-4.71291, -9.66764, -1.4324, 0.15842, 1.07543, 4.0252],
        [0.14076, 0.46296, 0.18704, 0.3993, 1.10013, 0.41288],
    ]
    assert derivatives(a[:2].inverse() + a[:2].matrix_exp(), a) == [
        [2.2896, -3.1865, 16.89325, -2.49016, 0.0, 0.0],
        [345.7676, 128.32297, 178.02443, 16.02593, 0.0, 0.0],
        [114.4066, -3.73175, 78.88166, 67.59233],
    ]
    assert derivatives(a[1:].det() * a[:2].matrix_power(2), a) == [
        [1.5, 0.0, 11.25, 9.0, 1.25, 2.5],
        [-279.0, 77.25, -1985.125, -1236.5, -127.125, -400.5],
        [-298.5, -252.625, 280.75, 99.1875],
    ]
    assert error_kinds([lambda: torch.cholesky_solve(b[0], p), lambda: b.t().cholesky_solve(p[0])]) == "oo"


def triangular_factors_of_any_matrix():
    """A permutation, a lower and an upper one, of which solutions are made.

    Rule: op/derivatives-beyond-programs.
    """
    linalg = torch.linalg
    a = torch.tensor([[1.0, 2.0, 0.5], [4.0, -1.0, 3.0], [2.0, 5.0, -2.0]], dtype=torch.float64)
    b = torch.tensor([[0.5, -2.0], [1.0, 3.0], [0.25, 1.5]], dtype=torch.float64, requires_grad=True)
    both, pivots = linalg.lu_factor(a)
    assert [[round(v, 5) for v in row] for row in both.tolist()] == [
        [4.0, -1.0, 3.0],
        [0.5, 5.5, -3.5],
        [0.25, 0.40909, 1.18182],
    ]
    assert (pivots.tolist(), pivots.dtype) == ([2, 3, 3], torch.int32)
    p, low, up = linalg.lu(torch.stack([a, a.t()]))
    assert [p.tolist(), [[round(v, 4) for v in row] for row in low[1].tolist()]] == [
        [
            [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        ],
        [[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25, 0.7222, 1.0]],
    ]
    assert (p @ low @ up - torch.stack([a, a.t()])).abs().max().item() < 1e-12
    c = (b.t() @ b).inverse()
    assert derivatives(c, b) == [
        [-0.05913, -0.13391, -1.16522, -0.06087, -0.40348, 0.00696],
        [-4.00432, 0.07334, -7.09831, 0.11758, -1.67704, 0.02628],
        [2.9417, 0.11766, 0.11766, -0.10964],
    ]
    assert [x.stride() for x in (both, p, low, up)] == [(1, 3), (9, 3, 1), (9, 3, 1), (9, 3, 1)]
    assert derivatives(linalg.lu_solve(both, pivots, b), b) == [
        [5.34615, 6.23077, -0.28846, -0.19231, -1.59615, -1.73077],
        [-6.28846, -7.19231, 5.94675, 6.88757, 10.17456, 11.7574],
    ]
    assert derivatives(torch.lu_solve(b, *torch.lu(a)), b) == [
        [5.34615, 6.23077, -0.28846, -0.19231, -1.59615, -1.73077],
        [-6.28846, -7.19231, 5.94675, 6.88757, 10.17456, 11.7574],
    ]
    assert derivatives(linalg.lu_solve(*linalg.lu_factor(torch.stack([a, a.t()])), b.expand(2, 3, 2)), b) == [
        [6.84615, 7.73077, 2.01923, 2.5, 0.17308, 0.5],
        [
            -5.75,
            -6.23077,
            6.89349,
            7.71006,
            11.31065,
            12.54438,
            -4.3787,
            -4.19231,
            2.94379,
            3.25,
            3.14793,
            3.32692,
        ],
    ]
    p, low, up = torch.lu_unpack(both, pivots)
    assert (p @ low @ up - a).abs().max().item() < 1e-12
    assert [p.tolist(), low.diagonal().tolist(), up[2, 0].item()] == [
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [1.0, 1.0, 1.0],
        0.0,
    ]
    assert linalg.lu(a).P.tolist() == p.tolist() and linalg.lu_factor(a).LU.tolist() == both.tolist()
