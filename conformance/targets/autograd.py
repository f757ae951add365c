"""HIPS autograd: numpy, and derivatives of functions of its arrays."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd import make_vjp

from conformance.adapters.replay import Replayed
from conformance.targets.numpy_shaped import functions, values
from conformance.targets.table import Functions, Table


def derivative(function: Any, at: Any, cotangents: Any) -> Any:
    """Gradients at a place; a function has one result, so those of several are added up."""

    def weighed(value: Any) -> Any:
        results = zip(function(value), cotangents, strict=True)
        return sum(anp.sum(r if c is None else r * c) for r, c in results)

    pull, _ = make_vjp(weighed)(*at)
    return (pull(1.0),)


FUNCTIONS: Functions = {**functions(anp), **values(np.asarray, np.ones)}
READINGS = {
    "value": lambda x: np.asarray(x).tolist(),
    "dtype": lambda x: np.asarray(x).dtype.name,
    "shape": lambda x: np.asarray(x).shape,
}
adapter = Replayed(Table("autograd", version("autograd"), FUNCTIONS, READINGS), derivative)
