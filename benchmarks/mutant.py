"""The reference without some rules, to be graded; ``benchmarks.mutant:chapter/a+chapter/b`` loads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from conformance import adapters
from conformance.adapters.reference import Reference
from specs.active_rules import knocked_out
from specs.rule import RULES

NAMED = f"{__name__}:"
"""The beginning of each mutant's name."""


class MutantReference(Reference):
    """The reference with rules knocked out while a program runs."""

    def __init__(self, *rules: str) -> None:
        vars(self).update(vars(adapters.load("reference")))  # and so of the release that it models
        self.name, self._rules, self._without = f"without {', '.join(rules)}", rules, ExitStack()

    def start(self) -> None:
        self._without.enter_context(knocked_out(*self._rules))
        super().start()

    def stop(self, session: None) -> None:
        super().stop(session)
        self._without.close()


@contextmanager
def mutants_here() -> Iterator[None]:
    """Have mutants live in this process: to start one for each takes longer than to judge it."""
    load = adapters.load

    def found(spec: str) -> Any:
        return adapters.load_here(spec) if spec.startswith(NAMED) else load(spec)

    adapters.load = found
    try:
        yield
    finally:
        adapters.load = load


def __getattr__(name: str) -> MutantReference:
    rules = name.split("+")
    if not RULES.keys() >= set(rules):
        raise AttributeError(name)
    return MutantReference(*rules)
