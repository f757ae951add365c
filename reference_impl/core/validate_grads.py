"""Validation of gradients: each gets the shape and dtype of the tensor that it belongs to, or is refused."""

from __future__ import annotations

from reference_impl.base import dtypes
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core import extension_points
from reference_impl.core.graph import Edge, Grads, InputMetadata, Node
from reference_impl.core.tensor import Tensor


def validate_outputs(edges: tuple[Edge, ...], grads: Grads, giver: Node | None = None) -> None:
    """Validate, in place, the gradients that go along ``edges``, which a node gives, or those of roots."""
    for index, g in enumerate(grads):
        if g is None:
            continue
        node, nr = edges[index]
        if node is not None:
            shape, dtype = metadata = node.input_metadata[nr]
            array = g._array
            if array.dtype is not dtype or array.shape != shape or dtype.kind not in DIFFERENTIABLE:
                grads[index] = _fitted(g, metadata, giver, index)
            elif STATE.devices:
                grads[index] = extension_points.match_device(g, metadata)


def _fitted(g: Tensor, metadata: InputMetadata, giver: Node | None, index: int) -> Tensor:
    """Sum a gradient over what was broadcast, and cast it."""
    array, (shape, dtype) = g._array, metadata
    if array.shape != shape and by("grad/reduces-broadcast"):
        if not _expandable(shape, array.shape):
            said = {"case": "leaf"} if giver is None else {"node": giver.name()}
            got, expected = list(array.shape), list(shape)
            refuse_by("backward/gradient-shape-inside", index=index, got=got, expected=expected, **said)
        g = sum_to(g, shape)
    if array.dtype.kind == "c" and dtype.kind != "c":
        refuse_by("backward/gradient-complexity")
    dtype = extension_points.grad_dtype(dtype, array.dtype)
    casts = array.dtype != dtype and dtype.kind in DIFFERENTIABLE
    if casts and by("backward/gradient-is-cast" if giver is None else "grad/casts-to-leaf-dtype"):
        g = g.cast(dtype)
    if STATE.devices:
        g = extension_points.match_device(g, metadata)
    if dtype.kind not in DIFFERENTIABLE:
        refuse_by("backward/no-gradient-of-integers", dtype=dtypes.of(dtype))
    return g


def _expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Return whether ``shape`` broadcasts to ``to``."""
    if len(shape) > len(to):
        return False
    pairs = zip(reversed(shape), reversed(to), strict=False)
    return all(n == m or n == 1 for n, m in pairs)


def sum_to(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sum over the dimensions that broadcasting added or stretched."""
    if not shape:
        return g.sum()
    lead = g._array.ndim - len(shape)
    dims = list(range(lead)) + [
        lead + d for d, n in enumerate(shape) if n == 1 and g._array.shape[lead + d] != 1
    ]
    if dims:
        g = g.sum(dims, True)
    return g.view(shape) if lead > 0 else g
