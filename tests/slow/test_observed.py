"""Programs that depend on being looked at: found, explained by rules, and told; a wrong reference explains
none.

What a density is belongs to ``test_run``.
"""

from __future__ import annotations

import json
import re
import sys

import jsonschema
import pytest

from conformance.comparison.compare import Agree, compare
from conformance.comparison.known_crashes import records
from conformance.execution import json_form
from conformance.execution.isolate import Died
from conformance.generate.guide.guide import Drawn
from conformance.grading.campaign import Chunk
from conformance.grading.chunks import _crash, _death_again
from conformance.grading.isolated import run_isolated
from conformance.grading.participants import REFERENCE, TORCH
from conformance.observer_effect import campaign as search
from conformance.observer_effect.campaign import ObserverEffects, kinds, to_finding
from conformance.observer_effect.examine import (
    at_any_density,
    examine,
    reading_behind,
    rules_behind,
    run_both,
    traces_on,
    with_reading,
)
from conformance.program import Program
from conformance.program.parsing import parse
from conformance.program.printing import to_text
from conformance.report import as_json
from conformance.report.observed import Observed
from conformance.report.value import Crash, Totals, Verdict
from specs.active_rules import knocked_out

LEAF = """
import torch

x = torch.tensor([1.0], requires_grad=True)
b = torch.tensor([1.0, 1.0])
v = b[:1]
b.mul_(x)
v.mul_(2.0)
u = x + 1.0
"""
"""A write to a stale view: refused unless the view's history was read since it went stale."""

RETAINED = """
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
v = y.view(2)
v.retain_grad()
z = (v * 3.0).sum()
with torch.no_grad():
    y.mul_(2.0)
z.backward()
"""
"""Reading a view's history moves its retained grad there, and the older graph then fills nothing."""

ORDINARY = """
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
v = y.view(2)
y.mul_(3.0)
w = x * 4.0
(w * 5.0).sum().backward()
with torch.no_grad():
    x.sub_(x.grad)
x.add_(1.0)
"""
"""Stale views are read, a write is refused, and nothing comes of looking but the age of a node."""

DIES = """
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.mul(2.0)
y.retain_grad()
y.detach_()
y.mul_(x)
"""
"""A program that torch does not survive, whatever is looked at."""


@pytest.mark.parametrize(
    ("text", "fact", "rules"),
    [
        (LEAF, "outcome", {"view/stale-regenerates", "view/unread-passes-for-a-leaf", "write/leaf-refused"}),
        (RETAINED, "grad", {"retain/fills-grad", "retain/moves-with-write", "view/stale-regenerates"}),
    ],
)
def test_a_program_that_depends_is_found_and_explained(text, fact, rules):
    """Torch differs from itself, the reference from itself in the same way, and rules say why."""
    program = parse(text)
    found = examine(program)
    assert found is not None
    assert (None, fact) == (found.unexplained, found.first.fact)
    assert rules == set(rules_behind(program, found, reading_behind(program, found)))
    assert rules <= set(rules_behind(program, found, None))


def test_an_ordinary_program_does_not_depend():
    """Refusals and views that are brought up to date alone are no reason to report a program."""
    assert examine(parse(ORDINARY)) is None


def test_the_age_of_a_history_that_looking_makes_is_not_compared():
    """A view read at once has an older node than one read in the end, which is nothing that came of it."""
    traces = traces_on(TORCH, parse(ORDINARY))
    early, late = (traces[density].topology for density in ("each", "end"))
    assert early != late
    assert isinstance(compare(*(at_any_density(traces[density]) for density in ("each", "end"))), Agree)


def test_a_reference_without_the_rule_explains_nothing():
    """A mutant that brings views up to date when they are written does otherwise than torch unlooked at."""
    program = parse(LEAF)
    with knocked_out("view/unread-passes-for-a-leaf"):
        found = examine(program)
        assert found is not None
        assert found.unexplained is not None
        density, judgement = found.unexplained
        assert "each" != density
        assert judgement.first is not None
        assert "v.mul_(2.0)" in to_text(program).splitlines()[2 + judgement.first.step]


def test_one_reading_makes_the_difference():
    """The last step after which a reading changes what comes out is found, and torch agrees."""
    program = parse(LEAF)
    found = examine(program)
    assert found is not None
    reading = reading_behind(program, found)
    assert (3, "v") == reading
    first = run_both(TORCH, program, found.densities, reading).first
    assert first is not None
    assert "outcome" == first.fact
    assert "v.grad_fn" == to_text(with_reading(program, reading)).splitlines()[6]


def looks(*texts: str) -> ObserverEffects:
    """The counts after programs of these texts."""
    sums = ObserverEffects(Chunk(TORCH, REFERENCE, "prng", 0, 0, len(texts)))
    for number, text in enumerate(texts):
        sums.program(number, Drawn(parse(text), "each", "exact"))
    return sums


def test_what_is_found_is_reduced_and_counted_by_kind():
    """Programs of one kind are told once, by the shortest script."""
    tally = looks(ORDINARY, LEAF, RETAINED, LEAF.replace("u = x + 1.0\n", "w = torch.ones((2,))\n")).tally()
    t = tally.totals
    assert (4, 1, 3, 0, 0) == (t.programs, t.agree, t.known, t.diverge, t.crashed)
    found = kinds([*tally.findings])
    assert [2, 1] == [kind.alike for kind in found]
    leaf, retained = found
    assert "u = " not in leaf.script
    assert search.OBSERVED == leaf.sides == retained.sides
    assert ("done", "refused write/leaf-refused") == (leaf.expected, leaf.actual)


