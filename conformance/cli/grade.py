"""``grade``: the main job, a whole check and its scorecard. The check itself lives in
``conformance.grading``.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from conformance.adapters.interpreter import named_in
from conformance.adapters.torch_device import KINDS
from conformance.cli.expecting import expectations_of, write_expectations
from conformance.cli.loading import (
    AUTO,
    DeviceOption,
    ImportOption,
    check_writable,
    load_adapter,
    load_for_grading,
    load_recordings,
    number_option,
    readable,
    use,
    write_reports,
)
from conformance.cli.rules import matching
from conformance.cli.screen import console, progress_bar
from conformance.cli.trouble import Trouble
from conformance.execution.isolate import TIMEOUT
from conformance.grading.arguments import SECONDS
from conformance.grading.check import check
from conformance.recordings import replay
from conformance.report import as_json, as_junit, as_markdown, terminal


class Against(StrEnum):
    """The side that is right where implementations differ."""

    TORCH = "torch"
    REFERENCE = "reference"
    RECORDED = "recorded"


class Source(StrEnum):
    """The source of the choices behind a program."""

    HYPOTHESIS = "hypothesis"
    PRNG = "prng"
    MUTATING = "mutating"


def grade(
    context: typer.Context,
    impl: Annotated[
        str,
        typer.Argument(
            metavar="IMPL",
            help="reference, torch, null (deliberately wrong), micrograd, module:attribute, a path, or "
            "stdio:COMMAND for another language.",
        ),
    ] = "reference",
    against: Annotated[
        Against | None,
        typer.Option(
            metavar="WHO",
            help="Who is right: torch (default; the reference when torch is graded), the reference alone, or "
            "what torch did on record (specs/recorded), without torch and any device: nothing is drawn then.",
        ),
    ] = None,
    recording: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Against this recording (of `record`); may be repeated. Implies recorded."
        ),
    ] = None,
    programs: Annotated[
        int | None,
        number_option(
            "programs", "How many programs to draw, after the cases (default: as --expect says, or 1000)."
        ),
    ] = None,
    seed: Annotated[int, number_option("seed", "The same seed gives the same report.")] = 0,
    source: Annotated[
        Source,
        typer.Option(
            help="What draws them: Hypothesis; a plain PRNG (the same programs, drawn faster); or a search, "
            "which changes programs that fired rare rules, and finds what is rare in fewer programs."
        ),
    ] = Source.HYPOTHESIS,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as JSON.")] = None,
    junit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write it as JUnit XML: a test case a rule, by area."),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a summary as Markdown, e.g. over $GITHUB_STEP_SUMMARY"),
    ] = None,
    rules: Annotated[
        str,
        typer.Option(
            metavar="GLOB",
            help="Only the cases of these rules, e.g. 'view/*'; findings about others are set apart.",
        ),
    ] = "*",
    cases: Annotated[bool, typer.Option("--cases/--no-cases", help="Run the witness cases first.")] = True,
    all_rules: Annotated[
        bool, typer.Option("--all-rules", help="Print a line for each rule instead of each chapter.")
    ] = False,
    findings: Annotated[int, typer.Option(min=0, help="How many divergences and crashes to print.")] = 3,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first divergence.")] = False,
    timeout: Annotated[
        float,
        typer.Option(
            min=SECONDS[0],
            max=SECONDS[1],
            metavar="SECONDS",
            help="A program or case that takes longer hangs.",
        ),
    ] = TIMEOUT,
    workers: Annotated[
        int | None,
        number_option("workers", "Processes that run programs (default: one a core). No effect on results."),
    ] = None,
    device: DeviceOption = AUTO,
    imports: ImportOption = None,
    expect: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Differences that are by design: they are run and fail nothing, unless they are gone.",
        ),
    ] = None,
    write_expect: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what differs to such a file, or bring it up to date; you fill in the reasons.",
        ),
    ] = None,
    torch_like: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE", help="Grade this module, whose names are PyTorch's; it needs no adapter."
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Run the adapter in this interpreter (3.11 or newer, with any numpy), with its libraries.",
        ),
    ] = None,
    isolated: Annotated[
        bool,
        typer.Option("--isolated", help="Run it in a process of its own, as all are that are not built in."),
    ] = False,
    times: Annotated[
        bool, typer.Option("--times", help="Also report how long it took, in the JSON under 'times'.")
    ] = False,
) -> None:
    """Grade an implementation: cases, then generated programs, then a scorecard by rule.

    A rule is **held** if a case or a program shows it: without the rule, a fact that was compared would have
    been another. It is **broken** if it is one of the fewest rules that explain the failed cases, **blocked**
    behind a broken one, **suspect** if it explains a divergence although a case held it, **flaky** if a
    repetition gave another answer, **unsupported** if the adapter says that it lacks what the rule speaks of;
    else **not exercised**. If only what is by design (`--expect`) breaks it, it is **expected** not to hold.

    Each divergence is reduced to a few lines that run by themselves under torch. Programs that crash torch in
    a way that is on record (specs/known.toml) are counted and do not fail the run; any other crash does.

    Where there is a device, a program that says nothing of devices runs twice: as it was drawn, and with all
    its leaves on the device, where it must come to the same verdict.

    `grade torch --device NAME` grades a backend of torch: any type of device but cuda and the stand-in is on
    trial, in a process of its own, and the reference is right, as torch is on the CPU.
    """
    matching(rules)
    read = [Path(impl), *(recording or ()), *filter(None, [expect])]
    check_writable(json=json, junit=junit, markdown=markdown, reads=read)
    expected = expectations_of(expect, write_expect)
    use(device, imports)
    if torch_like is not None and impl != "reference":
        raise Trouble("IMPL and --torch-like are two implementations", "give one of them")
    on_trial = impl == "torch" and device not in KINDS
    impl = named_in(f"torch-like:{torch_like}" if torch_like else impl, python, isolated or on_trial)
    judge = str(against) if against else ("reference" if on_trial or impl == "torch" else "torch")
    how: dict[str, Any] = {"rules": rules, "fail_fast": fail_fast, "workers": workers}
    if recording or against is Against.RECORDED:
        load_adapter(impl)
        _has_no_say(context, against, expect or write_expect)
        recordings = load_recordings(recording)
        with progress_bar() as tick, readable():
            report = replay.grade_recorded(impl, recordings=recordings, progress=tick, **how)
    else:
        load_for_grading(impl, judge)
        how |= {"programs": programs, "seed": seed, "source": str(source), "cases": cases, "timeout": timeout}
        how |= {"expect": expected, "update": write_expect is not None}
        with progress_bar() as tick:
            report = check(impl, against=judge, progress=tick, **how)
    if not times:
        report = report.without_times()
    terminal.print_report(report, console(), first=findings, all_rules=all_rules, file=json)
    forms = ((json, as_json), (junit, as_junit), (markdown, as_markdown))
    write_reports({file: form.render(report) for file, form in forms if file is not None})
    if write_expect is not None:
        write_expectations(write_expect, expected, report)
    raise typer.Exit(report.exit_code)


def _has_no_say(context: typer.Context, against: Against | None, expect: Path | None) -> None:
    """Refuse what cannot go with recordings: another judge, expectations, and how programs are drawn."""
    if expect is not None:
        raise Trouble("what is by design is run against torch or the reference", "leave out --expect")
    if against not in (None, Against.RECORDED):
        raise Trouble(f"a recording is no {against}", "leave out --against, or --recording")
    for name in ("programs", "seed", "source", "cases"):
        given = context.get_parameter_source(name)
        if given is not None and given.name != "DEFAULT":
            raise Trouble(f"--{name} has no say in what is on record", "leave it out")
