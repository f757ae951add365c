"""Recordings: their form, how they are made, and that those in place are what the reference does, the second
of the four ties of every rule.

What holding an implementation against one finds is ``test_replay``.
"""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given

import conformance
from conformance import adapters
from conformance.adapters.torch import DEVICE_VARIABLE, _driver
from conformance.cli import main
from conformance.cli.validating import validator
from conformance.execution.json_form import schema, trace_to_json
from conformance.execution.run import run
from conformance.execution.trace import Refused, Trace, Unsupported
from conformance.generate.strategy import drawn
from conformance.grading.cases import lacks
from conformance.program.parsing import parse
from conformance.recordings import record, replay
from conformance.recordings.format import (
    Stale,
    in_place,
    parse_recording,
    read_recording,
    to_lines,
    trace_form,
    trace_of,
)
from conformance.recordings.seal import RecordingError
from conformance.recordings.strata import STRATA
from specs.case import cases

IN_PLACE = in_place()
REFERENCE, TORCH = adapters.load("reference"), adapters.load("torch")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=IN_PLACE, ids=lambda path: path.stem)
def path(request) -> Path:
    """Each recording that comes with the project."""
    return request.param


@pytest.fixture(scope="module")
def validating():
    """The validator that the command line reads recordings with."""
    return validator("recorded")


# -- the form --------------------------------------------------------------------------------------
def as_kept(trace: Trace) -> Trace:
    """The trace as torch's would be: without marks, and without the words of refusals."""
    seen = [
        each._replace(
            fired=(),
            outcome=Refused(each.outcome.rule) if isinstance(each.outcome, Refused) else each.outcome,
        )
        for each in trace.observations
    ]
    return replace(trace, adapter="torch", observations=tuple(seen))


def assert_survives(trace: Trace) -> None:
    trace = as_kept(trace)
    again = trace_of(json.loads(json.dumps(trace_form(trace))))
    assert repr(trace_to_json(trace)) == repr(trace_to_json(again))  # to the letter: 1 is not 1.0
    assert trace.complete == again.complete
    assert trace == again or "nan" in repr(trace)


@given(drawn(REFERENCE))
def test_a_trace_survives_being_recorded(one):
    """The short form gives back whatever a program shows, unread facts and silence included."""
    assert_survives(run(one.program, REFERENCE, one.density))


SHOWING = {
    "nan": "a = torch.tensor([1.0, float('nan')], requires_grad=True)\na.sum().backward()\nb = a * -0.0\n",
    "refusals": "a = torch.tensor([1.0], requires_grad=True)\na.add_(1)\nb = a.exp()\nb.add_(1)\n"
    "b.backward()\n",
    "values": "a = torch.tensor([1.0])\nb = a.item()\nc = a.grad\nd = a.tolist()\nb = a * 2\n",
    "complex": "a = torch.tensor([complex(1.0, 2.0)], requires_grad=True)\nb = a * a\nc = b.real\n",
    "empty": "a = torch.ones(0, 3, requires_grad=True)\nb = a.sum()\nb.backward()\n",
    "devices": "a = torch.tensor(1.0, requires_grad=True)\nb = a.cuda()\nb.backward()\nc = b.cpu()\n",
    "calls": "a = torch.tensor([1.0, 2.0], requires_grad=True)\nb, c = a.mul(2.0).unbind(0)\n"
    "b.register_hook(lambda g: None)\nn = c.grad_fn\nn.register_hook(lambda gi, go: None)\nc.backward()\n",
    "readings that fail": "a = torch.tensor([1.0, 2.0])\nwith torch.no_grad():\n    b = a.view(2)\n"
    "a.requires_grad_()\nc = a * 2\nwith torch.no_grad():\n    d = c.view(2)\nc.mul_(2)\n",
    "warnings": "a = torch.tensor([1.0], requires_grad=True)\nb = a * 2\nc = b.grad\n",
}


@pytest.mark.parametrize("text", SHOWING.values(), ids=SHOWING)
@pytest.mark.parametrize("density", ["each", "touched", "end"])
def test_all_kinds_of_facts_survive(text, density):
    """Numbers to the letter, gradients, calls, values of no tensor, readings that are refused."""
    assert_survives(run(parse(text), REFERENCE, density))


def test_unseen_warnings_are_not_silence():
    """Unseen warnings and unsupported steps, with the reason, survive being recorded."""
    trace = run(parse(SHOWING["warnings"]), REFERENCE)
    first, second, last = trace.observations
    assert last.warnings
    unheard = (first._replace(warnings=None), second._replace(outcome=Unsupported("no such op")), last)
    assert_survives(replace(trace, observations=unheard, topology=None))


