"""Every case holds on real torch and on the reference, and the list of cases is whole.

How a case reads as a Program is tested with ``conformance.execution.case``, what knocking out a rule does in
``test_ties``.
"""

from __future__ import annotations

import ast
import runpy
import warnings
from pathlib import Path

import pytest
import torch

import reference_impl
from conformance.adapters import load
from specs.case import CASES_DIR, Case, cases, plain_state, run_case
from specs.rule import RULES
from together import together

NAMESPACES = {"torch": torch, "reference": reference_impl}
TORCH = load("torch")
CALLING_OTHERS = [
    case
    for case in cases()
    if case.calls_others and case.holds_for(torch.__version__) and not case.departed_by(torch.__version__)
]
SEEDS = (
    "000_725a8afb72183ef2.txt",
    "001_ab61d14c9099960f.txt",
    "002_5576f5c856adb572.txt",
    "003_08ed0c2a945abd78.txt",
    "004_fc81070469924520.txt",
)

# Nothing in a case branches or repeats, for it is read as a Program as well.
STRAIGHT_LINE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Assert, ast.With, ast.Delete)


def place(name: str, case: Case) -> str:
    """The chapter of a case; apart on a device that stands for `cuda`, and where it cannot run at all."""
    if name != "torch":
        return f"{name}-{case.chapter}"
    lacking = TORCH.beyond(case) and "-lacking"
    return f"{name}-{case.chapter}{'-device' if case.devices else ''}{lacking}"


@together(
    "name, case",
    [(name, case) for name in NAMESPACES for case in cases() if case.holds_for(torch.__version__)],
    by=lambda row: place(*row),
    row_id=lambda row: f"{row[0]}-{row[1].id}",
    marks=lambda row: [pytest.mark.device] if row[0] == "torch" and row[1].devices else [],
)
def test_case_holds(name: str, case: Case) -> None:
    """The case runs as it stands, and each of its expectations is met, if this torch knows its rules.

    Where it is on record as departing from one, it does.
    """
    if name == "torch" and (beyond := TORCH.beyond(case)):
        pytest.skip(beyond)
    result = run_case(case, NAMESPACES[name], cuda=TORCH.stands_for_cuda if name == "torch" else "cuda")
    departs = name == "torch" and case.departed_by(torch.__version__)
    assert result.passed is not departs, str(result)


def test_every_module_has_cases() -> None:
    """A module without cases is a chapter that nobody runs."""
    modules = {path.stem for path in CASES_DIR.glob("[!_]*.py")}
    assert modules == {case.chapter for case in cases()}
    assert len(cases()) >= 200


def test_a_case_is_the_text_of_its_function() -> None:
    """Files are read without being parsed, and their syntax trees say the same."""
    for path in CASES_DIR.glob("[!_]*.py"):
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        parsed = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        told = [
            (each.name, each.lineno, "\n".join(lines[each.lineno - 1 : each.end_lineno])) for each in parsed
        ]
        found = [(case.name, case.line, case.text) for case in cases() if case.path == path]
        assert found == [each for each in told if not each[0].startswith("_")]


def test_case_ids_are_unique() -> None:
    """A second function of the same name would hide the first."""
    ids = [case.id for case in cases()]
    assert sorted(set(ids)) == sorted(ids)


@together("case", cases(), by=lambda case: case.chapter, row_id=lambda case: case.id)
def test_case_is_well_formed(case: Case) -> None:
    """A case says what it holds, names known rules and seeds, and is straight-line with an expectation."""
    assert case.truth.endswith((".", '".')), case.truth
    assert case.rules, "names no rule"
    assert set(case.rules) <= set(RULES)
    assert set(case.seeds) <= set(SEEDS)
    (function,) = ast.parse(case.text).body
    assert isinstance(function, ast.FunctionDef)
    assert not function.args.args
    expectations = 0
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function:
            assert isinstance(node, STRAIGHT_LINE), f"line {node.lineno}: {type(node).__name__}"
        if isinstance(node, ast.With):
            called = node.items[0].context_expr
            if isinstance(called, ast.Call) and getattr(called.func, "id", "") in ("refused", "warned"):
                assert len(node.body) == 1, f"line {node.lineno}: more than one line is expected to fail"
                expectations += 1
        expectations += isinstance(node, ast.Assert)
    assert expectations


