"""The reference without some rules, to be graded; ``benchmarks.mutant:chapter/a+chapter/b`` loads it."""

from __future__ import annotations

from contextlib import ExitStack

from conformance import adapters
from conformance.adapters.reference import Reference
from specs.active_rules import knocked_out
from specs.rule import RULES


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


def __getattr__(name: str) -> MutantReference:
    rules = name.split("+")
    if not RULES.keys() >= set(rules):
        raise AttributeError(name)
    return MutantReference(*rules)
