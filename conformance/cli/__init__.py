"""The command line: one file a verb, put together here. What the verbs do lives in
``conformance.grading`` and the core.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
from typing import Any, NoReturn

import typer

from conformance.adapters.errors import AdapterError
from conformance.cli.grade import grade
from conformance.cli.observed import observed
from conformance.cli.ops import ops
from conformance.cli.record import record
from conformance.cli.rules import rules
from conformance.cli.run import run
from conformance.cli.trouble import Trouble, one_line
from conformance.report.exit_codes import EXIT_CODES, SUITE_FAILED
from conformance.report.value import INTERRUPTED, Verdict

HELP = """Grade an implementation of autograd against PyTorch's semantics, as whole programs.

Start with **grade**: it runs the witness cases of every rule, then programs drawn at random, and compares
each step with real PyTorch: values, leaf-ness, .grad, versions, views, refusals, and what they leave behind.

- `autograd-conformance grade` grades the reference against torch: the suite checks itself
- `autograd-conformance grade mine.py` grades an adapter of yours, from a file
- `autograd-conformance run program.py` shows one program on torch and the reference, side by side
- `autograd-conformance rules 'view/*'` lists the rules of a chapter
- `autograd-conformance ops` lists the operations, features and facts that an adapter may claim
- `autograd-conformance observed` finds programs whose result depends on how they are observed
- `autograd-conformance record --device cuda` puts on record what torch does on a device
- `autograd-conformance grade --against recorded` holds the reference against the recordings, without torch

The environment variable AUTOGRAD_CONFORMANCE_DEVICE stands for `--device`.
"""
EPILOG = "\n\n".join(["Exit codes:", *(f"- {int(code)}: {meaning}" for code, meaning in EXIT_CODES.items())])

app = typer.Typer(
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.command(epilog=EPILOG)(grade)
app.command(epilog="Exit codes: 0 the traces agree; 1 they differ; 2 wrong usage.")(run)
app.command(epilog="Exit codes: 0; 2 no rule matches.")(rules)
app.command(epilog="Exit codes: 0.")(ops)
app.command(
    epilog="Exit codes: 0 all are explained; 1 some are not, or torch crashed off the record; 2 wrong usage."
)(observed)
app.command(epilog="Exit codes: 0 recorded; 2 wrong usage, or a recording is there already.")(record)


def main() -> None:
    """Run the command line; what the user can mend is one line with a hint, never a traceback."""
    # A job that is cancelled is told as one that is interrupted: what it found until then is said.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(app(prog_name="autograd-conformance", standalone_mode=False))
    except Trouble as trouble:
        print(one_line(str(trouble)), file=sys.stderr)
        sys.exit(int(trouble.code))
    except AdapterError as error:
        print(one_line(f"error: {error}"), file=sys.stderr)
        sys.exit(error.code)
    except BrokenPipeError:
        # The reader (head, less) went away: nothing is left to say, also not at interpreter exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if hasattr(error, "format_message"):  # typer's own, which has its classes from more than one place
            _show_usage(error)
        print(f"error: the suite itself failed: {_line_for(error)}", file=sys.stderr)
        sys.exit(SUITE_FAILED)


def _show_usage(error: Any) -> NoReturn:
    """Say what is wrong with the command's arguments, or show the help that was asked for."""
    if error.format_message():
        context = getattr(error, "ctx", None)
        command = getattr(context, "command_path", "autograd-conformance")
        problem = one_line(f"error: {error.format_message()}").rstrip(".")
        print(f"{problem} (hint: `{command} --help` lists the options)", file=sys.stderr)
    sys.exit(Verdict.BAD_USAGE)


def _line_for(error: Exception) -> str:
    """Write the traceback to a file; return a line that names both."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="autograd-conformance-", suffix=".txt", delete=False
    ) as file:
        traceback.print_exception(error, file=file)
    text = one_line(f"{type(error).__name__}: {error}")
    return f"{text} (hint: please report it with the traceback in {file.name})"
