"""A Hypothesis backend that draws as the PRNG does: ``settings(backend="autograd-conformance")``.

Hypothesis's own draws favour values that they drew before, which makes programs alike. Under this backend the
blocks behind a program come from `Prng`; shrinking, replay and the database stay Hypothesis's. `drawing` says
which programs come: those that a campaign numbered, say. The strategies live in ``strategy``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from hypothesis.internal.conjecture.providers import COLLECTION_DEFAULT_MAX_SIZE, HypothesisProvider

from conformance.generate.state.choices import BLOCK, Prng


class Numbers:
    """The numbers of the programs that a seed gives: the ``next`` one, and the one ``at_hand``, which is None
    while Hypothesis tries an example that is not of the seed.
    """

    def __init__(self, seed: int, first: int) -> None:
        self.seed, self.next = seed, first
        self.at_hand: int | None = None


_NUMBERS: ContextVar[Numbers | None] = ContextVar("numbers", default=None)


@contextmanager
def drawing(seed: int, first: int = 0) -> Iterator[Numbers]:
    """Draw the programs that ``grade --seed`` numbers, from number ``first`` on, in tests with this backend.

    A test that fails on one is reduced, stored and replayed by Hypothesis like any other. The strategy must
    have the capabilities of what was graded.
    """
    numbers = Numbers(seed, first)
    token = _NUMBERS.set(numbers)
    try:
        yield numbers
    finally:
        _NUMBERS.reset(token)


class PrngProvider(HypothesisProvider):
    """Blocks of bytes from the stream of one program of the PRNG; all else as Hypothesis draws it.

    Without `drawing` the seed is Hypothesis's own, so that ``@seed`` and ``derandomize`` decide.
    """

    def __init__(self, conjecturedata: Any, /) -> None:
        super().__init__(conjecturedata)
        self._numbers = _NUMBERS.get()
        self._blocks: Callable[[], bytes] | None = None

    @contextmanager
    def _numbered(self, numbers: Numbers) -> Iterator[None]:
        number, numbers.next = numbers.next, numbers.next + 1
        self._blocks, numbers.at_hand = Prng(numbers.seed, number).block, number
        try:
            yield
        finally:
            numbers.at_hand = None

    def per_test_case_context_manager(self) -> AbstractContextManager[None]:
        """Begin the stream of the next program, and take its number."""
        if self._numbers is not None:
            return self._numbered(self._numbers)
        assert self._random is not None
        self._blocks = Prng(self._random.getrandbits(62)).block
        return super().per_test_case_context_manager()

    def draw_bytes(self, min_size: int = 0, max_size: int = COLLECTION_DEFAULT_MAX_SIZE) -> bytes:
        if min_size == max_size == BLOCK and self._blocks is not None:
            return self._blocks()
        return super().draw_bytes(min_size, max_size)
