"""Functions composed of other ops: joining and splitting, rearranging, variants of ops. Products: `einsum`.

NB: the graph of such a function has the nodes of its ops, also where PyTorch records a single node. Ops with
PyTorch's own node are declared in ``specs/ops``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from reference_impl.base.device import place_of
from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.saved import standing_in
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import check_shape_known
from reference_impl.namespace.argument_names import gathering
from reference_impl.namespace.computed_dtype import (
    casting_itself,
    in_own_dtype,
    no_quotient_of_integers,
    with_dtype,
)
from reference_impl.namespace.index_functions import filling, reducing
from reference_impl.namespace.like_operands import like_its_operands
from reference_impl.namespace.numbers_alone import taking_numbers
from reference_impl.namespace.spread_arguments import with_unbiased
from specs.errors import need_kernel
from specs.ops import cat as joining
from specs.ops.helpers import axis_of
from specs.signature import clash


def need_tensors(tensors: Any, name: str = "") -> None:
    """Refuse what is no sequence of tensors."""
    if isinstance(tensors, Tensor):
        called = f"{name}(): " if name else ""
        raise TypeError(f"{called}argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    for at, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got {type(x).__name__}")


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Concatenate tensors along an existing dimension, in their promoted dtype.

    Raises TypeError for anything that is not a tensor and ValueError for an empty list.
    """
    need_tensors(tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for at, x in enumerate(tensors):
        if not x.ndim:
            refuse_by("op/cat-takes-dimensions", at=at)
    shapes = [array_of(x).shape for x in tensors]
    model = next((shape for shape in shapes if shape != joining.NOTHING), None)
    axis = 0 if model is None else axis_of(dim, len(model))
    return joining.cat(tensors, axis, [shape[axis] if axis < len(shape) else 0 for shape in shapes])


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Stack tensors of one shape along a new dimension, in their promoted dtype.

    Raises TypeError for anything that is not a tensor and RuntimeError for an empty list.
    """
    need_tensors(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    return joining.stack(tensors, axis_of(dim, tensors[0].ndim + 1))


def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to other positions; the rest keep their order."""
    ndim = x.ndim
    here = [source] if isinstance(source, int) else list(source)
    target = [destination] if isinstance(destination, int) else list(destination)
    if len(here) != len(target):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({here} dims) should contain the same "
            f"number of dims as destination ({target} dims)"
        )
    sources, places = ([axis_of(d, ndim) for d in dims] for dims in (here, target))
    for axes, given, name in ((sources, here, "source"), (places, target, "destination")):
        if len(set(axes)) < len(axes):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({given})")
    moved = dict(zip(places, sources, strict=True))
    if not ndim:
        return x.alias()
    rest = iter([d for d in range(ndim) if d not in moved.values()])
    return x.permute(tuple(moved[d] if d in moved else next(rest) for d in range(ndim)))


def swapaxes(x: Tensor, axis0: int, axis1: int) -> Tensor:
    """Swap two dimensions."""
    return x.transpose(axis0, axis1)


def broadcast_to(x: Tensor, size: Any) -> Tensor:
    """Expand to a shape, as a view."""
    return x.expand(tuple(size))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Expand all tensors to one shape; a tensor that has it already is returned itself."""
    need_tensors(tensors, "broadcast_tensors")
    shapes = [array_of(x).shape for x in tensors]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        refuse_by("op/shapes-broadcast", **clash(*shapes))
    return tuple(x if array_of(x).shape == shape else x.expand(shape) for x in tensors)


def unflatten(x: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Split one dimension into several."""
    axis = axis_of(dim, x.ndim)
    shape = array_of(x).shape
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if list(sizes).count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    known = math.prod(size for size in sizes if size != -1)
    size = shape[axis] if shape else 1
    if known != size if -1 not in sizes else not known or size % known:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({size}) "
            "in the input tensor"
        )
    return x.view((*shape[:axis], *sizes, *shape[axis + 1 :]))


def ravel(x: Tensor) -> Tensor:
    """Flatten to one dimension; a view if the tensor is contiguous."""
    return x.contiguous().view((-1,))


