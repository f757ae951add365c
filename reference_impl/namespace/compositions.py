"""Functions that scripts use now and then, composed of others.

NB: the graph has the nodes of the ops that are composed, also where PyTorch records a single node.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_impl.base.device import place_of
from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace import composite, random
from specs.errors import need_kernel
from specs.ops.helpers import axis_of


def _at_least(ndim: int) -> Any:
    def at_least(*tensors: Any) -> Any:
        """Add dimensions of size 1 until there are enough."""
        given = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
        found = tuple(_raised(x, ndim) for x in given)
        return found[0] if len(tensors) == 1 and isinstance(tensors[0], Tensor) else found

    return at_least


def _raised(x: Tensor, ndim: int) -> Tensor:
    if x.ndim == 0:
        return x.reshape((1,) * ndim)
    if x.ndim == 1 and ndim > 1:
        x = x.unsqueeze(0)
    return x.unsqueeze(-1) if x.ndim == 2 and ndim == 3 else x


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack vectors as columns, beside matrices."""
    return composite.cat([x.reshape((x.numel(), 1)) if x.ndim <= 1 else x for x in tensors], 1)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack along the third dimension."""
    return composite.cat([_raised(x, 3) for x in tensors], 2)


def _split_along(axis: int) -> Any:
    def split(x: Tensor, sections: Any) -> Any:
        """Split at positions, or into equal parts, along a dimension."""
        return composite.tensor_split(x, sections, 0 if x.ndim == 1 else axis)

    return split


def diff(x: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences of neighbours along a dimension, ``n`` times."""
    parts = [part for part in (prepend, x, append) if part is not None]
    x = x if len(parts) == 1 else composite.cat(parts, dim)
    for _ in range(n):
        size = x.shape[dim]
        after, before = x.narrow(dim, 1, size - 1), x.narrow(dim, 0, size - 1)
        x = after.ne(before) if x.dtype.numpy.kind == "b" else after.sub(before)
    return x


