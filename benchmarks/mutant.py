"""The reference without a rule as an implementation: ``benchmarks.mutant:CHAPTER/RULE`` loads it by name."""

from __future__ import annotations

from contextlib import ExitStack

from conformance import adapters
from conformance.adapters.reference import Reference
from specs.active_rules import knocked_out
from specs.rule import RULES


class MutantReference(Reference):
    """The reference with one rule knocked out while a program runs."""

    def __init__(self, rule: str) -> None:
        vars(self).update(vars(adapters.load("reference")))  # and so of the release that it models
        self.name, self._rule, self._without = f"without {rule}", rule, ExitStack()

    def start(self) -> None:
        self._without.enter_context(knocked_out(self._rule))
        super().start()

    def stop(self, session: None) -> None:
        super().stop(session)
        self._without.close()


def __getattr__(rule: str) -> MutantReference:
    if rule not in RULES:
        raise AttributeError(rule)
    return MutantReference(rule)