def fliplr(x: Tensor) -> Tensor:
    """Reverse the second dimension."""
    if x.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return x.flip((1,))


def flipud(x: Tensor) -> Tensor:
    """Reverse the first dimension."""
    if not x.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return x.flip((0,))


def roll(x: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Shift elements cyclically along dimensions, or through the flattened tensor."""
    dims = () if dims is None else dims
    counts = [1 if isinstance(given, int) else len(given) for given in (shifts, dims)]
    if not counts[0]:
        raise RuntimeError("`shifts` required")
    if counts[0] != counts[1] and counts != [1, 0]:
        raise RuntimeError(f"shifts and dimensions must align. shifts: {counts[0]}, dims:{counts[1]}")
    along = (dims,) if isinstance(dims, int) else dims
    if not x.ndim and counts[1]:
        refuse_by("op/dim-range", case="scalar", dim=along[0])
    for dim in along:
        axis_of(dim, x.ndim)
    return x._rolled(shifts, dims)


def tile(x: Tensor, *dims: Any) -> Tensor:
    """Repeat the tensor along each dimension; leading repeats that are missing count as 1."""
    times = tuple(dims[0]) if dims and not isinstance(dims[0], int) else dims
    return x.repeat((1,) * (x.ndim - len(times)) + times)


def diag(x: Tensor, diagonal: int = 0) -> Tensor:
    """Build a matrix with a vector on its diagonal, or copy a matrix's diagonal."""
    if x.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {x.ndim}D")
    return x.diag_embed(diagonal) if x.ndim == 1 else x._diagonal_copy(diagonal)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Expand each vector over the grid of all."""
    given = tuple(tensors[0]) if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for what, of in (("device", place_of), ("dtype", lambda x: x.dtype)):
        if any(of(x) is not of(given[0]) for x in given):
            raise RuntimeError(f"meshgrid expects all tensors to have the same {what}")
    if any(x.ndim > 1 for x in given):
        raise RuntimeError("torch.meshgrid: Expected 0D or 1D tensor in the tensor list")
    if indexing not in ("xy", "ij"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    order = list(range(len(given)))
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    shape = tuple(given[n].numel() for n in order)
    made = {n: given[n].view([-1 if d == n else 1 for d in order]).expand(shape) for n in order}
    return tuple(made[n] for n in range(len(given)))


def _by_name(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let ``norm`` take names of norms, and a ``dtype``."""

    @functools.wraps(function)
    def norm(x: Tensor, p: Any = "fro", *how: Any, **named: Any) -> Tensor:
        target = named.pop("dtype", None)
        norms = import_module("reference_impl.linalg.norms")
        if p == "nuc":
            return norms.nuclear(norms.cast_for("linalg.matrix_norm", x, target), *how, **named)
        cast = norms.cast_for("linalg.vector_norm", x, target)
        return casting_itself(x, cast, function(cast, 2 if p in ("fro", None) else p, *how, **named))

    return norm


def _choosing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``where`` of a condition alone return the indices of the elements where it holds."""

    @functools.wraps(function)
    def where(*args: Any, **kwargs: Any) -> Any:
        if len(args) + len(kwargs) > 1:
            return function(*args, **kwargs)
        check_shape_known(condition := args[0] if args else kwargs["condition"], "where")
        return condition.nonzero(as_tuple=True)

    return where


def _bounded(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let ``clamp`` take positional bounds, and tensors as bounds."""

    @functools.wraps(function)
    def clamp(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
        given = [bound for bound in (min, max) if bound is not None]
        if not any(isinstance(bound, Tensor) for bound in given):
            return function(x, min=min, max=max)
        if not all(isinstance(bound, Tensor) for bound in given):
            refuse_by("op/arguments", name=function.__name__, given="a tensor and a number for bounds")
        written = function.__name__.endswith("_")
        nothing = standing_in(x.detach().clone() if written else x.detach())
        bounds = (nothing if bound is None else bound for bound in (min, max))
        between = x._clamp_between_ if written else x._clamp_between
        return between(*bounds, lower=min is not None, upper=max is not None)

    return clamp


def _in_dtype(name: str) -> Callable[..., Tensor]:
    def normalised(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
        x = x if dtype is None else x.to(dtype)
        last = "_lastdim" if axis_of(dim, x.ndim) == max(x.ndim, 1) - 1 else ""
        need_kernel(f"{name[1:]}{last}_kernel_impl", array_of(x), "biuc" if array_of(x).size else "biu")
        return getattr(x, name)(dim)

    return normalised


BOTH: dict[str, Any] = {
    "broadcast_to": broadcast_to, "diag": diag, "fliplr": fliplr, "flipud": flipud,
    "log_softmax": _in_dtype("_log_softmax"), "movedim": movedim,
    "moveaxis": movedim, "ravel": ravel, "roll": roll,
    "softmax": _in_dtype("_softmax"), "swapaxes": swapaxes, "swapdims": swapaxes, "tile": tile,
    "unflatten": unflatten,
}  # fmt: skip
"""Functions that are methods too, by name."""

FUNCTIONS: dict[str, Any] = {
    "broadcast_tensors": broadcast_tensors, "cat": cat, "concat": cat, "concatenate": cat,
    "meshgrid": meshgrid, "stack": stack,
}  # fmt: skip
"""Functions that are not methods, by name."""

WRAPPED: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("index_fill", "index_fill_"), filling),
    **dict.fromkeys(("scatter", "scatter_"), reducing),
    "var": with_unbiased,
    "std": with_unbiased,
    "clamp": _bounded,
    "clamp_": _bounded,
    **dict.fromkeys(("addcdiv", "addcdiv_"), no_quotient_of_integers),
    "gather": gathering,
    "norm": _by_name,
    **dict.fromkeys(("sum", "mean", "prod", "cumsum", "cumprod", "nansum"), with_dtype),
    **dict.fromkeys(("cumsum_", "cumprod_"), in_own_dtype),
}
"""Wrappers for ops that take more arguments than their declaration, by name."""

EXTENDED: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(
        ("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide"),
        taking_numbers,
    ),
    "where": _choosing,
    **dict.fromkeys(("cat", "concat", "concatenate", "stack"), like_its_operands),
}
"""Wrappers for functions that take more than their methods, or have none."""

