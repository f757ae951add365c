"""Tensor contractions composed of other ops: ``einsum``, ``tensordot``, ``inner``, ``kron``.

NB: products are taken in written order. PyTorch chooses one for more than two operands where opt_einsum is
installed.
"""

from __future__ import annotations

import math
import string
from typing import Any

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from specs.ops.helpers import axis_of


def einsum(equation: Any, *operands: Any) -> Tensor:
    """Multiply operands and sum over the letters that the result lacks.

    Letters may also be given as numbers, in a list behind each operand and a last one for the result.
    """
    if isinstance(equation, Tensor):
        given = (equation, *operands)
        even = len(given) // 2 * 2
        written = [",".join(map(_lettered, given[1:even:2])), *map(_lettered, given[even:])]
        return einsum("->".join(written), *given[:even:2])
    tensors = (
        list(operands[0]) if len(operands) == 1 and not isinstance(operands[0], Tensor) else list(operands)
    )
    _need_letters(equation)
    equation = _without_ellipsis(equation.replace(" ", ""), [x.ndim for x in tensors])
    left, _, right = equation.partition("->")
    terms = left.split(",")
    if "->" not in equation:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    letters = right + "".join(sorted(set(left) - {","} - set(right)))
    _need_fit(terms, right, tensors)
    aligned = [_aligned(x, term, letters) for x, term in zip(tensors, terms, strict=True)]
    result, count = aligned[0], len(right)
    left_over = {at: sum(x.shape[at] != 1 for x in aligned) for at in range(count, len(letters))}
    for x in aligned[1:]:
        result = _contracted(result, x, left_over)
    if len(letters) == count:
        return result
    if len(aligned) > 1:
        return result.view(tuple(array_of(result).shape[:count]))
    return result.sum(tuple(range(count, len(letters))))


def _need_letters(equation: str) -> None:
    """Refuse signs that mean nothing, and a second ellipsis for an operand."""
    for at, sign in enumerate(equation.replace("->", "  ", 1)):
        if sign not in string.ascii_letters and sign not in " .,":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {at} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
    for at, term in enumerate(equation.partition("->")[0].split(",")):
        if "." in term.replace("...", "", 1):
            why = (
                "for which an ellipsis was already found"
                if "..." in term
                else "that is not part of any ellipsis"
            )
            raise RuntimeError(f"einsum(): found '.' for operand {at} {why}")


def _lettered(subscripts: Any) -> str:
    """The letters of a list of numbers."""
    letters = string.ascii_uppercase + string.ascii_lowercase
    if any(n is not Ellipsis and not 0 <= n < len(letters) for n in subscripts):
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return "".join("..." if n is Ellipsis else letters[n] for n in subscripts)


def _aligned(x: Tensor, term: str, letters: str) -> Tensor:
    """The operand with a dimension for each letter, in their order."""
    for letter in [c for c in dict.fromkeys(term) if term.count(c) > 1]:
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            x = x.diagonal(0, first, second)
            x = x.movedim(-1, first)
            term = term[:second] + term[second + 1 :]
    for letter in letters:
        if letter not in term:
            x, term = x.unsqueeze(-1), term + letter
    return x.permute(tuple(term.index(c) for c in letters))


def _contracted(x: Tensor, y: Tensor, left_over: dict[int, int]) -> Tensor:
    """The product of two operands, summed over the dimensions that no later operand has."""
    both: list[int] = []
    mine: list[int] = []
    theirs: list[int] = []
    for at in left_over:
        if x.shape[at] != 1 and y.shape[at] != 1:
            left_over[at] -= 1
            if left_over[at] == 1:
                both.append(at)
                left_over[at] = 0
        elif left_over[at] == 1 and (x.shape[at] != 1 or y.shape[at] != 1):
            (mine if x.shape[at] != 1 else theirs).append(at)
            left_over[at] = 0
    x = x.sum(tuple(mine), True) if mine else x
    y = y.sum(tuple(theirs), True) if theirs else y
    return _summed_product(x, y, both) if both else x.mul(y)


