"""Differences that are by design: how they are written, whom they excuse, and what they do to a report."""

from __future__ import annotations

from dataclasses import replace

import jsonschema
import pytest

from conformance.execution import json_form
from conformance.grading.by_design import Evidenced, excused, proposed, settle, updated
from conformance.grading.expectations import ExpectationError, Expectations, read_expectations, text_of
from conformance.grading.standing import standing
from conformance.grading.tally import Tally
from conformance.report import Status, Verdict, as_json, as_junit, as_markdown, words
from conformance.report.expectation import Example, Expectation, Expected, Unmet
from conformance.report.value import BROKEN, HELD, Witnessed
from reports import FINDING, report

RULE = "leaf/op-result-is-no-leaf"
EXPLAINED = replace(FINDING, explained_by=(RULE,))
CASE = replace(FINDING, where="case leaf/arithmetic_results_are_not_leaves", because=(RULE,))
BY_RULE = Expectation(rule=RULE, reason="every value is a leaf here", program="x = torch.ones(2)")
CAUSE = f"is_leaf by {RULE} after mul"
FULL = Expectation(
    cause=CAUSE,
    needs="mul, sum",
    program="import torch\n\nx = torch.ones(2)",
    density="end",
    reason='it says "no"\nand \\ means it',
    link="https://example.org/1",
    version=">=1.0,<2",
    device="cpu",
    flaky=True,
)


def test_what_is_written_is_read_again(tmp_path):
    """A file holds all that an entry says."""
    file = tmp_path / "expect.toml"
    entries = (BY_RULE, FULL, replace(FULL, program="x = torch.tensor('''\t''')"))
    for written in (
        Expectations(entries[:2]),
        Expectations(entries, (Example("x = torch.ones(2)", "end"), Example("x = torch.ones(3)")), 40),
    ):
        file.write_text(text_of(written))
        assert written == read_expectations(file)


WRONG = {
    "not TOML": ("[[expect", "is no TOML"),
    "a table": ("[expect]\nrule = 'a'", "expect is no list of tables"),
    "an unknown table": ("[[expects]]", "did you mean 'expect'"),
    "an example without a program": ("[[example]]\ndensity = 'end'", "example 1 has no program"),
    "an example that is none": ("[[example]]\nprogram = 'x ='", "example 1: its program: line 1"),
    "a number of programs": ("programs = -1", "programs is -1"),
    "programs in words": ("programs = 'all'", "a number from 0"),
    "an unknown key": (f"[[expect]]\nrules = '{RULE}'", "did you mean 'rule'"),
    "an unknown rule": (
        "[[expect]]\nrule = 'leaf/op-result-is-leaf'\nreason = 'x'",
        f"did you mean '{RULE}'",
    ),
    "an unknown case": ("[[expect]]\ncase = 'leaf/nothing_like_it'\nreason = 'x'", "the unknown case"),
    "a cause that is none": ("[[expect]]\ncause = 'backward'\nreason = 'x'", "FACT by RULE after OPERATION"),
    "a cause of no rule": ("[[expect]]\ncause = 'value by a/b after mul'\nreason = 'x'", "the unknown rule"),
    "nothing named": ("[[expect]]\nreason = 'x'", "give it a rule, a cause or a case"),
    "no reason": (f"[[expect]]\nrule = '{RULE}'", "has no reason"),
    "an empty reason": (f"[[expect]]\nrule = '{RULE}'\nreason = ' '", "has no reason"),
    "a number": (f"[[expect]]\nrule = '{RULE}'\nreason = 3", "reason is 3"),
    "no program": (f"[[expect]]\nrule = '{RULE}'\nreason = 'x'\nprogram = 'x ='", "its program: line 1"),
    "no bounds": (
        f"[[expect]]\nrule = '{RULE}'\nreason = 'x'\nwhen = {{ version = 'new' }}",
        "no version bound",
    ),
    "an unknown when": (f"[[expect]]\nrule = '{RULE}'\nreason = 'x'\nwhen = {{ os = 'mac' }}", "'os'"),
    "a density": (f"[[expect]]\nrule = '{RULE}'\nreason = 'x'\ndensity = 'all'", "the unknown density"),
    "an unknown operation": (
        f"[[expect]]\nrule = '{RULE}'\nreason = 'x'\nneeds = 'prodd'",
        "did you mean 'prod'",
    ),
    "a wide cause": ("[[expect]]\ncause = 'value by * after mul'\nreason = 'x'", "which operations it needs"),
    "operations of a case": (
        "[[expect]]\ncase = 'leaf/arithmetic_results_are_not_leaves'\nreason = 'x'\nneeds = 'prod'",
        "speaks of a case",
    ),
    "one twice": (f"[[expect]]\nrule = '{RULE}'\nreason = 'x'\n" * 2, "two entries alike"),
}


