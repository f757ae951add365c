"""The command line's way in: ``python -m conformance`` and the console script ``autograd-conformance``.

The verbs live in ``conformance.cli``. Importing them takes a second or more, in which a job can be cancelled.
"""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line. SIGTERM, which cancels a job, counts as Ctrl-C from the start: what was found
    until then is reported.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from conformance.cli import main as run_commands
    except KeyboardInterrupt:
        print("error: interrupted before there was anything to report", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # Python's own end, after an import that failed so, may be the signal
    run_commands()


if __name__ == "__main__":
    main()
