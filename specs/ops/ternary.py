"""Products added up in one op, and elementwise functions of three operands.

Generated programs do not call these (``internal``): they are compared with torch call by call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.errors import need_kernel, refuse
from specs.kind import Number, Scale, Tensor
from specs.op import composite, op
from specs.ops.complex import conj
from specs.ops.helpers import (
    by_columns,
    minus,
    need_ndim,
    need_one_dtype,
    need_products,
    need_products_of_vector,
    need_size,
    times,
)
from specs.ops.shapes import expanded


def _blend(x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta * x + alpha * product``."""
    added = product if alpha == 1 else product * product.dtype.type(alpha)
    if beta == 0:
        return np.broadcast_to(added, np.broadcast_shapes(x.shape, added.shape)).copy()
    return (x if beta == 1 else x * x.dtype.type(beta)) + added


def _need_expandable(x: Any, *size: int) -> None:
    """Refuse a summand that does not expand to the size of the product, which itself may not be expanded."""
    expanded(x.shape, (0,) * x.ndim, size)


def _size(array: Any, dim: int) -> int:
    """The size of a dimension; a missing one is refused before anything else."""
    if array.ndim <= dim:
        refuse("op/dim-range", low=-array.ndim, high=array.ndim - 1, dim=dim)
        return 1
    size: int = array.shape[dim]
    return size


def _need_scaled(x: Any, beta: Any, left: Any, right: Any) -> None:
    """Refuse to scale bools, which PyTorch does if there are no products to add."""
    if beta and not left.shape[-1] and left.shape[-2] and right.shape[-1] and x.dtype.kind == "b":
        refuse("write/result-dtype", got="int64", want="bool")


def _need_batches(name: str, x: Any, y: Any) -> None:
    need_ndim(name, 3, x, y)
    need_size(name, x.shape[0] == y.shape[0] and x.shape[2] == y.shape[1], x, y)


def _stretched(x: Any, left: Any, right: Any, **_: Any) -> tuple[Any, ...]:
    """The summand, if it is expanded: its kernel takes a view of it."""
    return () if tuple(x.shape) == (*left.shape[:-1], right.shape[-1]) else (x,)


# -- matrix products, and something added ----------------------------------------------------------
@op(internal=True, node="AddmmBackward0", dtypes="same", takes_view=_stretched)
def addmm(x: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Scale = 1, alpha: Scale = 1) -> Any:
    """``beta * x + alpha * mat1 @ mat2``."""
    need_one_dtype("addmm", x, mat2, "addmm self")
    need_one_dtype("addmm", mat1, mat2)
    need_ndim("addmm", 2, mat1, mat2)
    need_size("addmm", mat1.shape[1] == mat2.shape[0], mat1, mat2)
    _need_expandable(x, mat1.shape[0], mat2.shape[1])
    need_products("addmm", mat1, mat2)
    _need_scaled(x, beta, mat1, mat2)
    return _blend(x, np.matmul(mat1, mat2), beta, alpha)


def _addmm_left(g: Any, mat1_shape: Any, mat1_strides: Any, mat2: Any, alpha: Any) -> Any:
    made = conj(mat2).mm(g.t()).t() if by_columns(mat1_shape, mat1_strides) else g.mm(conj(mat2.t()))
    return times(made, conj(alpha))


def _addmm_right(g: Any, mat1: Any, mat2_shape: Any, mat2_strides: Any, alpha: Any) -> Any:
    made = g.t().mm(conj(mat1)).t() if by_columns(mat2_shape, mat2_strides) else conj(mat1.t()).mm(g)
    return times(made, conj(alpha))


addmm.wrt(x=lambda g, beta: times(g, conj(beta)), mat1=_addmm_left, mat2=_addmm_right)


