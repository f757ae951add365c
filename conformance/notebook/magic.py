"""``%%explain``: the cell runs on the reference, after the cells that ran before it, and is explained.

The notebook itself stays as it is, unless ``--run`` is given.
"""

from __future__ import annotations

import argparse
import ast
import shlex
from dataclasses import dataclass, field, fields
from html import escape
from pathlib import Path
from typing import Any

from conformance.explanation.explanation import Explanation
from conformance.explanation.pictures.page import as_page
from conformance.explanation.pictures.summary import as_plain, as_summary, relabelled
from conformance.explanation.run import MEGABYTES, SECONDS, explain_source
from conformance.notebook.cells import Cell, Script, given_by, guarded, script_of, statement_at

TRIES = 8
"""The most statements of earlier cells that are passed over because the reference refuses them."""


@dataclass(frozen=True, repr=False)
class CellExplanation(Explanation):
    """The explanation of a cell: it tells the lines of the cell, and names those of the cells before it."""

    cells: Script = field(default_factory=lambda: Script("", 1, ()))
    passed_over: tuple[str, ...] = ()

    def why(self, question: str) -> str:
        """Answer ``a.grad``, ``w.is_leaf``, ``line 2`` (of the cell) or ``error`` in sentences."""
        if question.startswith("line ") and question[5:].strip().isdigit():
            question = f"line {int(question[5:]) + self.cells.first - 1}"
        return relabelled(super().why(question), self.cells.label)

    def __str__(self) -> str:
        return "\n".join([*self.passed_over, as_plain(self, self.cells.first, self.cells.label)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in self.passed_over)
        return notes + as_summary(self, self.cells.first, self.cells.label)


class Page:
    """A page as the result of a cell: it stands in a frame of its own."""

    def __init__(self, html: str) -> None:
        self.html = html

    def __repr__(self) -> str:
        return "a page to step through the cell; it shows in a browser"

    def _repr_html_(self) -> str:
        frame = 'style="width:100%;height:44em;border:1px solid rgba(128,128,128,.4);border-radius:8px"'
        return f'<iframe title="The cell, step by step" {frame} srcdoc="{escape(self.html)}"></iframe>'


class ExplainMagic:
    """The command, and the cells that it has seen run."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        listed = list(enumerate(getattr(shell.history_manager, "input_hist_raw", ())))
        if listed and "load_ext" in listed[-1][1]:  # it runs now, and is seen at its end
            listed.pop()
        self.cells = [Cell(at, text) for at, text in listed if text.strip()]
        self.failed: int | None = None
        """The line at which the cell that is being explained fails."""
        self.within = False
        """Set while the notebook runs the cell that is explained."""

    def after(self, result: Any) -> None:
        """Note a cell that ran, and the line at which it failed."""
        text, failed = result.info.raw_cell, self.failed
        if self.within:
            return
        self.failed = None
        if not isinstance(text, str) or not text.strip() or result.error_before_exec is not None:
            return
        number = result.execution_count or len(self.cells) + 1
        self.cells.append(Cell(number, text, failed or self._failed_at(result.error_in_exec)))

    def _failed_at(self, error: BaseException | None) -> int | None:
        trace = error.__traceback__ if error is not None else None
        while trace is not None:
            if trace.tb_frame.f_globals is self.shell.user_global_ns:
                return trace.tb_lineno
            trace = trace.tb_next
        return None

    def explain(self, line: str, cell: str) -> Any:
        """Explain the cell: what each line does to its tensors, and why.

        It sees what earlier cells defined: they run before it, on the reference too. Options: --why QUESTION,
        --page, --html FILE, --run (run the cell in the notebook as well), --fresh (see no earlier cells),
        --seconds N, --megabytes N.
        """
        try:
            asked = _options().parse_args(shlex.split(line))
        except (argparse.ArgumentError, ValueError, _Usage) as error:
            return Told(f"{error}\n{_options().format_usage()}")
        before = [] if asked.fresh else self.cells
        given = [] if asked.fresh else given_by(self.shell.user_ns, before, cell)
        found = _explained(script_of(before, cell, given), asked.seconds, asked.megabytes)
        if found.error is not None and found.error.line >= found.cells.first:
            self.failed = found.error.line - found.cells.first + 2
        if asked.run:
            self._run(cell)
        if asked.html:
            Path(asked.html).write_text(as_page(found), encoding="utf-8")
            return Told(f"wrote {asked.html}")
        if asked.why:
            try:
                return Told(found.why(" ".join(asked.why)))
            except KeyError as unknown:
                return Told(str(unknown))
        return Page(as_page(found)) if asked.page else found

    def _run(self, cell: str) -> None:
        self.within = True
        try:
            self.shell.run_cell(cell)
        finally:
            self.within = False


class Told(str):
    """A text that shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Usage(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise _Usage(message)


def _options() -> argparse.ArgumentParser:
    parser = _Parser("%%explain", add_help=False)
    parser.add_argument("--why", nargs="+", metavar="QUESTION")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--html", metavar="FILE")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES)
    return parser


def _explained(script: Script, seconds: int, megabytes: int) -> CellExplanation:
    """Explain the script; a statement of an earlier cell that the reference refuses is passed over."""
    passed_over: list[str] = []
    while True:
        found = explain_source(script.text.encode(), "-c", (), seconds, megabytes)
        at = found.error.line if found.error else 0
        if not 0 < at < script.first or len(passed_over) == TRIES:
            break
        shorter = _without(script, at)
        if shorter is None:
            break
        reason = found.note.partition(": ")[2] or f"{found.error.kind}: {found.error.message}"  # type: ignore[union-attr]
        passed_over.append(f"{script.label(at)} is passed over: {reason}")
        script = shorter
    told = {known.name: getattr(found, known.name) for known in fields(found)}
    return CellExplanation(**told, cells=script, passed_over=tuple(passed_over))


def _without(script: Script, line: int) -> Script | None:
    """Return the script with the error of the top-level statement at a line passed over."""
    statement = statement_at(ast.parse(script.text), line)
    if statement is None:
        return None
    lines = list(enumerate(script.text.splitlines()))
    upper, end = guarded(lines, statement)
    told = [*upper, *lines[end:]]
    text = "".join(f"{line}\n" for _, line in told)
    return Script(text, script.first + len(upper) - end, tuple(script.places[at] for at, _ in told))


_LOADED: dict[int, ExplainMagic] = {}


def load_into(shell: Any) -> None:
    """Give a shell the command."""
    if id(shell) in _LOADED:
        return
    magic = _LOADED[id(shell)] = ExplainMagic(shell)
    shell.register_magic_function(magic.explain, "cell", "explain")
    shell.events.register("post_run_cell", magic.after)


def unload_from(shell: Any) -> None:
    """Take the command away again."""
    magic = _LOADED.pop(id(shell), None)
    if magic is not None:
        shell.events.unregister("post_run_cell", magic.after)
        shell.magics_manager.magics["cell"].pop("explain", None)
