"""The parts of a check add up to the whole, and a table shows how they changed."""

from benchmarks.__main__ import table
from benchmarks.cost import LEG, Cost, Programs, least

LEGS = {
    "bare torch": 10.0, "bare reference": 12.0, "torch, stepped": 13.0, "reference, stepped": 16.0,
    "torch, each": 20.0, "reference, each": 25.0, "compare, each": 3.0, "torch, drawn": 15.0,
    "reference, drawn": 18.0, "compare, drawn": 2.0, "own, drawing": 65.0, "own, running": 55.0,
}  # fmt: skip


def test_the_parts_add_up_to_drawing_both_runs_and_the_comparison():
    """Drawing counts by the step, because another checkout's generator may draw longer programs."""
    cost = Cost(LEGS, steps=100, own_steps=200)
    assert 5.0 == cost.parts()["draw"]
    assert 5.0 + 20.0 + 25.0 + 3.0 == sum(cost.parts().values())
    assert 53.0 == cost.rows()["whole check, each step"]
    assert 5.0 + 15.0 + 18.0 + 2.0 == cost.rows()["whole check, as drawn"]


def test_the_lesser_of_each_leg_counts():
    slower = Cost(LEGS | {"bare torch": 11.0, "compare, each": 2.0}, 100, 200)
    assert LEGS | {"compare, each": 2.0} == least(slower, Cost(LEGS, 100, 200)).legs


def test_a_table_shows_what_changed():
    slower = Cost({leg: 1.5 * cost for leg, cost in LEGS.items()}, 100, 200)
    given = Programs([0], ["..."], ["each"], [""], [""], seed=0, whole=True, left_out=3)
    shown = table({"there": Cost(LEGS, 100, 200), "here": slower}, given, "1,000 instructions")
    assert "1,000 instructions a program: 1 programs of 100.0 steps, 3 more left out" == shown.title
    assert ["+50.0%"] * 9 == list(shown.columns[5].cells)


def test_callgrind_says_what_each_leg_took():
    dump = "part: {}\n\ndesc: Timerange: Basic block 0 - 9\ndesc: Trigger: {}\n\nevents: Ir\nsummary: {}\n\n"
    text = dump.format(1, "Client Request: bare torch", 12) + dump.format(2, "Program termination", 34)
    assert [("bare torch", "12")] == LEG.findall(text)
