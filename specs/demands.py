"""Demands of PyTorch's kernels on what a gradient is computed from, told at its formula.

The operands of a call went together when they were saved; assigning another ``.data`` may have changed that.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from specs.errors import need_kernel, refuse

Formula = Callable[..., Any]
Dtypes = dict[str, np.dtype]


def demanding(check: Callable[[Dtypes], None]) -> Callable[[Formula], Formula]:
    """Have a formula check the dtypes of its tensors, by the names of its parameters, before all else."""

    def decorate(formula: Formula) -> Formula:
        names = tuple(inspect.signature(formula).parameters)

        @functools.wraps(formula)
        def checked(*values: Any) -> Any:
            given = zip(names, values, strict=True)
            check({name: value.dtype.numpy for name, value in given if hasattr(value, "dtype")})
            return formula(*values)

        return checked

    return decorate


def one_dtype(
    *order: str, case: str = "read", kernel: str = "", lacks: str = "", wider: Collection[str] = ()
) -> Callable[[Formula], Formula]:
    """Have a formula refuse what is not of the dtype of the first of ``order``, in that order.

    ``case`` names the wording in ``specs/torch_words.toml``. Before it compares, the ``kernel`` looks if it
    ``lacks`` the dtype. What ``wider`` names may be float32 beside half precision.
    """

    def check(dtypes: Dtypes) -> None:
        want = dtypes[order[0]]
        if lacks:
            need_kernel(kernel, want, lacks)
        for name in order:
            got = dtypes.get(name, want)
            mixed = name in wider and want.itemsize == 2 and got == np.float32
            if got != want and not mixed:
                refuse("op/one-dtype", name=kernel or "backward", case=case, x=want, y=got)

    return demanding(check)


def dtype_of_weight(dtypes: Dtypes) -> None:
    """Refuse, of a batch norm, a weight of another dtype, unless it is float32 beside half precision."""
    x, weight = dtypes["x"], dtypes["weight"]
    if x != weight and (weight != np.float32 or x.itemsize != 2):
        case = "batch norm" if weight == np.float32 else "batch norm parameter"
        refuse("op/one-dtype", name="batch_norm", case=case, x=x, y=weight)


def need_shapes(g: Any, x: Any, weight: Any, bias: Any, dims: int) -> None:
    """Refuse, of a layer norm, operands of other shapes than they had: data was assigned to them."""
    shape = list(g.shape[g.ndim - dims :])
    for name, v in (("weight", weight), ("bias", bias)):
        if list(v.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(v.shape)} and normalized_shape = {shape}"
            )
    if list(x.shape[x.ndim - dims :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [*, {', '.join(map(str, shape))}], "
            f"but got input of size{list(x.shape)}"
        )
