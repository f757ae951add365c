"""Functions that scripts use now and then, composed of others.

NB: the graph has the nodes of the ops that are composed, also where PyTorch records a single node.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import place_of
from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap, wrap_beside
from reference_impl.namespace import composite, random
from reference_impl.namespace.factories import zeros_like
from specs.dtype_names import scalar_type
from specs.errors import need_kernel
from specs.ops.helpers import axis_of
from specs.signature import clash


def _need_beside(x: Tensor, part: Tensor, axis: int) -> None:
    """Refuse what `diff` cannot put before or after ``x``."""
    if part.ndim != x.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (own, other) in enumerate(zip(x.shape, part.shape, strict=True)):
        if d != axis and own != other:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along "
                f"the differencing dimension; input.size({d}) = {own}, but got tensor.size({d}) = {other}"
            )


def diff(
    x: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences of neighbours along a dimension, ``n`` times."""
    if not x.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = axis_of(dim, x.ndim)
    for part in (prepend, append):
        if part is not None:
            _need_beside(x, part, axis)
    if n == 0:
        return zeros_like(x).copy_(x)
    parts = [part for part in (prepend, x, append) if part is not None]
    x = x if len(parts) == 1 else composite.cat(parts, dim)
    for _ in range(min(n, x.shape[dim])):
        size = x.shape[dim]
        before = x.narrow(dim, 0, size - 1)  # NB: first, as the last argument in PyTorch
        after = x.narrow(dim, 1, size - 1)
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
    if indices.dtype is not dtypes.int64:
        got = scalar_type(indices)
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {got}")
    if dim is None:
        return x.reshape((-1,)).gather(0, indices.reshape((-1,)))
    if x.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{x.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    axis = axis_of(dim, x.ndim)
    beside = [(*each.shape[:axis], 1, *each.shape[axis + 1 :]) for each in (x, indices)]
    if where := clash(*beside):
        refuse_by("op/shapes-broadcast", **where)
    shape = [n for d, n in enumerate(np.broadcast_shapes(*beside)) if d != axis]
    own, other = list(shape), list(shape)
    own.insert(axis, x.shape[axis])
    other.insert(axis, indices.shape[axis])
    wrapped = indices.remainder(x.shape[axis]) if x.ndim else indices
    return x.expand(tuple(own)).gather(axis, wrapped.expand(tuple(other)))


def vdot(x: Tensor, y: Tensor) -> Tensor:
    """The inner product, of the conjugate of the first."""
    return x._vdot(y)


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
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    x.diagonal().fill_(fill_value)
    return x


def _need_vector(x: Tensor) -> None:
    if x.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.shape)}")


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of vectors, as rows."""
    for x in tensors:
        _need_vector(x)
    if len(tensors) == 1:
        return tensors[0]
    grids = composite.meshgrid(*tensors, indexing="ij")
    return composite.stack([g.reshape((-1,)) for g in grids], 1)


def combinations(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Combinations of the elements of a vector, as rows."""
    _need_vector(x)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return x.new_zeros((0,))
    at = np.indices((x.numel(),) * r)
    rising = at[:-1] <= at[1:] if with_replacement else at[:-1] < at[1:]
    mask = wrap_beside(x, np.asarray(rising.all(0)))
    grids = composite.meshgrid([x] * r)
    return composite.stack([grid.masked_select(mask) for grid in grids], 1)


