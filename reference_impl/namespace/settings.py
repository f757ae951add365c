"""Settings and queries of the namespace: limits of dtypes, print options, threads, autocast, backends."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.session import STATE, PrintOptions


class finfo:
    """Limits of a floating-point dtype, by default of the default one."""

    def __init__(self, type: dtypes.dtype | None = None) -> None:
        dtype = dtypes.default() if type is None else type
        if dtype.numpy.kind not in (*dtypes.REAL, "c"):
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{dtype!r}'"
            )
        self.dtype = dtype.name
        known: Any = dtypes.limits(dtype.numpy)
        self.bits = int(known.bits)
        self.eps, self.max, self.min = float(known.eps), float(known.max), float(known.min)
        self.tiny = self.smallest_normal = float(known.tiny)
        self.resolution = float(f"1e-{known.precision}")

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype."""

    def __init__(self, type: dtypes.dtype) -> None:
        if type.numpy.kind not in "iu":
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type!r}'"
            )
        known = np.iinfo(type.numpy)
        self.bits, self.max, self.min, self.dtype = known.bits, int(known.max), int(known.min), type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=2**62),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed from now on; what is not given stays, but for ``sci_mode``."""
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    options = STATE.printing if profile is None else _PROFILES[profile]
    changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if changed.get("threshold") == math.inf:
        changed["threshold"] = 2**62
    new = replace(options, **changed, sci_mode=sci_mode)
    for option in fields(new):
        setattr(STATE.printing, option.name, getattr(new, option.name))


def get_num_threads() -> int:
    """Return 1: all work is done in one thread."""
    return 1


def set_num_threads(threads: int) -> None:
    """Do nothing: all work is done in one thread."""


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: all work is deterministic."""


def are_deterministic_algorithms_enabled() -> bool:
    """Return True: all work is deterministic."""
    return True


def set_float32_matmul_precision(precision: str) -> None:
    """Do nothing: products are exact to rounding."""


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Return False: autocast is not modelled."""
    return False


class autocast:
    """Autocast that is disabled; NotModelled if it is enabled."""

    def __init__(
        self, device_type: str = "cuda", dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
    ) -> None:
        if enabled:
            raise NotModelled("torch.autocast")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function


def _absent() -> bool:
    return False


backends = SimpleNamespace(
    cudnn=SimpleNamespace(
        deterministic=False, benchmark=False, enabled=True, allow_tf32=True, is_available=_absent,
        version=lambda: None,
    ),
    cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=False), is_built=_absent),
    mps=SimpleNamespace(is_available=_absent, is_built=_absent),
    mkldnn=SimpleNamespace(enabled=False, is_available=_absent),
    openmp=SimpleNamespace(is_available=_absent),
)  # fmt: skip
"""Flags that scripts set, and that change nothing."""

FUNCTIONS: dict[str, Any] = {
    "are_deterministic_algorithms_enabled": are_deterministic_algorithms_enabled, "autocast": autocast,
    "backends": backends, "finfo": finfo, "get_num_threads": get_num_threads, "iinfo": iinfo,
    "is_autocast_enabled": is_autocast_enabled, "set_float32_matmul_precision": set_float32_matmul_precision,
    "set_num_threads": set_num_threads, "set_printoptions": set_printoptions,
    "use_deterministic_algorithms": use_deterministic_algorithms,
}  # fmt: skip
"""The names of the namespace."""
