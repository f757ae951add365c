"""The reference with every rounding perturbed by its bound; how far values move tells how
sensitive they are.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from conformance.adapters import load
from conformance.adapters.reference import Reference
from conformance.comparison.tolerance.bounds import EPSILON
from conformance.comparison.tolerance.op_effects import NORMALISING_FUNCTIONS
from conformance.comparison.tolerance.sizes import scale_of
from conformance.execution.run import run
from conformance.execution.trace import Trace
from conformance.program import Program

RUNS = 4
"""The number of perturbed runs: a value that stays where it is in one moves in another."""

_FINEST = 2.0**12
"""Exact values are whole multiples of a fraction, in nearly all programs of one far coarser than this."""


class PerturbedReference(Reference):
    """The reference with each inexact result perturbed by its ULP bound, up or down at random."""

    def __init__(self, seed: int) -> None:
        vars(self).update(vars(load("reference")))  # and so of the release that it models
        self._seed = seed

    def start(self) -> None:
        super().start()
        self._lots = np.random.default_rng(self._seed)
        self.perturb_results(self._perturb)

    def stop(self, session: None) -> None:
        self.perturb_results(None)
        super().stop(session)

    def _perturb(self, op: Any, result: Any, operands: tuple[Any, ...]) -> Any:
        array = np.asarray(result)
        if array.dtype.name not in EPSILON or array.dtype.kind not in "fc":
            return result
        parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
        whole = [np.mod(np.abs(part) * _FINEST, 1) == 0 for part in parts]
        moves = np.isfinite(array)
        if not op.cancels:
            moves &= ~np.logical_and.reduce(whole)
        if not moves.any():
            return result
        by = max(op.ulp, 1) * EPSILON[array.dtype.name]
        size = _size_of_terms(op, array, operands) if op.cancels else 0.0
        moved = array.copy(order="K")
        for part in (moved.real, moved.imag) if len(parts) == 2 else (moved,):  # each is rounded
            lots = self._lots.choice((-1.0, 1.0), array.shape)
            off = part * (1 + by * lots) + by * size * lots
            part[moves] = off.astype(part.dtype)[moves]
        return moved


def _size_of_terms(op: Any, result: np.ndarray, operands: tuple[Any, ...]) -> float:
    """The largest finite magnitude that an op adds, or subtracts, last: rounded, it leaves as much."""
    arrays = [array[np.isfinite(array)] for array in (result, *operands) if isinstance(array, np.ndarray)]
    size = max((float(np.abs(array).max()) for array in arrays if array.size), default=0.0)
    if op.name.strip("_") in NORMALISING_FUNCTIONS and arrays[1].size:
        least = float(np.var(operands[0], axis=-1).min())
        size *= scale_of(least) if least >= 0 else 1.0  # NB: of what is infinite it is no number
    return size


@cache
def perturbed_references() -> tuple[PerturbedReference, ...]:
    """Return the adapters of the perturbed runs."""
    return tuple(PerturbedReference(seed) for seed in range(RUNS))


def perturbed(program: Program, density: str) -> tuple[Trace, ...]:
    """Return the program's traces under perturbation, a different one in each."""
    return tuple(run(program, adapter, density) for adapter in perturbed_references())
