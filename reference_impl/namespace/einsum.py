"""Tensor contractions composed of other ops: ``einsum``, ``tensordot``, ``inner``, ``kron``.

NB: the graph has the nodes of these ops in written order. PyTorch records a single node for some of these
functions and chooses the order of products.
"""

from __future__ import annotations

import math
import string
from typing import Any

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor


def einsum(equation: str, *operands: Any) -> Tensor:
    """Multiply operands and sum over the letters that the result lacks."""
    tensors = (
        list(operands[0]) if len(operands) == 1 and not isinstance(operands[0], Tensor) else list(operands)
    )
    equation = _without_ellipsis(equation.replace(" ", ""), [x.ndim for x in tensors])
    left, _, right = equation.partition("->")
    terms = left.split(",")
    if "->" not in equation:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    letters = right + "".join(sorted(set(left) - {","} - set(right)))
    _need_fit(terms, right, tensors)
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


def _without_ellipsis(equation: str, ranks: list[int]) -> str:
    """Return the equation with capitals of its own in place of ``...``, as many as its operands need."""
    if "..." not in equation:
        return equation
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    free = [c for c in string.ascii_letters[::-1] if c not in equation]
    counts = [n - len(t.replace("...", "")) for n, t in zip(ranks, terms, strict=False) if "..." in t]
    longest = "".join(free[: max(0, *counts)])
    given = []
    for term, rank in zip(terms, ranks, strict=False):
        count = rank - len(term.replace("...", ""))
        given.append(term.replace("...", longest[len(longest) - count :] if count > 0 else ""))
    if not arrow:
        letters = left.replace("...", "").replace(",", "")
        right = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"{','.join(given)}->{right.replace('...', longest)}"


def _need_fit(terms: list[str], right: str, tensors: list[Tensor]) -> None:
    """Refuse operands that do not go with the equation."""
    if len(terms) != len(tensors):
        which = "fewer" if len(tensors) < len(terms) else "more"
        raise RuntimeError(f"einsum(): {which} operands were provided than specified in the equation")
    seen: dict[str, int] = {}
    for at, (term, x) in enumerate(zip(terms, tensors, strict=True)):
        if len(term) != x.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(term)}) does not match "
                "the number of "
                f"dimensions ({x.ndim}) for operand {at} and no ellipsis was given"
            )
        for letter, size in zip(term, x.shape, strict=True):
            if 1 not in (size, seen.setdefault(letter, size)) and seen[letter] != size:
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {size} for operand {at} which does not broadcast "
                    f"with previously seen size {seen[letter]}"
                )
            seen[letter] = size if seen[letter] == 1 else seen[letter]
    for letter in right:
        if letter not in seen:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
            )


def tensordot(x: Tensor, y: Tensor, dims: Any = 2) -> Tensor:
    """Contract the last dimensions of ``x`` with the first of ``y``, or the named ones."""
    given = dims
    if isinstance(dims, int):
        dims = (list(range(x.ndim - dims, x.ndim)), list(range(dims)))
    mine, theirs = ([d % t.ndim for d in ds] for t, ds in zip((x, y), dims, strict=True))
    for first, second in zip(mine, theirs, strict=True):
        if x.shape[first] != y.shape[second]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {x.shape[first]} in dim "
                f"{first - x.ndim if isinstance(given, int) else first} and second has size "
                f"{y.shape[second]} in dim {second}"
            )
    rows = [d for d in range(x.ndim) if d not in mine]
    columns = [d for d in range(y.ndim) if d not in theirs]
    inner = math.prod(array_of(x).shape[d] for d in mine)
    left = x.permute((*rows, *mine)).reshape((-1, inner))
    right = y.permute((*theirs, *columns)).reshape((inner, -1))
    shape = (*(array_of(x).shape[d] for d in rows), *(array_of(y).shape[d] for d in columns))
    return left.mm(right).view(shape)


def inner(x: Tensor, y: Tensor) -> Tensor:
    """Contract the last dimension of both."""
    if not x.ndim or not y.ndim:
        return x.mul(y)
    return tensordot(x, y, ([-1], [-1]))


def kron(x: Tensor, y: Tensor) -> Tensor:
    """Compute the Kronecker product of two matrices: blocks of ``x[i, j] * y``."""
    (m, n), (p, q) = array_of(x).shape, array_of(y).shape
    return x.reshape((m, 1, n, 1)).mul(y.reshape((1, p, 1, q))).reshape((m * p, n * q))


BOTH: dict[str, Any] = {"inner": inner, "kron": kron}
"""Functions that are methods too, by name."""

FUNCTIONS: dict[str, Any] = {"einsum": einsum, "tensordot": tensordot}
"""Functions that are not methods, by name."""
