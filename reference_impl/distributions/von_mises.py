"""The distribution of angles around one."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from reference_impl.base.dtypes import float64
from reference_impl.core.tensor import Tensor
from reference_impl.distributions import constraints
from reference_impl.distributions.continuous import TwoParameters
from reference_impl.distributions.distribution import without_history
from reference_impl.namespace.factories import empty
from reference_impl.namespace.random import rand


class VonMises(TwoParameters):
    """Angles around ``loc``, which gather as the concentration grows."""

    arg_constraints: ClassVar = {"loc": constraints.real, "concentration": constraints.positive}
    parameters: ClassVar[tuple[str, str]] = ("loc", "concentration")
    has_rsample = False
    loc: Tensor
    concentration: Tensor

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        super().__init__(loc, concentration, validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        """The most likely angle."""
        return self.loc

    @property
    def variance(self) -> Any:
        return 1 - (_log_bessel(self.concentration, 1) - _log_bessel(self.concentration, 0)).exp()

    def log_prob(self, value: Any) -> Any:
        self.check_sample(value)
        found: Any = self.concentration.mul((value - self.loc).cos())
        return found - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    def sample(self, sample_shape: Any = ()) -> Any:
        with without_history():
            shape, loc, kappa = (
                self.extended(sample_shape),
                self.loc.to(float64),
                self.concentration.to(float64),
            )
            kappa = self.concentration.to(float64)
            drawn = _angles(loc, kappa, empty(shape, dtype=float64, device=loc.device))
            return drawn.to(self.loc.dtype)


def _angles(loc: Any, kappa: Any, x: Any) -> Any:
    """Draw angles by rejection (Best and Fisher 1979)."""
    tau = 1 + (1 + 4 * kappa**2).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
    r = (1 + rho**2) / (2 * rho)
    r = (1 / kappa + kappa).where(kappa < 1e-5, r)
    done = x.detach() != x.detach()
    while not done.all():
        u1, u2, u3 = rand(3, *x.shape, dtype=loc.dtype, device=loc.device).unbind()
        z = (math.pi * u1).cos()
        f = (1 + r * z) / (r + z)
        c = kappa * (r - f)
        accept = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
        if accept.any():
            x = ((u3 - 0.5).sign() * f.acos()).where(accept, x)
            done = done | accept
    return (x + math.pi + loc) % (2 * math.pi) - math.pi


_SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
)
_LARGE = (
    (0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1,
     -0.1647633e-1, 0.392377e-2),
    (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1,
     0.1787654e-1, -0.420059e-2),
)  # fmt: skip
"""Coefficients of the modified Bessel functions of order 0 and 1 (Abramowitz and Stegun 9.8)."""


def _polynomial(y: Any, coefficients: Any) -> Any:
    *rest, found = coefficients
    for each in reversed(rest):
        found = each + y * found
    return found


def _log_bessel(x: Any, order: int) -> Any:
    y = x / 3.75
    small = _polynomial(y * y, _SMALL[order])
    small = (x.abs() * small if order else small).log()
    large = x - 0.5 * x.log() + _polynomial(3.75 / x, _LARGE[order]).log()
    return small.where(x < 3.75, large)
