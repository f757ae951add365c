"""The table of exit codes, as ``--help`` prints it and the README shows it."""

from __future__ import annotations

from conformance.report.value import INTERRUPTED, PROCESSES_KILLED, Verdict

SUITE_FAILED = 5
"""The exit code of an error in the suite's own code, where there is no verdict."""

EXIT_CODES = {
    Verdict.CONFORMS: "conforms",
    Verdict.NONCONFORMANCE: "does not conform",
    Verdict.BAD_USAGE: "wrong usage: an argument, or an unknown name in the capabilities",
    Verdict.BROKEN_ADAPTER: "the adapter is broken, or nothing was exercised",
    Verdict.BROKEN_SUITE: "the reference and torch disagree, or a case is stale: nobody else is blamed",
    SUITE_FAILED: "the suite itself failed",
    PROCESSES_KILLED: "the machine keeps killing the suite's processes, and nothing was found before",
    INTERRUPTED: "interrupted before anything was found",
}
