"""Pictures of an explanation, written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from conformance.cli.trouble import Trouble, one_line
from conformance.explanation.pictures.dot import as_dot
from conformance.explanation.pictures.moments import Moment, moment_at
from conformance.explanation.pictures.page import as_page
from conformance.explanation.pictures.svg import NoLayout, as_svg
from conformance.explanation.value import Story


def write_pictures(
    found: Story, dot: Path | None, svg: Path | None, html: Path | None, at: int | None
) -> None:
    """Write what is asked for, each to its file or, for ``-``, to standard output."""
    if html:
        if at is not None:
            _moment(found, at)
        _write(html, as_page(found, at))
    if dot:
        _write(dot, as_dot(found, _moment(found, at)))
    if svg:
        _write(svg, _laid_out(as_svg, found, _moment(found, at)))


def _moment(found: Story, at: int | None) -> Moment:
    moment = moment_at(found, at)
    if moment is None:
        ran = sorted({step.line for step in found.steps})
        if not ran:
            raise Trouble(
                "there is nothing to draw: no line ran", found.note or "give a script with statements"
            )
        hint = f"a picture can be had of line {', '.join(map(str, ran))}"
        raise Trouble(f"line {at} did not run, or changed nothing", one_line(hint))
    return moment


def _laid_out(draw: Callable[[Story, Moment], str], found: Story, moment: Moment) -> str:
    try:
        return draw(found, moment)
    except NoLayout as missing:
        hint = "install Graphviz, whose program is dot, or Node.js; --dot and --html need neither"
        raise Trouble(f"cannot lay out the picture: {missing}", hint) from missing


def _write(path: Path, text: str) -> None:
    if str(path) == "-":
        typer.echo(text, nl=False)
        return
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        hint = "give the path of a file that can be written"
        raise Trouble(f"cannot write {path}: {error.strerror}", hint) from error
    typer.echo(f"wrote {path}", err=True)