def test_what_cannot_be_of_a_program_is_no_trace():
    """Too many steps, or the topology of a name that is not there, is an error, not a stale script."""
    form = trace_form(run(parse(SHOWING["values"]), REFERENCE))
    with pytest.raises(RecordingError, match="steps"):
        trace_of(form | {"steps": [*form["steps"], {}]})
    with pytest.raises(RecordingError, match="wiring"):
        trace_of(form | {"wiring": {"x": {}}})
    with pytest.raises(Stale):
        trace_of(form | {"script": "import torch\n\na = nothing\n"})


# -- what is in place ------------------------------------------------------------------------------
def test_recordings_are_in_place():
    """Recordings of the CPU and of the stand-in exist, and are small."""
    assert {"cpu", "standin"} <= {read_recording(path).origin.device for path in IN_PLACE}
    assert all(path.stat().st_size < 3_000_000 for path in IN_PLACE)


def test_each_line_keeps_to_the_schema(path, validating):
    """Every line of the recordings fits the published schema."""
    forms = parse_recording(path.name, path.read_bytes())
    assert [] == [error.message for form in forms for error in validating.iter_errors(form)]
    assert to_text(path) == path.read_text(encoding="utf-8")


def to_text(path: Path) -> str:
    """A recording written again from what was read of it."""
    held = read_recording(path)
    return "".join(to_lines(held.origin, (*held.cases.values(), *held.programs.values())))


def test_the_schema_refuses_what_it_does_not_name(validating):
    """A misspelt fact, outcome or reason is an error, so that the schema test can fail."""
    plain = jsonschema.Draft202012Validator(schema("recorded"))
    form = {"program": 1, "density": "end", "script": "", "steps": []}
    assert plain.is_valid(form)
    assert validating.is_valid(form)
    for spoiled in (
        form | {"density": "all"},
        form | {"steps": [{"seen": {"x": {"leaf": True}}}]},
        form | {"steps": [{"seen": {"x": {"value": "1.0"}}}]},
        form | {"steps": [{"outcome": {"done": True}}]},
        form | {"steps": [{"seen": {"x": {"unseen": ["grads"]}}}]},
        {"case": "leaf/x", "status": "held"},
        {"case": "leaf/x", "status": "fine", "of": "0123456789ab"},
        {"format": 1},
        {"torch": "2.13.0"},
    ):
        errors = [error.message for error in plain.iter_errors(spoiled)]
        assert errors, spoiled
        for _ in range(2):
            assert errors == [error.message for error in validating.iter_errors(spoiled)]


def test_every_case_passes_on_the_recorded_traces(path):
    """The reference does what torch did in each case on record, as it stands and by its trace; none is of
    another text, and torch breaks none but where it is on record as departing from the rule.
    """
    held = read_recording(path)
    found = {id: replay._traced(("reference", str(path), id)) for id in held.cases}
    assert {} == {id: words for id, (_, words) in found.items() if words is not None}
    assert [] == [id for id, (result, _) in found.items() if result.status == replay.STALE]
    ran = {case for case in cases() if held.origin.device != "cpu" or not case.devices}
    departing = {case.id for case in ran if case.departed_by(held.origin.torch)}
    assert {id for id, form in held.cases.items() if form["status"] == "broken"} == departing & set(
        held.cases
    )
    assert sum(result.held for result, _ in found.values()) >= 500


def test_what_any_machine_can_record_is_complete(path):
    """A new case is put on record on the CPU and on the stand-in; a GPU's recording waits for its machine."""
    held = read_recording(path)
    if held.origin.device == "cuda":
        pytest.skip("made on a machine with a GPU")
    assert {case.id for case in cases() if case.holds_for(held.origin.torch)} == set(held.cases)
    assert not held.origin.left_out


def test_every_program_on_record_agrees(path):
    """The reference does what torch did in each drawn program, except for known divergences."""
    count = len(read_recording(path).programs)
    tally = replay._work(replay.Stretch("reference", "recorded", "recorded", 0, 0, count, recording=path))
    assert () == tally.findings == tally.crashes
    assert (count, 0) == (tally.totals.programs, tally.stale)
    assert tally.totals.agree >= 0.95 * count
    moving = sum("cuda" in form["script"] for form in read_recording(path).programs.values())
    assert (moving > 0) is (read_recording(path).origin.device != "cpu")


