"""torch.linalg: values and derivatives of norms of vectors and matrices, and what is refused."""

import torch

from specs.case import refused
from specs.cases._measures import derivatives, error_kinds, graded, ramp, wave


def derivatives_of_norms_of_matrices():
    """In each order, along each pair of dimensions, kept or not. Rule: op/derivatives-beyond-programs."""
    norm, inf = torch.linalg.matrix_norm, float("inf")
    a = torch.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=torch.float64, requires_grad=True)
    assert derivatives(norm(a, 1), a) == [[1.0, 0.0, -1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [4.0]]
    assert derivatives(norm(a, -1), a) == [[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [4.0]]
    assert derivatives(norm(a, inf), a) == [[0.0, 0.0, -1.0, 1.0], [0.0, 0.0, 0.0, 0.0], [4.0]]
    assert derivatives(norm(a, -inf), a) == [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [4.0]]
    assert derivatives(norm(a, 2), a) == [[0.36728, 0.0317, -0.92613, -0.07993], [0.0, 0.0, 0.0, 0.0], [2.0]]
    assert derivatives(norm(a, -2), a) == [[-0.07993, 0.92613, -0.0317, 0.36728], [0.0, 0.0, 0.0, 0.0], [2.0]]
    assert derivatives(norm(a, "nuc"), a) == [
        [0.28735, 0.95783, -0.95783, 0.28735],
        [0.0, 0.0, 0.0, 0.0],
        [4.0],
    ]
    x = wave(2, 3, 4)
    assert [graded(norm(x, p, (0, 1)), x) for p in (1, -1, 2, -2)] == [
        [(4,), 31.2237, 120.0],
        [(4,), 30.6179, -56.0],
        [(4,), 35.331, -52.3814],
        [(4,), 25.0147, -59.1978],
    ]
    assert [graded(norm(x, p, (1, 0)), x) for p in (inf, -inf, "nuc", "fro")] == [
        [(4,), 31.2237, 120.0],
        [(4,), 30.6179, -56.0],
        [(4,), 60.3458, -111.5792],
        [(4,), 43.2904, -76.5918],
    ]
    assert [graded(norm(x, p, (0, 2), True), x) for p in (1, -1, 2, -2)] == [
        [(1, 3, 1), 21.0697, -52.0],
        [(1, 3, 1), 16.2629, -60.0],
        [(1, 3, 1), 27.2526, -120.7672],
        [(1, 3, 1), 12.4687, -3.3898],
    ]
    assert [graded(norm(x, p, (2, 0), True), x) for p in (inf, -inf, "nuc", "fro")] == [
        [(1, 3, 1), 21.0697, -52.0],
        [(1, 3, 1), 16.2629, -60.0],
        [(1, 3, 1), 39.7213, -124.1569],
        [(1, 3, 1), 29.9697, -111.088],
    ]
    assert [graded(norm(x, p, (1, -1), True), x) for p in (1, -1, 2, inf)] == [
        [(2, 1, 1), 16.6021, 7.0],
        [(2, 1, 1), 13.12, 3.0],
        [(2, 1, 1), 17.3861, -24.5556],
        [(2, 1, 1), 26.1096, 90.0],
    ]
    y = x.float()
    assert [norm(y, p, dtype=torch.float64).dtype is torch.float64 for p in ("fro", 1)] == [True, True]
    assert graded(torch.norm(a, "nuc"), a) == graded(norm(a, "nuc"), a)
    assert graded(torch.norm(x, "nuc", (2, 0), True), x) == graded(norm(x, "nuc", (2, 0), True), x)


def a_norm_is_of_vectors_or_of_matrices():
    """The order and the dimensions decide it. Rule: op/derivatives-beyond-programs."""
    norm, inf = torch.linalg.norm, float("inf")
    a = torch.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=torch.float64, requires_grad=True)
    x = wave(2, 3, 4)
    assert derivatives(norm(a), a) == [[0.26491, 0.52981, -0.79472, 0.13245], [0.0, 0.0, 0.0, 0.0], [2.0]]
    assert derivatives(norm(a, 1), a) == [[1.0, 0.0, -1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [4.0]]
    assert derivatives(norm(a[0] * a[0], 3), a) == [
        [0.12371, 3.95887, 0.0, 0.0],
        [-1.77777, 16.57683, 0.0, 0.0],
        [31.37589],
    ]
    assert derivatives(norm(a, inf, 0), a) == [[0.0, 2.0, -1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [2.0, 4.0]]
    assert derivatives(norm(a, 3.0, (1,), True), a) == [
        [0.23112, 0.92448, -1.99385, 0.05538],
        [-0.18993, 0.09496, -0.02036, -0.12213],
        [1.81617, 3.97851],
    ]
    assert [graded(norm(x), x), graded(norm(x, None, (0, 2)), x)] == [
        [(), 8.6517, -11.9348],
        [(3,), 29.9697, -111.088],
    ]
    assert [graded(norm(x, -1, (0, 2), True), x), graded(norm(x, "fro", (2, 0)), x)] == [
        [(1, 3, 1), 16.2629, -60.0],
        [(3,), 29.9697, -111.088],
    ]
    assert [graded(norm(a, p, None, True), a) for p in ("fro", -2)] == [
        [(1, 1), 3.7749, -0.5298],
        [(1, 1), 2.0511, 3.1463],
    ]
    b, wide = a.float(), torch.float64
    assert [norm(b[0], 1, dtype=wide).dtype, norm(b, 1, (0, 1), dtype=wide).dtype] == [wide, wide]
    assert norm(b, dtype=wide).dtype is wide


def norms_that_there_are_not():
    """Of orders that matrices do not have, and of dimensions that do not tell of matrices.

    Rule: op/derivatives-beyond-programs.
    """
    linalg = torch.linalg
    a, x = ramp(2, 2), wave(2, 3, 4)
    assert (
        error_kinds(
            [
                lambda: linalg.matrix_norm(a, 3),
                lambda: linalg.matrix_norm(a[0]),
                lambda: linalg.norm(x, 1),
                lambda: linalg.norm(x, 1, (0, 1)),
                lambda: linalg.vector_norm(a, dtype=torch.complex128),
                lambda: linalg.matrix_norm(a, dtype=torch.complex128),
                lambda: torch.norm(x, "nuc"),
                lambda: torch.norm(x, "nuc", 1),
                lambda: torch.norm(x, "nuc", (0, 1, 2)),
                lambda: linalg.matrix_rank(a.half()),
                lambda: linalg.vector_norm(a, dtype=torch.float32),
                lambda: linalg.matrix_norm(a, dtype=torch.int64),
                lambda: linalg.matrix_norm(a * 1j, dtype=torch.float64),
                lambda: torch.norm(a, dtype=torch.float16),
                lambda: torch.norm(a, "nuc", dtype=torch.float16),
                lambda: linalg.cond(a[0]),
                lambda: linalg.cond(a[:1], 1),
                lambda: linalg.cond(a[:1], -1.0),
                lambda: linalg.cond(a[:1], "fro"),
            ]
        )
        == "ooo-ooooooooooooooo"
    )
    assert "-" not in error_kinds([lambda: linalg.cond(a, 3), lambda: linalg.cond(a, "own")])
    assert derivatives(linalg.matrix_norm(a + a.t(), 2), a) == [
        [0.01942, 0.19612, 0.19612, 1.98058],
        [0.0, 0.0, 0.0, 0.0],
        [8.0],
    ]


def derivatives_of_condition_numbers():
    """In each norm; the rank has none. Rule: op/derivatives-beyond-programs."""
    linalg, inf = torch.linalg, float("inf")
    a = torch.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=torch.float64, requires_grad=True)
    assert derivatives(linalg.cond(a), a) == [
        [0.23928, -0.68221, -0.42766, -0.31565],
        [0.23853, -1.22828, -0.28925, -0.52024],
        [1.61039],
    ]
    assert derivatives(linalg.cond(a, 2), a) == [
        [0.23928, -0.68221, -0.42766, -0.31565],
        [0.23853, -1.22828, -0.28925, -0.52024],
        [1.61039],
    ]
    assert derivatives(linalg.cond(a, -2), a) == [
        [-0.10023, 0.28576, 0.17914, 0.13222],
        [-0.04566, 0.034, 0.10566, 0.02417],
        [0.28256],
    ]
    assert [round(linalg.cond(a.detach(), p).item(), 4) for p in (1, -1, inf, -inf, "fro")] == [
        2.1538,
        1.1538,
        2.1538,
        1.1538,
        2.1923,
    ]
    assert derivatives(linalg.cond(a, "nuc"), a) == [
        [0.13905, -0.39645, -0.24852, -0.18343],
        [0.20197, -0.76096, -0.31468, -0.33585],
        [0.54384],
    ]
    x = torch.diag(torch.tensor([4.0, 1.0, 1e-3, 0.0], dtype=torch.float64)).requires_grad_()
    ranks = [linalg.matrix_rank(x, **how).item() for how in ({}, {"atol": 0.5}, {"atol": 1.0})]
    assert ranks == [3, 2, 1]
    assert [linalg.matrix_rank(x, rtol=r).item() for r in (0.3, 0.25, 0.2, 1e-5)] == [1, 1, 2, 3]
    assert [linalg.matrix_rank(x, atol=t, rtol=r).item() for t, r in ((2.0, 0.1), (1e-4, 0.3))] == [1, 1]
    assert torch.linalg.matrix_rank(x[:, :3]).requires_grad is False
    assert torch.linalg.matrix_rank(wave(2, 3, 4)).tolist() == [2, 2]
    assert torch.linalg.matrix_rank(x).dtype is torch.int64
    e = torch.finfo(torch.float64).eps
    assert [
        torch.linalg.matrix_rank(torch.diag(x[0, 0] * 0 + x.new_tensor([1.0, n * e]))).item() for n in (1, 3)
    ] == [1, 2]


def gradients_that_depend_on_phases():
    """Those of complex vectors are refused where a loss does; and where infinity was written over an inverse.

    Rules: save/modified-refused, op/derivatives-beyond-programs.
    """
    linalg = torch.linalg
    a = torch.tensor([[2.0, 5.0, 0.0], [-1.0, 0.5, 7.0], [1.5, 0.25, -3.0]], dtype=torch.float64)
    a.requires_grad_()
    c = torch.complex(a, a.t() * 0.5)
    assert (
        error_kinds(
            [
                lambda: linalg.svd(c)[0].real.sum().backward(),
                lambda: linalg.eigh(c)[1].real.square().sum().backward(),
                lambda: linalg.eig(a)[1].real.square().sum().backward(),
                lambda: linalg.eig(c)[1].imag.square().sum().backward(),
            ]
        )
        == "oooo"
    )
    assert a.grad is None
    x = linalg.cond(a, 1)
    with refused("save/modified-refused"):
        x.backward()
    y = linalg.cond(a, "fro")
    with refused("save/modified-refused"):
        y.backward()