@pytest.mark.parametrize(("text", "told"), WRONG.values(), ids=WRONG)
def test_an_entry_that_names_nothing_is_refused(tmp_path, text, told):
    """Each mistake is told with a hint, before anything runs."""
    file = tmp_path / "expect.toml"
    file.write_text(text)
    with pytest.raises(ExpectationError, match=told.replace("'", ".")):
        read_expectations(file)


def test_a_file_to_be_updated_may_lack_reasons(tmp_path):
    file = tmp_path / "expect.toml"
    file.write_text(text_of(Expectations((replace(BY_RULE, reason=""),))))
    assert (replace(BY_RULE, reason=""),) == read_expectations(file, reasons=False).entries


def test_an_entry_speaks_of_its_rule_its_cause_or_its_case():
    """A rule covers what it explains, a cause one fact after one operation, a case itself."""
    of = {
        "rule": BY_RULE,
        "cause": Expectation(cause=CAUSE),
        "other": Expectation(cause=f"is_leaf by {RULE} after add"),
        "case": Expectation(case="leaf/arithmetic_results_are_not_leaves"),
    }
    found = {"explained": EXPLAINED, "unexplained": FINDING, "of a case": CASE}
    assert {
        "rule": ["explained", "of a case"],
        "cause": ["explained", "unexplained"],
        "other": [],
        "case": ["of a case"],
    } == {
        name: [key for key, finding in found.items() if entry.matches(finding)] for name, entry in of.items()
    }


def test_an_entry_that_needs_operations_speaks_of_no_program_without_them():
    """A wide cause, such as a wrong value, excuses only what makes it by design."""
    entry, finding = (
        Expectation(cause=CAUSE, needs="mul, sum"),
        replace(FINDING, ops=("sum", "detach", "mul")),
    )
    assert entry.matches(finding)
    assert not entry.matches(replace(finding, ops=("detach", "mul")))
    assert f"cause {CAUSE} with mul, sum" == entry.label
    assert Expectation(cause="is_leaf by * after *", needs="mul").matches(finding)
    assert not Expectation(cause="version by * after *", needs="mul").matches(finding)
    function = replace(finding, ops=("torch.mul", "torch.sum"))
    assert Expectation(cause="is_leaf by * after *", needs="mul, torch.sum").matches(function)
    assert not Expectation(cause="is_leaf by * after *", needs="torch.mul").matches(finding)


def test_neither_a_flaky_difference_nor_the_suites_is_by_design():
    flaky = replace(EXPLAINED, flaky=True, blames=Verdict.CONFORMS)
    assert not BY_RULE.matches(flaky)
    assert replace(BY_RULE, flaky=True).matches(flaky)
    assert not BY_RULE.matches(replace(EXPLAINED, blames=Verdict.BROKEN_SUITE))


def test_when_says_of_which_version_and_device_an_entry_speaks():
    entry = replace(BY_RULE, version=">=1.0,<2", device="cpu")
    assert [True, False, False] == [
        entry.applies(*here) for here in (("1.5", "cpu (not asked for)"), ("2.0", "cpu"), ("1.5", "cuda"))
    ]