def _summed_product(x: Tensor, y: Tensor, summed: list[int]) -> Tensor:
    """The product of two tensors of as many dimensions, some of them summed to size 1, by one ``bmm``."""
    rest = [d for d in range(x.ndim) if d not in summed]
    shared = [d for d in rest if x.shape[d] != 1 and y.shape[d] != 1]
    mine = [d for d in rest if x.shape[d] != 1 and d not in shared]
    theirs = [d for d in rest if d not in shared and d not in mine]
    sizes = [math.prod(x.shape[d] for d in group) for group in (shared, mine, summed)]
    width = math.prod(y.shape[d] for d in theirs)
    left = x.permute((*shared, *mine, *summed, *theirs)).reshape((sizes[0], sizes[1], sizes[2]))
    right = y.permute((*shared, *summed, *theirs, *mine)).reshape((sizes[0], sizes[2], width))
    order = [*shared, *mine, *summed, *theirs]
    shape = (*(x.shape[d] for d in (*shared, *mine)), *(1 for _ in summed), *(y.shape[d] for d in theirs))
    return left.bmm(right).view(shape).permute(tuple(order.index(d) for d in range(x.ndim)))


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


def _need_count(x: Tensor, y: Tensor, dims: int) -> None:
    """Refuse to contract more dimensions than there are."""
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(x.ndim, y.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")


def tensordot(x: Tensor, y: Tensor, dims: Any = 2) -> Tensor:
    """Contract the last dimensions of ``x`` with the first of ``y``, or the named ones."""
    given = dims
    if isinstance(dims, int):
        _need_count(x, y, dims)
        dims = (list(range(x.ndim - dims, x.ndim)), list(range(dims)))
    if len(dims[0]) != len(dims[1]):
        raise RuntimeError("both dimension lists should have same length")
    mine, theirs = ([axis_of(d, t.ndim) for d in ds] for t, ds in zip((x, y), dims, strict=True))
    for named in (mine, theirs):
        twice = [d for d in named if named.count(d) > 1]
        if twice:
            raise RuntimeError(f"dim {twice[0]} appears multiple times in the list of dims")
    counts = tuple(x.shape), tuple(y.shape)
    for first, second in zip(mine, theirs, strict=True):
        if counts[1][second] == 1:
            x = x.sum((first,), True, dtype=x.dtype)
        elif counts[0][first] == 1:
            y = y.sum((second,), True, dtype=y.dtype)
        elif x.shape[first] != y.shape[second]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {x.shape[first]} in dim "
                f"{first - x.ndim if isinstance(given, int) else first} and second has size "
                f"{y.shape[second]} in dim {second}"
            )
    rows = [d for d in range(x.ndim) if d not in mine]
    columns = [d for d in range(y.ndim) if d not in theirs]
    inner = math.prod(array_of(x).shape[d] for d in mine)
    sizes, others = [x.shape[d] for d in rows], [y.shape[d] for d in columns]
    if math.prod(sizes) == math.prod(others) == 1:
        left, right = x.permute((*rows, *mine)), y.permute((*theirs, *columns))
        right = right.flatten()  # NB: first, as the last argument in PyTorch
        return left.flatten().dot(right).view((*sizes, *others))
    left = x.permute((*rows, *mine)).reshape((math.prod(sizes), inner))
    right = y.permute((*theirs, *columns)).reshape((inner, math.prod(others)))
    return left.mm(right).view((*sizes, *others))


def inner(x: Tensor, y: Tensor) -> Tensor:
    """Contract the last dimension of both."""
    if not x.ndim or not y.ndim:
        return x.mul(y)
    return tensordot(x, y, ([-1], [-1]))


def kron(x: Tensor, y: Tensor) -> Tensor:
    """Compute the Kronecker product: blocks of ``x[i, j] * y``; the lesser ndim is made up for in front."""
    ndim = max(x.ndim, y.ndim)
    outer, inner = ((1,) * (ndim - each.ndim) + array_of(each).shape for each in (x, y))
    blocks = x._unsafe_view([n for size in outer for n in (size, 1)])
    block = y._unsafe_view([n for size in inner for n in (1, size)])
    return blocks.mul(block)._unsafe_view([n * m for n, m in zip(outer, inner, strict=True)])


BOTH: dict[str, Any] = {"inner": inner, "kron": kron}
"""Functions that are methods too, by name."""

FUNCTIONS: dict[str, Any] = {"einsum": einsum, "tensordot": tensordot}
"""Functions that are not methods, by name."""