@op(internal=True, node="AddmvBackward0", dtypes="same")
def addmv(x: Tensor, mat: Tensor, vec: Tensor, *, beta: Scale = 1, alpha: Scale = 1) -> Any:
    """``beta * x + alpha * mat @ vec``."""
    if x.ndim > 1 or mat.ndim != 2 or vec.ndim != 1:
        refuse("op/matmul-rank", name="addmv", rank="1, 2 and 1", ranks=[x.ndim, mat.ndim, vec.ndim])
    fits = mat.shape[1] == vec.shape[0] and x.size in (1, mat.shape[0])
    if not fits and not x.ndim:  # its size is to be told
        refuse("op/dim-range", low=0, high=-1, dim=0, case="scalar")
    need_size("addmv", fits, mat, vec)
    need_products_of_vector("addmv", mat, vec, summand=x)
    return _blend(x.astype(vec.dtype, copy=False), np.matmul(mat, vec), beta, alpha)


addmv.wrt(
    x=lambda g, beta: times(g, conj(beta)),
    mat=lambda g, vec, alpha: times(g.outer(conj(vec)), conj(alpha)),
    vec=lambda g, mat, alpha: times(conj(mat.t()).mv(g), conj(alpha)),
)


@op(internal=True, node="AddrBackward0")
def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Scale = 1, alpha: Scale = 1) -> Any:
    """``beta * x`` and ``alpha`` times all products of two vectors' elements."""
    need_ndim("addr", 1, vec1, vec2)
    _need_expandable(x, vec1.size, vec2.size)
    return _blend(x, np.multiply.outer(vec1, vec2), beta, alpha)


addr.wrt(
    x=lambda g, beta: times(g, conj(beta)),
    vec1=lambda g, vec2, alpha: times(g.mv(conj(vec2)), conj(alpha)),
    vec2=lambda g, vec1, alpha: times(g.t().mv(conj(vec1)), conj(alpha)),
)


@composite(internal=True)
def outer(x: Tensor, y: Tensor) -> Any:
    """All products of two vectors' elements."""
    for name, vector in (("self", x), ("vec2", y)):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return x.reshape((x.shape[0], 1)).mul(y)


@op(internal=True, node="BaddbmmBackward0", dtypes="same", takes_view=_stretched)
def baddbmm(x: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scale = 1, alpha: Scale = 1) -> Any:
    """``beta * x`` and ``alpha`` times a batch of products."""
    _need_expandable(x, _size(batch1, 0), _size(batch1, 1), _size(batch2, 2))
    need_one_dtype("baddbmm", x, batch1)
    _need_batches("baddbmm", batch1, batch2)
    if batch1.size and batch2.size:
        need_kernel("baddbmm", batch1, "b")
        need_one_dtype("baddbmm", batch1, batch2)
    _need_scaled(x, beta, batch1, batch2)
    return _blend(x, np.matmul(batch1, batch2), beta, alpha).astype(batch2.dtype, copy=False)


baddbmm.wrt(
    x=lambda g, beta: times(g, conj(beta)),
    batch1=lambda g, batch2, alpha: times(g.bmm(conj(batch2.transpose(1, 2))), conj(alpha)),
    batch2=lambda g, batch1, alpha: times(conj(batch1.transpose(1, 2)).bmm(g), conj(alpha)),
)


@op(internal=True, node="AddbmmBackward0", dtypes="same")
def addbmm(x: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scale = 1, alpha: Scale = 1) -> Any:
    """``beta * x`` and ``alpha`` times the sum of a batch of products."""
    _need_expandable(x, _size(batch1, 1), _size(batch2, 2))
    _need_batches("addbmm", batch1, batch2)
    if len(batch1):
        need_one_dtype("addbmm", x, batch2)
        need_one_dtype("addbmm", batch1, batch2)
    need_products("addbmm", batch1, batch2)
    _need_scaled(x, beta, batch1, batch2)
    return _blend(x, np.matmul(batch1, batch2).sum(0, dtype=batch1.dtype), beta, alpha)


