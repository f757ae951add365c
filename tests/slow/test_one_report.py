"""The main job in small, as a user meets it: the reference conforms, and says the same whatever runs it."""

from __future__ import annotations

import json

import jsonschema
import pytest

from conformance.execution import json_form
from conformance.grading import chunks
from terminals import check_width, terminal


@pytest.fixture(scope="module")
def done() -> dict:
    """Keep what checks of the reference came to: tests of one command share it."""
    return {}


PROGRAMS = {"prng": (1, 110, chunks.SIZE), "mutating --no-cases": (2, 30, 26)}
"""A seed, programs and the size of a chunk. In the last, no whole one, the search meets a death by now."""


@pytest.fixture
def checked(cli, done, monkeypatch, tmp_path):
    """Checks the reference on programs, of which the last make no whole chunk, and gives exit code, what a
    terminal of 80 columns shows, and what each form holds.
    """

    def call(source: str, workers: int) -> tuple[int, list[str], dict[str, bytes]]:
        if (source, workers) not in done:
            seed, programs, size = PROGRAMS[source]
            monkeypatch.setattr(chunks, "SIZE", size)
            files = {form: tmp_path / f"{workers}.{form}" for form in ("json", "xml", "md")}
            forms = ("--json", files["json"], "--junit", files["xml"], "--markdown", files["md"])
            asked = ("--programs", programs, "--seed", seed, "--workers", workers)
            with terminal(80) as shown:
                code, _, _ = cli("grade", *asked, "--source", *source.split(), *forms)
            written = {form: file.read_bytes() for form, file in files.items()}
            done[source, workers] = code, shown, written
        return done[source, workers]

    return call


def test_the_reference_conforms(checked):
    """The main job, in small: no divergence, every rule accounted for, the counts add up."""
    code, _, files = checked("prng", 1)
    report = json.loads(files["json"])
    jsonschema.validate(report, json_form.schema("report"))
    assert code == report["exit_code"]
    assert (0, []) == (code, report["findings"])
    totals = report["totals"]
    kinds = ("agree", "known", "incomparable", "crashed")
    assert 110 == totals["programs"]
    assert totals["programs"] + totals["placed"] == sum(totals[kind] for kind in kinds)
    assert 0.08 <= totals["error_steps"] / totals["steps"] <= 0.25
    assert totals["compared"] > 25_000
    assert {"held", "not exercised"} >= {rule["status"] for rule in report["rules"].values()}


def test_a_conforming_run_is_a_page_on_a_terminal(checked):
    """Nothing is cut, and the last line says that it conforms."""
    code, lines, _ = checked("prng", 1)
    check_width(lines, 80)
    assert (0, "reference conforms") == (code, lines[-1])
    assert len(lines) < 80


@pytest.mark.parametrize("source", ["prng", "mutating --no-cases"])
def test_a_seed_gives_one_report_whatever_runs_it(checked, source):
    """Two runs write the same bytes, with one worker or two, in each form."""
    one, two = (checked(source, workers)[2] for workers in (1, 2))
    assert {"json", "xml", "md"} == set(one)
    assert one == two
