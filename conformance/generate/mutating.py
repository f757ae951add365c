"""A directed search among programs: those that fired what is rare are changed a little, and drawn again.

What is changed are the choices behind a program, not its text: turns are dropped, repeated, swapped, drawn
anew or taken from another program, and the guide draws from that. So names are bound, values stay within
bounds and an implementation's capabilities hold, as in any drawn program. `Corpus` keeps what is worth
changing; the loop over numbers lives in ``grading/sources.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, TypeVar

from conformance.execution.trace import Trace
from conformance.generate.guide.guide import LENGTHS, Drawn, draw
from conformance.generate.state.choices import Choices, Prng, weighted

T = TypeVar("T")
Block = Callable[[], bytes]
Feature = str | tuple[str, str]
"""A rule that fired, refused or warned, or two rare ones in one program."""

NURSERY = 300
"""Programs that a search begins with: drawn beside the reference, and not judged."""
RENEWED = 1000
"""After so many programs searches begin with others, lest they all stay near the same."""
RARE = 0.08
"""The share of programs below which a rule is rare, so that it makes pairs."""
_KEPT = 3
"""Programs kept for a feature: the shortest."""
_TRIED = 4
"""Features of which the one that fewest programs had is taken."""
_ON = b"\xff\xff"
"""The first choice of a turn: to go on."""


@dataclass(frozen=True, slots=True)
class Genes:
    """The blocks of choices behind a program: its own, and those of each turn."""

    head: tuple[bytes, ...] = ()
    turns: tuple[tuple[bytes, ...], ...] = ()


class Replayed(Choices):
    """The choices of ``genes``, and fresh ones where those end; ``taken`` are the genes of what was drawn."""

    __slots__ = ("_fresh", "_genes", "_head", "_turns")

    def __init__(self, genes: Genes, fresh: Block) -> None:
        self._genes, self._fresh = genes, fresh
        self._head: list[bytes] = []
        self._turns: list[list[bytes]] = []
        super().__init__(self._recorded(genes.head, self._head))

    def _recorded(self, given: Iterable[bytes], record: list[bytes]) -> Block:
        left = iter(given)

        def block() -> bytes:
            record.append(next(left, None) or self._fresh())
            return record[-1]

        return block

    def span(self, part: Callable[[], T]) -> T:
        at, record = len(self._turns), list[bytes]()
        given = self._genes.turns[at] if at < len(self._genes.turns) else ()
        self._turns.append(record)
        return self.span_of(self._recorded(given, record), part)

    @property
    def taken(self) -> Genes:
        """The genes that draw the same again."""
        return Genes(tuple(self._head), tuple(map(tuple, self._turns)))


class Corpus:
    """Genes worth changing: of each feature the shortest that had it. ``seen`` counts programs by feature."""

    def __init__(self) -> None:
        self.programs = 0
        self.seen: Counter[Feature] = Counter()
        self._kept: dict[Feature, list[Genes]] = {}

    def copy(self) -> Corpus:
        """Return a corpus that grows by itself from here."""
        other = Corpus()
        other.programs, other.seen = self.programs, self.seen.copy()
        other._kept = {feature: list(kept) for feature, kept in self._kept.items()}
        return other

    def features(self, trace: Trace) -> list[Feature]:
        """Return the rules that fired, refused or warned, and the pairs among the rare of them, in order."""
        rules = sorted(_rules_of(trace))
        if self.programs < NURSERY // 4:  # too few to tell what is rare
            return [*rules]
        most = RARE * self.programs
        return [*rules, *combinations([rule for rule in rules if self.seen[rule] <= most], 2)]

    def add(self, genes: Genes, features: Sequence[Feature]) -> None:
        """Count a program, and keep its genes for what few or longer ones had."""
        self.programs += 1
        self.seen.update(features)
        for feature in features:
            kept = self._kept.setdefault(feature, [])
            kept.append(genes)
            kept.sort(key=lambda one: len(one.turns))
            del kept[_KEPT:]

    def pick(self, choices: Choices) -> Genes:
        """Choose genes to change: those of the rarest of a few features."""
        features = [*self._kept]
        feature = min((choices.pick(features) for _ in range(_TRIED)), key=self.seen.__getitem__)
        return choices.pick(self._kept[feature])


def _rules_of(trace: Trace) -> set[str]:
    """Return the rules that fired, refused or warned."""
    return {rule for seen in trace.observations for rule in (*seen.fired, *(seen.warnings or ()))}


# -- changes

Turns = list[tuple[bytes, ...]]


def _cut(turns: Turns, choices: Choices, _: Corpus) -> Turns:
    """Keep the beginning; the rest is drawn anew."""
    return turns[: 1 + choices.below(len(turns))]


def _drop(turns: Turns, choices: Choices, _: Corpus) -> Turns:
    start, end = _run(turns, choices)
    return turns[:start] + turns[end:]


def _repeat(turns: Turns, choices: Choices, _: Corpus) -> Turns:
    start, end = _run(turns, choices)
    at = end + choices.below(len(turns) - end + 1)
    return turns[:at] + turns[start:end] + turns[at:]


def _renew(turns: Turns, choices: Choices, _: Corpus) -> Turns:
    start, end = _run(turns, choices)
    return turns[:start] + [()] * (end - start) + turns[end:]


def _insert(turns: Turns, choices: Choices, _: Corpus) -> Turns:
    at = choices.below(len(turns) + 1)
    return turns[:at] + [()] * (1 + choices.below(3)) + turns[at:]


def _swap(turns: Turns, choices: Choices, _: Corpus) -> Turns:
    at = choices.below(len(turns))
    return turns[:at] + turns[at : at + 2][::-1] + turns[at + 2 :]


def _splice(turns: Turns, choices: Choices, corpus: Corpus) -> Turns:
    """Go on after the beginning as another program does."""
    others = [*corpus.pick(choices).turns[:-1]]
    return turns[: choices.below(len(turns) + 1)] + others[choices.below(len(others) + 1) :]


CHANGES: tuple[Callable[[Turns, Choices, Corpus], Turns], ...] = weighted({
    _cut: 4, _renew: 3, _insert: 3, _repeat: 2, _drop: 1, _swap: 1, _splice: 2,
})  # fmt: skip


def _run(turns: Turns, choices: Choices) -> tuple[int, int]:
    """Choose a run of at most three turns."""
    start = choices.below(len(turns))
    return start, min(start + 1 + choices.below(3), len(turns))


def changed(genes: Genes, choices: Choices, corpus: Corpus) -> Genes:
    """Return genes that differ in one to three changes; turns that are kept or taken go on."""
    turns: Turns = [*genes.turns[:-1]]  # the last one but ended the program
    for _ in range(1 + choices.below(3)):
        if turns:
            turns = choices.pick(CHANGES)(turns, choices, corpus)
    del turns[choices.pick(LENGTHS) * 2 // 3 :]
    return Genes(genes.head, tuple((_ON + turn[0][2:], *turn[1:]) if turn else () for turn in turns))


# -- the search


def searched(
    oracle: Any, capabilities: Any, seed: int, first: int, count: int
) -> Iterator[tuple[int, Drawn]]:
    """Draw the programs of a search that begins at number ``first``, with their numbers."""
    corpus = nursery(oracle, capabilities, seed, first // RENEWED).copy()
    for number in range(first, first + count):
        yield number, _next(oracle, capabilities, corpus, Prng(seed, number))


@lru_cache(maxsize=2)
def nursery(oracle: Any, capabilities: Any, seed: int, turn: int) -> Corpus:
    """Return what searches of a seed begin with: the same in every process, and drawn once in each."""
    corpus = Corpus()
    for number in range(NURSERY * turn, NURSERY * (turn + 1)):
        fresh = number % NURSERY < NURSERY // 2
        _next(oracle, capabilities, corpus, Prng(seed, -1 - number), fresh)
    return corpus


def _next(oracle: Any, capabilities: Any, corpus: Corpus, choices: Choices, fresh: bool = False) -> Drawn:
    """Draw one program, mostly by changing one that was drawn, and add it to the corpus."""
    genes = Genes() if fresh or not choices.below(8) else changed(corpus.pick(choices), choices, corpus)
    replayed = Replayed(genes, choices.block)
    drawn = draw(replayed, oracle, capabilities)
    assert drawn.trace is not None
    corpus.add(replayed.taken, corpus.features(drawn.trace))
    return drawn
