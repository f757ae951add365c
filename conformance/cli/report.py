"""``report``: what is done with reports that are written already."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from conformance.cli.screen import console
from conformance.cli.trouble import Trouble
from conformance.input_files import DATA, read_file
from conformance.report.difference import Trend, difference

report = typer.Typer(
    help="Work with reports that `grade --json FILE` has written.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
STYLES = {Trend.WORSE: "bold red", Trend.BETTER: "green", Trend.CLAIMED: "green"}
Written = Annotated[Path, typer.Argument(metavar="FILE.json", help="A report that `grade --json` wrote.")]


@report.command(epilog="Exit codes: 0 nothing is worse; 1 something is; 2 wrong usage.")
def diff(old: Written, new: Written) -> None:
    """Compare two reports rule by rule: what is worse, better, newly claimed.

    A rule is **worse** if it was held and is not, claimed or not, or if it is now broken, suspect or flaky;
    it is **newly claimed** if it was unsupported. A worse verdict fails too. Compare reports of one seed and
    of one number of programs.
    """
    found = difference(_read(old), _read(new))
    out = console()
    for setting in found.unlike:
        out.print(Text(f"not alike: {setting}", style="yellow"))
    for change in Trend:
        of_kind = [each for each in found.changed if each.change is change]
        if of_kind:
            out.print(Text(f"{change}: {len(of_kind)}", style=STYLES.get(change, "bold")))
        for each in of_kind:
            out.print(Text(f"  {each.rule}: {each.old or 'not there'} -> {each.new or 'not there'}"))
    verdicts = " -> ".join(dict.fromkeys(found.verdicts))
    told = "worse" if found.worse else "not worse"
    out.print(Text(f"{told}; verdict {verdicts}", style="bold red" if found.worse else "bold green"))
    raise typer.Exit(int(found.worse))


def _read(file: Path) -> dict[str, Any]:
    from conformance.cli.validating import first_error, validator  # it imports for long

    hint = "give two files that `autograd-conformance grade IMPL --json FILE` has written"
    try:
        found = json.loads(read_file(file, DATA))
    except OSError as error:
        raise Trouble(f"cannot read {file}: {error.strerror}", hint) from None
    except (ValueError, RecursionError) as error:
        raise Trouble(f"{file} is no JSON: {error}", hint) from None
    wrong = first_error(validator("report"), found)
    if wrong is not None:
        raise Trouble(f"{file} is no report: {wrong.json_path}: {wrong.message:.200}", hint)
    assert isinstance(found, dict)
    return found
