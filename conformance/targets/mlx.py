"""MLX on the CPU: arrays, and derivatives of functions of them."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import mlx.core as mx

from conformance.adapters.replay import Replayed
from conformance.targets.numpy_shaped import functions, values
from conformance.targets.table import Functions, Table

mx.set_default_device(mx.cpu)


def derivative(function: Any, at: Any, cotangents: Any) -> Any:
    """Gradients at a place."""
    given = [mx.ones_like(r) if c is None else c for r, c in zip(function(*at), cotangents, strict=True)]
    return mx.vjp(lambda *values: list(function(*values)), list(at), given)[1]


FUNCTIONS: Functions = {
    **functions(mx),
    **values(mx.array, mx.ones),
    "neg": lambda x: mx.negative(x),
    "__neg__": lambda x: mx.negative(x),
    "sigmoid": lambda x: mx.sigmoid(x),
    "erf": lambda x: mx.erf(x),
    "rsqrt": lambda x: mx.rsqrt(x),
    "logsumexp": lambda x, dim, keepdim=False: mx.logsumexp(x, axis=dim, keepdims=keepdim),
    "detach": lambda x: mx.stop_gradient(x),
}
READINGS = {
    "value": lambda x: x.tolist(),
    "dtype": lambda x: str(x.dtype).removeprefix("mlx.core."),
    "shape": lambda x: tuple(x.shape),
}
TABLE = Table("mlx", version("mlx"), FUNCTIONS, READINGS, dtypes=("float32",), features=("detach",),
              dtype=lambda name: getattr(mx, name))  # fmt: skip
adapter = Replayed(TABLE, derivative)
