"""JAX: arrays, and derivatives of functions of them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from conformance.adapters.replay import Replayed
from conformance.targets.numpy_shaped import functions, values
from conformance.targets.table import Functions, Table

jax.config.update("jax_enable_x64", True)


def derivative(function: Any, at: Any, cotangents: Any) -> Any:
    """Gradients at a place."""
    results, pull = jax.vjp(function, *at)
    return pull(tuple(jnp.ones_like(r) if c is None else c for r, c in zip(results, cotangents, strict=True)))


FUNCTIONS: Functions = {
    **functions(jnp),
    **values(jnp.asarray, jnp.ones),
    "sigmoid": lambda x: jax.nn.sigmoid(x),
    "relu": lambda x: jax.nn.relu(x),
    "erf": lambda x: jax.scipy.special.erf(x),
    "logsumexp": lambda x, dim, keepdim=False: jax.nn.logsumexp(x, axis=dim, keepdims=keepdim),
    "detach": lambda x: jax.lax.stop_gradient(x),
}
READINGS = {
    "value": lambda x: x.tolist(),
    "dtype": lambda x: x.dtype.name,
    "shape": lambda x: tuple(x.shape),
}
adapter = Replayed(Table("jax", jax.__version__, FUNCTIONS, READINGS, features=("detach",)), derivative)
