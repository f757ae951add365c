"""The options ``--expect`` and ``--write-expect`` of ``grade``: differences that are by design."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from conformance.cli.loading import check_writable, write_reports
from conformance.cli.trouble import Trouble
from conformance.grading.expectations import ExpectationError, Expectations, read_expectations, text_of
from conformance.report import Report
from conformance.report.expectation import Example


def expectations_of(read: Path | None, written: Path | None) -> Expectations:
    """Return what a file to read says, or one that is to be brought up to date, if it is there."""
    if read is not None and written is not None:
        raise Trouble("--expect and --write-expect exclude each other", "--write-expect reads its file first")
    try:
        if written is not None:
            check_writable(write_expect=written)
            return read_expectations(written, reasons=False) if written.exists() else Expectations()
        return read_expectations(read) if read is not None else Expectations()
    except ExpectationError as error:
        raise Trouble(error.problem, error.hint) from None


def write_expectations(file: Path, before: Expectations, report: Report) -> None:
    """Write the entries that the check met, and those that do not apply here; say what is new, and gone.

    Nothing is written where the check did not come to its end.
    """
    if report.broken or report.ended.from_outside:
        problem = f"{file} is as it was: the check did not come to its end"
        raise Trouble(problem, "run it again", report.exit_code or 1)
    met = [expected.entry for expected in report.expected]
    here = report.subject.version, report.device
    kept = [entry for entry in before.entries if entry in met or not entry.applies(*here)]
    new = [entry for entry in met if entry not in before.entries]
    examples = [Example(entry.program, entry.density) for entry in new if entry.program]
    bare = [replace(entry, program="", density="each") for entry in new]
    written = Expectations((*kept, *bare), (*before.examples, *examples), report.asked)
    write_reports({file: text_of(written)})
    gone = len(before.entries) - len(kept)
    print(f"{file}: {len(kept)} kept, {len(new)} new, {gone} gone", file=sys.stderr)
    if without := sum(not entry.reason for entry in written.entries):
        wanted = f'fill in {without} times reason = "" in {file}'
        print(f"{wanted}: --expect refuses entries without a reason", file=sys.stderr)
