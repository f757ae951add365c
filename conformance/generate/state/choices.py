"""Sources of choices: the questions that the generator asks, and the pseudo-random source.

A source is a function that returns 16-bit words. Everything else is derived from those, so any source can
drive the generator. The Hypothesis source lives in ``strategy.py``.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import shake_128
from itertools import chain, count
from sys import byteorder
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """A source of choices. 0 and the first item are the simplest choices: sources shrink toward them.

    ``word()`` returns a number from 0 to 65535.
    """

    __slots__ = ("word",)

    def __init__(self, word: Callable[[], int]) -> None:
        self.word = word

    def below(self, n: int) -> int:
        """Choose an integer from 0 to n - 1."""
        return self.word() * n >> 16

    def pick(self, seq: Sequence[T]) -> T:
        """Choose an item of a non-empty sequence."""
        return seq[self.word() * len(seq) >> 16]


class Prng(Choices):
    """Choices from the SHAKE-128 of ``(seed, index)``, the same on every platform and Python.

    Python's Mersenne Twister takes longer to start a stream than a hash takes to make one that is long
    enough for a program.
    """

    __slots__ = ()

    def __init__(self, seed: int = 0, index: int = 0) -> None:
        self.restart(seed, index)

    def restart(self, seed: int, index: int) -> Prng:
        """Start the stream of ``(seed, index)`` from its beginning."""
        self.word = chain.from_iterable(_stream(seed, index)).__next__
        return self


def _stream(seed: int, index: int) -> Iterator[array[int]]:
    for block in count():
        yield words(shake_128(b"%d %d %d" % (seed, index, block)).digest(512))


def words(block: bytes) -> array[int]:
    """Read pairs of bytes as numbers, the more significant byte first."""
    found = array("H", block)
    if byteorder == "little":
        found.byteswap()
    return found


def weighted(weights: Mapping[T, int]) -> tuple[T, ...]:
    """Repeat each item as often as its weight says, in order; ``pick`` then chooses by weight."""
    return tuple(item for item, weight in weights.items() for _ in range(weight))
