"""The harness: programs are drawn, run, observed, compared, reduced and reported.

The public calls are `check`, `explain`, `programs` and `drawing`; nothing is imported before they are called,
so that a part costs only itself.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as of typing, which takes a while to import: commands begin here

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any

    from conformance.explanation.explanation import Explanation
    from conformance.report.value import Report


def check(adapter: Any, **options: Any) -> Report:
    """Grade an implementation and return the report.

    The options are those of `conformance.grading.check.check`; with `against="recorded"` they are those of
    `conformance.recordings.replay.grade_recorded`.
    """
    if options.get("against") == "recorded":
        from conformance.recordings.replay import grade_recorded as replay

        return replay(adapter, **{name: value for name, value in options.items() if name != "against"})
    from conformance.grading.check import check as grade

    return grade(adapter, **options)


def programs(capabilities: Any = None) -> Any:
    """A Hypothesis strategy for programs, within an implementation's capabilities or anything at all."""
    from conformance.adapters import load
    from conformance.generate.strategy import programs as strategy

    return strategy(load("reference"), capabilities)


def drawing(seed: int, first: int = 0) -> AbstractContextManager[Any]:
    """Draw the programs that a campaign of that seed numbered, from number ``first`` on, in tests of
    `programs` with ``settings(backend="autograd-conformance")``.
    """
    from conformance.generate.backend import drawing

    return drawing(seed, first)


def explain(script: str | Path, *arguments: str, **limits: int) -> Explanation:
    """Explain a script, given its path or text: what each line did to its tensors, and why.

    The limits are ``seconds`` and ``megabytes``; see `conformance.explanation.run.explain_script`.
    """
    from conformance.explanation.run import explain_script

    return explain_script(script, *arguments, **limits)


def load_ipython_extension(shell: Any) -> None:
    """Give IPython or Jupyter ``%%explain``: called by ``%load_ext conformance``."""
    from conformance.notebook.magic import load_into

    load_into(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take ``%%explain`` away: called by ``%unload_ext conformance``."""
    from conformance.notebook.magic import unload_from

    unload_from(shell)
