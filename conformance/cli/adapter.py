"""``adapter``: beginning an adapter from a template, and telling in seconds what one lacks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from conformance import adapters
from conformance.adapters.interpreter import named_in
from conformance.cli.loading import load_adapter
from conformance.cli.screen import console
from conformance.cli.trouble import Trouble
from conformance.grading.smoke import smoke as smoke_of

adapter = typer.Typer(
    help="Begin an adapter, and try one.", no_args_is_help=True, rich_markup_mode="markdown"
)
TEMPLATES = Path(adapters.__file__).parent / "templates"
KINDS = {"adapter": "adapter.py", "python": "server.py", "js": "server.js"}


@adapter.command(epilog="Exit codes: 0 written; 2 wrong usage, or the file is there already.")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name; the file is NAME.py, or NAME.js.")],
    stdio: Annotated[
        str, typer.Option(metavar="LANGUAGE", help="Speak over stdin and stdout instead: python or js.")
    ] = "",
) -> None:
    """Write an adapter that works, of a toy engine: replace the engine by yours.

    It is a Python module. With `--stdio` it is a program of its own that speaks the protocol of
    docs/protocol.md, on its language's standard library alone.
    """
    if not re.fullmatch(r"[A-Za-z]\w{0,60}", name):
        raise Trouble(f"{name!r} is no name", "give letters, digits and underscores, a letter first")
    kind = stdio or "adapter"
    if kind not in KINDS or stdio == "adapter":
        raise Trouble(f"there is no template for {stdio!r}", "give --stdio python or --stdio js, or neither")
    file = Path(f"{name}.{'js' if stdio == 'js' else 'py'}")
    text = (TEMPLATES / KINDS[kind]).read_text(encoding="utf-8").replace("NAME", name)
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise Trouble(f"{file} is there already", "give another name, or take it away") from None
    except OSError as error:
        raise Trouble(f"{file} cannot be written: {error.strerror}", "go to another folder") from None
    impl = {"adapter": str(file), "python": f"'stdio:python {file}'", "js": f"'stdio:node {file}'"}[kind]
    print(f"{file} is written. Try it, then put your engine into it:")
    print(f"    autograd-conformance adapter smoke {impl}")
    print(f"    autograd-conformance grade {impl}")


@adapter.command(
    epilog="Exit codes: 0 it works; 1 something differs; 2 wrong usage; 3 the adapter is broken."
)
def smoke(
    impl: Annotated[
        str,
        typer.Argument(metavar="IMPL", help="As for `grade`: a path, module:attribute, or stdio:COMMAND."),
    ],
    python: Annotated[
        str | None, typer.Option(metavar="PATH", help="Run the adapter in this interpreter.")
    ] = None,
) -> None:
    """Tell in seconds if an adapter works, and what it lacks: a handful of programs, each with its result.

    What fails is told with the step and the fact; what is not claimed or not shown, as what may come next.
    """
    spec = named_in(impl, python, False)
    load_adapter(spec)
    found = smoke_of(spec)
    out = console()
    styles = {"ok": "green", "differs": "bold red", "broken": "bold red"}
    for line in found.lines:
        out.print(Text.assemble((f"{line.verdict:<12}", styles.get(line.verdict, "yellow")), line.what))
        if line.why:
            out.print(Text(f"            {line.why}"))
    for gap in found.gaps:
        out.print(Text(f"lacks       {gap}", style="dim"))
    out.print(Text(found.said, style="bold green" if not found.exit_code else "bold red"))
    raise typer.Exit(found.exit_code)
