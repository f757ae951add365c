"""Stacking and concatenating, as ``torch.stack`` and ``torch.cat`` do, and the backward of ``unbind`` and
``split``.

An op has a fixed number of operands, so each is declared once per number of parts, as overloads of one name:
those of a few parts here, others when that many are first joined.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from specs.active_rules import by
from specs.errors import refuse
from specs.kind import Dim, IntList, Tensor
from specs.layout import lies_with_channels_last, with_channels_last
from specs.op import Op, op
from specs.ops import load

FEW = 8
"""The largest number of parts that the op is declared for at once."""


def _declared(
    name: str, node: str, count: int, body: Callable[..., Any], attributes: dict[str, Any], **facts: Any
) -> Op:
    """The overload of ``count`` parts: operands ``x0``, ``x1``, ..."""

    def joined(*parts: Any, **given: Any) -> Any:
        return body(parts, **given)

    hints = {f"x{n}": Tensor for n in range(count)} | attributes
    kind = inspect.Parameter
    joined.__name__ = f"{name.removeprefix('_')}_{count}"
    joined.__doc__ = body.__doc__
    joined.__annotations__ = hints
    joined.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # inspect honours it on any function
        [kind(n, kind.KEYWORD_ONLY if n in attributes else kind.POSITIONAL_OR_KEYWORD) for n in hints]
    )
    # NB: what is joined lies row by row, whatever its parts do
    return op(
        name=name,
        internal=True,
        node=node,
        wide=False,
        layout=(),
        complex=True,
        real=True,
        joint=True,
        **facts,
    )(joined)


def _stacked(parts: Sequence[Any], dim: int) -> Any:
    """Tensors of one shape side by side along a new dimension."""
    for at, part in enumerate(parts):
        if part.shape != parts[0].shape:
            refuse("op/stack-sizes", first=list(parts[0].shape), got=list(part.shape), at=at)
    if parts[0].ndim > 3 and dim < parts[0].ndim:  # PyTorch concatenates them, and views that
        shape = parts[0].shape
        return _end_to_end(parts, dim).reshape((*shape[:dim], len(parts), *shape[dim:]))
    return np.ascontiguousarray(np.stack(parts, dim))


NOTHING = (0,)
"""The shape of a tensor that takes no part in a concatenation, whatever the shape of the others."""


def _concatenated(parts: Sequence[Any], dim: int, sizes: Sequence[int]) -> Any:
    """Tensors end to end along a dimension, in which they have these sizes."""
    if by("op/cat-passes-over-nothing"):
        parts = [part for part in parts if part.shape != NOTHING] or parts[:1]
    across = [part.shape[:dim] + part.shape[dim + 1 :] for part in parts]
    first = parts[0]
    for at, (part, other) in enumerate(zip(parts, across, strict=True)):
        told: dict[str, Any] = {"dim": dim, "first": list(first.shape), "got": list(part.shape)}
        if part.ndim != first.ndim:
            refuse("op/cat-sizes", case="rank", **told)
        if other != across[0]:
            pairs = zip(first.shape, part.shape, strict=True)
            want, size = next((m, n) for d, (m, n) in enumerate(pairs) if m != n and d != dim)
            refuse("op/cat-sizes", want=want, size=size, at=at, **told)
    return _end_to_end(parts, dim)


def _end_to_end(parts: Sequence[Any], dim: int) -> Any:
    joined = np.concatenate(parts, dim)
    if joined.ndim > 3 and all(map(lies_with_channels_last, parts)):
        return with_channels_last(joined)
    return np.ascontiguousarray(joined)


@cache
def _part_of_stack(n: int) -> Callable[..., Any]:
    def part(g: Any, dim: int) -> Any:
        return g.select(dim, n)

    part.__signature__ = inspect.signature(part)  # type: ignore[attr-defined]  # read once
    return part


@cache
def _part_of_cat(n: int) -> Callable[..., Any]:
    def part(g: Any, dim: int, sizes: Sequence[int], shape: Any, dtype: Any) -> Any:
        # NB: the real part is taken first, of all
        g = g.view_as_real().select(-1, 0) if g.is_complex() and dtype.kind != "c" else g
        if shape == NOTHING:
            return g.new_zeros(NOTHING)
        return g.narrow(dim, sum(sizes[:n]), sizes[n])

    names = {"shape": f"x{n}_shape", "dtype": f"x{n}_dtype"}
    kept = [p.replace(name=names.get(p.name, p.name)) for p in inspect.signature(part).parameters.values()]
    part.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
    return part


def _stack(count: int) -> Op:
    """The stacking of so many parts."""
    facts: dict[str, Any] = {"takes_view": lambda *parts, dim: dim == parts[0].ndim}
    op = _declared("_stack", "StackBackward0", count, _stacked, {"dim": Dim}, **facts)
    return op.wrt(**{f"x{n}": _part_of_stack(n) for n in range(count)})


def _cat(count: int) -> Op:
    """The concatenation of so many parts."""
    op = _declared("_cat", "CatBackward0", count, _concatenated, {"dim": Dim, "sizes": IntList})
    return op.wrt(**{f"x{n}": _part_of_cat(n) for n in range(count)})


def _on_diagonal(parts: Sequence[Any]) -> Any:
    """Matrices along a diagonal, zeros elsewhere."""
    blocks = [np.atleast_2d(part) for part in parts]
    out = np.zeros(np.sum([block.shape for block in blocks], 0), np.result_type(*blocks))
    row = column = 0
    for block in blocks:
        height, width = block.shape
        out[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return out


@cache
def _block(n: int) -> Callable[..., Any]:
    def part(g: Any, dtype: Any, shape: Any, *before: Any) -> Any:
        g = g.view_as_real().select(-1, 0) if g.is_complex() and dtype.kind != "c" else g
        if shape == NOTHING:
            return g.new_zeros(NOTHING)
        # NB: a vector of nothing has a row, too, but PyTorch passes over it here
        sizes = [(1, 1, *other)[-2:] for other in before if other != NOTHING]
        row, column = (sum(size[d] for size in sizes) for d in (0, 1))
        height, width = (1, 1, *shape)[-2:]
        block = g.slice(0, row, row + height, 1).slice(1, column, column + width, 1)
        return block if len(shape) == 2 else block.squeeze(-1) if shape else block.squeeze(-1).squeeze(-1)

    names = ["g", f"x{n}_dtype", f"x{n}_shape", *(f"x{before}_shape" for before in range(n))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    part.__signature__ = signature  # type: ignore[attr-defined]
    return part


def _block_diag(count: int) -> Op:
    """So many matrices along a diagonal."""
    op = _declared("_block_diag", "BlockDiagBackward0", count, _on_diagonal, {})
    return op.wrt(**{f"x{n}": _block(n) for n in range(count)})


OPS = {op.key: op for n in range(1, FEW + 1) for op in (_stack(n), _cat(n), _block_diag(n))}
"""By key: ``stack_1``, ``cat_1``, ``block_diag_1``, ``stack_2``, ..."""
globals().update(OPS)  # an op is found by being a module's attribute


@cache
def _declare(joining: Callable[[int], Op], count: int) -> None:
    """Add the overload of so many parts to the table, as the first that is tried."""
    op = joining(count)
    load()[op.name].insert(0, op)


def stack(parts: Sequence[Any], dim: int) -> Any:
    """Stack any number of tensors along a new dimension."""
    if len(parts) > FEW:
        _declare(_stack, len(parts))
    return parts[0]._stack(*parts[1:], dim=dim)


def cat(parts: Sequence[Any], dim: int, sizes: Sequence[int]) -> Any:
    """Concatenate any number of tensors, of the given sizes along ``dim``."""
    if len(parts) > FEW:
        _declare(_cat, len(parts))
    return parts[0]._cat(*parts[1:], dim=dim, sizes=tuple(sizes))


def block_diag(parts: Sequence[Any]) -> Any:
    """Put any number of matrices along a diagonal."""
    if len(parts) > FEW:
        _declare(_block_diag, len(parts))
    return parts[0]._block_diag(*parts[1:])
