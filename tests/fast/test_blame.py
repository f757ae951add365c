"""Findings about a known fault name its rule first, at the line where it shows, and are few."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import blame
from benchmarks.mutant import mutants_here
from conformance.adapters import load, load_here
from conformance.comparison.compare import Agree, Diverge, Divergence, compare
from conformance.execution.op_reach import EVERYTHING
from conformance.execution.run import run
from conformance.generate.guide.guide import Drawn
from conformance.grading.campaign import Chunk, Sums
from conformance.grading.causes import by_cause
from conformance.grading.check import ordered_findings
from conformance.grading.diagnosis import Mutant, diagnose, follow, marked_at, run_without
from conformance.grading.tally import Tally
from conformance.program.parsing import parse
from conformance.report import Finding
from reports import FINDING
from specs.fact import POSITION

TWICE = "a = torch.tensor(3.0, requires_grad=True)\na.backward()\na.backward()\n"
"""A program whose result depends on grad/accumulates."""
SHARED = "b = torch.ones(2)\nc = b[1:]\nd = c.neg()\n"
"""A program whose result depends on view/shares-storage."""


@mutants_here()
def judged_in_turn(rules: str, *texts: str, density: str = "end") -> Tally:
    """The tally of a chunk of these programs about the reference without these rules."""
    sums = Sums(Chunk(f"benchmarks.mutant:{rules}", "reference", "prng", 0, 0, len(texts)))
    for number, text in enumerate(texts):
        sums.program(number, Drawn(parse(text), density, "exact"))
    tally = sums.tally()
    assert ((), ()) == (tally.crashes, tally.broken)
    return tally


@pytest.mark.parametrize(
    "rule",
    [
        "grad/accumulates",
        "leaf/op-result-is-no-leaf",
        "retain/leaf-is-noop",
        "detach/is-no-view",
        "save/freed-refused",
    ],
)
def test_the_first_finding_names_the_rule_at_the_right_line(rule: str) -> None:
    """The rule that was knocked out comes first, where a look at everything first shows that it is gone."""
    told = blame.told_of(rule, programs=200, seed=1, most=8)
    assert told is not None
    assert (0, True) == (told.rank, told.right)
    assert told.kinds <= 2


def test_what_a_call_decides_itself_comes_before_what_calls_within_it_decide() -> None:
    """zero_grad assigns None to clear a grad: where both rules explain a difference, its own is likelier."""
    text = "a = torch.ones(1, requires_grad=True)\ne = torch.optim.SGD([a])\na.backward()\ne.zero_grad()\n"
    marked = [*marked_at(run(parse(text), load("reference")), step=3)]
    assert marked.index("nn/zero-grad-forgets") < marked.index("grad/assign-none-clears")
    assert "backward/leaf-root" not in marked


def test_a_known_cause_is_stepped_over_and_what_lies_behind_it_is_found() -> None:
    """A program that shows nothing else is counted; one that shows something else is a finding of its own."""
    tally = judged_in_turn(
        "grad/accumulates+view/shares-storage", TWICE, TWICE, TWICE + SHARED, TWICE + SHARED
    )
    assert [("grad/accumulates",), ("view/shares-storage",)] == [
        found.explained_by[:1] for found in tally.findings
    ]
    assert (2, 0) == (tally.totals.stepped_over, tally.totals.left_off)
    assert ["a.backward()", "c = b[1:]"] == [found.line for found in tally.findings]
    assert all(found.sides[0] == "reference" for found in tally.findings)
    assert [3, 1] == [found.alike for found in tally.findings]


def test_two_causes_at_one_step_are_two_findings() -> None:
    """A copy of a tensor that warns nobody and keeps its history."""
    text = "a = torch.tensor(2.0, requires_grad=True)\nb = a.neg()\nc = torch.tensor(b)\n"
    tally = judged_in_turn("copy/tensor-copies+copy/tensor-of-a-tensor-warns", text, text)
    assert [("copy/tensor-of-a-tensor-warns",), ("copy/tensor-copies",)] == [
        f.explained_by for f in tally.findings
    ]


def test_a_difference_moves_to_the_first_step_at_which_it_shows() -> None:
    """The statement that made the difference is blamed, although only the end is looked at."""
    (found,) = judged_in_turn("view/shares-storage", SHARED + "e = torch.ones(2)\nf = e.neg()\n").findings
    assert ("c = b[1:]", "c") == (found.line, found.name)
    assert "e = " not in found.script


def test_a_difference_moves_to_its_step_where_there_is_too_much_to_look_at_after_each() -> None:
    """A write through a view that counts for the view alone, among many tensors and after many writes."""
    live = "".join(f"t{at} = torch.zeros(1)\n" for at in range(99))
    after = "b = torch.zeros(1)\nv = b.view(1)\nv.mul_(2.0)\nt1 = t1.neg()\nt2 = t2.neg()\n"
    text = live + "t0.add_(1.0)\n" * 20 + after
    assert {"v"} == run(parse(text), load("reference"))[-3].facts.keys()
    (found,) = judged_in_turn("version/shared-by-views", text, density="each").findings
    assert ("v.mul_(2.0)", "b", "version") == (found.line, found.name, found.fact)


def test_memory_that_is_not_shared_shows_before_a_value_does() -> None:
    """Memory is read in the end alone: a program ends where it first differs, not where a write shows it."""
    text = "b = torch.ones(2)\nc = b.data\nd = torch.ones(2)\nc.add_(d)\n"
    (found,) = judged_in_turn("data/cuts", text).findings
    assert ("memory", "c = b.data", ("data/cuts",)) == (found.fact, found.line, found.explained_by)


def test_memory_is_compared_though_other_facts_differ() -> None:
    """A copy that is a leaf: without the rule the memory is its own, whatever else is otherwise."""
    text = "a = torch.ones(2, requires_grad=True)\nb = a.data\n"
    right, without = (
        run(parse(text), load_here(side)) for side in ("reference", "benchmarks.mutant:data/cuts")
    )
    copied = replace(right, topology=without.topology)
    first = compare(right, copied).first
    assert "memory" == first.fact
    assert ("data/cuts",) == diagnose(right, copied, first, {}).explained_by


def test_a_rule_without_which_the_fact_is_the_same_is_likelier_than_one_that_changes_more() -> None:
    """A root is filled that retains nothing: without grad/only-leaves-are-filled it would retain, too."""
    text = "a = torch.ones(2, requires_grad=True)\nb = a.sum()\nb.backward()\n"
    rule = "grad/only-leaves-are-filled"
    mutant = load_here(f"benchmarks.mutant:{rule}")
    right, without = (run(parse(text), side, EVERYTHING) for side in (load("reference"), mutant))
    grad = POSITION["grad"]
    facts, retained = right[2].facts["b"], without[2].facts["b"]
    filled = (*facts[:grad], retained[grad], *facts[grad + 1 :])
    at_last = right[2]._replace(facts=right[2].facts | {"b": filled})
    other = replace(right, observations=(*right.observations[:2], at_last))
    assert rule == diagnose(right, other, compare(right, other).first, {}).because[0]


def differing(*facts: str, step: int = 1) -> Mutant:
    """A mutant that differs from a trace in facts of ``b``, and in nothing before the step."""
    found = tuple(Divergence(step, "b", fact, 1, 2) for fact in facts)
    trace = run(parse(TWICE), load("reference"))
    return Mutant(trace, trace, Diverge(found, compared=9) if found else Agree(compared=9))


@pytest.mark.parametrize(
    ("nearer", "mutant", "other"),
    [
        (True, differing("value"), differing("value", "is_leaf")),
        (True, differing("grad.value"), differing("grad.value", "grad.is_leaf")),
        (True, differing("memory", "history"), differing("value", "memory")),
        (True, differing("value", "is_leaf", step=2), differing("value")),
        (True, differing(), differing("value")),
        (False, differing("version"), differing("value", "is_leaf")),
        (False, differing("value"), differing("value")),
        (False, differing("value"), differing("value", "is_leaf", step=2)),
        (False, differing("memory", "history"), differing("memory")),
        (False, differing("value"), differing()),
    ],
)
def test_a_cause_takes_differences_away_and_adds_none(nearer: bool, mutant: Mutant, other: Mutant) -> None:
    """A rule that explains some of a step and changes what was right there is no cause of it."""
    assert nearer is mutant.is_nearer_than(other)


def test_everything_is_looked_at_after_each_step() -> None:
    """At this density the grads of non-leaves are read, too, and what a plain step leaves alone."""
    program = parse("a = torch.ones(2, requires_grad=True)\nb = a.mul(2.0)\nc = torch.ones(2)\n")
    trace = run(program, load("reference"), EVERYTHING)
    assert {"a", "b", "c"} == trace[2].facts.keys()
    assert trace[1].facts["b"][POSITION["grad"]] is None


def test_a_fault_that_shows_now_and_then_is_followed() -> None:
    """A rule may be broken at some steps and hold at others: what else differs is told apart from that."""
    program = parse(TWICE + "a.backward()\n")
    sometimes = run_without(
        program, load("reference"), "each", {1: ("grad/accumulates",), 2: ("grad/accumulates",)}
    )
    mutant, off = follow(sometimes, ["detach/cuts", "grad/accumulates"])
    assert {2: ("grad/accumulates",)} == off
    assert isinstance(mutant.comparison, Agree)


def test_a_rule_that_is_broken_where_it_differs_alone_explains_it() -> None:
    """The write before was counted, so that no rule explains it which is left out throughout."""
    program = parse("a = torch.ones(2, requires_grad=True)\nb = a.exp()\nb.relu_()\nb.mul_(a)\n")
    right = run(program, load("reference"))
    rule = "version/write-bumps"
    other = run_without(program, load("reference"), "each", {3: (rule,)})
    assert (rule,) == diagnose(right, other, compare(right, other).first, {}).explained_by


def test_findings_of_one_cause_are_one() -> None:
    """The fewest rules that explain all are kept; what none explains goes by fact and operation."""
    explained = [replace(FINDING, explained_by=rules) for rules in (("x/a", "x/b"), ("x/b",), ("x/c", "x/b"))]
    other = replace(FINDING, explained_by=(), script="import torch\n\na = torch.ones(2)\nb = a.mul(2.0)\n")
    by_case = replace(FINDING, where="case leaf/x", explained_by=("x/b",))
    same, case, cause = by_cause([*explained, other, other, by_case])
    assert (("x/b",), 9) == (cause.explained_by, cause.alike)
    assert ((), 6) == (same.explained_by, same.alike)
    assert by_case == case


def test_what_shows_behind_a_known_cause_is_like_what_shows_without_one() -> None:
    """No rule explains the rest; that it took a known cause away to see it makes no cause of its own."""
    plain = replace(FINDING, explained_by=(), sides=("torch", "it"))
    behind = replace(plain, script=f"{FINDING.script}\n", sides=("reference without x/a", "it"))
    (both,) = by_cause([behind, plain])
    assert (plain.sides, 2 * plain.alike) == (both.sides, both.alike)


def test_what_most_programs_show_is_told_first() -> None:
    """And of equals what a rule explains."""
    unknown, known = replace(FINDING, explained_by=()), replace(FINDING, explained_by=("x/a",))
    frequent = replace(unknown, alike=FINDING.alike + 1)
    assert (frequent, known, unknown) == ordered_findings(Tally(findings=(unknown, known, frequent)))


def test_flags_are_one_finding_for_all_operations_of_a_family() -> None:
    """They do not depend on what it computes; values are each operation's own."""
    flag = replace(FINDING, explained_by=(), fact="requires_grad", expected="True", actual="False")
    found = [replace(flag, ops=("torch.ones", op)) for op in ("mul_", "neg_", "mul", "__getitem__")]
    assert [2, 1, 1] == [each.alike // FINDING.alike for each in by_cause(found)]
    assert 4 == len(by_cause([replace(each, fact="value") for each in found]))


def test_a_rule_without_which_a_fact_was_wrong_before_is_no_likely_cause() -> None:
    """The flag was set, and a write drops it: without grad/flag-at-creation it would never have been."""
    text = "a = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    a.mul_(2.0)\n"
    right = run(parse(text), load("reference"))
    flag = POSITION["requires_grad"]
    facts = right[1].facts["a"]
    dropped = right[1]._replace(facts={"a": (*facts[:flag], False, *facts[flag + 1 :])})
    other = replace(right, observations=(right[0], dropped))
    because = diagnose(right, other, compare(right, other).first, {}).because
    assert "requires_grad/flag-at-creation" != because[0]


@pytest.mark.parametrize(("kinds", "op"), [(1, "mul"), (2, "backward")])
def test_what_a_call_does_itself_is_one_finding_whatever_came_before(kinds: int, op: str) -> None:
    """A backward does what other calls left to it, which are told apart; of custom functions it is one."""
    made = "import torch\n\na = torch.ones(2, requires_grad=True)\n"
    before = ["b = a.neg()", "b = a.sin()"], ["b = Pair.apply(a)", "b = Twins.apply(a)"]

    def found(line: str) -> Finding:
        ops = ("torch.ones", op)
        return replace(FINDING, explained_by=(), script=f"{made}{line}\nb.{op}(a)\n", ops=ops)

    assert kinds == len(by_cause([found(line) for line in before[0]]))
    assert 1 == len(by_cause([found(line) for line in before[1]]))


def test_a_refusal_that_was_not_met_comes_first() -> None:
    """Its rule leads, whatever rule explains more of what was done instead, and where findings merge, too."""
    missed = replace(FINDING, explained_by=("x/b",), because=("x/refused", "x/b"))
    plain = replace(FINDING, explained_by=("x/b",), because=("x/b", "x/a"))
    assert (("x/refused",), ()) == (missed.refusal_missed, plain.refusal_missed)
    assert ("x/refused", "x/b") == missed.concerns
    (both,) = by_cause([missed, replace(missed, where="program 18", script=f"{FINDING.script}\n")])
    assert ("x/refused", "x/b") == both.because
    (mixed,) = by_cause([plain, replace(missed, script=f"{FINDING.script}\n")])
    assert "x/b" == mixed.because[0]


@pytest.mark.parametrize(
    ("step", "because"),
    [
        ("b = a.matmul(a)", ()),
        ("b = a.square()", ()),
        ("c = a.to(torch.bfloat16)\nb = c.sigmoid()", ("op/half-rounds-once",)),
    ],
)
def test_a_wrong_value_of_an_operation_is_no_fault_of_a_rule_of_autograd(step, because) -> None:
    """Rules of the operation itself are named, if there are any."""
    text = f"a = torch.tensor([[[1.1, 2.3], [3.7, 4.9]]], requires_grad=True)\n{step}\n"
    reference = run(parse(text), load("reference"))
    last = reference.observations[-1]
    value = POSITION["value"]
    wrong = (*last.facts["b"][:value], [[[9.0, 9.0], [9.0, 9.0]]], *last.facts["b"][value + 1 :])
    other = replace(
        reference,
        observations=(*reference.observations[:-1], last._replace(facts={**last.facts, "b": wrong})),
    )
    found = compare(reference, other)
    assert isinstance(found, Diverge)
    assert ((), because) == diagnose(reference, other, found.first, {})
