"""Holding an implementation against recordings: what is found, and whom it blames.

The form of recordings and those in place are ``test_recorded``.
"""

from __future__ import annotations

import ast
import functools
import json
import operator
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

import conformance
from conformance import adapters
from conformance.adapters.torch import DEVICE_VARIABLE
from conformance.cli import main
from conformance.comparison.judge import Decision
from conformance.execution import json_form
from conformance.recordings import replay
from conformance.recordings.format import _structure, digest, in_place, parse_recording, read_recording
from conformance.recordings.seal import sealed, to_line, unsealed
from specs.case import cases

ROOT = Path(__file__).parents[2]
CPU = next(path for path in in_place() if read_recording(path).origin.device == "cpu")


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """Some lines of the recording of the CPU."""
    head, *lines = CPU.read_text(encoding="utf-8").splitlines(keepends=True)
    chosen = [line for line in lines if line.startswith(('{"case":"version/', '{"case":"anomaly/'))]
    chosen += [line for line in lines if line.startswith('{"program":')][:6]
    file = tmp_path_factory.mktemp("recorded") / "small.jsonl"
    file.write_text("".join(sealed([head, *chosen])), encoding="utf-8")
    return file


@pytest.fixture
def cli(monkeypatch, capfd, tmp_path):
    """Calls the command line in this process; gives exit code, report (if any), output and errors."""

    monkeypatch.setenv(DEVICE_VARIABLE, "auto")  # what the verb sets is undone

    def call(*arguments: Any) -> tuple[int, dict[str, Any], str, str]:
        file = tmp_path / "report.json"
        arguments = ("grade", *arguments, "--workers", 1, "--json", file)
        monkeypatch.setattr(sys, "argv", ["autograd-conformance", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        said = capfd.readouterr()
        report = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        if report:
            jsonschema.validate(report, json_form.schema("report"))
        return int(exit_.value.code or 0), report, said.out, said.err

    return call


def test_the_report_names_its_recordings(cli, small):
    """The report counts the recordings' cases and programs, and says where they come from."""
    code, report, out, _ = cli("--recording", small)
    assert (0, "recorded", "recorded") == (code, report["against"], report["source"])
    (used,) = report["recordings"]
    origin = read_recording(small).origin
    assert (origin.torch, "cpu", 6, 0) == (used["torch"], used["device"], used["programs"], used["stale"])
    assert used["cases"] == len(read_recording(small).cases) == report["cases"]["held"]
    assert 6 == report["totals"]["programs"]
    assert "held" == report["rules"]["version/write-bumps"]["status"]
    assert f"recorded  torch {origin.torch} (cpu)" in out


def test_what_is_on_record_runs_once(cli, small):
    """An implementation with devices is held to the programs on record, not to the same on a device."""
    _, report, _, _ = cli("torch", "--recording", small)
    assert (6, 0) == (report["totals"]["programs"], report["totals"]["placed"])


def spoiled(small: Path, to: Path, change: Any) -> Path:
    """A copy of a recording whose lines are changed by ``change``."""
    forms = parse_recording(small.name, small.read_bytes())
    for form in forms:
        change(form)
    to.write_text("".join(sealed(map(to_line, forms))), encoding="utf-8")
    return to


def test_one_fact_that_differs_is_found(cli, small, tmp_path):
    """In the trace of a case, of a program, or in what a case came to: where the reference does not do as
    recorded the suite is at fault.
    """

    def change(form: dict[str, Any]) -> None:
        if form.get("case") == "version/detach_shares_the_counter":
            next(iter(form["steps"][0]["seen"].values()))["output_nr"] = 7
        if form.get("program") == 3:
            next(iter(form["steps"][-1]["seen"].values()))["version"] = 77
        if form.get("case") == "anomaly/nan_may_pass":
            form["status"] = "broken"

    code, report, _, _ = cli("--recording", spoiled(small, tmp_path / "spoiled.jsonl", change))
    assert (4, "broken suite") == (code, report["verdict"])
    found = {each["where"]: (each["fact"], each["blames"]) for each in report["findings"]}
    assert {
        "case version/detach_shares_the_counter of spoiled": ("output_nr", "broken suite"),
        "case anomaly/nan_may_pass": ("case", "broken suite"),
        "program 3 of spoiled": ("version", "broken suite"),
    } == found


def leaves(form: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to everything in a JSON value that holds nothing more, but to what is unseen or no number."""
    if isinstance(form, dict | list):
        for key, held in form.items() if isinstance(form, dict) else enumerate(form):
            if key not in ("unseen", "float"):
                yield from leaves(held, (*path, key))
    else:
        yield path


def test_whatever_is_changed_in_a_trace_is_found():
    """No part of what is on record goes uncompared: one leaf changed in each of a hundred lines shows."""
    random, recording = Random(0), read_recording(CPU)
    forms = [form for form in (*recording.cases.values(), *recording.programs.values()) if "script" in form]

    def judged(form: dict[str, Any]) -> Decision:
        trace = recording.trace(form)
        return (
            replay.participants_for("reference", recording, trace)
            .judged(trace.program, trace.density)
            .found.decision
        )

    unnoticed = []
    with adapters.load("reference").modelling(recording.origin.release):
        for form in random.sample([form for form in forms if judged(form) is Decision.AGREE], 100):
            changed = json.loads(json.dumps({"steps": form["steps"], "wiring": form["wiring"]}))
            *way, last = random.choice(list(leaves(changed)))
            held = functools.reduce(operator.getitem, way, changed)
            was = held[last]
            held[last] = not was if isinstance(was, bool) else f"{was}x" if isinstance(was, str) else 77
            if judged(form | changed) is not Decision.SUITE:
                unnoticed.append((form, way, last))
    assert [] == unnoticed


def test_an_implementation_is_blamed_for_its_own(cli, small):
    """An implementation that differs where the reference matches the recording does not conform."""
    code, report, _, _ = cli("null", "--recording", small)
    assert 1 == code
    assert {"nonconformance"} == {each["blames"] for each in report["findings"]}
    assert report["cases"]["broken"]


def test_another_text_is_stale(cli, small, tmp_path):
    """A case that has changed since is passed over and counted, be it a program or not."""

    def change(form: dict[str, Any]) -> None:
        if form.get("case") == "version/detach_shares_the_counter":
            form["script"] = form["script"].replace("import torch\n", "import torch\nz = torch.ones(1)")
        if form.get("case") == "anomaly/nan_may_pass":
            form["of"] = "0" * 12
        if form.get("case") == "version/writes_bump_in_every_mode":
            form["case"] = "version/that_was_there_once"

    code, report, out, _ = cli("--recording", spoiled(small, tmp_path / "stale.jsonl", change))
    assert (0, 3) == (code, report["recordings"][0]["stale"])
    assert "record again" in out


def test_a_digest_tells_texts_apart_but_not_layouts():
    """A docstring may be mended without recording again."""
    case = cases()[0]
    mended = replace(case, text=case.text.replace('"""', '"""Mended. ', 1) + "  # as it was\n")
    assert digest(case) == digest(mended) != digest(cases()[1])


def test_a_digest_is_the_same_on_every_python():
    """A recording is made on one and read on another; fields that are empty do not show."""
    assert "Module(body=[FunctionDef(name='f', args=arguments(), body=[Pass()])])" == _structure(
        ast.parse("def f(): pass")
    )


def test_no_torch_is_needed(small, tmp_path):
    """Without torch, an implementation is graded by the recordings."""
    (tmp_path / "torch.py").write_text("raise ImportError('there is no torch')\n", encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-m", "conformance", "grade", "--recording", str(small), "--workers", "1"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert 0 == found.returncode, found.stderr
    assert "reference conforms" in found.stdout


def test_one_release_is_modelled_at_a_time(small):
    """The reference is that of the recording's release, and afterwards what it was."""
    reference = adapters.load("reference")
    before = reference.version
    with reference.modelling("2.15.0"):
        assert "torch 2.15.0" in reference.version
    report = conformance.check("reference", against="recorded", recordings=[small], workers=1)
    assert f"(torch {read_recording(small).origin.release})" in report.subject.version
    assert before == reference.version


BAD = {
    "no JSON": ("{", "does not begin as a recording does"),
    "another format": ('{"format":0}\n', "record again"),
    "nothing": ("", "does not begin as a recording does"),
    "cut": (None, "damaged"),
    "no origin": (None, "required"),
    "an unknown fact": (None, "Additional properties"),
    "a case twice": (None, "twice"),
    "a step too many": (None, "steps are on record"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_recording_is_one_clear_line(cli, small, tmp_path, what):
    """An unusable file gives one line that says why, and what a recording is."""
    text, words = BAD[what]
    lines = unsealed(small.name, small.read_bytes())
    if text is None:
        program = json.loads(lines.pop())
        broken = json.loads(json.dumps(program))
        if what == "an unknown fact":
            broken["steps"][0]["seen"] = {"x": {"leaf": True}}
        elif what == "a step too many":
            broken["steps"].append({})
        elif what == "no origin":
            lines = ['{"format":2,"torch":"2.13.0"}\n']
        lines += [to_line(broken)] * (2 if what == "a case twice" else 1)
        text = "".join(sealed(lines))
    if what == "cut":
        text = "".join(lines)
    file = tmp_path / "bad.jsonl"
    file.write_text(text, encoding="utf-8")
    code, _, _, err = cli("--recording", file)
    assert 2 == code
    assert words in err
    assert err.startswith("error: ")
    assert 1 == len(err.splitlines())


@pytest.mark.parametrize(
    "arguments",
    [
        ("--recording", "nowhere.jsonl"),
        ("--against", "torch", "--recording", "x.jsonl"),
        ("--against", "recorded", "--programs", "5"),
        ("--against", "recorded", "--seed", "5"),
    ],
)
def test_what_does_not_go_together_is_one_clear_line(cli, arguments):
    """Options that do not go together give one clear line."""
    code, _, _, err = cli(*arguments)
    assert 2 == code
    assert err.startswith("error: ")