def test_what_no_entry_speaks_of_is_left():
    other = replace(FINDING, where="program 20", fact="grad.value", because=("grad/accumulates",))
    settled = settle([BY_RULE], {BY_RULE: Evidenced((EXPLAINED,))}, [EXPLAINED, other], over=False)
    assert ((other,), (EXPLAINED,)) == (settled.left, settled.by_design)
    assert (Expected(BY_RULE, programs=3),) == settled.expected


def test_the_verdict_tells_how_much_is_by_design():
    """One line alone never says that all of it is as PyTorch has it."""
    met = Expected(BY_RULE, 2, 0)
    assert "mine conforms but for 1 expected difference" == words.verdict(report(expected=(met,)))
    assert "mine does not conform" == words.verdict(report(expected=(met,), findings=(FINDING,)))


def test_an_entry_that_did_not_fail_is_unmet():
    """Its own program decides, whatever the seed drew."""
    settled = settle(
        [BY_RULE], {BY_RULE: Evidenced((), "its program differs in nothing")}, [EXPLAINED], over=False
    )
    assert (Unmet(BY_RULE, "its program differs in nothing"),) == settled.unmet
    assert (EXPLAINED,) == settled.by_design


def test_an_entry_that_may_not_fail_each_time_is_met():
    entry = replace(BY_RULE, flaky=True)
    assert () == settle([entry], {entry: Evidenced((), "nothing")}, [], over=False).unmet


def test_an_entry_that_another_makes_needless_is_unmet():
    """Without it the run would pass all the same, whatever it says; of two alike the later is told."""
    by_cause = Expectation(cause=CAUSE, reason="the same", program="y = torch.ones(2)")
    evidence = {BY_RULE: Evidenced((EXPLAINED,)), by_cause: Evidenced((EXPLAINED,))}
    settled = settle([BY_RULE, by_cause], evidence, [EXPLAINED], over=False)
    assert (Unmet(by_cause, f"what shows it is by design without it: rule {RULE}"),) == settled.unmet
    other = replace(EXPLAINED, fact="value")
    narrow = replace(by_cause, cause=f"value by {RULE} after mul")
    apart = {by_cause: Evidenced((EXPLAINED,)), narrow: Evidenced((other,))}
    assert () == settle([by_cause, narrow], apart, [], over=False).unmet


def test_an_example_that_no_entry_speaks_of_is_left():
    """It runs whether there is an entry for it or not, so that one taken out is missed."""
    entry, example = replace(BY_RULE, program=""), Example("x = torch.ones(2)")
    evidence = {example: Evidenced((EXPLAINED,))}
    assert (Expected(entry, programs=3),) == settle([entry], evidence, [], over=True).expected
    assert (EXPLAINED,) == settle([], evidence, [], over=True).left


def test_an_entry_without_a_program_is_judged_by_the_whole_run_alone():
    entry = replace(BY_RULE, program="")
    assert 1 == len(settle([entry], {}, [], over=False).unmet)
    assert () == settle([entry], {}, [], over=True).unmet


def test_a_difference_that_its_program_shows_elsewhere_only_is_no_finding_of_its_own():
    """Programs before it had it taken for something else."""
    entries = [BY_RULE]
    alone = excused(entries, [FINDING], lambda tried: {entry: Evidenced((EXPLAINED,)) for entry in tried})
    assert frozenset([FINDING]) == alone
    assert frozenset() == excused(entries, [FINDING], lambda tried: {entry: Evidenced(()) for entry in tried})


def test_each_cause_that_is_found_gets_an_entry_and_its_program():
    """The one that nothing explains goes by its cause; a program that shows nothing by itself is left out."""
    cases = [replace(CASE, explained_by=("view/shares-storage",), because=("view/shares-storage",))]
    other = replace(FINDING, fact="value", because=(), name="b", script=FINDING.script + "c = b.add(1.0)\n")

    def show(tried):
        return {entry: Evidenced((EXPLAINED,) if entry.rule else ()) for entry in tried}

    program = "import torch\n\na = torch.ones(2, requires_grad=True)\nb = a.mul(2.0)"
    assert [
        Expectation(cause="value by - after mul"),
        Expectation(rule=RULE, program=program),
        Expectation(rule="view/shares-storage", case="leaf/arithmetic_results_are_not_leaves"),
    ] == proposed([EXPLAINED, other, *cases], show)


