"""Sources of choices: the questions that the generator asks, and the pseudo-random source.

A source is a function that returns blocks of bytes, read as 16-bit words. Everything else is derived from
those, so any source can drive the generator. The Hypothesis source lives in ``strategy.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import shake_128
from itertools import chain, count
from struct import Struct
from typing import TypeVar

T = TypeVar("T")


BLOCK = 16
"""The bytes in a block: half of all turns of the guide take no more."""

_words = Struct(f">{BLOCK // 2}H").unpack
"""Reads the pairs of bytes in a block as numbers, the more significant byte first."""
_split = Struct(f"{BLOCK}s" * (512 // BLOCK)).unpack
"""Cuts 512 bytes into blocks."""


def _words_of(block: Callable[[], bytes]) -> Iterator[int]:
    """The words of these blocks, which are drawn as they are needed."""
    return chain.from_iterable(map(_words, iter(block, None)))


class Choices:
    """A source of choices. 0 and the first item are the simplest choices: sources shrink toward them.

    ``block()`` returns the next ``BLOCK`` bytes; ``words`` are those of this span, from 0 to 65535.
    """

    __slots__ = ("block", "words")

    def __init__(self, block: Callable[[], bytes]) -> None:
        self.block = block
        self.words = _words_of(block)

    def span(self, part: Callable[[], T]) -> T:
        """Draw a part from blocks of its own, so that a shrinker can drop it.

        What is left of the present block is drawn from again afterwards.
        """
        words = self.words
        self.words = _words_of(self.block)
        try:
            return part()
        finally:
            self.words = words

    def span_of(self, block: Callable[[], bytes], part: Callable[[], T]) -> T:
        """Draw a part from these blocks."""
        outer, self.block = self.block, block
        try:
            return Choices.span(self, part)
        finally:
            self.block = outer

    def below(self, n: int) -> int:
        """Choose an integer from 0 to n - 1."""
        return next(self.words) * n >> 16

    def pick(self, seq: Sequence[T]) -> T:
        """Choose an item of a non-empty sequence."""
        return seq[next(self.words) * len(seq) >> 16]


class Prng(Choices):
    """Choices from the SHAKE-128 of ``(seed, index)``, the same on every platform and Python.

    Python's Mersenne Twister takes longer to start a stream than a hash takes to make one that is long
    enough for a program.
    """

    __slots__ = ()

    def __init__(self, seed: int = 0, index: int = 0) -> None:
        super().__init__(_stream(seed, index).__next__)


def _stream(seed: int, index: int) -> Iterator[bytes]:
    """The blocks of a stream, 32 from each hash."""
    return chain.from_iterable(map(partial(_blocks, seed, index), count()))


def _blocks(seed: int, index: int, part: int) -> tuple[bytes, ...]:
    return _split(shake_128(b"%d %d %d" % (seed, index, part)).digest(512))


def weighted(weights: Mapping[T, int]) -> tuple[T, ...]:
    """Repeat each item as often as its weight says, in order; ``pick`` then chooses by weight."""
    return tuple(item for item, weight in weights.items() for _ in range(weight))
