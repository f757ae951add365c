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
