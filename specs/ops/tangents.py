"""Tangents of ops in forward mode that are not what their gradients tell: PyTorch takes them as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def cholesky_jvp(dx: Any, out: Any, upper: bool) -> Any:
    """That of a Cholesky factor; a tangent should be symmetric, but need not be."""
    factor = out.mH if upper else out
    half = factor._linalg_solve_triangular(dx, upper=False)
    inner = factor.mH._linalg_solve_triangular(half, upper=True, left=False)
    found = factor.matmul(inner.tril().add(inner.tril(-1)).mul_scalar(0.5))
    return found.mH if upper else found


def without_jvp(name: str) -> Callable[[Any], Any]:
    """The tangent of an op for which PyTorch has none."""

    def jvp(dx: Any) -> Any:
        raise NotImplementedError(
            f"Trying to use forward AD with {name} that does not support it because it has not been "
            "implemented yet."
        )

    return jvp
