"""One test of many small rows: thousands of tests cost more to list and to report than to run."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def together(
    names: str,
    rows: Iterable[Any],
    by: Callable[[Any], str],
    row_id: Callable[[Any], str] = repr,
    marks: Callable[[Any], Iterable[pytest.MarkDecorator]] = lambda row: (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrise a test by rows, as `pytest.mark.parametrize` does, with one test for all rows that are the
    same ``by`` the function given. It goes on after a row that fails, and in the end raises what each failed
    with, and its id. The ``marks`` of the first row are those of the test.
    """
    groups: dict[str, list[Any]] = {}
    for row in rows:
        groups.setdefault(by(row), []).append(row)
    params = [pytest.param(group, id=name, marks=[*marks(group[0])]) for name, group in groups.items()]
    arguments = [name.strip() for name in names.split(",")]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def each(rows: list[Any], **fixtures: Any) -> None:
            failed = []
            for row in rows:
                values = row if len(arguments) > 1 else (row,)
                try:
                    test(**dict(zip(arguments, values, strict=True)), **fixtures)
                except Exception as error:
                    error.add_note(f"of {row_id(row)}")
                    failed.append(error)
            if len(failed) == 1:
                raise failed[0]
            if failed:
                told = ", ".join(error.__notes__[-1].removeprefix("of ") for error in failed)
                raise ExceptionGroup(f"{len(failed)} of {len(rows)} fail: {told}", failed)

        signature = inspect.signature(test)
        others = [each for each in signature.parameters.values() if each.name not in arguments]
        own = inspect.Parameter("rows", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        functools.update_wrapper(each, test)
        each.__signature__ = inspect.Signature([own, *others])  # type: ignore[attr-defined]
        return pytest.mark.parametrize("rows", params)(each)

    return decorate


def called(expression: str) -> str:
    """Return what an expression calls first, by which expressions can be put together."""
    return (re.findall(r"([\w.]+)\(", expression) or ["operators"])[0]
