"""Where decisions come from: the questions that are asked of a source, and the plain pseudo-random source.

A source is a function that gives whole numbers of 16 bits; everything else is read off those, so any source
can drive the guided generator. The Hypothesis source lives in ``strategy.py``; what is asked, and when, in
``guide.py`` and its families.
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
    """A source of decisions; 0, False and the first item are the simplest ones, toward which a source
    may shrink.

    ``word()`` gives a number from 0 to 65535. Where speed matters, ``seq[word() * len(seq) >> 16]`` is
    written out instead of ``pick(seq)``.
    """

    __slots__ = ("word",)

    def __init__(self, word: Callable[[], int]) -> None:
        self.word = word

    def below(self, n: int) -> int:
        """An integer from 0 to n - 1."""
        return self.word() * n >> 16

    def pick(self, seq: Sequence[T]) -> T:
        """One item of a non-empty sequence."""
        return seq[self.word() * len(seq) >> 16]


class Prng(Choices):
    """Choices from the SHAKE-128 of ``(seed, index)``, the same on every platform and Python.

    NB: not from Python's Mersenne Twister, which takes longer to begin a stream than a hash to make one that
    is long enough for a program.
    """

    __slots__ = ()

    def __init__(self, seed: int = 0, index: int = 0) -> None:
        self.restart(seed, index)

    def restart(self, seed: int, index: int) -> Prng:
        """Begin the stream of ``(seed, index)`` anew."""
        self.word = chain.from_iterable(_stream(seed, index)).__next__
        return self


def _stream(seed: int, index: int) -> Iterator[array[int]]:
    for block in count():
        yield words(shake_128(b"%d %d %d" % (seed, index, block)).digest(512))


def words(block: bytes) -> array[int]:
    """The numbers that pairs of bytes spell, the more significant byte first."""
    found = array("H", block)
    if byteorder == "little":
        found.byteswap()
    return found


def weighted(weights: Mapping[T, int]) -> tuple[T, ...]:
    """A sequence in which each item stands as often as its weight says, for ``pick``; the order is kept."""
    return tuple(item for item, weight in weights.items() for _ in range(weight))
