"""The command line as a user meets it: what it prints, what it exits with, that bad input is one clear line.

What a check finds is tested here through its JSON; how the report is built and shown is ``test_report``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree as Xml

import jsonschema
import pytest

from conformance.adapters import load
from conformance.execution import json_form
from conformance.execution.case import parse_case
from conformance.program.printing import to_text
from specs.case import cases
from specs.rule import RULES

SEGFAULTS = """
import os
import re, signal
from conformance.adapters.reference import Reference

class Segfaults(Reference):
    name = property(lambda self: "segfaults", lambda self, value: None)

    def resolve(self, op):
        if op in ("exp", "exp_", "torch.exp"):
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().resolve(op)

adapter = Segfaults()
"""
BREAKS = """
name, version = "breaks", "1"
def start(): pass
def perform(session, step, operands): return object()
def facts(session, value): raise KeyError("facts")
def refusal(error): return None
"""
PROGRAM = """
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.sum().backward()
x.add_(1.0)
"""
ALONE = ("--workers", "1")  # each process imports the implementation, and other tests keep it company


@pytest.fixture
def graded(cli, tmp_path):
    """Grades and gives exit code, report and printed text."""

    def call(*arguments: str) -> tuple[int, dict, str]:
        file = tmp_path / "report.json"
        code, out, err = cli("grade", *arguments, "--json", file)
        assert file.exists(), err
        report = json.loads(file.read_text(encoding="utf-8"))
        jsonschema.validate(report, json_form.schema("report"))
        assert code == report["exit_code"]
        return code, report, out

    return call


def statuses(report: dict) -> dict[str, int]:
    found = [rule["status"] for rule in report["rules"].values()]
    return {status: found.count(status) for status in found}


def test_torch_conforms(graded):
    """Real PyTorch is graded by the reference, and holds every rule but those it is on record as breaking."""
    code, report, _ = graded("torch", "--programs", "70", "--source", "prng")
    assert 0 == code
    assert "reference" == report["against"]
    departed = {rule.id for rule in RULES.values() if rule.departed_by(report["versions"]["torch"])}
    beyond = {rule for case in cases() if load("torch").beyond(case) for rule in case.rules}
    others = {rule: one["status"] for rule, one in report["rules"].items() if rule not in departed | beyond}
    assert {"held", "not exercised"} >= set(others.values())


def test_null_scores_about_nothing(graded, tmp_path):
    """An implementation that does nothing passes next to no rule, and is told so by its exit code and in each
    form.
    """
    junit, markdown = tmp_path / "report.xml", tmp_path / "summary.md"
    forms = ("--junit", junit, "--markdown", markdown)
    code, report, out = graded("null", "--programs", "20", "--source", "prng", *ALONE, *forms)
    assert 1 == code
    failures = [failure.get("type") for failure in Xml.parse(junit).iter("failure")]
    assert statuses(report)["broken"] == failures.count("broken") > 0
    assert markdown.read_text(encoding="utf-8").startswith("## null does not conform")
    assert 0 == report["totals"]["agree"]
    assert statuses(report).get("held", 0) <= len(report["rules"]) // 20
    assert "null does not conform" in out


def test_micrograd_diverges_with_a_script_that_runs(graded):
    """micrograd's backward overwrites the root's grad: the reduced script is short and runs by itself under
    torch.
    """
    code, report, _ = graded("micrograd", "--programs", "100", "--source", "prng", *ALONE)
    assert 1 == code
    drawn = [f for f in report["findings"] if f["where"].startswith("program") and f["fact"] == "grad.value"]
    found = min(drawn, key=lambda f: len(f["script"]))
    assert ["torch.tensor", "backward"] == found["ops"]
    assert "grad/accumulates" in found["because"]
    run = subprocess.run([sys.executable, "-c", found["script"]], capture_output=True, text=True, check=True)
    assert f"tensor({found['expected'].removesuffix('0')}" in run.stdout


def test_a_segfault_is_a_result(graded, tmp_path):
    """An implementation that kills its process is graded to the end; its death is a finding."""
    adapter = tmp_path / "segfaults.py"
    adapter.write_text(SEGFAULTS, encoding="utf-8")
    code, report, _ = graded(adapter, "--programs", "300", "--source", "prng", "--rules", "leaf/*", *ALONE)
    assert 1 == code
    assert 300 == report["totals"]["programs"]
    deaths = [finding for finding in report["findings"] if finding["actual"] == "crashed: SIGSEGV"]
    assert report["totals"]["diverge"] > 0
    assert any("exp" in finding["line"] for finding in deaths)


def test_an_adapter_that_breaks_its_contract_is_told_apart(cli, tmp_path):
    """An adapter whose own functions raise exits with 3, not as a nonconforming implementation."""
    adapter = tmp_path / "breaks.py"
    adapter.write_text(BREAKS, encoding="utf-8")
    code, out, err = cli("grade", adapter, "--programs", "20", "--source", "prng", *ALONE)
    assert 3 == code, err
    assert "KeyError" in out + err
    assert "Traceback" not in out + err


def test_fail_fast_stops_at_the_first_divergence(graded):
    """One finding is enough; what was not run is not counted."""
    code, report, _ = graded(
        "null", "--programs", "1000", "--source", "prng", "--rules", "leaf/*", "--fail-fast", *ALONE
    )
    assert 1 == code
    assert report["totals"]["programs"] < 100


def test_rules_narrow_what_is_reported(graded):
    """With a glob, only rules that match stand in the report, and only their cases run."""
    _, report, _ = graded("reference", "--programs", "0", "--rules", "leaf/*", *ALONE)
    assert {"leaf"} == {rule.partition("/")[0] for rule in report["rules"]}
    assert 0 < report["cases"]["held"] < 60


@pytest.mark.parametrize(
    ("code", "arguments", "words"),
    [
        (2, ["grade", "nope"], "no adapter 'nope'"),
        (2, ["grade", "no_such_module:adapter"], "no_such_module"),
        (2, ["grade", "missing.py"], "missing.py"),
        (3, ["grade", "raises.py"], "RuntimeError: boo"),
        (2, ["grade", "--rules", "nope/*"], "no rule matches"),
        (2, ["grade", "--json", "missing/report.json"], "no folder"),
        (2, ["grade", "--junit", "missing/report.xml"], "give another --junit"),
        (2, ["grade", "--markdown", "."], "is a folder"),
        (2, ["run", "missing.py"], "cannot read"),
        (2, ["run", "loop.py"], "line 2"),
        (2, ["run", "syntax.py"], "line 1"),
        (2, ["run", "empty.py"], "no step"),
        (2, ["run", "program.py", "--on", "nope"], "no adapter 'nope'"),
        (2, ["run", "program.py", "--density", "nope"], "no density"),
        (2, ["rules", "nope"], "no rule matches"),
        (2, ["observed", "--json", "missing/report.json"], "no folder"),
    ],
)
def test_bad_input_is_one_line_with_a_hint(cli, tmp_path, monkeypatch, code, arguments, words):
    """A mistake of the user gives one line that ends in a hint, and no traceback."""
    files = {"raises.py": "raise RuntimeError('boo')", "loop.py": "import torch\nfor i in range(3): pass"}
    files |= {"syntax.py": "x ==", "empty.py": "", "program.py": PROGRAM}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exited, out, err = cli(*arguments)
    assert (code, "", 1) == (exited, out, len(err.splitlines()))
    assert err.startswith("error: ")
    assert words in err
    assert "(hint: " in err
    assert "(hint: )" not in err


def test_options_out_of_range_are_bad_usage(cli):
    """The command line's own complaints exit with 2, as documented."""
    assert 2 == cli("grade", "--source", "dice")[0]
    assert 2 == cli("grade", "--programs", "-1")[0]


