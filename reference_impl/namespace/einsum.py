"""Products summed along named dimensions, made of other ops.

NB: where PyTorch has one node for such a function, or picks the order of its products, the graph here is that
of the ops it is made of.
"""

from __future__ import annotations

import math
from typing import Any

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor


def einsum(equation: str, *operands: Any) -> Tensor:
    """Products of elements, summed over the letters that the result has not."""
    tensors = (
        list(operands[0]) if len(operands) == 1 and not isinstance(operands[0], Tensor) else list(operands)
    )
    left, _, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if "->" not in equation:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    letters = right + "".join(sorted(set(left) - {","} - set(right)))
    result: Tensor | None = None
    for term, x in zip(terms, tensors, strict=True):
        for letter in [c for c in dict.fromkeys(term) if term.count(c) > 1]:
            first, second = term.index(letter), term.rindex(letter)
            x = x.diagonal(0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
        x = x.permute(tuple(term.index(c) for c in letters if c in term))
        for at, letter in enumerate(letters):
            x = x if letter in term else x.unsqueeze(at)
        result = x if result is None else result.mul(x)
    assert result is not None
    summed = tuple(range(len(right), len(letters)))
    return result.sum(summed) if summed else result


def tensordot(x: Tensor, y: Tensor, dims: Any = 2) -> Tensor:
    """Products summed over the last dimensions of one and the first of the other, or over those named."""
    if isinstance(dims, int):
        dims = (list(range(x.ndim - dims, x.ndim)), list(range(dims)))
    mine, theirs = ([d % t.ndim for d in ds] for t, ds in zip((x, y), dims, strict=True))
    rows = [d for d in range(x.ndim) if d not in mine]
    columns = [d for d in range(y.ndim) if d not in theirs]
    inner = math.prod(array_of(x).shape[d] for d in mine)
    left = x.permute((*rows, *mine)).reshape((-1, inner))
    right = y.permute((*theirs, *columns)).reshape((inner, -1))
    shape = (*(array_of(x).shape[d] for d in rows), *(array_of(y).shape[d] for d in columns))
    return left.mm(right).view(shape)


def inner(x: Tensor, y: Tensor) -> Tensor:
    """Products summed over the last dimension of both."""
    if not x.ndim or not y.ndim:
        return x.mul(y)
    return tensordot(x, y, ([-1], [-1]))


def kron(x: Tensor, y: Tensor) -> Tensor:
    """Each element of ``x`` times all of ``y``, as blocks of a matrix."""
    (m, n), (p, q) = array_of(x).shape, array_of(y).shape
    return x.reshape((m, 1, n, 1)).mul(y.reshape((1, p, 1, q))).reshape((m * p, n * q))


BOTH: dict[str, Any] = {"inner": inner, "kron": kron}
"""Functions of the namespace that are methods, too, by name."""

FUNCTIONS: dict[str, Any] = {"einsum": einsum, "tensordot": tensordot}
"""Functions of the namespace only, by name."""
