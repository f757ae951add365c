"""``explain``: the reason for every leaf, gradient and error of an ordinary script."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.explained import print_answer, print_beside, print_explanation, print_rules_saying
from conformance.cli.pictures import write_pictures
from conformance.cli.trouble import Trouble
from conformance.explanation.as_json import as_json
from conformance.explanation.on_torch import Beside, explain_on_torch
from conformance.explanation.run import MEGABYTES, SECONDS, explain_source
from conformance.explanation.why import Unknown
from conformance.input_files import TEXT, read_file

ENDINGS = {"finished": 0, "exit": 0, "error": 1, "not modelled": 3, "syntax error": 2}
"""The exit code by the ending of the script; any other exits with 6."""
DISAGREES = 4
"""The exit code where torch and the reference disagree."""


def explain(
    script: Annotated[
        str, typer.Argument(metavar="SCRIPT.py", help="A PyTorch script, or - for stdin.")
    ] = "",
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGS", help="The script's own.")] = None,
    command: Annotated[str | None, typer.Option("-c", metavar="CODE", help="Explain this text.")] = None,
    why: Annotated[
        str | None, typer.Option(metavar="QUESTION", help="a.grad, w.is_leaf, 'line 10', error or warning.")
    ] = None,
    message: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Explain an error or a warning of torch, without a script."),
    ] = None,
    on: Annotated[
        str | None, typer.Option(metavar="torch", help="Run the script on torch beside, and compare.")
    ] = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the explanation as JSON.")] = False,
    dot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the graph in Graphviz's language.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the graph as a picture.")] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page to step through the script.")
    ] = None,
    at: Annotated[
        int | None, typer.Option(metavar="LINE", help="Picture the graph after that line, not at the end.")
    ] = None,
    seconds: Annotated[int, typer.Option(min=1, help="Processor time the script may take.")] = SECONDS,
    megabytes: Annotated[int, typer.Option(min=256, help="Memory the script may take.")] = MEGABYTES,
) -> None:
    """Run a script on the reference and tell, line by line, what became of its tensors and why.

    The script runs unchanged, in a process of its own; torch is not needed.
    """
    if message is not None:
        print_rules_saying(message)
        raise typer.Exit(0)
    name, source = _source(script, command)
    given = [script, *(arguments or [])] if command is not None and script else arguments or []
    if at is not None and not (dot or svg or html):
        raise Trouble("--at is of pictures", f"add --svg FILE, or ask --why 'line {at}'")
    beside = _beside(on, source, name, given, seconds, megabytes) if on is not None else None
    found = beside.found if beside else explain_source(source, name, given, seconds, megabytes)
    if dot or svg or html:
        write_pictures(found, dot, svg, html, at)
    elif as_json_:
        typer.echo(json.dumps(as_json(found), indent=1))
    elif why:
        try:
            print_answer(found.why(why))
        except Unknown as unknown:
            raise Trouble(unknown.what, unknown.hint) from unknown
    else:
        print_explanation(found)
    if beside and not as_json_:
        print_beside(beside)
    differ = bool(beside and beside.disagreements)
    raise typer.Exit(DISAGREES if differ else ENDINGS.get(found.ending, 6))


def _beside(on: str, source: bytes, name: str, given: list[str], seconds: int, megabytes: int) -> Beside:
    """Explain the script with torch beside."""
    if on != "torch":
        raise Trouble(f"--on takes torch, not {on!r}", "leave it out to explain on the reference")
    try:
        return explain_on_torch(source, name, given, seconds, megabytes)
    except ImportError as error:
        raise Trouble(f"torch is not there: {error}", "install it, or leave --on out") from error


def _source(script: str, command: str | None) -> tuple[str, bytes]:
    """Return the name and the text of the script."""
    if command is not None:
        return "-c", command.encode()
    if script == "-":
        source = sys.stdin.buffer.read(TEXT + 1)
        if len(source) > TEXT:
            raise Trouble(f"standard input is larger than {TEXT >> 20} MB", "give a PyTorch script")
        return "-", source
    if not script:
        raise Trouble("there is no script", "give a file, - for standard input, or -c CODE")
    try:
        source = read_file(Path(script), TEXT)
    except OSError as exc:
        raise Trouble(f"cannot read {script}: {exc.strerror}", "give the path of a PyTorch script") from exc
    if b"\0" in source:
        raise Trouble(f"{script} is not text", "give the path of a PyTorch script")
    if not source.strip():
        raise Trouble(f"{script} is empty", "give the path of a PyTorch script")
    return script, source