def test_run_shows_traces_side_by_side(cli, tmp_path):
    """Each step's outcome on each side, the facts that changed, and the rule behind a refusal."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    code, out, _ = cli("run", tmp_path / "program.py")
    assert 0 == code
    told = ("torch", "reference", "MulBackward0", "x.grad.value", "[3.0, 3.0]", "refused write/leaf-refused")
    for words in told:
        assert words in out


def test_run_shows_what_a_step_changes_elsewhere_in_a_long_program(cli, tmp_path):
    """A write through a view shows in its base at once, however much is live and was written before."""
    live = "".join(f"t{at} = torch.zeros(1)\n" for at in range(90))
    written = "t0.add_(1.0)\n" * 20 + "b = torch.zeros(1)\nv = b.view(1)\nv.add_(2.0)\nt1 = t1.neg()\n"
    (tmp_path / "long.py").write_text(f"import torch\n{live}{written}", encoding="utf-8")
    code, out, _ = cli("run", tmp_path / "long.py", "--on", "reference")
    at, after = out.index("v.add_(2.0)"), out.index("t1 = t1.neg()")
    assert (0, True) == (code, "b.value" in out[at:after])


def test_run_marks_differences(cli, tmp_path):
    """Traces that differ are marked, and the exit code says so too."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    code, out, _ = cli("run", tmp_path / "program.py", "--on", "reference,null")
    assert 1 == code
    assert any(line.startswith("!") for line in out.splitlines())