def test_expected_refusals_are_named_by_the_docstring_or_known() -> None:
    """`refused` and `warned` name rules of the right kind."""
    for case in cases():
        for node in ast.walk(ast.parse(case.text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("refused", "warned"):
                (argument,) = node.args
                assert isinstance(argument, ast.Constant)
                rule = RULES[argument.value]
                assert rule.refuses if node.func.id == "refused" else rule.warns, f"{case.id}: {rule.id}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_seed_document_is_cited(seed: str) -> None:
    """Each document has cases, and what waits is listed with what it waits for."""
    assert [case.id for case in cases() if seed in case.seeds]


WRONG_CASES = """import torch

def wrong_value():
    x = torch.tensor([1.0])
    assert x.tolist() == [2.0]

def wrong_rule():
    x = torch.tensor([1.0])
    with refused("grad/assign-self"):
        x.backward()

def no_refusal():
    x = torch.tensor([1.0])
    with refused("grad/assign-self"):
        x.tolist()

def no_warning():
    x = torch.tensor([1.0])
    with warned("grad/non-leaf-read-warns"):
        x.grad

def surprise():
    x = torch.tensor([1.0])
    x.backward()
"""


def test_a_wrong_expectation_fails_with_its_line(tmp_path) -> None:
    """The runner reports the line that did not do as it says, for assertions, refusals and surprises."""
    (tmp_path / "wrong.py").write_text(WRONG_CASES, encoding="utf-8")
    results = {case.name: run_case(case, torch, tmp_path) for case in cases(tmp_path)}
    assert not any(result.passed for result in results.values())
    assert {name: result.line for name, result in results.items()} == {
        "wrong_value": 5,
        "wrong_rule": 9,
        "no_refusal": 14,
        "no_warning": 19,
        "surprise": 24,
    }
    assert "backward/root-needs-grad" in str(results["wrong_rule"])


def test_a_chapter_that_cannot_be_read_with_a_namespace_fails_its_cases(tmp_path) -> None:
    (tmp_path / "above.py").write_text(
        'import torch\nclass Own(torch.absent): ...\ndef case():\n    """Rule: leaf/made-here."""\n',
        encoding="utf-8",
    )
    (case,) = cases(tmp_path)
    result = run_case(case, torch, tmp_path)
    assert (2, "class Own(torch.absent): ...", False) == (result.line, result.source, result.passed)
    assert "absent" in (result.why or "")


def test_a_case_leaves_grad_mode_as_it_was(tmp_path) -> None:
    """A case that switches grad mode off and fails does not spoil the next."""
    (tmp_path / "off.py").write_text(
        "def off():\n    torch.set_grad_enabled(False)\n    assert torch is None\n", encoding="utf-8"
    )
    (case,) = cases(tmp_path)
    assert not run_case(case, torch, tmp_path).passed
    assert torch.is_grad_enabled()


@together("case", CALLING_OTHERS, by=lambda case: place("torch", case), row_id=lambda case: case.id)
def test_a_case_that_calls_others_runs_by_itself(case: Case, tmp_path: Path) -> None:
    """The script that a finding prints holds what the case needs of its chapter."""
    if beyond := TORCH.beyond(case):
        pytest.skip(beyond)
    script = tmp_path / "case.py"
    script.write_text(case.script, encoding="utf-8")
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(action="ignore"):
            runpy.run_path(str(script))
    finally:
        torch.set_warn_always(before)


def test_a_case_that_is_left_in_inference_mode_leaves_it() -> None:
    """The next one begins outside, whatever still holds the mode."""
    with plain_state(torch):
        entered = torch.inference_mode()
        entered.__enter__()
    assert not torch.is_inference_mode_enabled()
    del entered
    assert torch.is_grad_enabled()
