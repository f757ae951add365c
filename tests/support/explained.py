"""Explaining scripts in forks of the test process, which has imported everything already."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

import conformance.adapters.reference_watch  # noqa: F401  imported before the fork
from conformance.explanation.child import play
from conformance.explanation.explanation import Explanation
from conformance.explanation.run import explain_source


def explained(source: str, name: str = "-c", *arguments: str) -> Explanation:
    """Explain a script, without the limits that a process of its own has."""
    return explain_source(source.encode(), name, arguments, start=_forked)


def _forked(
    records: Path, script: Path, name: str, arguments: Sequence[str], seconds: int, megabytes: int
) -> tuple[int | None, str]:
    with tempfile.TemporaryFile() as complaints:
        child = os.fork()
        if child == 0:
            code = 1
            gc.freeze()  # else its collector writes to all that it shares with the tests
            try:
                os.dup2(complaints.fileno(), 2)
                sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115  open until the process ends
                play(records, script.read_bytes(), name, arguments)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        complaints.seek(0)
        return os.waitstatus_to_exitcode(status), complaints.read().decode(errors="replace")
