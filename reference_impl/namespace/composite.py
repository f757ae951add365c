"""Functions made of other ops: joining lists of tensors, rearranging, spread. Products are in
``products``.

NB: where PyTorch has one node for such a function, its graph has those of the ops it is made of; ops whose
node is PyTorch's are declared in ``specs/ops``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.factories import from_numpy
from specs.ops import cat as joining
from specs.ops.helpers import axis_of
from specs.signature import clash


# -- joining and cutting ---------------------------------------------------------------------------
def _need_tensors(tensors: Any) -> None:
    if isinstance(tensors, Tensor):
        raise TypeError("argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    for at, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got {type(x).__name__}")


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors end to end along a dimension, in the dtype they are promoted to.

    Raises: TypeError for what is no tensor, ValueError for none.
    """
    _need_tensors(tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for at, x in enumerate(tensors):
        if not x.ndim:
            refuse_by("op/cat-takes-dimensions", at=at)
    parts = [_at_least(x, 1) for x in tensors]
    shapes = [array_of(x).shape for x in parts]
    model = next((shape for shape in shapes if shape != joining.NOTHING), None)
    axis = 0 if model is None else axis_of(dim, len(model))
    return joining.cat(parts, axis, [shape[axis] if axis < len(shape) else 0 for shape in shapes])


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape side by side along a new dimension, in the dtype they are promoted to.

    Raises: TypeError for what is no tensor, RuntimeError for none.
    """
    _need_tensors(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    return joining.stack(tensors, axis_of(dim, tensors[0].ndim + 1))


def _at_least(x: Tensor, ndim: int) -> Tensor:
    while x.ndim < ndim:
        x = x.unsqueeze(0)
    return x


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Rows below one another."""
    return cat([_at_least(x, 2) for x in tensors])


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side: along the second dimension, or the only one."""
    parts = [_at_least(x, 1) for x in tensors]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


def split_with_sizes(x: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """Consecutive pieces of the given sizes."""
    return x.split(tuple(split_sizes), dim)


def tensor_split(x: Tensor, sections: Any, dim: int = 0) -> Any:
    """Pieces between the given positions, or so many of nearly one size."""
    size = array_of(x).shape[axis_of(dim, x.ndim)]
    if isinstance(sections, int):
        small, more = divmod(size, sections)
        return x.split((small + 1,) * more + (small,) * (sections - more), dim)
    ends = [min(end, size) for end in sections]
    return x.split(tuple(b - a for a, b in zip([0, *ends], [*ends, size], strict=True)), dim)


def unsafe_split(x: Tensor, split_size: Any, dim: int = 0) -> Any:
    """Pieces that are copies, so that writes to one do not reach another. NB: of several nodes."""
    return tuple(piece.clone() for piece in x.split(split_size, dim))


def unsafe_chunk(x: Tensor, chunks: int, dim: int = 0) -> Any:
    """The same for a number of pieces."""
    return tuple(piece.clone() for piece in x.chunk(chunks, dim))


# -- rearranging -----------------------------------------------------------------------------------
def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places, the rest in order."""
    ndim = x.ndim
    here = [source] if isinstance(source, int) else list(source)
    there = [destination] if isinstance(destination, int) else list(destination)
    if len(here) != len(there):
        raise RuntimeError(f"{len(here)} dimensions cannot be moved to {len(there)} places")
    moved = dict(zip([axis_of(d, ndim) for d in there], [axis_of(d, ndim) for d in here], strict=True))
    if not ndim:
        return x.alias()
    rest = iter([d for d in range(ndim) if d not in moved.values()])
    return x.permute(tuple(moved[d] if d in moved else next(rest) for d in range(ndim)))


def swapaxes(x: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions swapped."""
    return x.transpose(axis0, axis1)


def broadcast_to(x: Tensor, size: Any) -> Tensor:
    """A view stretched to a shape."""
    return x.expand(tuple(size))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views stretched to one shape; what has it is returned itself."""
    shapes = [array_of(x).shape for x in tensors]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        refuse_by("op/shapes-broadcast", **clash(*shapes))
    return tuple(x if array_of(x).shape == shape else x.expand(shape) for x in tensors)


def unflatten(x: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension as several."""
    axis = axis_of(dim, x.ndim)
    shape = array_of(x).shape
    return x.view((*shape[:axis], *sizes, *shape[axis + 1 :]))


def ravel(x: Tensor) -> Tensor:
    """All elements in a row."""
    return x.contiguous().view((-1,))


def fliplr(x: Tensor) -> Tensor:
    """The second dimension reversed."""
    return x.flip((1,))


def flipud(x: Tensor) -> Tensor:
    """The first dimension reversed."""
    return x.flip((0,))


def roll(x: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Elements moved on along dimensions, or through all of them in a row."""
    if dims is None or dims == ():
        return x.flatten()._rolled(shifts, 0).view(tuple(array_of(x).shape))
    return x._rolled(shifts, dims)


def tile(x: Tensor, *dims: Any) -> Tensor:
    """Copies side by side, missing numbers of them being 1."""
    times = tuple(dims[0]) if dims and not isinstance(dims[0], int) else dims
    return x.repeat((1,) * (x.ndim - len(times)) + times)


def repeat_interleave(x: Tensor, repeats: Any, dim: int | None = None) -> Tensor:
    """Each element, or each slice along a dimension, so many times in a row."""
    if dim is None:
        x, dim = x.flatten(), 0
    if isinstance(repeats, Tensor):
        counts = np.broadcast_to(array_of(repeats), (array_of(x).shape[dim],))
        return x.index_select(dim, wrap(np.repeat(np.arange(len(counts)), counts)))
    axis = axis_of(dim, x.ndim)
    shape = array_of(x).shape
    wide = x.unsqueeze(axis + 1).expand((*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    return wide.clone_contiguous().flatten(axis, axis + 1)


def diag(x: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with a vector on a diagonal, or a copy of a matrix's diagonal."""
    return x.diag_embed(diagonal) if x.ndim == 1 else x.diagonal(diagonal).clone()


def trace(x: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    return x.diagonal().sum()


def take(x: Tensor, index: Tensor) -> Tensor:
    """Elements by their position in a row of all."""
    return x.reshape((-1,))[index]


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Each vector stretched over a grid of all."""
    given = tuple(tensors[0]) if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    shape = tuple(x.numel() for x in given)
    grids = [
        x.view(tuple(-1 if d == n else 1 for d in range(len(shape)))).expand(shape)
        for n, x in enumerate(given)
    ]
    return tuple(g.transpose(0, 1) if indexing == "xy" and len(shape) > 1 else g for g in grids)


# -- arithmetic ------------------------------------------------------------------------------------
def _unbiased(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """``var`` and ``std`` with the old flag for a correction of 1 or 0."""

    def measure(
        x: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, **how: Any
    ) -> Tensor:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            how["correction"] = int(unbiased)
        return function(x, dim, keepdim=keepdim, **how)

    return measure


def _with_dtype(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A reduction that may be told to cast first."""

    @functools.wraps(function)
    def reduce(x: Tensor, *how: Any, **named: Any) -> Tensor:
        target = named.pop("dtype", None) if named else None
        return function(x if target is None else x.to(target), *how, **named)

    return reduce


def _bounded(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """``clamp`` with bounds by position, and with tensors for bounds."""

    @functools.wraps(function)
    def clamp(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
        given = [bound for bound in (min, max) if bound is not None]
        if not any(isinstance(bound, Tensor) for bound in given):
            return function(x, min=min, max=max)
        if not all(isinstance(bound, Tensor) for bound in given):
            refuse_by("op/arguments", name=function.__name__, given="a tensor and a number for bounds")
        written = function.__name__.endswith("_")
        nothing = x.detach().clone() if written else x.detach()
        bounds = (nothing if bound is None else bound for bound in (min, max))
        between = x._clamp_between_ if written else x._clamp_between
        return between(*bounds, lower=min is not None, upper=max is not None)

    return clamp


def _in_dtype(name: str) -> Callable[..., Tensor]:
    def normalised(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
        return getattr(x if dtype is None else x.to(dtype), name)(dim)

    return normalised


def floor_divide(x: Any, y: Any) -> Tensor:
    """The quotient rounded down, which has no gradient."""
    if not isinstance(x, Tensor):
        x = from_numpy(np.asarray(x, array_of(y).dtype))
    return x.detach().div(y.detach() if isinstance(y, Tensor) else y, rounding_mode="floor")


def dist(x: Tensor, y: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference."""
    return x.sub(y).norm(p)


BOTH: dict[str, Any] = {
    "broadcast_to": broadcast_to,
    "diag": diag,
    "dist": dist,
    "fliplr": fliplr,
    "flipud": flipud,
    "floor_divide": floor_divide,
    "log_softmax": _in_dtype("_log_softmax"),
    "movedim": movedim,
    "moveaxis": movedim,
    "ravel": ravel,
    "repeat_interleave": repeat_interleave,
    "roll": roll,
    "softmax": _in_dtype("_softmax"),
    "split_with_sizes": split_with_sizes,
    "swapaxes": swapaxes,
    "swapdims": swapaxes,
    "take": take,
    "tensor_split": tensor_split,
    "tile": tile,
    "trace": trace,
    "unflatten": unflatten,
    "unsafe_chunk": unsafe_chunk,
    "unsafe_split": unsafe_split,
    "unsafe_split_with_sizes": unsafe_split,
}
"""Functions of the namespace that are methods, too, by name."""

FUNCTIONS: dict[str, Any] = {
    "broadcast_tensors": broadcast_tensors,
    "cat": cat,
    "concat": cat,
    "concatenate": cat,
    "hstack": hstack,
    "meshgrid": meshgrid,
    "stack": stack,
    "vstack": vstack,
}
"""Functions of the namespace only, by name."""

WRAPPED: dict[str, Callable[..., Any]] = {
    "var": _unbiased,
    "std": _unbiased,
    "clamp": _bounded,
    "clamp_": _bounded,
    **dict.fromkeys(("sum", "mean", "prod", "cumsum", "cumprod"), _with_dtype),
}
"""Ops that take more under the same name than their declaration: what to put around them."""

ALIASES = {
    "absolute": "abs",
    "negative": "neg",
    "multiply": "mul",
    "multiply_": "mul_",
    "subtract": "sub",
    "divide": "div",
    "true_divide": "div",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "clip": "clamp",
    "clip_": "clamp_",
    "fix": "trunc",
    "ger": "outer",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
}
"""Second names of ops."""
