"""Refusals of torch.linalg and torch.fft, and transforms of several dimensions."""

import torch

from specs.cases._measures import derivatives, refusal_kinds


def transforms_of_hermitian_signals_over_several_dimensions():
    """The last dimension is halved, and the others are whole. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    c = torch.tensor([[1.0 + 1j, 2.0], [0.5j, -1.0]], dtype=torch.complex128, requires_grad=True)
    assert derivatives(torch.fft.hfft2(x), x) == [
        [36.0, -8.0, -4.0, -16.0, 0.0, 0.0],
        [0.0, 48.0, 64.0, 48.0, 64.0, 112.0, 128.0, 112.0],
    ]
    assert derivatives(torch.fft.hfftn(x, dim=1), x) == [
        [10.0, -4.0, -2.0, 26.0, -4.0, -2.0],
        [0.0, 24.0, 32.0, 24.0, 32.0, 56.0, 64.0, 56.0],
    ]
    assert derivatives(torch.fft.hfftn(x, s=(2, 3), norm="ortho"), x) == [
        [8.57321, -2.44949, 0.0, -3.67423, 0.0, 0.0],
        [0.0, 6.0, 6.0, 6.0, 12.0, 12.0],
    ]
    assert derivatives(torch.view_as_real(torch.fft.ihfft2(x)), x) == [
        [2.66667, 1.89872, -1.56538, -1.33333, -0.91068, 0.24402],
        [0.33333, 0.0, 0.5, 0.66667, 1.66667, 0.0, 1.16667, 1.33333],
    ]
    assert derivatives(torch.view_as_real(torch.fft.ihfftn(x, norm="forward")), x) == [
        [16.0, 11.3923, -9.3923, -8.0, -5.4641, 1.4641],
        [12.0, 0.0, 18.0, 24.0, 60.0, 0.0, 42.0, 48.0],
    ]
    assert derivatives(torch.view_as_real(torch.fft.ihfftn(x, dim=-1).resolve_conj()), x) == [
        [1.33333, 0.98803, -1.32137, 4.0, 2.8094, -1.8094],
        [0.66667, 0.0, 1.0, 1.33333, 3.33333, 0.0, 2.33333, 2.66667],
    ]
    assert torch.fft.hfft2(c).tolist() == [[2.0, 0.0], [4.0, -2.0]]
    assert (torch.fft.ihfft2(x.detach()).is_conj(), torch.fft.ihfftn(x.detach(), dim=0).is_conj()) == (
        False,
        True,
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.fft.hfft2(x[0]),
                lambda: torch.fft.hfftn(x, dim=()),
                lambda: torch.fft.ihfftn(x, dim=()),
                lambda: torch.fft.rfftn(x, dim=()),
                lambda: torch.fft.irfftn(x, dim=()),
                lambda: torch.fft.fftn(x, dim=()),
                lambda: torch.fft.hfftn(x, s=(0,)),
                lambda: torch.fft.hfft2(x, s=(2,)),
                lambda: torch.fft.fft(x, 0),
                lambda: torch.fft.fft(x, norm="half"),
                lambda: torch.fft.fftn(x, (2, 2), (0,)),
                lambda: torch.fft.fftn(x, dim=(0, 0)),
                lambda: torch.fft.fftn(x, (2, 2, 2)),
                lambda: torch.fft.fft(x, dim=2),
                lambda: torch.fft.irfft(x[:, :1]),
            ]
        )
        == "Ioooo-oooooooIo"
    )


def factors_need_matrices_that_fit():
    """Square ones, of as many rows, of one dtype. Rule: op/derivatives-beyond-programs."""
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([1.0, 2.0], dtype=torch.float64)
    w = torch.ones(2, 3, dtype=torch.float64)
    s = torch.zeros(2, 2, dtype=torch.float64)
    both, pivots = torch.linalg.lu_factor(a.detach())
    assert (
        refusal_kinds(
            [
                lambda: torch.linalg.inv(w),
                lambda: torch.linalg.inv(v),
                lambda: torch.linalg.inv(s),
                lambda: torch.linalg.inv_ex(s, check_errors=True),
                lambda: torch.linalg.inv_ex(s),
                lambda: torch.linalg.cholesky(-a.detach()),
                lambda: torch.linalg.cholesky_ex(-a.detach(), check_errors=True),
                lambda: torch.linalg.cholesky_ex(-a.detach()),
                lambda: torch.linalg.solve(s, v),
                lambda: torch.linalg.solve_ex(s, v, check_errors=True),
                lambda: torch.linalg.solve_ex(s, v),
                lambda: torch.linalg.solve(a, v.float()),
                lambda: torch.linalg.solve(a, torch.ones(3, dtype=torch.float64)),
                lambda: torch.linalg.solve(w, v),
                lambda: torch.linalg.solve(v, v),
                lambda: torch.linalg.solve(a, torch.tensor(1.0, dtype=torch.float64)),
                lambda: torch.linalg.eigh(a, UPLO="M"),
                lambda: torch.linalg.eigh(w),
                lambda: torch.linalg.eigvalsh(a, "l"),
                lambda: torch.linalg.qr(a, "thin"),
                lambda: torch.linalg.svd(v),
                lambda: torch.linalg.det(w),
                lambda: torch.linalg.slogdet(v),
                lambda: torch.linalg.matrix_power(w, 2),
                lambda: torch.linalg.matrix_power(s, -1),
                lambda: torch.linalg.matrix_exp(w),
            ]
        )
        == "oooo-oo-oo-ooooooo-ooooooo"
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.linalg.lstsq(v, v),
                lambda: torch.linalg.lstsq(a, torch.tensor(1.0, dtype=torch.float64)),
                lambda: torch.linalg.lstsq(a, torch.ones(3, 1, dtype=torch.float64)),
                lambda: torch.linalg.lstsq(a, a.detach().float()),
                lambda: torch.linalg.lstsq(
                    torch.ones(2, 2, dtype=torch.long), torch.ones(2, 1, dtype=torch.long)
                ),
                lambda: torch.linalg.lstsq(torch.ones(2, 2, 2), torch.ones(3, 2, 1)),
                lambda: torch.linalg.lstsq(a, a, driver="gels"),
                lambda: torch.linalg.lstsq(a, a, driver="best"),
                lambda: torch.linalg.lu_factor(a, pivot=False),
                lambda: torch.linalg.lu_factor(v),
                lambda: torch.linalg.lu_solve(both, pivots, v),
                lambda: torch.linalg.lu_solve(both, pivots, torch.ones(3, 1, dtype=torch.float64)),
                lambda: torch.linalg.lu_solve(
                    both, pivots, torch.ones(1, 3, dtype=torch.float64), left=False
                ),
                lambda: torch.linalg.lu_solve(both, pivots, torch.ones(2, 1)),
                lambda: torch.linalg.lu_solve(both, pivots.long(), torch.ones(2, 1, dtype=torch.float64)),
                lambda: torch.lu_unpack(both, pivots.long()),
                lambda: torch.lu_unpack(both, pivots),
                lambda: torch.cholesky_solve(v, a),
                lambda: torch.cholesky_solve(torch.ones(3, 1, dtype=torch.float64), a),
                lambda: torch.cholesky_inverse(v),
                lambda: torch.triangular_solve(v, a),
                lambda: torch.linalg.solve_triangular(w, a, upper=True),
                lambda: torch.linalg.solve_triangular(a, torch.ones(3, 1, dtype=torch.float64), upper=True),
                lambda: torch.linalg.solve_triangular(a, v, upper=True),
            ]
        )
        == "oooooo-ooooooooo-ooooooo"
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.linalg.pinv(a, rtol=torch.tensor(1j)),
                lambda: torch.linalg.pinv(a, atol=torch.tensor(1j)),
                lambda: torch.linalg.pinv(torch.ones(0, 2)),
                lambda: torch.linalg.matrix_rank(a, rtol=torch.tensor(1j)),
                lambda: torch.linalg.matrix_rank(torch.ones(0, 2)),
                lambda: torch.linalg.matrix_rank(v),
                lambda: torch.linalg.vecdot(v, torch.ones(3, dtype=torch.float64)),
                lambda: torch.linalg.vecdot(v, v),
                lambda: torch.linalg.cond(v),
                lambda: torch.linalg.cond(w, 1),
                lambda: torch.linalg.cond(w, "nuc"),
                lambda: torch.linalg.cond(torch.ones(2, 0, 2)),
                lambda: torch.linalg.norm(w, "nuc", 0),
                lambda: torch.linalg.norm(v, "nuc"),
                lambda: torch.linalg.norm(w, 2, (0, 1, 1)),
                lambda: torch.linalg.norm(torch.ones(1, 1, 1), 2),
                lambda: torch.linalg.matrix_norm(v),
                lambda: torch.linalg.matrix_norm(w, 3),
                lambda: torch.linalg.matrix_norm(w, "two"),
                lambda: torch.linalg.matrix_norm(w, "fro", (0, 0)),
                lambda: torch.linalg.vector_norm(v, dtype=torch.long),
                lambda: torch.linalg.vector_norm(torch.ones(0), float("inf")),
                lambda: torch.linalg.multi_dot([a]),
                lambda: torch.linalg.multi_dot([a, v, a]),
                lambda: torch.linalg.multi_dot([a, torch.ones(3, 2, dtype=torch.float64)]),
                lambda: torch.linalg.tensorinv(w),
                lambda: torch.linalg.tensorinv(a, 0),
                lambda: torch.linalg.tensorsolve(w, v),
            ]
        )
        == "oo-o-oo-ooo-oooooooooooooooo"
    )
    assert derivatives(torch.linalg.inv(a), a) == [
        [0.08, -0.16, -0.36, -0.28],
        [-0.16, -0.064, 0.048, -0.208],
        [-0.16, 0.08, 0.16, 0.0],
    ]


def products_of_matrices_need_sizes_that_meet():
    """Inner sizes are equal, and dtypes too. Rule: op/derivatives-beyond-programs."""
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    v = torch.ones(2)
    w = torch.ones(2, 3)
    b = torch.ones(2, 2, 2)
    assert (
        refusal_kinds(
            [
                lambda: a.mm(v),
                lambda: w.mm(a),
                lambda: a.mm(w.double()),
                lambda: v.dot(torch.ones(3)),
                lambda: v.dot(a),
                lambda: v.vdot(v.double()),
                lambda: a.mv(torch.ones(3)),
                lambda: a.mv(a),
                lambda: b.bmm(a),
                lambda: b.bmm(torch.ones(3, 2, 2)),
                lambda: b.bmm(torch.ones(2, 3, 2)),
                lambda: torch.addmm(v, a, v),
                lambda: torch.addmm(torch.ones(3), a, a),
                lambda: torch.addmm(b, a, a),
                lambda: torch.addmv(v, a, torch.ones(3)),
                lambda: torch.addmv(torch.ones(3), a, v),
                lambda: torch.addr(a, v, torch.ones(3)),
                lambda: torch.addr(a, a, v),
                lambda: torch.addbmm(a, b, torch.ones(3, 2, 2)),
                lambda: torch.addbmm(torch.ones(3, 3), b, b),
                lambda: torch.baddbmm(torch.ones(3, 2, 2), b, b),
                lambda: torch.baddbmm(a, b, a),
                lambda: torch.matmul(torch.tensor(1.0), a),
                lambda: torch.matmul(a, torch.ones(3)),
                lambda: torch.matmul(b, torch.ones(3, 2, 2)),
                lambda: torch.inner(v, torch.ones(3)),
                lambda: torch.inner(a, w),
                lambda: torch.outer(a, v),
                lambda: torch.ger(v, a),
                lambda: torch.tensordot(a, w, 1),
                lambda: torch.tensordot(a, w, 3),
                lambda: torch.tensordot(a, w, ([0], [1])),
                lambda: torch.tensordot(a, w, ([0, 1], [0])),
                lambda: torch.tensordot(a, w, ([0], [0])),
                lambda: torch.kron(v, a),
                lambda: torch.einsum("ij,jk", a, torch.ones(3, 2)),
                lambda: torch.einsum("ij", a, a),
                lambda: torch.einsum("ij->ik", a),
                lambda: torch.einsum("ij->ii", a),
                lambda: torch.einsum("i", a),
                lambda: torch.einsum("i1", a),
                lambda: torch.einsum("...ij->k", a),
                lambda: torch.einsum("ij,jk->ik", (a, a)),
            ]
        )
        == "oooooooooooooooooooooIooooooo-ooo--ooooooo-"
    )
    assert derivatives(torch.einsum("ij,jk->i", a, w), a) == [[3.0, 3.0, 6.0, 6.0], [36.0, 72.0]]
