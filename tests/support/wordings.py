"""The rules whose refusal or warning the torch at hand words."""

from __future__ import annotations

import torch

from specs.rule import RAISED_AS, RULES, Rule, Wording, within

SPOKEN = [rule for rule in RULES.values() if rule.refuses or rule.warns]


def here(range_: str) -> bool:
    """True if the installed torch is in the range."""
    return within(torch.__version__, range_)


def matches(message: str, error: str | None) -> list[str]:
    """Every rule one of whose patterns for the torch at hand matches, whatever comes first."""
    error = RAISED_AS.get(error or "", error)

    def words_it(rule: Rule, wording: Wording) -> bool:
        said = error in (None, wording.error or rule.error) and here(wording.torch)
        return said and wording.regex.search(message) is not None

    kinds = [rule for rule in SPOKEN if rule.warns is (error is None)]
    return [rule.id for rule in kinds if any(words_it(rule, wording) for wording in rule.wordings)]
