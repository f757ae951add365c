"""The command line's way in: ``python -m conformance`` and the console script ``autograd-conformance``.

The verbs live in ``conformance.cli``. Importing them takes a second or more, in which a job can be cancelled.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys

INTERRUPTED, SUITE_FAILED = 130, 5
"""Two of the exit codes of `conformance.report.exit_codes`, for what happens before that is there."""


def main() -> None:
    """Run the command line. SIGTERM, which cancels a job, counts as Ctrl-C from the start: what was found
    until then is reported.
    """
    signal.signal(signal.SIGTERM, _nothing_yet)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _nothing_yet)
    gc.disable()  # it would find nothing in what is imported, and take a tenth of the time
    try:
        from conformance.cli import main as run_commands
        from conformance.execution.interruption import listen
    except (ImportError, OSError, MemoryError) as error:  # Python would end with 1, which is a verdict
        with contextlib.suppress(OSError):
            os.write(2, f"error: the suite cannot be loaded: {type(error).__name__}: {error}\n".encode())
        sys.exit(SUITE_FAILED)
    gc.enable()
    listen()
    try:
        run_commands()
    finally:
        gc.freeze()  # or Python searches at its end whatever torch has imported


def _nothing_yet(*_: object) -> None:
    """End at once: an exception might be swallowed by the import that it interrupts."""
    try:
        os.write(2, b"error: interrupted before there was anything to report\n")
    finally:
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
