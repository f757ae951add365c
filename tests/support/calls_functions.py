"""Calls of linear algebra, rarer functions and distributions, for any namespace shaped like torch."""

from __future__ import annotations

from typing import Any


def _positive(t: Any, x: Any, n: int = 3) -> Any:
    a = x(n, n)
    return a @ a.mT + 0.5 * t.eye(n, dtype=t.float64)


def _far(t: Any, x: Any, n: int = 3) -> Any:
    return x(n, n) + 2 * t.eye(n, dtype=t.float64)


FUNCTIONS: dict[str, Any] = {
    # linear algebra
    "inv": lambda t, x: t.linalg.inv(_far(t, x)),
    "inv batch": lambda t, x: t.linalg.inv(x(2, 3, 3) + 2 * t.eye(3, dtype=t.float64)),
    "det": lambda t, x: t.linalg.det(_far(t, x)),
    "det batch": lambda t, x: t.det(x(2, 3, 3)),
    "slogdet": lambda t, x: tuple(t.linalg.slogdet(_far(t, x))),
    "logdet": lambda t, x: t.logdet(_positive(t, x)),
    "solve": lambda t, x: t.linalg.solve(_far(t, x), x(3, 2)),
    "solve vector": lambda t, x: t.linalg.solve(_far(t, x), x(3)),
    "solve batch": lambda t, x: t.linalg.solve(x(2, 3, 3) + 2 * t.eye(3, dtype=t.float64), x(3, 2)),
    "solve right": lambda t, x: t.linalg.solve(_far(t, x), x(2, 3), left=False),
    "solve_triangular": lambda t, x: t.linalg.solve_triangular(_far(t, x), x(3, 2), upper=True),
    "solve_triangular unit": lambda t, x: t.linalg.solve_triangular(
        x(3, 3), x(2, 3), upper=False, left=False, unitriangular=True
    ),
    "cholesky": lambda t, x: t.linalg.cholesky(_positive(t, x)),
    "cholesky upper": lambda t, x: t.linalg.cholesky(_positive(t, x), upper=True),
    "eigh": lambda t, x: [v.abs() for v in t.linalg.eigh(_positive(t, x))],
    "eigvalsh": lambda t, x: t.linalg.eigvalsh(_positive(t, x)),
    "svd": lambda t, x: [v.abs() for v in t.linalg.svd(x(4, 3), full_matrices=False)],
    "svd wide": lambda t, x: [v.abs() for v in t.linalg.svd(x(2, 4), full_matrices=False)],
    "svdvals": lambda t, x: t.linalg.svdvals(x(3, 4)),
    "qr": lambda t, x: [v.abs() for v in t.linalg.qr(x(4, 3))],
    **{
        f"norm {o}": (lambda t, x, o=o: t.linalg.norm(x(3, 4), o))
        for o in ("fro", "nuc", 1, -1, 2, -2, float("inf"))
    },
    **{f"vector norm {o}": (lambda t, x, o=o: t.linalg.norm(x(5), o)) for o in (None, 1, 2, 3, float("inf"))},
    "norm along": lambda t, x: t.linalg.norm(x(3, 4), dim=1, keepdim=True),
    "norm of matrices": lambda t, x: t.linalg.norm(x(2, 3, 4), dim=(0, 2)),
    "matrix_norm 1 kept": lambda t, x: t.linalg.matrix_norm(x(2, 3, 4), 1, keepdim=True),
    "matrix_power": lambda t, x: t.linalg.matrix_power(x(3, 3), 3),
    "matrix_power negative": lambda t, x: t.linalg.matrix_power(_far(t, x), -2),
    "multi_dot": lambda t, x: t.linalg.multi_dot([x(2, 3), x(3, 4), x(4)]),
    "cross": lambda t, x: t.linalg.cross(x(2, 3), x(2, 3)),
    "cond": lambda t, x: t.linalg.cond(_far(t, x)),
    "inv_ex": lambda t, x: tuple(t.linalg.inv_ex(_far(t, x))),
    "inv_ex of none": lambda t, x: t.linalg.inv_ex(t.ones(2, 2, 2))[1],
    "solve_ex batch of vectors": lambda t, x: tuple(t.linalg.solve_ex(_far(t, x).expand(2, 3, 3), x(2, 3))),
    "solve_ex of none": lambda t, x: t.linalg.solve_ex(t.ones(2, 2), t.ones(2))[1],
    "cholesky_ex of none": lambda t, x: tuple(t.linalg.cholesky_ex(t.tensor([[4.0, 2.0], [2.0, -5.0]]))),
    "cholesky old": lambda t, x: t.cholesky(_positive(t, x), upper=True),
    "lu tall": lambda t, x: tuple(t.linalg.lu(x(4, 3))),
    "lu wide": lambda t, x: tuple(t.linalg.lu(x(2, 2, 3))),
    "lu_factor": lambda t, x: tuple(t.linalg.lu_factor(x(3, 4))),
    "lu_factor_ex of none": lambda t, x: tuple(t.linalg.lu_factor_ex(t.ones(2, 2, 2))),
    "lu old": lambda t, x: t.lu(x(3, 3), get_infos=True),
    "lu_unpack": lambda t, x: tuple(t.lu_unpack(*t.linalg.lu_factor(x(4, 2)))),
    "lu_solve": lambda t, x: t.linalg.lu_solve(*t.linalg.lu_factor(_far(t, x)), x(2, 3, 2)),
    "lu_solve adjoint": lambda t, x: t.linalg.lu_solve(
        *t.linalg.lu_factor(_far(t, x)), x(3, 2), adjoint=True
    ),
    "lu_solve right": lambda t, x: t.linalg.lu_solve(*t.linalg.lu_factor(_far(t, x)), x(2, 3), left=False),
    "lu_solve old": lambda t, x: t.lu_solve(x(3, 2), *t.lu(_far(t, x))),
    "triangular_solve": lambda t, x: tuple(t.triangular_solve(x(2, 3, 2), _far(t, x))),
    "triangular_solve turned": lambda t, x: t.triangular_solve(
        x(3, 2), _far(t, x), upper=False, transpose=True, unitriangular=True
    )[0],
    "det of zero": lambda t, x: t.linalg.det(x(3, 3) * 0 + t.ones(3, 3).tril(-1)),
    "det of one": lambda t, x: t.linalg.det(x(2, 1, 1)),
    "det of none": lambda t, x: t.linalg.det(x(2, 0, 0)),
    "qr wide": lambda t, x: [v.abs() for v in t.linalg.qr(x(2, 4))],
    "qr complete": lambda t, x: [v.abs() for v in t.linalg.qr(x(3, 3), "complete")],
    "qr without q": lambda t, x: [v.detach().abs() for v in t.linalg.qr(x(4, 3), "r")],
    **{
        f"lstsq {d}": (lambda t, x, d=d: tuple(t.linalg.lstsq(x(4, 3), x(4, 2), driver=d)))
        for d in ("gels", "gelsy", "gelsd", "gelss")
    },
    "lstsq vector": lambda t, x: t.linalg.lstsq(x(2, 3, 4), x(2, 3))[0],
    "lstsq rcond": lambda t, x: t.linalg.lstsq(x(4, 3), x(4, 2), rcond=0.01, driver="gelsd")[2:],
    "pinv rtol": lambda t, x: t.linalg.pinv(x(4, 3), rtol=0.01),
    "pinv atol by tensors": lambda t, x: t.linalg.pinv(x(2, 4, 3), atol=t.tensor([0.01, 0.02])),
    "pinv hermitian": lambda t, x: t.linalg.pinv(_positive(t, x), hermitian=True),
    "pinverse": lambda t, x: t.pinverse(x(3, 4), 0.01),
    "matrix_rank by tensors": lambda t, x: t.linalg.matrix_rank(x(3, 3), atol=t.tensor([0.1, 0.9])),
    "matrix_rank of nothing": lambda t, x: t.linalg.matrix_rank(x(2, 0, 0), hermitian=True),
    "matrix_rank old": lambda t, x: t.linalg.matrix_rank(_positive(t, x), 0.7, True),
    "matrix_power inverse": lambda t, x: t.linalg.matrix_power(_far(t, x), -1),
    "vander of a number": lambda t, x: t.linalg.vander(x(), N=3),
    "cond of nothing": lambda t, x: t.linalg.cond(x(2, 0, 0)),
    "cond nuclear": lambda t, x: t.linalg.cond(_far(t, x), "nuc"),
    "cond wide": lambda t, x: t.linalg.cond(x(2, 3), -2),
    "eigvalsh of what is not symmetric": lambda t, x: t.linalg.eigvalsh(x(3, 3), UPLO="U"),
    "norm of equal singular values": lambda t, x: t.linalg.norm(x(2, 2, low=0, high=1e-9) + 1 * t.eye(2), 2),
    "svd full": lambda t, x: t.linalg.svd(x(4, 2))[0][:, :2].abs(),
    "svd full wide": lambda t, x: t.linalg.svd(x(2, 4))[2][:2].abs(),
    "matrix_rank": lambda t, x: t.linalg.matrix_rank(x(3, 4)),
    # functions
    "cdist": lambda t, x: t.cdist(x(3, 2), x(4, 2)),
    "xlogy": lambda t, x: t.xlogy(x(3), x(3, low=0.1)),
    "erfinv": lambda t, x: t.erfinv(x(5, low=-0.9, high=0.9)),
    "erfc": lambda t, x: t.erfc(x(3)),
    "acosh": lambda t, x: t.acosh(x(3, low=1.5, high=3)),
    "asinh": lambda t, x: t.asinh(x(3)),
    "atanh": lambda t, x: t.atanh(x(3, low=-0.5, high=0.5)),
    "logcumsumexp": lambda t, x: t.logcumsumexp(x(2, 4), 1),
    "diff": lambda t, x: t.diff(x(2, 4), n=2),
    "cov": lambda t, x: t.cov(x(2, 4)),
    "corrcoef": lambda t, x: t.corrcoef(x(2, 4)),
    "quantile": lambda t, x: t.quantile(x(2, 5), 0.3, dim=1),
    "block_diag": lambda t, x: t.block_diag(x(2, 2), x(3)),
    "combinations": lambda t, x: t.combinations(x(4)),
    "cartesian_prod": lambda t, x: t.cartesian_prod(x(2), x(3)),
    "rot90": lambda t, x: t.rot90(x(2, 3)),
    "atleast": lambda t, x: [t.atleast_2d(x(3)), t.atleast_3d(x(2, 2)), t.atleast_1d(x())],
    "stacks": lambda t, x: [t.column_stack([x(3), x(3, 2)]), t.dstack([x(2), x(2)])],
    "take_along_dim": lambda t, x: t.take_along_dim(x(3, 4), t.tensor([[0], [3], [1]]), 1),
    "nan_to_num": lambda t, x: t.nan_to_num(
        x(3) / t.tensor([1.0, 0.0, 1.0], dtype=t.float64), posinf=2.0, neginf=-2.0
    ),
    "trapezoid": lambda t, x: t.trapezoid(x(2, 4), x(4)),
    # distributions
    "normal": lambda t, x: [
        d := t.distributions.Normal(x(3), x(3, low=0.5)),
        d.log_prob(x(2, 3)),
        d.entropy(),
        d.cdf(x(3)),
        d.icdf(x(3, low=0.2, high=0.8)),
        d.variance,
        t.distributions.kl_divergence(d, t.distributions.Normal(x(3), 2.0)),
    ][1:],
    "bernoulli": lambda t, x: [
        d := t.distributions.Bernoulli(x(3, low=0.1, high=0.9)),
        d.log_prob(t.tensor([1.0, 0.0, 1.0]).double()),
        d.entropy(),
        d.logits,
        d.variance,
        t.distributions.kl_divergence(d, t.distributions.Bernoulli(logits=x(3))),
    ][1:],
    "categorical": lambda t, x: [
        d := t.distributions.Categorical(x(2, 3, low=0.1)),
        d.log_prob(t.tensor([1, 2])),
        d.entropy(),
        d.logits,
        d.probs,
        t.distributions.kl_divergence(d, t.distributions.Categorical(logits=x(2, 3))),
        d.log_prob(t.tensor([[0], [1]])),
    ][1:],
    "one hot": lambda t, x: t.distributions.OneHotCategorical(logits=x(2, 3)).log_prob(t.eye(3)[:2].double()),
    "uniform": lambda t, x: [
        d := t.distributions.Uniform(x(3, low=-1, high=0), x(3, low=0.5)),
        d.log_prob(t.zeros(3).double() + 0.2),
        d.entropy(),
        d.mean,
        d.variance,
    ][1:],
    "exponential": lambda t, x: [
        d := t.distributions.Exponential(x(3, low=0.5)),
        d.log_prob(x(3, low=0)),
        d.entropy(),
        d.mean,
    ][1:],
    "laplace": lambda t, x: [
        d := t.distributions.Laplace(x(3), x(3, low=0.5)),
        d.log_prob(x(3)),
        d.entropy(),
        t.distributions.kl_divergence(d, t.distributions.Laplace(x(3), 1.5)),
    ][1:],
    "independent": lambda t, x: [
        d := t.distributions.Independent(t.distributions.Normal(x(2, 3), 1.0), 1),
        d.log_prob(x(2, 3)),
        d.entropy(),
    ][1:],
}
