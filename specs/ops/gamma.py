"""The gamma function and its relatives: generated programs do not call them (``internal``)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.kind import Count, Tensor
from specs.op import op
from specs.ops.helpers import ROUNDING

_FACTS: dict[str, Any] = {**ROUNDING, "ulp": 16}
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
FAR = 10.0
"""From there on the asymptotic series are exact enough."""


def _log_gamma(x: float) -> float:
    if math.isnan(x) or x == -math.inf:
        return math.nan if math.isnan(x) else math.inf
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


@op(node="LgammaBackward0", lacks="c", kernel="lgamma_vml", **_FACTS)
def lgamma(x: Tensor) -> Any:
    """The logarithm of the size of the gamma function."""
    return np.vectorize(_log_gamma, otypes=[np.float64])(x).astype(x.dtype) if x.size else x


def digammas(x: np.ndarray) -> np.ndarray:
    """The derivative of the logarithm of the gamma function: reflected, moved far, then by its series."""
    y = x.astype(np.float64)
    negative = y <= 0
    z = np.where(negative, 1 - y, y)
    out = np.zeros_like(z)
    while (near := z < FAR).any():
        out, z = np.where(near, out - 1 / z, out), np.where(near, z + 1, z)
    series = sum(b / (2 * k * z ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
    out += np.log(z) - 0.5 / z - series
    out = np.where(negative, out - np.pi / np.tan(np.pi * y), out)
    poles = np.where(y == 0, -np.copysign(np.inf, y), np.nan)
    return np.where(negative & (y == np.floor(y)), poles, out)


@op(node="DigammaBackward0", lacks="c", **_FACTS)
def digamma(x: Tensor) -> Any:
    """The derivative of `lgamma`."""
    return digammas(x).astype(x.dtype)


def zeta(s: int, x: np.ndarray) -> np.ndarray:
    """Hurwitz's sum of ``1 / (x + k) ** s``, by Euler and Maclaurin."""
    y = x.astype(np.float64)
    out = np.zeros_like(y)
    for _ in range(2 * int(FAR)):
        out, y = out + y**-s, y + 1
    out += y ** (1 - s) / (s - 1) + 0.5 * y**-s
    rising: float = s
    for k, b in enumerate(_BERNOULLI, 1):
        out += b / math.factorial(2 * k) * rising * y ** (-s - 2 * k + 1)
        rising *= (s + 2 * k - 1) * (s + 2 * k)
    return out


@op(name="_polygamma", node="PolygammaBackward0", lacks="c", kernel="polygamma", **_FACTS)
def polygamma_of(x: Tensor, n: Count) -> Any:
    """The ``n``-th derivative of `digamma`."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digammas(x).astype(x.dtype)
    return np.asarray((-1) ** (n + 1) * math.factorial(n) * zeta(n + 1, x)).astype(x.dtype)


lgamma.wrt(x=lambda g, x: g.mul(x.digamma()))
digamma.wrt(x=lambda g, x: g.mul(x._polygamma(1)))
polygamma_of.wrt(x=lambda g, x, n: g.mul(x._polygamma(n + 1)))


@op(node="MvlgammaBackward0", layout=(), lacks="c", kernel="arange", **_FACTS)
def mvlgamma(x: Tensor, p: Count) -> Any:
    """The logarithm of the gamma function of ``p`` dimensions."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    terms = sum(np.vectorize(_log_gamma, otypes=[np.float64])(x - j / 2) for j in range(p)) if x.size else x
    return np.asarray(p * (p - 1) / 4 * math.log(math.pi) + terms).astype(x.dtype, order="C")


mvlgamma.wrt(
    x=lambda g, x, p: g.mul(
        x.detach().new_tensor([j / 2 for j in range(1 - p, 1)]).add(x.unsqueeze(-1)).digamma().sum(-1)
    )
)