def test_what_a_program_shows_by_itself_is_what_its_entry_says():
    """The rules that decided it in the run do not matter: the entry is shown without what the seed draws."""
    drawn = replace(FINDING, explained_by=(), because=("grad/accumulates", "leaf/op-result-is-no-leaf"))
    alone = replace(drawn, because=("leaf/op-result-is-no-leaf",))
    (first, *others) = proposed([drawn], lambda tried: {entry: Evidenced((alone,)) for entry in tried})
    assert first.program
    assert first.matches(alone)
    assert all(not entry.program for entry in others)


def test_two_findings_of_one_cause_get_one_entry():
    """After a backward they are told apart by what came before; an entry says no more than the cause."""
    script = "import torch\n\na = torch.ones((), requires_grad=True)\nb = a.{}()\nb.backward()\n"
    found = [
        replace(FINDING, fact="grad.value", ops=("torch.ones", op, "backward"), script=script.format(op))
        for op in ("exp", "sin")
    ]
    assert 1 == len(proposed(found, lambda tried: {entry: Evidenced(found[:1]) for entry in tried}))


def test_a_new_entry_is_shown_by_what_no_other_speaks_of():
    """Of two programs of one new cause, the first shows by itself what an entry speaks of already."""
    entry = Expectation(rule="view/shares-storage")
    new = [
        replace(EXPLAINED, where=f"program {number}", script=f"{FINDING.script}c = b.{op}()\n")
        for number, op in enumerate(("exp", "sin"))
    ]

    def show(tried):
        both = replace(EXPLAINED, explained_by=(RULE, entry.rule))
        return {each: Evidenced((both if "exp" in each.program else EXPLAINED,)) for each in tried}

    old = replace(EXPLAINED, explained_by=(entry.rule,))
    kept, added = updated([entry], {}, Tally(findings=(old, *new)), show)[0]
    assert entry == kept
    assert RULE == added.rule
    assert "b.sin()" in added.program


def test_a_rule_that_only_design_breaks_is_expected_and_never_held():
    """The one that something else breaks too is broken."""
    cases = [
        Witnessed("leaf/arithmetic_results_are_not_leaves", (RULE,), BROKEN),
        Witnessed("leaf/b", (RULE,), HELD),
    ]
    entry = replace(BY_RULE, program="")
    found = {}
    for name, findings in {"design": (CASE, EXPLAINED), "both": (CASE, EXPLAINED, FINDING)}.items():
        settled = settle([entry], {}, findings, over=False)
        found[name] = standing([RULE], Tally(findings=findings), settled, cases, limited=False)[RULE]
    assert (Status.EXPECTED, "every value is a leaf here") == (found["design"].status, found["design"].why)
    assert Status.BROKEN is found["both"].status


MET = report(
    by_design=(EXPLAINED,),
    expected=(Expected(FULL, programs=3, cases=1),),
    rules={RULE: replace(report().rules[RULE], status=Status.EXPECTED, why="so it is")},
)
UNMET = replace(MET, unmet=(Unmet(BY_RULE, "its program differs in nothing"),))


def test_what_is_expected_fails_nothing_and_what_is_not_found_does():
    assert [0, 1] == [MET.exit_code, UNMET.exit_code]


@pytest.mark.parametrize("value", [MET, UNMET])
def test_every_form_tells_expectations(value):
    """JSON by its schema, JUnit as skipped and failed tests, Markdown with the reason."""
    form = as_json.report_form(value)
    jsonschema.validate(form, json_form.schema("report"))
    assert {"held": 0, "expected": 1, "claimed": 1, "all": 1} == form["scores"]["bookkeeping"]
    junit = as_junit.render(value)
    assert bool(value.unmet) is ("<failure" in junit)
    assert 'type="expected"' in junit
    assert "https://example.org/1" in as_markdown.render(value)
