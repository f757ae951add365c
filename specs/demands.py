"""Demands of PyTorch's kernels on what a gradient is computed from, told at its formula.

The operands of a call went together when they were saved; assigning another ``.data`` may have changed that.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from specs.errors import need_kernel, refuse, unspecified_unless

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


def dtypes_of_convolution(*read: str) -> Callable[[Formula], Formula]:
    """Have a convolution's formula look at the dtypes of the image ``x`` and of what else it reads.

    The image's says which of PyTorch's kernels is taken: where it is none of single or half precision, the
    native one, which has no integers and no complex numbers. The others have words of their own, or none.
    """

    def check(dtypes: Dtypes) -> None:
        image = dtypes["x"]
        if all(dtypes.get(name, image) == image for name in read):
            return
        native = image.kind in "biuc" or image == np.float64
        unspecified_unless(native, "the gradient of a convolution whose operands have other dtypes by now")
        need_kernel("slow_conv2d_cpu_grad_input", image, "biuc")
        for name in read:
            if dtypes.get(name, image) != image:
                refuse("op/one-dtype", name="backward", case="read", x=image, y=dtypes[name])

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


def need_no_integers(name: str, x: np.ndarray) -> None:
    """Refuse integers and bools, whose spread and size have none of their own dtype."""
    if x.dtype.kind in "iub":
        refuse("op/norm-dtype", name=name, dtype=x.dtype)


def need_elements_for_norm(ord: float, dim: Any, x: np.ndarray) -> None:
    """Refuse an order of a norm that has no value where there are no elements."""
    if x.size or (ord >= 0 and ord != math.inf):
        return
    empty = next((d for d in dim or () if not x.shape[d]), None)
    if dim and empty is None:
        return
    where = f"the dimension {empty}because this dimension is empty and" if dim else "an empty tensor because"
    why = "the operation does not have an identity"
    raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on {where} {why}")
