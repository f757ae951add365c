"""TensorFlow: eager tensors, and derivatives by a tape that watches a function."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tensorflow.experimental.numpy as tnp

from conformance.adapters.replay import Replayed
from conformance.targets.numpy_shaped import functions, values
from conformance.targets.table import Functions, Table


def derivative(function: Any, at: Any, cotangents: Any) -> Any:
    """Gradients at a place; a tape takes a list of targets."""
    with tf.GradientTape() as tape:
        tape.watch(at)
        results = function(*at)
    given = [tf.ones_like(r) if c is None else c for r, c in zip(results, cotangents, strict=True)]
    return tape.gradient(results, at, output_gradients=given)


FUNCTIONS: Functions = {
    **functions(tnp),
    **dict.fromkeys(("matmul", "mm", "mv", "dot"), lambda x, y: tnp.matmul(x, y)),
    **dict.fromkeys(("__matmul__", "__rmatmul__")),  # for matrices alone
    **values(lambda data: tf.constant(data, dtype=tf.float64), lambda size: tf.ones(size, tf.float64)),
    "sigmoid": lambda x: tf.sigmoid(x),
    "relu": lambda x: tf.nn.relu(x),
    "erf": lambda x: tf.math.erf(x),
    "rsqrt": lambda x: tf.math.rsqrt(x),
    "detach": lambda x: tf.stop_gradient(x),
}
READINGS = {
    "value": lambda x: x.numpy().tolist(),
    "dtype": lambda x: x.dtype.name,
    "shape": lambda x: tuple(x.shape),
}
adapter = Replayed(Table("tensorflow", tf.__version__, FUNCTIONS, READINGS, features=("detach",)), derivative)
