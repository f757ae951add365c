"""The directed search: what it changes, and that a seed says all of it."""

from __future__ import annotations

import pytest

from conformance import adapters
from conformance.adapters.capabilities import Capabilities
from conformance.execution.run import run
from conformance.execution.trace import Unsupported
from conformance.generate import mutating
from conformance.generate.guide.guide import draw
from conformance.generate.mutating import CHANGES, Corpus, Genes, Replayed, changed, nursery, searched
from conformance.generate.state.choices import Prng
from conformance.program.printing import to_text

ORACLE = adapters.load("reference")
ALL = adapters.capabilities(ORACLE)


@pytest.fixture(autouse=True)
def small_nursery(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that begins with few programs."""
    monkeypatch.setattr(mutating, "NURSERY", 60)
    nursery.cache_clear()
    yield
    nursery.cache_clear()


def texts(first: int, count: int, seed: int = 4) -> list[str]:
    return [to_text(drawn.program) for _, drawn in searched(ORACLE, ALL, seed, first, count)]


def test_genes_draw_the_same_program_again():
    """Nothing but what was taken down of a program decides it."""

    def none_left() -> bytes:
        raise AssertionError("more was drawn than was taken down")

    for index in range(30):
        first = Replayed(Genes(), Prng(3, index).block)
        program = draw(first, ORACLE, ALL).program
        again = Replayed(first.taken, none_left)
        assert program == draw(Prng(3, index), ORACLE, ALL).program == draw(again, ORACLE, ALL).program
        assert first.taken == again.taken


def test_a_search_depends_on_its_seed_and_first_number_alone():
    """Chunks that were searched before, by this process or another, change nothing."""
    alone = texts(100, 10)
    nursery.cache_clear()
    texts(0, 10)
    assert alone == texts(100, 10)
    assert alone != texts(100, 10, seed=5)
    assert alone != texts(200, 10)


def test_what_a_search_draws_is_valid_and_distinct():
    """Changed programs keep what drawn ones promise: nothing is unspecified, and few are alike."""
    found = [drawn for _, drawn in searched(ORACLE, ALL, 6, 0, 100)]
    for drawn in found:
        trace = run(drawn.program, ORACLE, drawn.density)
        assert not [seen for seen in trace.observations if type(seen.outcome) is Unsupported]
        # NaN is no NaN
        ran, drew = ([repr(seen[:3]) for seen in t.observations] for t in (trace, drawn.trace))
        assert ran == drew
    assert 95 <= len({to_text(drawn.program) for drawn in found})


def test_a_search_keeps_to_what_is_claimed():
    """Capabilities narrow changed programs as they narrow drawn ones."""
    few = Capabilities(features=frozenset())
    steps = [step for _, drawn in searched(ORACLE, few, 2, 0, 60) for step in drawn.program]
    assert not any(step.mode or step.op == "view" for step in steps)


def test_the_rare_is_kept_and_taken_up():
    """Of a feature the shortest programs are kept; what fewest programs had is changed first."""
    corpus = Corpus()
    short, long = (Genes((b"h" * 16,), ((b"t" * 16,),) * turns) for turns in (2, 9))
    for _ in range(50):
        corpus.add(long, ["often"])
    corpus.add(long, ["often", "rare"])
    corpus.add(short, ["often"])
    assert [short, long, long] == corpus._kept["often"]
    picked = [corpus.pick(Prng(1, index)) for index in range(40)]
    assert 30 <= sum(genes == long for genes in picked)


@pytest.mark.parametrize("change", dict.fromkeys(CHANGES), ids=lambda change: change.__name__)
def test_each_change_leaves_turns(change):
    """A change of turns gives turns, of those that were there or to be drawn anew."""
    turns = [(bytes([i]) * 16,) for i in range(6)]
    corpus = Corpus()
    corpus.add(Genes((), tuple(turns)), ["a"])
    for index in range(30):
        got = change(turns, Prng(1, index), corpus)
        assert {*turns, ()} >= {*got}
        kept = changed(Genes((), tuple(turns)), Prng(1, index), corpus).turns
        assert all(turn == () or turn[0].startswith(b"\xff\xff") for turn in kept)
