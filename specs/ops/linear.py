"""Products of vectors and matrices, and ``matmul``, which is made of them as torch makes it.

They do not promote: operands must have one dtype.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from specs import inference_alone as alone
from specs.active_rules import by
from specs.errors import need_kernel, refuse
from specs.kind import Dim, Tensor
from specs.op import composite, op
from specs.ops.complex import conj
from specs.ops.helpers import (
    by_columns,
    need_ndim,
    need_one_dtype,
    need_products,
    need_products_of_vector,
    need_size,
)
from specs.signature import clash


def _need_dimension(x, y):
    if not x.ndim:
        refuse("op/dim-range", low=0, high=-1, dim=0)


@op(node="DotBackward0", dtypes="same", complex=True, torch_names={"y": "tensor"}, zero="passes")
def dot(x: Tensor, y: Tensor):
    """Inner product of two vectors."""
    need_ndim("dot", 1, x, y)
    need_one_dtype("dot", x, y)
    need_size("dot", x.shape == y.shape, x, y)
    need_kernel("dot", x, "b")
    return np.dot(x, y)


dot.wrt(x=lambda g, y: g.mul(conj(y)), y=lambda g, x: g.mul(conj(x)))


@op(
    node="MvBackward0",
    complex=True,
    dtypes="same",
    torch_names={"y": "vec"},
    alone=alone.saved,
    checks_first=_need_dimension,
)
def mv(x: Tensor, y: Tensor):
    """Matrix times vector."""
    _need_dimension(x, y)
    if (x.ndim, y.ndim) != (2, 1):
        refuse("op/matmul-rank", name="mv", rank="2 and 1", case="mv 0", ranks=[x.ndim, y.ndim])
    need_size("mv", x.shape[1] == y.shape[0], x, y)
    need_products_of_vector("mv", x, y)
    return np.matmul(x, y).astype(y.dtype, copy=False)


def _mv_matrix(g, y):
    row = conj(y)  # NB: first, as an argument in PyTorch's formula
    return g.reshape((g.shape[0], 1)).mul(row)


mv.wrt(x=_mv_matrix, y=lambda g, x: conj(x).t().mv(g))


@op(node="MmBackward0", dtypes="same", complex=True, torch_names={"y": "mat2"})
def mm(x: Tensor, y: Tensor):
    """Matrix times matrix."""
    need_ndim("mm", 2, x, y)
    need_size("mm", x.shape[1] == y.shape[0], x, y)
    need_one_dtype("mm", x, y)
    need_products("mm", x, y)
    return np.matmul(x, y)


def _mm_left(g, y, x_shape, x_strides):
    """Laid out by columns if the operand is."""
    return conj(y).mm(g.t()).t() if by_columns(x_shape, x_strides) else g.mm(conj(y.t()))


def _mm_right(g, x, y_shape, y_strides):
    return g.t().mm(conj(x)).t() if by_columns(y_shape, y_strides) else conj(x.t()).mm(g)


mm.wrt(x=_mm_left, y=_mm_right)


@op(node="BmmBackward0", dtypes="same", complex=True, torch_names={"y": "mat2"})
def bmm(x: Tensor, y: Tensor):
    """A batch of matrix products."""
    need_ndim("bmm", 3, x, y)
    need_size("bmm", x.shape[0] == y.shape[0] and x.shape[2] == y.shape[1], x, y)
    if x.size and y.size:
        need_kernel("bmm", x, "b")
        need_one_dtype("bmm", x, y)
    return np.matmul(x, y).astype(y.dtype, copy=False)


bmm.wrt(x=lambda g, y: g.bmm(conj(y.transpose(1, 2))), y=lambda g, x: conj(x.transpose(1, 2)).bmm(g))


@op(internal=True, node="SqueezeBackward4", dtypes="keep", counts_itself="op/row-is-squeezed-in-place")
def squeeze_fresh(x: Tensor, dim: Dim):
    """A fresh result squeezed in place, as by a vector times a matrix: it is no view."""
    return np.squeeze(x, axis=dim)


squeeze_fresh.wrt(x=lambda g, dim: g.unsqueeze(dim))


def _folds(x, y):
    """Say if the larger operand is folded into one matrix, so that the smaller one need not be batched."""
    larger, smaller = (x, y) if x.ndim >= y.ndim else (y.transpose(-2, -1), x)
    if larger.ndim < 3 or smaller.ndim > 2:
        return False
    if smaller.requires_grad:
        return True
    if x.ndim == 2:
        return False
    if 0 in larger.shape:
        return True
    rows = list(zip(larger.shape[:-1], larger.stride(), strict=False))
    if by("op/single-rows-fold"):
        rows = [row for row in rows if row[0] != 1]
    return all(stride == finer * n for (_, stride), (n, finer) in pairwise(rows))


def _folded(x, y):
    flipped = y.ndim > x.ndim
    larger, smaller = (y.transpose(-2, -1), x.t() if x.ndim == 2 else x) if flipped else (x, y)
    *rows, inner = larger.shape
    matrix = larger.reshape((math.prod(rows), inner))
    if smaller.ndim == 1:
        return matrix.mv(smaller)._unsafe_view(tuple(rows))
    out = matrix.mm(smaller)._unsafe_view((*rows, smaller.shape[1]))
    return out.transpose(-2, -1).contiguous() if flipped else out


def _batched(x, y):
    if x.ndim == y.ndim == 3 and x.shape[0] != y.shape[0]:
        if x.shape[0] == 1 and x.requires_grad:
            return _matmul(x.squeeze(0), y)
        if y.shape[0] == 1 and y.requires_grad:
            return _matmul(x, y.squeeze(0))
    rows = x.shape[-2:-1] or (1,)
    columns = y.shape[-1:] if y.ndim > 1 else ()
    batch = _broadcast(x.shape[:-2], y.shape[:-2])
    count = math.prod(batch)
    left = x.expand((*batch, *rows, x.shape[-1])).reshape((count, *rows, x.shape[-1]))
    right = y.expand((*batch, *y.shape[-2:]))
    if y.ndim == 1:
        product = left.bmm(right.reshape((count, y.shape[0])).unsqueeze(2)).squeeze(-1)
    else:
        product = left.bmm(right.reshape((count, *y.shape[-2:])))
    return product._unsafe_view((*batch, *(rows if x.ndim > 1 else ()), *columns))


def _broadcast(a, b):
    """The shape two batches broadcast to."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        refuse("op/shapes-broadcast", shapes=[a, b], **clash(a, b))


def _matmul(x, y):
    if not x.ndim or not y.ndim:
        refuse("op/matmul-scalar", x=x.ndim, y=y.ndim)
    ranks = (x.ndim, y.ndim)
    if ranks == (1, 1):
        return x.dot(y)
    if ranks == (2, 1):
        return x.mv(y)
    if ranks == (1, 2):
        return x.unsqueeze(0).mm(y).squeeze_fresh(0)
    if ranks == (2, 2):
        return x.mm(y)
    return _folded(x, y) if _folds(x, y) else _batched(x, y)


@composite(complex=True, often=4, aliases="never", zero="filled", casts_out=False)
def matmul(x: Tensor, y: Tensor):
    """The product that the ranks of the operands call for; it is batched from three dimensions on."""
    return _matmul(x, y)


@composite(complex=True, aliases="never")
def rmatmul(x: Tensor, y: Tensor):
    """``y @ x``, for Python's reflected operator."""
    return y.matmul(x)