def nanmean(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of what is no NaN."""
    if not x.is_floating_point() and not x.is_complex():
        refuse_by("op/norm-dtype", name="nanmean", dtype=array_of(x).dtype)
    present = x.detach().isnan().logical_not()
    count = present.sum() if dim is None else present.sum(dim, keepdim)
    return (x if dtype is None else x.to(dtype)).nansum(dim, keepdim).div(count)


def take_along_dim(x: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Pick elements by index along a dimension; the rest broadcasts."""
    if dim is None:
        return x.reshape((-1,)).gather(0, indices.reshape((-1,)))
    axis = axis_of(dim, x.ndim)
    shape = list(np.broadcast_shapes(
        [n for d, n in enumerate(x.shape) if d != axis], [n for d, n in enumerate(indices.shape) if d != axis]
    ))  # fmt: skip
    own, other = list(shape), list(shape)
    own.insert(axis, x.shape[axis])
    other.insert(axis, indices.shape[axis])
    return x.expand(tuple(own)).gather(axis, indices.expand(tuple(other)))


def vdot(x: Tensor, y: Tensor) -> Tensor:
    """The inner product, of the conjugate of the first."""
    return (x.conj() if x.is_complex() else x).dot(y)


def adjoint(x: Tensor) -> Tensor:
    """The conjugate transpose."""
    return x.mH


def multinomial(x: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Draw indices with the weights in each row."""
    return random.multinomial(x, num_samples, replacement, generator=generator)


def fill_diagonal_(x: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Fill the main diagonal of a matrix in place."""
    if x.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    x.diagonal().fill_(fill_value)
    return x


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of vectors, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    grids = composite.meshgrid(*tensors, indexing="ij")
    return composite.stack([g.reshape((-1,)) for g in grids], 1)


def combinations(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Combinations of the elements of a vector, as rows."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(x.numel()), r)), np.int64).reshape(-1, r)
    return x.index_select(0, wrap(rows.reshape(-1))).view((len(rows), r))


def repeat_interleave(
    x: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element, or each slice along a dimension; by itself each position as often as it says."""
    found = _repeated(x, repeats, dim)
    size = found.shape[0 if dim is None else dim]
    if output_size not in (None, size):
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {output_size}")
    return found


def _repeated(x: Tensor, repeats: Any, dim: int | None) -> Tensor:
    if repeats is None:
        need_kernel("repeat_interleave", array_of(x), "bfcVu")
        return wrap(np.repeat(np.arange(len(array_of(x))), array_of(x)))
    if dim is None:
        x, dim = x.flatten(), 0
    if isinstance(repeats, Tensor):
        counts = np.broadcast_to(array_of(repeats), (array_of(x).shape[dim],))
        if place_of(repeats) is not place_of(x):
            refuse_by("device/one-for-all", first=place_of(repeats), other=place_of(x))
        return x.index_select(dim, wrap(np.repeat(np.arange(len(counts)), counts)))
    axis = axis_of(dim, x.ndim)
    shape = array_of(x).shape
    wide = x.unsqueeze(axis + 1).expand((*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    return wide.clone_contiguous().flatten(axis, axis + 1)


def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along a diagonal."""
    parts = [_raised(x, 2) for x in tensors]
    width = sum(x.shape[1] for x in parts)
    rows, start = [], 0
    for x in parts:
        rows.append(x.constant_pad_nd((start, width - start - x.shape[1]), 0))
        start += x.shape[1]
    return composite.cat(rows, 0)


def cov(
    x: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariances of rows."""
    if x.dtype.numpy.kind == "b":
        refuse_by("op/bool-arithmetic", name="cov")
    rows = x.unsqueeze(0) if x.ndim < 2 else x
    rows = rows if rows.is_floating_point() or rows.is_complex() else rows.mul(1.0)
    if fweights is not None or aweights is not None:
        out = _weighted_cov(rows, correction, fweights, aweights)
    else:
        apart = rows.sub(rows.mean(1, True))
        out = apart.mm(apart.t().conj()).div(rows.shape[1] - correction)
    return out.squeeze() if x.ndim < 2 else out


def _weighted_cov(rows: Tensor, correction: int, often: Tensor | None, weights: Tensor | None) -> Tensor:
    """The covariances of rows whose columns count several times, or have weights."""
    each: Any = often if weights is None else weights if often is None else often.mul(weights)
    total = each.sum()
    apart = rows.sub(rows.mul(each).sum(1).div(total).unsqueeze(1))
    lost = total if weights is None else each.mul(weights).sum().div(total).mul(correction)
    count = total.sub(correction) if weights is None else total.sub(lost)
    return apart.mm(apart.mul(each).t().conj()).div(count.clamp_min(0))


def corrcoef(x: Tensor) -> Tensor:
    """The correlations of rows."""
    found = cov(x)
    if not found.ndim:
        return found.div(found)
    root = (found.diagonal().real if found.is_complex() else found.diagonal()).sqrt()
    return found.div(root.unsqueeze(1)).div(root.unsqueeze(0))


def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of matrices, from the left."""
    product = matrices[0]
    for x in matrices[1:]:
        product = product.mm(x)
    return product


def cross(x: Tensor, y: Tensor, dim: int | None = None) -> Tensor:
    """The cross product of vectors of three elements."""
    if dim is None:
        dim = next((d for d, n in enumerate(x.shape) if n == 3), -1)
    return x._linalg_cross(y, dim=dim)


def polygamma(*given: Any) -> Tensor:
    """The derivative of that order of `digamma`: ``polygamma(n, x)``, or ``x.polygamma(n)``."""
    x, n = given if isinstance(given[0], Tensor) else reversed(given)
    return x._polygamma(n)


def msort(x: Tensor) -> Tensor:
    """Sort along the first dimension."""
    return x.sort(0)[0]


BOTH: dict[str, Any] = {
    "repeat_interleave": repeat_interleave,
    "msort": msort, "polygamma": polygamma,
    "adjoint": adjoint, "corrcoef": corrcoef, "cov": cov, "cross": cross, "diff": diff,
    "hsplit": _split_along(1), "dsplit": _split_along(2), "vsplit": _split_along(0),
    "multinomial": multinomial, "nanmean": nanmean,
    "take_along_dim": take_along_dim, "vdot": vdot,
    "fill_diagonal_": fill_diagonal_,
}  # fmt: skip
"""Functions that are methods too, by name."""


def fake_quantize_per_tensor_affine(
    x: Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Tensor:
    """Round to the steps that integers of a range could hold."""
    scale, zero_point, low, high = float(scale), int(zero_point), int(quant_min), int(quant_max)
    steps = x.detach().div_scalar(scale).round().add_scalar(zero_point)
    within = steps.ge(low).logical_and(steps.le(high))
    return x._fake_quantize(within, scale=scale, zero_point=zero_point, low=low, high=high)


FUNCTIONS: dict[str, Any] = {
    "fake_quantize_per_tensor_affine": fake_quantize_per_tensor_affine,
    "atleast_1d": _at_least(1), "atleast_2d": _at_least(2), "atleast_3d": _at_least(3),
    "block_diag": block_diag, "cartesian_prod": cartesian_prod,
    "chain_matmul": chain_matmul, "column_stack": column_stack, "combinations": combinations,
    "detach": lambda x: x.detach(), "dstack": dstack,
}  # fmt: skip
"""Functions that are not methods, by name."""