def test_the_script_shows_both_ways(capsys):
    """The script runs by itself under torch, and prints something else without the reading."""
    (finding,) = looks(RETAINED).tally().findings
    unread = "\n".join(line for line in finding.script.splitlines() if not line.endswith(".grad_fn"))

    def says(script: str) -> str:
        exec(script, {})
        return capsys.readouterr().out

    assert says(finding.script) == "None\n" != says(unread)


def test_what_a_wrong_reference_does_not_explain_is_a_finding():
    """The program counts as diverging; the finding shows what torch does and what the reference does."""
    with knocked_out("view/unread-passes-for-a-leaf"):
        tally = looks(LEAF).tally()
    assert (0, 1) == (tally.totals.known, tally.totals.diverge)
    (finding,) = tally.findings
    assert finding.blames is Verdict.NONCONFORMANCE
    assert ("torch", "reference") == finding.sides


def test_a_crash_on_record_is_counted_as_one():
    """A program that kills torch at some density has crashed; it does not depend on being observed."""
    tally = looks(DIES).tally()
    assert (1, 1) == (tally.totals.programs, tally.totals.crashed)
    assert all(crash.known for crash in tally.crashes)


def crash_of(program: Program) -> Crash:
    """The crash that is told of a program of which torch died."""
    died = Died("SIGSEGV", program, 0)
    chunk = Chunk(TORCH, REFERENCE, "prng", 0, 0, 1)
    (crash,) = _crash(chunk, died, TORCH, _death_again(died, TORCH)).crashes
    return crash


def test_what_dies_unlooked_at_alone_is_cut_where_it_dies():
    """Looked at after each step the program lives; the crash is told up to the step that dies else."""
    (record,) = (known for known in records() if known.issue.endswith("/196459"))
    program = parse(f"{record.program}z = x + 1.0\n")
    assert run_isolated(program, TORCH).crashed is None
    crash = crash_of(program)
    assert record.issue == crash.known
    assert "y.register_hook(None)" == crash.script.splitlines()[-1]


def test_an_error_before_the_death_is_not_taken_for_it():
    """An internal assertion fails at one step and the process dies at a later one: that is the crash."""
    deadly = next(known for known in records() if known.issue.endswith("/196459"))
    failing = next(known for known in records() if known.issue.endswith("#L199"))
    first = re.sub(r"\bx\b", "a", failing.program).replace("y =", "c =")
    program = parse(f"{first}{deadly.program.replace('import torch', '')}")
    crash = crash_of(program)
    assert deadly.issue == crash.known
    assert "y.register_hook(None)" == crash.script.splitlines()[-1]


def test_told_by_densities_where_no_single_reading_does():
    """A reading that would kill torch is not tried: the finding then names the densities."""
    program = parse(LEAF)
    found = examine(program)
    assert found is not None
    told = to_finding("here", program, found, lambda longer: True)
    assert ("each", "end") == told.sides
    assert "grad_fn" not in told.script


def test_json_keeps_to_its_schema():
    """Kinds, findings and crashes are what the published schema says, and nothing else is."""
    explained = looks(LEAF, RETAINED, DIES).tally()
    with knocked_out("view/unread-passes-for-a-leaf"):
        found = looks(LEAF).tally().findings
    broken = ("no facts",)
    totals, crashes = explained.totals, explained.crashes
    full = Observed(
        5, "prng", {"torch": "2.13.0"}, totals, kinds([*explained.findings]), found, crashes, broken
    )
    assert full.kinds
    assert full.unexplained
    assert full.crashes
    schema = json_form.schema("observed")
    jsonschema.Draft202012Validator.check_schema(schema)
    for one in (full, Observed(0, "hypothesis", {}, Totals())):
        jsonschema.validate(json.loads(as_json.render_observed(one)), schema)
    for spoil in ({"total": {}}, {"exit_code": 4}, {"kinds": [{"where": "here"}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(as_json.render_observed(full)) | spoil, schema)


def test_the_schemas_describe_findings_and_crashes_alike():
    """``observed.schema.json`` and ``report.schema.json`` describe findings and crashes alike."""
    parts = json_form.schema("report")["properties"]
    assert json_form.schema("observed")["$defs"] == {
        "finding": parts["findings"]["items"],
        "crash": parts["crashes"]["items"],
    }


def test_the_command(monkeypatch, capfd, tmp_path):
    """The command prints the kinds and their counts, writes JSON, and exits with 0 if all is explained."""
    from conformance.cli import main

    file = tmp_path / "observed.json"
    arguments = ["observed", "--programs", "100", "--seed", "5", "--workers", "1", "--json", str(file)]
    monkeypatch.setattr(sys, "argv", ["autograd-conformance", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    out = capfd.readouterr().out
    report = json.loads(file.read_text(encoding="utf-8"))
    assert (0, 0, []) == (exit_.value.code, report["exit_code"], report["unexplained"])
    jsonschema.validate(report, json_form.schema("observed"))
    t = report["totals"]
    assert 100 == t["programs"] == t["agree"] + t["known"] + t["incomparable"] + t["crashed"]
    assert "0 unexplained" in out