CASTING_OUT = (
    "bernoulli", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "cat", "column_stack", "concat", "concatenate", "diff", "dstack", "gcd", "hstack", "kron", "lcm",
    "logical_and", "logical_not", "logical_or", "logical_xor", "max", "min", "nanmean",
    "polygamma", "row_stack", "stack", "vstack",
)  # fmt: skip
"""Functions that are no ops, and whose ``out`` may have another dtype."""
EXACT_OUT = (
    "all", "any", "argmax", "argmin", "bitwise_not", "bucketize", "cross", "cummax", "cummin", "diag",
    "float_power", "histc", "inner", "isin", "isneginf", "isposinf", "kthvalue", "log_softmax", "mode",
    "msort", "nanquantile", "nonzero", "quantile", "searchsorted", "signbit", "softmax", "sort",
    "take_along_dim", "tensordot", "topk", "vdot",
)  # fmt: skip
"""Those whose ``out`` has to have the dtype of the result."""

ALIASES = {
    "absolute": "abs", "negative": "neg", "multiply": "mul", "multiply_": "mul_", "subtract": "sub",
    "divide": "div", "true_divide": "div", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arctan2": "atan2", "clip": "clamp", "clip_": "clamp_", "fix": "trunc", "ger": "outer", "greater": "gt",
    "greater_": "gt_", "greater_equal_": "ge_", "less_": "lt_", "less_equal_": "le_", "not_equal_": "ne_",
    "subtract_": "sub_", "divide_": "div_", "true_divide_": "div_", "negative_": "neg_", "absolute_": "abs_",
    "arccosh": "acosh", "arcsinh": "asinh", "arctanh": "atanh", "arccos_": "acos_", "arcsin_": "asin_",
    "arctan_": "atan_", "arctan2_": "atan2_", "fix_": "trunc_", "arccosh_": "acosh_", "arcsinh_": "asinh_",
    "arctanh_": "atanh_",
    "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne",
}  # fmt: skip
"""Ops by their aliases."""
