"""The rules are well-formed, and real torch's words lead to exactly one of them.

That the reference cites them and that a mutant without them is caught is ``test_ties``.
"""

from __future__ import annotations

import json
import tomllib
import warnings
from functools import cache
from pathlib import Path
from string import Formatter

import jsonschema
import pytest
import torch

from conformance.adapters import load
from specs.case import Case, cases, functions
from specs.rule import RULES, RULES_DIR, Rule, Wording, classify, within

SCHEMA = json.loads((RULES_DIR.parent / "schema" / "rules.schema.json").read_text(encoding="utf-8"))
FILES = sorted(RULES_DIR.glob("*.toml"))
SPOKEN = [rule for rule in RULES.values() if rule.refuses or rule.warns]
TORCH = load("torch")
HELD = [case for case in cases() if case.holds_for(torch.__version__) and not TORCH.beyond(case)]


REFUSING = [c for c in HELD if "refused(" in c.text and not c.departed_by(torch.__version__)]
ON_A_DEVICE = {rule for case in cases() if case.devices for rule in case.rules}


def marked(device: bool) -> list[pytest.MarkDecorator]:
    """The mark of what depends on the device that stands for `cuda`."""
    return [pytest.mark.device] if device else []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_obeys_the_schema(path: Path) -> None:
    """Each file holds what the schema says, and a chapter's file only that chapter's rules."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert {rule["id"].partition("/")[0] for rule in document.get("rule", ())} <= {path.stem}


def test_ids_are_unique() -> None:
    """No id is declared twice over all files."""
    documents = [tomllib.loads(path.read_text(encoding="utf-8")) for path in FILES]
    ids = [rule["id"] for document in documents for rule in document.get("rule", ())]
    assert sorted(ids) == sorted(set(ids))
    assert set(ids) == set(RULES)


def test_dependencies_exist_and_go_one_way() -> None:
    """A rule depends on known rules, and never on itself by a detour."""

    def walk(rule: str, path: tuple[str, ...]) -> None:
        assert rule in RULES, f"{path[-1]} depends on {rule}, which is no rule"
        assert rule not in path, " -> ".join((*path, rule))
        for dependency in RULES[rule].depends:
            walk(dependency, (*path, rule))

    for rule in RULES:
        walk(rule, ())


@pytest.mark.parametrize("rule", RULES)
def test_rule_is_witnessed(rule: str) -> None:
    """At least one case names the rule."""
    assert [case.id for case in cases() if rule in case.rules]


@pytest.mark.parametrize("rule", SPOKEN, ids=lambda rule: rule.id)
def test_patterns_compile_and_says_can_be_worded(rule: Rule) -> None:
    """Patterns are regular expressions, and what the reference says is a plain template."""
    for wording in rule.wordings:
        assert wording.regex
    for _, field, spec, conversion in Formatter().parse(rule.says):
        assert field is None or field.isidentifier()
        assert not spec
        assert not conversion


class Heard:
    """What torch said in a case's `refused` and `warned` blocks: (kind expected, class, message)."""

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
        if exc is not None:
            self.heard.refusals.append((self.rule, type(exc).__name__, str(exc)))
        elif RULES[self.rule].warns:
            self.heard.warnings += [(self.rule, str(warning.message)) for warning in self.caught or ()]
        return True


@cache
def heard(case: Case) -> Heard:
    """What real torch says in the case."""
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


def here(range_: str) -> bool:
    """Whether the torch at hand is in the range."""
    return within(torch.__version__, range_)


def matches(message: str, error: str | None) -> list[str]:
    """Every rule one of whose patterns for the torch at hand matches, whatever comes first."""

    def words_it(rule: Rule, wording: Wording) -> bool:
        said = error in (None, wording.error or rule.error) and here(wording.torch)
        return said and wording.regex.search(message) is not None

    kinds = [rule for rule in SPOKEN if rule.warns is (error is None)]
    return [rule.id for rule in kinds if any(words_it(rule, wording) for wording in rule.wordings)]


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id, marks=marked(bool(case.devices))) for case in REFUSING]
)
def test_torchs_words_are_exactly_one_rule(case: Case) -> None:
    """What real torch says where a case expects a refusal is worded by that rule for this release, and by no
    other.
    """
    assert heard(case).refusals
    for rule, error, message in heard(case).refusals:
        assert [rule] == matches(message, error), message
        assert classify(error, message) == rule


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(rule, id=rule.id, marks=marked(rule.id in ON_A_DEVICE))
        for rule in SPOKEN
        if rule.holds_for(torch.__version__)
    ],
)
def test_every_spoken_rule_is_heard_from_torch(rule: Rule) -> None:
    """Some case makes real torch refuse or warn by the rule."""
    witnesses = [case for case in HELD if rule.id in case.rules]
    if not witnesses and TORCH.lacking:
        pytest.skip(TORCH.lacking)
    said = [what[0] for case in witnesses for what in (*heard(case).refusals, *heard(case).warnings)]
    assert rule.id in said


def test_citations_name_files_and_not_lines() -> None:
    """A source is cited by file and release, so that it can be looked up; line numbers go stale."""
    for rule in RULES.values():
        for cite in rule.cites:
            if cite.startswith("source: "):
                path = cite.removeprefix("source: ").partition(" (")[0]
                assert "@v" in path, f"{rule.id}: {cite}"