ROUNDS = """
import torch
a = torch.tensor([0.3, -1.7], requires_grad=True)
a.tanh().sigmoid().exp().sum().backward()
"""


def test_run_shows_how_far_values_are_apart_that_only_rounding_separates(cli, tmp_path):
    """`run` comes to what `grade` comes to: functions that round may differ within their bound."""
    (tmp_path / "program.py").write_text(ROUNDS, encoding="utf-8")
    code, out, _ = cli("run", tmp_path / "program.py")
    assert 0 == code
    assert not any(line.startswith(("!", "~")) for line in out.splitlines())
    assert "ulp)" in out


OFF = """
from conformance.adapters.reference import Reference

class Off(Reference):
    def __init__(self):
        super().__init__()
        self.name = "off"

    def resolve(self, op):
        found = super().resolve(op)
        return (lambda x: found(x) * 1.001) if op == "exp" else found

adapter = Off()
"""


def test_run_finds_a_value_that_is_off_by_more_than_rounding(cli, tmp_path):
    """The program whose exponential is a thousandth too large does not come to the same."""
    (tmp_path / "program.py").write_text(ROUNDS, encoding="utf-8")
    (tmp_path / "off.py").write_text(OFF, encoding="utf-8")
    code, out, _ = cli("run", tmp_path / "program.py", "--on", f"torch,{tmp_path / 'off.py'}")
    assert 1 == code
    marked = [line.split()[1] for line in out.splitlines() if line.startswith("!")]
    assert any(label.endswith(".value") for label in marked)
    assert "_3.value" not in marked


def test_run_tells_a_divergence_that_is_on_record(cli, tmp_path):
    """If torch breaks a rule and this is on record, the line is marked and nobody is blamed."""
    torch = load("torch")
    on_record = (case for case in cases() if case.departed_by(torch.version) and case.is_program)
    case = next(case for case in on_record if case.devices <= torch.count)
    (tmp_path / "program.py").write_text(to_text(parse_case(case).program), encoding="utf-8")
    code, out, _ = cli("run", tmp_path / "program.py")
    assert 0 == code
    assert "known divergence: torch breaks " in out
    assert any(line.startswith("~") for line in out.splitlines())


def test_the_versions_are_told(cli):
    """Of the suite and of what it grades with, in a line."""
    code, out, _ = cli("--version")
    told = [part.split()[0] for part in out.split(", ")]
    assert (0, ["autograd-conformance", "torch", "numpy", "hypothesis"]) == (code, told)


def test_rules_are_listed_and_shown(cli):
    """A list has a line a rule; one rule has its statement, citations, cases and how often it fires."""
    assert "leaf/op-result-is-no-leaf" in cli("rules")[1]
    code, out, _ = cli("rules", "leaf/op-result-is-no-leaf", "--programs", "20")
    assert 0 == code
    for words in ("cites", "catches", "fires", "of 20 drawn programs", "def ", "torch."):
        assert words in out


def test_rules_that_never_fire_are_listed_with_the_reason(cli):
    """A rule that no program reaches is listed with the reason, and one that programs reach is not."""
    code, out, _ = cli("rules", "leaf/*", "--never-fired", "--programs", "60")
    assert 0 == code
    assert "leaf/op-result-is-no-leaf" not in out
    code, out, _ = cli("rules", "op/single-rows-fold", "--never-fired", "--programs", "2")
    assert "not in force for torch" in out
    assert "1 of 1 rules never fire in 2 programs" in out