@pytest.mark.parametrize("stratum", STRATA, ids=lambda stratum: stratum.name)
def test_a_stratum_is_within_its_claims(path, stratum):
    """An implementation of those claims is held against each of its programs."""
    held = read_recording(path)
    for number in stratum.numbers():
        trace = held.trace(held.programs[number])
        assert "" == lacks(stratum.claims, trace.program), number


# -- making one ------------------------------------------------------------------------------------
def few() -> record.Recorded:
    """A recording of a few cases and programs."""
    chosen = [case for case in cases() if case.chapter in ("version", "anomaly")]
    return record.make_recording(programs=6, chosen=chosen, strata=(), workers=1)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A small recording, just made."""
    file = tmp_path_factory.mktemp("recorded") / "small.jsonl"
    record.write_file(file, few().text)
    return file


def test_recording_twice_gives_the_same_bytes(small):
    """Nothing in a recording comes from the clock or from the number of processes."""
    assert small.read_text(encoding="utf-8") == few().text
    assert not list(small.parent.glob("*.part"))


def test_a_recording_says_where_it_comes_from(small):
    """Torch, device, versions and how programs were drawn are in the first line."""
    origin = read_recording(small).origin
    assert (TORCH.version, "prng", 0, 6) == (origin.torch, origin.source, origin.seed, origin.drawn)
    assert {"python", "numpy", "reference"} == set(origin.versions)
    assert origin.device in ("cpu", "standin", "cuda")
    assert origin.release == TORCH.version.partition("+")[0]


def test_what_dies_crashes_or_is_unsteady_is_left_out(monkeypatch):
    """A program that cannot be relied on is not put on record."""
    program = parse("a = torch.tensor(1.0)\nb = a * 2\n")
    assert record._traced(program, "each")[1] == ""
    runs = iter([run(program, TORCH), run(program, TORCH, "end")])
    monkeypatch.setattr(record, "run", lambda *_: next(runs))
    assert ({}, record.UNSTEADY) == record._traced(program, "each")


def test_the_driver_is_asked_for_its_version(monkeypatch, tmp_path):
    """NVIDIA's own tool is asked; where there is none, nothing is claimed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _driver() is None
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 570.86.10\necho 570.86.10\n", encoding="utf-8")
    tool.chmod(0o755)
    assert "570.86.10" == _driver()


def test_files_are_named_by_torch_and_device():
    """Each release and device has a file of its own; a GPU is told by its name."""

    class Gpu:
        version, device = "2.13.0+cu128", "cuda"
        hardware = staticmethod(lambda: {"device_name": "NVIDIA H100 80GB"})

    assert "torch-2.13.0-cuda-nvidia-h100-80gb.jsonl" == record.place_for(Gpu).name
    assert record.place_for(TORCH).name.startswith("torch-")


def test_the_reference_conforms_to_what_was_just_recorded(small):
    """A fresh recording can be replayed by the public call, and the reference conforms to it."""
    report = conformance.check("reference", against="recorded", recordings=[small], workers=1)
    (used,) = report.recordings
    assert (TORCH.version, 6, 0) == (used.torch, used.programs, used.stale)
    assert used.cases == len(read_recording(small).cases) == report.cases["held"]
    assert 0 == report.verdict


def test_a_recording_that_is_there_is_not_written_over(monkeypatch, capsys, tmp_path):
    """An existing recording is refused before any work is done, unless --force is given."""
    file = tmp_path / "kept.jsonl"
    file.write_text("kept", encoding="utf-8")
    origin = read_recording(IN_PLACE[0]).origin
    made = record.Recorded("new\n", origin, 1, 0)
    verb = importlib.import_module("conformance.cli.record")
    monkeypatch.setenv(DEVICE_VARIABLE, "auto")  # what the verb sets is undone

    def call(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["autograd-conformance", "record", "--out", str(file), *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        return int(exit_.value.code or 0)

    monkeypatch.setattr(verb, "make_recording", lambda **_: pytest.fail("worked for nothing"))
    assert (2, "kept") == (call(), file.read_text(encoding="utf-8"))
    (said,) = capsys.readouterr().err.splitlines()
    assert "--force" in said
    monkeypatch.setattr(verb, "make_recording", lambda **_: made)
    assert (0, "new\n") == (call("--force"), file.read_text(encoding="utf-8"))
    assert "1 cases" in capsys.readouterr().out
