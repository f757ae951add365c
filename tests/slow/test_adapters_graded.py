"""Not claimed is not convicted: implementations that do as PyTorch does, as far as they go, conform."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest

from conformance import adapters, check
from conformance.adapters import standin
from conformance.adapters.capabilities import DEVICE_VARIABLE
from conformance.cli.loading import load_adapter
from conformance.cli.trouble import Trouble
from conformance.grading.campaign import Chunk
from conformance.grading.cases import run_case_on
from conformance.grading.check import despite_divergence
from conformance.report.value import BROKEN, HELD, Status, Verdict
from graded_here import judged_chunk
from specs.case import cases

FOLDER = Path(__file__).parents[1] / "adapters"
PROGRAMS = 30

LEAST_HELD = {
    "torch_shaped": 600,
    "plain_torch": 500,
    "without_inplace": 300,
    "without_optim_and_nn": 500,
    "float32_only": 400,
    "scalars_only": 30,
    "other_errors": 500,
    "without_errors": 250,
    "blind": 1,
}
"""The adapters, and how many cases they hold at least: what is claimed is judged."""


@pytest.fixture(params=LEAST_HELD, scope="module")
def named(request: pytest.FixtureRequest) -> str:
    """The name of each adapter."""
    return str(request.param)


@pytest.fixture(autouse=True)
def _warnings_as_they_were():
    with warnings.catch_warnings():
        yield


def test_no_case_breaks(named: str) -> None:
    """A case holds, or the adapter has said that it lacks what the case needs."""
    adapter = adapters.load_here(str(FOLDER / f"{named}.py"))  # as ever, but for the way between processes
    release = adapters.load("reference").torch
    chosen = [case for case in cases() if case.holds_for(release)]
    results = [(case, run_case_on(case, adapter)) for case in chosen]
    judged = [despite_divergence(r, named) if c.departed_by(release) else r for c, r in results]
    assert [] == [(r.case, r.line, r.why, r.adapter) for r in judged if r.status == BROKEN or r.adapter]
    assert LEAST_HELD[named] <= Counter(r.status for r in judged)[HELD]


@pytest.mark.parametrize("against", ["reference", "torch"])
def test_no_program_diverges(named: str, against: str) -> None:
    """Programs keep to what is claimed, and what is not there ends the comparison."""
    tally = judged_chunk(Chunk(str(FOLDER / f"{named}.py"), against, "prng", 4, 0, PROGRAMS))
    assert () == tally.broken
    assert [] == [(f.where, f.line, f.fact, f.expected, f.actual) for f in tally.findings]
    assert 0 == tally.totals.crashed
    least = PROGRAMS // 3 if named == "without_optim_and_nn" else PROGRAMS // 2
    assert tally.totals.agree + tally.totals.known >= least
    foreign = [why for why in tally.incomparable if named != "without_optim_and_nn"]
    assert [] == foreign, "something was drawn that the adapter does not claim"


def in_a_process(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the command in a process of its own."""
    command = [sys.executable, "-m", "conformance", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("name", "elsewhere"), [("torch_shaped", True), ("plain_torch", False)])
def test_a_device_asked_for_convicts_nobody_without_one(name, elsewhere, cli, monkeypatch) -> None:
    """Beside a torch with the stand-in, an adapter without devices gets no program on them."""
    monkeypatch.setenv(DEVICE_VARIABLE, standin.NAME)
    if not elsewhere and adapters.load("torch").device != standin.NAME:
        pytest.skip("there is no stand-in here")
    options = ["--device", "standin", "--no-cases", "--programs", "10", "--source", "prng", "--workers", "1"]
    run = in_a_process if elsewhere else cli
    code, out, err = run("grade", str(FOLDER / f"{name}.py"), *options)
    if code == int(Verdict.BAD_USAGE):
        pytest.skip(err.strip())
    assert 0 == code, out + err
    assert "0 diverge" in out


BROKEN_ADAPTERS = {
    "features={'inplaces'}": (2, "did you mean 'inplace'?"),
    "ops=frozenset()": (3, "the capabilities claim no ops"),
}


@pytest.mark.parametrize(("claim", "code", "problem"), [(k, *v) for k, v in BROKEN_ADAPTERS.items()])
def test_a_wrong_claim_ends_with_its_exit_code(claim: str, code: int, problem: str, tmp_path: Path) -> None:
    """One line says what is wrong."""
    mine = tmp_path / "mine.py"
    text = "from conformance.adapters.capabilities import Capabilities\ncapabilities = Capabilities({})\n"
    mine.write_text(text.format(claim), encoding="utf-8")
    with pytest.raises(Trouble) as caught:
        load_adapter(str(mine))
    assert code == int(caught.value.code)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


AT_FAULT = """
from conformance.adapters.micrograd import Micrograd, load

class Faulty(Micrograd):
    def __init__(self):
        self.__dict__ |= load().__dict__

    def facts(self, session, value):
        if value.data == 4.0:
            raise KeyError("four")
        return super().facts(session, value)

adapter = Faulty()
"""


def test_a_fault_of_the_adapter_breaks_no_rule(tmp_path: Path) -> None:
    """An error against its contract ends the check as a broken adapter, and says nothing about PyTorch."""
    mine = tmp_path / "mine.py"
    mine.write_text(AT_FAULT, encoding="utf-8")
    report = check(str(mine), programs=5, rules="grad/*", workers=1)
    assert int(Verdict.BROKEN_ADAPTER) == report.exit_code
    assert ["KeyError: 'four'"] == [said.partition(": ")[2] for said in report.broken]
    assert ((), ()) == (report.broken_rules, report.findings)
    assert 0 == report.cases["broken"]
    assert 0 == report.count(Status.BLOCKED)
    assert "the adapter is at fault" in {rule.why for rule in report.rules.values()}
    assert "the adapter lacks what the rule speaks of" not in {rule.why for rule in report.rules.values()}
