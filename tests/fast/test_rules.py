"""The rules are well-formed.

``test_rule_wordings`` holds them against torch's words, ``test_ties`` against the reference.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from string import Formatter

import jsonschema
import pytest

from specs.case import cases
from specs.rule import RULES, RULES_DIR, Rule
from together import together
from wordings import SPOKEN

SCHEMA = json.loads((RULES_DIR.parent / "schema" / "rules.schema.json").read_text(encoding="utf-8"))
CURED = [rule for rule in RULES.values() if rule.cure]
FILES = sorted(RULES_DIR.glob("*.toml"))


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


@together("rule", RULES.values(), by=lambda rule: rule.chapter, row_id=lambda rule: rule.id)
def test_rule_is_witnessed(rule: Rule) -> None:
    """At least one case names the rule."""
    assert [case.id for case in cases() if rule.id in case.rules]


@together("rule", SPOKEN, by=lambda rule: rule.chapter, row_id=lambda rule: rule.id)
def test_patterns_compile_and_says_can_be_worded(rule: Rule) -> None:
    """Patterns are regular expressions, and what the reference says is a plain template."""
    for wording in rule.wordings:
        assert wording.regex
    for _, field, spec, conversion in Formatter().parse(rule.says):
        assert field is None or field.isidentifier()
        assert not spec
        assert not conversion


@together("rule", CURED, by=lambda rule: rule.chapter, row_id=lambda rule: rule.id)
def test_cure_is_one_short_sentence_about_a_tensor(rule: Rule) -> None:
    """A cure names the tensor to act on, and nothing else that only a script could tell."""
    assert {name for _, name, _, _ in Formatter().parse(rule.cure) if name} <= {"tensor"}
    assert len(rule.cure.format(tensor="x")) <= 140


@together("rule", SPOKEN, by=lambda rule: rule.chapter, row_id=lambda rule: rule.id)
def test_a_refusal_and_a_warning_have_a_cure(rule: Rule) -> None:
    """A user who is refused or warned is told what to do."""
    assert rule.cure


def test_citations_name_files_and_not_lines() -> None:
    """A source is cited by file and release, so that it can be looked up; line numbers go stale."""
    for rule in RULES.values():
        for cite in rule.cites:
            if cite.startswith("source: "):
                path = cite.removeprefix("source: ").partition(" (")[0]
                assert "@v" in path, f"{rule.id}: {cite}"
