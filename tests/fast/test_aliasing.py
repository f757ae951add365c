"""A write to memory reaches all that it may be, whatever reached some of it before."""

from __future__ import annotations

from conformance.comparison.tolerance.aliasing import EXACT, AbstractMemory, Roundings

FIRST, SECOND = 1 << 1, 1 << 2


def joined(*levels: Roundings) -> list[AbstractMemory]:
    """Memory of these levels, of which any may be any other."""
    found = [AbstractMemory(level) for level in levels]
    for each in found[1:]:
        found[0].may_be(each)
    return found


def test_a_write_reaches_all_that_the_memory_may_be():
    """Each keeps what had reached it alone."""
    found = joined(FIRST, EXACT, EXACT)
    found[1].write(SECOND, now=0)
    assert [each.level for each in found] == [FIRST | SECOND, SECOND, SECOND]


def test_what_was_overwritten_is_reached_again():
    """The others had it all the time."""
    found = joined(EXACT, EXACT)
    found[0].write(FIRST, now=0)
    found[1].overwrite(EXACT)
    found[0].write(FIRST, now=0)
    assert [each.level for each in found] == [FIRST, FIRST]


def test_what_had_reached_one_group_is_written_to_what_joins_it():
    """A group of two takes in one, and is taken in by three."""
    pair, alone, many = joined(EXACT, EXACT), AbstractMemory(), joined(EXACT, EXACT, EXACT, EXACT)
    pair[0].write(FIRST, now=0)
    alone.may_be(pair[1])
    many[0].may_be(alone)
    many[1].write(FIRST, now=0)
    assert {each.level for each in (*pair, alone, *many)} == {FIRST}


def test_memory_that_is_alone_brings_its_own_level():
    """It was never written, and what reached it is not written to it again."""
    one, other = AbstractMemory(FIRST), AbstractMemory(FIRST | SECOND)
    one.may_be(other)
    one.write(SECOND, now=0)
    assert [one.level, other.level] == [FIRST | SECOND] * 2
