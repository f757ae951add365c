"""Triangular factors of matrices whose rows are exchanged, and solving by them, as LAPACK does: on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def _size(x: np.ndarray) -> np.ndarray:
    """The size by which LAPACK chooses a pivot: of complex numbers the sum of both parts."""
    return np.abs(x.real) + np.abs(x.imag)


def _exchanged(array: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    work = array.astype(np.result_type(array, np.float64))
    pivots, info = np.zeros(min(work.shape), np.int32), 0
    for n in range(len(pivots)):
        best = n + int(np.argmax(_size(work[n:, n])))
        pivots[n] = best + 1
        work[[n, best]] = work[[best, n]]
        if work[n, n]:
            work[n + 1 :, n] /= work[n, n]
            work[n + 1 :, n + 1 :] -= np.outer(work[n + 1 :, n], work[n, n + 1 :])
        else:
            info = info or n + 1
    return work.astype(array.dtype), pivots, info


def factored(array: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both factors in one matrix, the rows exchanged, and the first pivot of zero or 0: all from 1 on."""
    batch, least = array.shape[:-2], min(array.shape[-2:])
    both, pivots = np.empty(array.shape, array.dtype), np.empty((*batch, least), np.int32)
    info = np.empty(batch, np.int32)
    for at in np.ndindex(batch):
        both[at], pivots[at], info[at] = _exchanged(array[at])
    return both, pivots, info


def permutation(pivots: np.ndarray, rows: int, dtype: Any) -> np.ndarray:
    """The matrices of the exchanges of rows that pivots name."""
    found = np.zeros((*pivots.shape[:-1], rows, rows), dtype)
    for at in np.ndindex(pivots.shape[:-1]):
        order = list(range(rows))
        for n, best in enumerate(pivots[at]):
            order[n], order[best - 1] = order[best - 1], order[n]
        found[at][order, range(rows)] = 1
    return found


def lower(both: np.ndarray) -> np.ndarray:
    """The lower factor, which has ones on its diagonal."""
    rows, least = both.shape[-2], min(both.shape[-2:])
    return np.tril(both[..., :least], -1) + np.eye(rows, least, dtype=both.dtype)


def upper(both: np.ndarray) -> np.ndarray:
    """The upper factor."""
    return np.triu(both[..., : min(both.shape[-2:]), :])


def _turned(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2).conj()


def solved(
    both: np.ndarray, exchange: np.ndarray, b: np.ndarray, *, left: bool = True, adjoint: bool = False
) -> np.ndarray:
    """The solution of a system whose matrix has those factors; a pivot of zero gives infinities."""
    if not left:
        return _turned(solved(both, exchange, _turned(b), adjoint=not adjoint))
    with np.errstate(all="ignore"):
        if adjoint:
            half = substituted(_turned(upper(both)), b, from_below=False)
            return np.matmul(exchange, substituted(_turned(lower(both)), half, from_below=True))
        half = substituted(lower(both), np.matmul(np.swapaxes(exchange, -1, -2), b), from_below=False)
        return substituted(upper(both), half, from_below=True)


def substituted(matrix: np.ndarray, y: np.ndarray, from_below: bool) -> np.ndarray:
    """Solve row by row; a zero on the diagonal gives infinities, as in LAPACK."""
    shape = np.broadcast_shapes(matrix.shape[:-2], y.shape[:-2])
    out = np.broadcast_to(y, (*shape, *y.shape[-2:])).copy()
    size = matrix.shape[-1]
    for n in range(size)[::-1] if from_below else range(size):
        known = slice(n + 1, size) if from_below else slice(0, n)
        out[..., n, :] -= np.matmul(matrix[..., n : n + 1, known], out[..., known, :])[..., 0, :]
        out[..., n, :] /= matrix[..., n, n, None]
    return out
