"""Where decisions come from: the protocol of a source of choices, and the plain pseudo-random source.

The guided generator asks only these questions, so any source can drive it. The Hypothesis source lives in
``strategy.py``; what is asked, and when, in ``guide.py`` and its families.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """A source of decisions; 0, False and the first item are the simplest ones, toward which a source
    may shrink.
    """

    def below(self, n: int) -> int:
        """An integer from 0 to n - 1."""

    def chance(self, numer: int, denom: int) -> bool:
        """True in ``numer`` cases out of ``denom``."""

    def pick(self, seq: Sequence[T]) -> T:
        """One item of a non-empty sequence."""


class Prng:
    """Choices from Python's Mersenne Twister, the same for a ``(seed, index)`` on every platform and Python.

    NB: only ``Random.random()`` is used, whose stream Python documents as stable across versions;
    ``randrange`` is not.
    """

    __slots__ = ("_random", "_twister")

    def __init__(self, seed: int = 0, index: int = 0) -> None:
        self._twister = random.Random()
        self._random = self._twister.random
        self.restart(seed, index)

    def restart(self, seed: int, index: int) -> Prng:
        """Begin the stream of ``(seed, index)`` anew; cheaper than another source."""
        self._twister.seed((seed << 40) + index)
        return self

    def below(self, n: int) -> int:
        return int(self._random() * n)

    def chance(self, numer: int, denom: int) -> bool:
        return self._random() * denom < numer

    def pick(self, seq: Sequence[T]) -> T:
        return seq[int(self._random() * len(seq))]


def weighted(weights: Mapping[T, int]) -> tuple[T, ...]:
    """A sequence in which each item stands as often as its weight says, for ``pick``; the order is kept."""
    return tuple(item for item, weight in weights.items() for _ in range(weight))