def repeat_interleave(
    x: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element, or each slice along a dimension; by itself each position as often as it says."""
    found = _repeated(x, repeats, dim)
    size = found.shape[0 if dim is None else dim]
    if output_size not in (None, size):
        if repeats is None or isinstance(repeats, Tensor):
            raise RuntimeError("allocated size does not match required size")
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {output_size}")
    return found


def _repeated(x: Tensor, repeats: Any, dim: int | None) -> Tensor:
    if repeats is None:
        if x.ndim != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        return wrap(np.repeat(np.arange(len(array_of(x))), _counts(array_of(x))))
    if dim is None:
        x, dim = x.flatten(), 0
    if isinstance(repeats, Tensor):
        size = array_of(x).shape[axis_of(dim, x.ndim)]
        if repeats.ndim > 1:
            raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
        if repeats.ndim and repeats.numel() not in (1, size):
            raise RuntimeError(
                "repeats must have the same size as input along dim, but got repeats.size(0) = "
                f"{repeats.numel()} and input.size({dim}) = {size}"
            )
        counts = np.broadcast_to(_counts(array_of(repeats)), (size,))
        if place_of(repeats) is not place_of(x):
            refuse_by("device/one-for-all", first=place_of(repeats), other=place_of(x))
        return x.index_select(dim, wrap(np.repeat(np.arange(len(counts)), counts)))
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    axis = axis_of(dim, x.ndim)
    shape = array_of(x).shape
    wide = x.unsqueeze(axis + 1).expand((*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    return wide.clone_contiguous().flatten(axis, axis + 1)


def _counts(repeats: np.ndarray) -> np.ndarray:
    """The numbers of repetitions, which only integers of 32 bits or 64 may be."""
    need_kernel("repeat_interleave", repeats, "bfcVu")
    if (repeats < 0).any():
        raise RuntimeError("repeats can not be negative")
    return repeats


def cov(
    x: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariances of rows."""
    if x.dtype.numpy.kind == "b":
        refuse_by("op/bool-arithmetic", name="cov")
    if x.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {x.ndim} dimensions"
        )
    columns = x.shape[-1] if x.ndim else 1
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            _need_weights(name, given, columns)
    rows = x.view((1, -1)) if x.ndim < 2 else x
    each: Any = fweights if aweights is None else aweights if fweights is None else fweights.mul(aweights)
    total = wrap_beside(x, np.asarray(rows.shape[1])) if each is None else each.sum()
    middle = (rows if each is None else rows.mul(each)).sum(1).div(total)
    if aweights is None or not correction:
        count = total.sub(correction)
    else:
        count = total.sub(each.mul(aweights).sum().mul(correction).div(total))
    if count.detach().le(0).item():
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
            "observations.",
            UserWarning,
            stacklevel=2,
        )
        count.zero_()
    apart = rows.sub(middle.unsqueeze(1))
    weighted = apart if each is None else apart.mul(each)
    return apart.mm(weighted.t().conj()).div(count).squeeze()


def _need_weights(name: str, weights: Tensor, columns: int) -> None:
    """Refuse weights of another kind, number or sign."""
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} "
            "dimensions"
        )
    kind, kinds = ("integral", "iu") if name == "fweights" else ("floating point", "fV")
    if weights.dtype.numpy.kind not in kinds:
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with {scalar_type(weights)} dtype"
        )
    if weights.numel() != columns:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {columns}"
        )
    if (array_of(weights) < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")


def corrcoef(x: Tensor) -> Tensor:
    """The correlations of rows."""
    if x.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{x.ndim} dimensions"
        )
    found = cov(x)
    if not found.ndim:
        return found.div(found)
    own = found.diagonal()
    root = (own.real if own.is_complex() else own).sqrt()
    found = found.div(root.view((-1, 1))).div(root.view((1, -1)))
    if found.is_complex():
        return found.real.clamp(-1, 1)._complex(found.imag.clamp(-1, 1))
    return found.clamp(-1, 1)


def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of matrices, from the left."""
    product = matrices[0]
    for x in matrices[1:]:
        product = product.mm(x)
    return product


def cross(x: Tensor, y: Tensor, dim: int | None = None) -> Tensor:
    """The cross product of vectors of three elements."""
    if dim is None:
        dim = next((d for d, n in enumerate(x.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
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
    "cartesian_prod": cartesian_prod, "chain_matmul": chain_matmul, "combinations": combinations,
    "detach": lambda x: x.detach(),
}  # fmt: skip
"""Functions that are not methods, by name."""
