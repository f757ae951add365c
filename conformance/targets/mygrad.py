"""MyGrad: numpy arrays with gradients; views and in-place writes are tracked.

Its documentation says that backward() clears the graph (so nothing is a view any more), that all tensors of
a graph keep their grads, and that a tensor which is used anew loses its own. So grads are shown of leaves
alone, and one that is None tells nothing.
"""

from __future__ import annotations

from typing import Any

import mygrad as mg
import numpy as np
from mygrad.errors import InvalidBackprop

from conformance.targets.numpy_shaped import WRITES, functions, sizes
from conformance.targets.table import Functions, Table
from specs.fact import UNSEEN


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    """A leaf; MyGrad says `constant` of what needs no grad."""
    x = mg.tensor(data, dtype=float, constant=not requires_grad)
    x.shows_grad = requires_grad
    return x


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
    return tensor(np.ones(sizes(size)), requires_grad=requires_grad)


def grad(x: Any) -> Any:
    return UNSEEN if x.grad is None or not getattr(x, "shows_grad", False) else mg.asarray(x.grad)


def backward(x: Any, gradient: Any = None) -> None:
    try:
        x.backward(gradient)
    except InvalidBackprop as error:
        raise NotImplementedError("the graph is cleared, as documented") from error


FUNCTIONS: Functions = {
    **functions(mg),
    **WRITES,
    "torch.tensor": tensor,
    "torch.ones": ones,
    "abs": lambda x: mg.abs(x),
    "sigmoid": lambda x: mg.nnet.sigmoid(x),
    "relu": lambda x: mg.nnet.relu(x),
    "__abs__": None,
    "backward": backward,
}
READINGS = {
    "value": lambda x: np.asarray(x).tolist(),
    "shape": lambda x: x.shape,
    "requires_grad": lambda x: not x.constant,
    "grad": grad,
}
adapter = Table("mygrad", mg.__version__, FUNCTIONS, READINGS, features=("views", "inplace"),
                of_grads=("value", "shape"))  # fmt: skip
