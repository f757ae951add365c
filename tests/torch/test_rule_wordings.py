"""Real torch's words lead to exactly one rule.

That the rules are well-formed is ``test_rules``, and that the reference uses their words ``test_cases``.
"""

from __future__ import annotations

import warnings
from functools import cache

import pytest
import torch

from conformance.adapters import load
from specs.case import Case, cases, functions
from specs.rule import RULES, Rule, classify
from together import together
from wordings import SPOKEN, matches

TORCH = load("torch")
HELD = [case for case in cases() if case.holds_for(torch.__version__) and not TORCH.beyond(case)]


REFUSING = [c for c in HELD if "refused(" in c.text and not c.departed_by(torch.__version__)]
ON_A_DEVICE = {rule for case in cases() if case.devices for rule in case.rules}


def marked(device: bool) -> list[pytest.MarkDecorator]:
    """The mark of what depends on the device that stands for `cuda`."""
    return [pytest.mark.device] if device else []


class Heard:
    """The answers of torch in a case's `refused` and `warned` blocks: (kind expected, class, message)."""

    def __init__(self) -> None:
        self.refusals: list[tuple[str, str, str]] = []
        self.warnings: list[tuple[str, str]] = []

    def refused(self, rule: str) -> _Listener:
        return _Listener(self, rule)

    def warned(self, rule: str) -> _Listener:
        return _Listener(self, rule)


class _Listener:
    """Writes down what its block raises and warns, and lets the case go on."""

    def __init__(self, heard: Heard, rule: str) -> None:
        self.heard, self.rule = heard, rule

    def __enter__(self) -> None:
        self.catcher = warnings.catch_warnings(record=True)
        self.caught = self.catcher.__enter__()
        warnings.simplefilter("always")

    def __exit__(self, kind, exc, traceback) -> bool:
        self.catcher.__exit__(None, None, None)
        if RULES[self.rule].warns:
            self.heard.warnings += [(self.rule, str(warning.message)) for warning in self.caught or ()]
            return False  # what is refused as well is for the block around
        for warning in self.caught or ():
            warnings.warn(warning.message, stacklevel=2)  # for the block around
        if exc is not None:
            self.heard.refusals.append((self.rule, type(exc).__name__, str(exc)))
        return True


@cache
def heard(case: Case) -> Heard:
    """The answers of real torch in the case."""
    listener = Heard()
    function = functions(case.chapter, torch, cuda=TORCH.stands_for_cuda)[case.name]
    function.__globals__.update(refused=listener.refused, warned=listener.warned)
    was = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function()
    finally:
        torch.set_warn_always(was)
    return listener


@together(
    "case",
    REFUSING,
    by=lambda case: case.chapter + ("-device" if case.devices else ""),
    row_id=lambda case: case.id,
    marks=lambda case: marked(bool(case.devices)),
)
def test_torchs_words_are_exactly_one_rule(case: Case) -> None:
    """The wording of torch's refusal in a case is that of its rule for this release, and of no other."""
    assert heard(case).refusals
    for rule, error, message in heard(case).refusals:
        assert [rule] == matches(message, error), message
        assert classify(error, message) == rule


def unheard(rule: Rule) -> bool:
    """Tell whether only cases that cannot run here could make torch speak by the rule."""
    return rule.id in ON_A_DEVICE and not any(rule.id in case.rules for case in HELD)


@together(
    "rule",
    [rule for rule in SPOKEN if rule.holds_for(torch.__version__)],
    by=lambda rule: (
        rule.chapter + ("-device" if rule.id in ON_A_DEVICE else "") + ("-lacking" if unheard(rule) else "")
    ),
    row_id=lambda rule: rule.id,
    marks=lambda rule: marked(rule.id in ON_A_DEVICE),
)
def test_every_spoken_rule_is_heard_from_torch(rule: Rule) -> None:
    """Some case makes real torch refuse or warn by the rule."""
    if unheard(rule):
        pytest.skip(TORCH.lacking or "needs a second device")
    witnesses = [case for case in HELD if rule.id in case.rules]
    said = [what[0] for case in witnesses for what in (*heard(case).refusals, *heard(case).warnings)]
    assert rule.id in said
