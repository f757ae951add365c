"""The pytest plugin: ``pytest --autograd-impl IMPL`` runs the witness cases on an implementation, a test for
each rule and case.

Generated programs are for ``conformance.check``, in a test of one's own or on the command line.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("autograd-conformance")
    group.addoption(
        "--autograd-impl",
        metavar="IMPL",
        help="run the witness cases of PyTorch's autograd on this implementation: the path of an adapter, "
        "module:attribute, or stdio:COMMAND",
    )
    group.addoption(
        "--autograd-rules",
        metavar="GLOB",
        default="*",
        help="only the cases of these rules, such as 'view/*'",
    )


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each rule and case; every worker of pytest-xdist adds the same."""
    impl = config.getoption("--autograd-impl")
    if impl:
        try:
            items += _tests(session, impl, config.getoption("--autograd-rules"))
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None


def _tests(session: pytest.Session, impl: str, rules: str) -> Iterator[CaseTest]:
    from conformance import adapters
    from conformance.adapters.errors import AdapterError
    from conformance.grading.selection import select_for
    from specs.case import cases

    try:
        adapters.load(impl)
    except AdapterError as error:
        raise pytest.UsageError(f"--autograd-impl: {error}") from None
    release = adapters.load("reference").torch
    wanted = set(select_for(rules, release))
    for case in cases():
        for rule in case.rules if case.holds_for(release) else ():
            if rule in wanted:
                yield CaseTest.from_parent(
                    session, name=f"autograd[{rule}-{case.id}]", impl=impl, rule=rule, case=case.id
                )


class Nonconformance(Exception):
    """A case that an implementation breaks, with what it did."""


class CaseTest(pytest.Item):
    """The test of one rule by one case."""

    def __init__(self, *, impl: str, rule: str, case: str, **given: Any) -> None:
        super().__init__(**given)
        self.impl, self.rule, self.case = impl, rule, case

    def runtest(self) -> None:
        found = _result(self.impl, self.case)
        lacking = dict(found.lacking)
        if found.broken or found.adapter:
            raise Nonconformance(found.adapter or f"{found.line}\n{found.why}")
        if not found.held or self.rule in lacking:
            pytest.skip(found.why or lacking.get(self.rule) or found.status)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if not isinstance(excinfo.value, Nonconformance):
            return super().repr_failure(excinfo, style)
        from conformance.grading.cases import case_of
        from specs.rule import RULES

        case = case_of(self.case)
        parts = [f"{self.rule}: {RULES[self.rule].statement}", *case.helpers, case.text]
        return "\n\n".join([*parts, f"broken at: {excinfo.value}"])

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, self.name


@cache
def _result(impl: str, case: str) -> Any:
    from conformance.grading.cases import witness

    return witness(impl, case)
