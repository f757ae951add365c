"""The command line: one file a verb, put together here. What the verbs do lives in
``conformance.grading`` and the core.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer

from conformance.adapters.errors import AdapterError
from conformance.cli.adapter import adapter
from conformance.cli.explain import explain
from conformance.cli.grade import grade
from conformance.cli.observed import observed
from conformance.cli.ops import ops
from conformance.cli.record import record
from conformance.cli.report import report
from conformance.cli.rules import rules
from conformance.cli.run import run
from conformance.cli.streams import failure_of_output, make_streams_last
from conformance.cli.trouble import NOTHING_YET, Trouble, one_line
from conformance.execution.interruption import interrupted
from conformance.execution.isolate import ProcessesKilled
from conformance.grading.arguments import OPTIMIZED
from conformance.grading.check import installed
from conformance.report.exit_codes import EXIT_CODES, SUITE_FAILED
from conformance.report.value import INTERRUPTED, PROCESSES_KILLED, Ending, Verdict
from conformance.report.words import versions_line

HELP = """Grade an implementation of autograd against PyTorch's semantics, as whole programs.

Start with **grade**: it runs the witness cases of every rule, then programs drawn at random, and compares
each step with real PyTorch: values, leaf-ness, .grad, versions, views, refusals, and what they leave behind.

- `autograd-conformance grade` grades the reference against torch: the suite checks itself
- `autograd-conformance grade mine.py` grades an adapter of yours, from a file
- `autograd-conformance adapter new NAME` writes an adapter to begin with, `adapter smoke IMPL` tries one
- `autograd-conformance run program.py` shows one program on torch and the reference, side by side
- `autograd-conformance explain script.py --why a.grad` tells the reason for a leaf, a gradient or an error
- `autograd-conformance rules 'view/*'` lists the rules of a chapter
- `autograd-conformance ops` lists the operations, features and facts that an adapter may claim
- `autograd-conformance report diff OLD.json NEW.json` tells what is worse or better since an earlier report
- `autograd-conformance observed` finds programs whose result depends on how they are observed
- `autograd-conformance record --device cuda` puts on record what torch does on a device
- `autograd-conformance grade --against recorded` holds the reference against the recordings, without torch

The environment variable AUTOGRAD_CONFORMANCE_DEVICE stands for `--device`.
"""
EPILOG = "\n\n".join(["Exit codes:", *(f"- {int(code)}: {meaning}" for code, meaning in EXIT_CODES.items())])


def told(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command say so where it is interrupted before it has anything to report."""

    @functools.wraps(command)
    def run_it(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except KeyboardInterrupt as interrupt:
            raise Trouble(*NOTHING_YET, INTERRUPTED) from interrupt
        except EOFError as end:  # which typer would take for an end of input
            raise ProcessesKilled("what starts them has ended") from end

    return run_it


app = typer.Typer(
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _tell_versions(asked: bool) -> None:
    if asked:
        typer.echo(versions_line(installed("autograd-conformance", "torch", "numpy", "hypothesis")))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_versions, is_eager=True, help="Print the versions, exit."),
    ] = False,
) -> None:
    pass


app.command(epilog=EPILOG)(told(grade))
app.command(epilog="Exit codes: 0 the traces agree; 1 they differ; 2 wrong usage.")(told(run))
app.command(
    epilog="Exit codes: 0 the script ended; 1 with an error; 2 wrong usage, or no Python; 3 something is not "
    "modelled; 4 torch disagrees (--on torch); 6 its process was stopped or died.",
    context_settings={"ignore_unknown_options": True},
)(told(explain))
app.command(epilog="Exit codes: 0; 2 no rule matches.")(told(rules))
app.command(epilog="Exit codes: 0.")(told(ops))
app.command(
    epilog="Exit codes: 0 all are explained; 1 some are not, or torch crashed off the record; 2 wrong usage."
)(told(observed))
app.command(epilog="Exit codes: 0 recorded; 2 wrong usage, or a recording is there already.")(told(record))
app.add_typer(report, name="report")
app.add_typer(adapter, name="adapter")


def main() -> None:
    """Run the command line; what the user can mend is one line with a hint, never a traceback."""
    make_streams_last()
    if hasattr(signal, "pthread_sigmask"):  # what started this may have blocked them: no process would end
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    code = _run()
    if (failure := failure_of_output()) is not None:
        _complain(f"error: standard output cannot be written: {failure.strerror} (hint: see the exit codes)")
        code = SUITE_FAILED
    exec("")  # or Python ends by SIGINT where text that it ran, as a dataclass does, was interrupted
    sys.exit(code)


def _command() -> int:
    """Run the command that the arguments name; return its exit code."""
    if sys.flags.optimize:
        raise Trouble(*OPTIMIZED)
    try:
        code = app(prog_name="autograd-conformance", standalone_mode=False) or 0
    except Exception as error:
        if interrupted():  # and something made this error of it, as imports of compiled modules do
            raise KeyboardInterrupt from error
        raise
    if code == INTERRUPTED and interrupted():  # outside of any command; typer says nothing of it
        raise KeyboardInterrupt
    return code


def _run() -> int:
    """Run the command that the arguments name; return the exit code, having said what went wrong."""
    try:
        return _command()
    except Trouble as trouble:
        _complain(str(trouble))
        return int(trouble.code)
    except AdapterError as error:
        _complain(f"error: {error}")
        return error.code
    except KeyboardInterrupt:
        _complain(f"error: {NOTHING_YET[0]}", f" (hint: {NOTHING_YET[1]})")
        return INTERRUPTED
    except ProcessesKilled as killed:
        _complain(f"error: {Ending.KILLED}: {killed}", " (hint: is there memory enough? try fewer --workers)")
        return PROCESSES_KILLED
    except Exception as error:
        if hasattr(error, "format_message"):  # typer's own, which has its classes from more than one place
            return _usage(error)
        if isinstance(error, FileNotFoundError) and not _somewhere():
            _complain("error: the current folder is gone", " (hint: change to one that exists)")
            return Verdict.BAD_USAGE
        _complain(f"error: the suite itself failed: {type(error).__name__}: {error}", _report_of(error))
        return SUITE_FAILED


def _somewhere() -> bool:
    """Tell whether the current folder is still there."""
    try:
        return bool(os.getcwd())
    except FileNotFoundError:
        return False


def _complain(text: str, hint: str = "") -> None:
    print(one_line(text) + hint, file=sys.stderr)


def _usage(error: Any) -> int:
    """Say what is wrong with the command's arguments; the help that was asked for is printed already."""
    if error.format_message():
        command = getattr(getattr(error, "ctx", None), "command_path", "autograd-conformance")
        problem = error.format_message().rstrip(".")
        _complain(f"error: {problem}", f" (hint: `{command} --help` lists the options)")
    return Verdict.BAD_USAGE


def _report_of(error: Exception) -> str:
    """Write the traceback to a file; return a hint that names it, or says that there is none."""
    name = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            errors="backslashreplace",
            prefix="autograd-conformance-",
            suffix=".txt",
            delete=False,
        ) as file:
            name = file.name
            traceback.print_exception(error, file=file)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        return " (hint: please report it; no file could be written for the traceback)"
    return f" (hint: please report it with the traceback in {name})"