def _spread(g: Any, batch1_shape: Any, batch2_shape: Any) -> Any:
    return g.unsqueeze(0).expand((batch1_shape[0], batch1_shape[1], batch2_shape[2]))


addbmm.wrt(
    x=lambda g, beta: times(g, conj(beta)),
    batch1=lambda g, batch1_shape, batch2, batch2_shape, alpha: times(
        _spread(g, batch1_shape, batch2_shape).bmm(conj(batch2.transpose(1, 2))), conj(alpha)
    ),
    batch2=lambda g, batch1, batch1_shape, batch2_shape, alpha: times(
        conj(batch1.transpose(1, 2)).bmm(_spread(g, batch1_shape, batch2_shape)), conj(alpha)
    ),
)


# -- elementwise -----------------------------------------------------------------------------------
@op(
    internal=True,
    inplace=True,
    node="AddcmulBackward0",
    lacks="b",
    kernel="addcmul_cpu_out",
    layout=("x", "tensor1", "tensor2"),
)
def addcmul(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scale = 1) -> Any:
    """``x + value * tensor1 * tensor2``."""
    return x + x.dtype.type(value) * tensor1 * tensor2


addcmul.wrt(
    x=lambda g: g,
    tensor1=lambda g, tensor2, value: g.mul(conj(tensor2.mul_scalar(value))),
    tensor2=lambda g, tensor1, value: g.mul(conj(tensor1.mul_scalar(value))),
)


@op(
    internal=True,
    inplace=True,
    node="AddcdivBackward0",
    layout=("x", "tensor1", "tensor2"),
)
def addcdiv(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scale = 1) -> Any:
    """``x + value * tensor1 / tensor2``."""
    return x + x.dtype.type(value) * tensor1 / tensor2


def _divided_by(g: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    square = tensor2.mul(tensor2)  # what is made first shows in the order in which gradients run
    factor = conj(tensor1.mul_scalar(value).div(square))
    return g.neg().mul(factor)


addcdiv.wrt(
    x=lambda g: g,
    tensor1=lambda g, tensor2, value: g.mul(conj(tensor2.new_full((), value).div(tensor2))),
    tensor2=_divided_by,
)


@op(
    internal=True,
    name="lerp",
    inplace=True,
    node="LerpBackward0",
    lacks="biu",
    kernel="lerp_kernel_scalar",
    dtypes="same",
    layout=("x", "end"),
)
def lerp_number(x: Tensor, end: Tensor, weight: Number) -> Any:
    """``x`` moved towards ``end`` by a fraction of the distance."""
    near, far = _from_either_end(x, end, x.dtype.type(weight))
    return near if abs(weight) < 0.5 else far


def _from_either_end(x: Any, end: Any, weight: Any) -> tuple[Any, Any]:
    """The same point from ``x`` and from ``end``: PyTorch goes from whichever is nearer, to lose less."""
    apart = end - x
    return x + weight * apart, end - apart * (1 - weight)


lerp_number.wrt(
    x=lambda g, weight: g.mul_scalar(1 - conj(weight)), end=lambda g, weight: g.mul_scalar(conj(weight))
)


@op(
    internal=True,
    name="lerp",
    inplace=True,
    node="LerpBackward1",
    lacks="biu",
    kernel="lerp_kernel_tensor",
    dtypes="same",
    layout=("x", "end", "weight"),
)
def lerp_tensor(x: Tensor, end: Tensor, weight: Tensor) -> Any:
    """``x`` moved towards ``end``, each element by a fraction of its own."""
    near, far = _from_either_end(x, end, weight)
    return np.where(np.abs(weight) < 0.5, near, far)


lerp_tensor.wrt(
    x=lambda g, weight: g.mul(conj(minus(1, weight))),
    end=lambda g, weight: g.mul(conj(weight)),
    weight=lambda g, x, end: g.mul(conj(end.sub(x))),
)
