"""Grading in a process that finds torch imported, and ends with what it found.

The implementation lives in that process itself, as what is built in does: to start Python and torch for it
takes longer than to grade it. How implementations in processes of their own are graded is tested elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from conformance import adapters, check
from conformance.execution.isolate import PRELOAD, Died, survive
from conformance.grading.campaign import Chunk, judge_chunk
from conformance.grading.cases import run_cases
from conformance.grading.tally import Tally
from conformance.report import Report
from conformance.report.value import Witnessed
from specs.case import Case

LONGEST = 600.0
"""Seconds after which all that is asked for counts as hanging."""


def graded(spec: str, known: Mapping[str, Witnessed] | None = None, **options: Any) -> Report:
    """The report of a check against the reference, whose own results in cases are ``known`` if given.

    Where a program kills the process, as some kill torch, the check is done again as users do it.
    """
    result: Report | Died = _ended(_report, (spec, known, options))
    if isinstance(result, Died):
        return check(spec, against="reference", workers=1, **options)
    return result


def judged_chunk(chunk: Chunk) -> Tally:
    """The tally of a chunk of programs."""
    tally: Tally | Died = _ended(_tally, chunk)
    assert not isinstance(tally, Died), tally
    return tally


def _ended(work: Callable[[Any], Any], job: Any) -> Any:
    (result,) = survive(work, [job], timeout=LONGEST, preload=PRELOAD)
    return result


def _report(job: tuple[str, Mapping[str, Witnessed] | None, dict[str, Any]]) -> Report:
    spec, known, options = job
    _do_all_here()

    def run(side: str, chosen: Iterable[Case], workers: int, **given: Any) -> Iterator[Witnessed]:
        if known is None or side != "reference":
            return run_cases(side, chosen, workers, **given)
        return iter([known[case.id] for case in chosen])

    checking = import_module("conformance.grading.check")
    checking.run_cases = run
    checking.check_arguments = lambda **_: None  # no process may be started from here, and none is
    return check(spec, against="reference", workers=1, **options)


def _tally(chunk: Chunk) -> Tally:
    _do_all_here()
    return judge_chunk(chunk)


def _do_all_here() -> None:
    """Have this process, which ends soon, start no other."""
    adapters.Remote = adapters.load_here  # type: ignore[assignment, misc]
    for module in ("cases", "chunks"):
        import_module(f"conformance.grading.{module}").survive = _survive


def _survive(work: Callable[[Any], Any], items: Iterable[Any], **_: Any) -> Iterator[Any]:
    return map(work, items)
