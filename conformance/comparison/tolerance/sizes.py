"""The sizes of the values that a program shows."""

from __future__ import annotations

import math
from itertools import chain
from statistics import pvariance
from typing import Any

from conformance.program import Step

_NUMBERS = (int, float, complex)


def largest_magnitude(value: Any) -> float:
    """The largest magnitude of nested numbers, infinities aside; 1 if there is none."""
    numbers = [each for each in _flat(value) if isinstance(each, _NUMBERS)]
    return max(filter(math.isfinite, map(abs, numbers)), default=1.0)


def scale_of_rows(step: Step, value: Any) -> float:
    """Return by how much a normalisation scales the row of least spread up: kernels subtract the mean when
    they have scaled both.
    """
    numbers = _flat(value)
    length = len(numbers)
    if len(step.args) > 1 and isinstance(step.args[1], tuple):
        length = math.prod(step.args[1])
    if not length or not all(isinstance(each, (int, float)) and math.isfinite(each) for each in numbers):
        return 1.0
    rows = (numbers[at : at + length] for at in range(0, len(numbers), length))
    return scale_of(min(map(pvariance, rows)))


def scale_of(variance: float) -> float:
    """Return by how much a row of that variance is scaled up, if it is."""
    return max(1.0, 1 / math.sqrt(variance + 1e-5))


def _flat(value: Any) -> list[Any]:
    """The elements of nested lists that are as deep everywhere."""
    flat = value if isinstance(value, list) else [value]
    while flat and isinstance(flat[0], list):
        flat = [*chain.from_iterable(flat)]
    return flat
