"""Each trigger of the catalogue gives the rule beside it, on torch and on the reference; answers without a
rule are listed with the reason.
"""

from __future__ import annotations

import tomllib
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

import reference_impl
from specs.active_rules import fired, modelling
from specs.case import rule_of
from specs.rule import RULES, RULES_DIR, classify, classify_warning
from together import together
from wordings import here, matches

LISTED = tomllib.loads((Path(__file__).parent / "catalogue.toml").read_text(encoding="utf-8"))
UNREACHED = tomllib.loads((RULES_DIR.parent / "unreached.toml").read_text(encoding="utf-8"))["unreached"]


class Outcome(NamedTuple):
    """The error and warnings of a trigger, and the names it left behind."""

    error: Exception | None
    said: list[Warning]
    names: dict[str, Any]


def outcome(trigger: str, namespace: Any = torch) -> Outcome:
    """The outcome of a trigger, with ``torch`` bound to that namespace."""
    names = {"torch": namespace, "x": namespace.tensor([1.0, 2.0], requires_grad=True)}
    was, error = namespace.is_warn_always_enabled(), None
    namespace.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(trigger, names)
            except Exception as exc:
                error = exc
    finally:
        namespace.set_warn_always(was)
        namespace.set_grad_enabled(True)
    said = [warning.message for warning in caught if isinstance(warning.message, Warning)]
    return Outcome(error, said, names)


def chapter(row: dict) -> str:
    """The chapter of a row's rule, if it has one."""
    return row.get("rule", "none").partition("/")[0]


def listed(rows: list[dict]) -> Any:
    """A test for each chapter, of all triggers that the torch at hand knows."""
    known = [row for row in rows if here(row.get("torch", ">=2.11"))]
    return together("row", known, by=chapter, row_id=lambda row: row["trigger"])


@listed(LISTED["row"])
def test_catalogue_row_is_a_rule(row: dict) -> None:
    """torch answers the trigger with the refusal or warning of the rule beside it, and of no other."""
    error, said, _ = outcome(row["trigger"])
    if error is not None:
        assert [row["rule"]] == matches(str(error), type(error).__name__), str(error)
    else:
        assert {row["rule"]} == {rule for warning in said for rule in matches(str(warning), None)}


@listed([row for row in LISTED["row"] if "torch_alone" not in row])
def test_the_reference_answers_by_the_same_rule(row: dict) -> None:
    """The reference refuses or warns by the rule, too."""
    with modelling(torch.__version__):
        error, said, _ = outcome(row["trigger"], reference_impl)
    if RULES[row["rule"]].warns:
        assert error is None
        assert row["rule"] in [getattr(warning, "rule", None) for warning in said]
    else:
        assert error is not None
        assert row["rule"] == rule_of(error), repr(error)


@listed(LISTED["silent"])
@pytest.mark.parametrize("namespace", [torch, reference_impl], ids=["torch", "reference"])
def test_silent_row_is_a_rule(namespace: Any, row: dict) -> None:
    """Nothing is said, what is written beside the trigger holds, and the rule is the one that applies."""
    rule = RULES[row["rule"]]
    with modelling(torch.__version__):
        fired()
        error, said, names = outcome(row["trigger"], namespace)
        assert error is None
        assert said == []
        assert eval(row.get("holds", "True"), names)
        applied = fired()
    assert namespace is torch or rule.refuses or rule.warns or rule.id in applied


@listed(UNREACHED)
def test_unreached_row_is_no_rule(row: dict) -> None:
    """An unreached row still raises or warns, unless it is said to be silent, and no rule covers it."""
    if "cuda" in row["trigger"] and torch.cuda.is_available():
        pytest.skip("torch has a GPU here")
    error, said, _ = outcome(row["trigger"])
    assert row.get("silent", False) is (error is None and not said)
    if error is not None:
        assert classify(type(error).__name__, str(error)) is None
    else:
        assert [classify_warning(str(warning)) for warning in said] == [None] * len(said)


def test_no_trigger_is_listed_twice() -> None:
    """A trigger is either reached or unreached."""
    triggers = [row["trigger"] for row in (*LISTED["row"], *LISTED["silent"], *UNREACHED)]
    assert sorted(triggers) == sorted(set(triggers))
