"""Questions that people ask in forums, answered: the rule, the line, the name and the cure."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from explained import explained
from specs.rule import RULES

ASKED = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))["question"]


@pytest.mark.parametrize("question", ASKED, ids=lambda question: question["name"])
def test_a_question_is_answered(question: dict[str, Any]) -> None:
    """The answer names the deciding rule, the line that caused it, the tensor and the cure."""
    found = explained("import torch\nfrom torch import nn\n" + question["script"])
    answer = " ".join(found.why(question["ask"]).split())
    assert not question["rule"] or question["rule"] in RULES
    expected = [question["rule"], question["tensor"], question["cure"]]
    if question["line"]:
        expected.append(f"ine {question['line']} ")
    assert [] == [part for part in expected if part not in answer], answer
    if question["ask"] in ("error", "warning"):
        mishap = found.error if question["ask"] == "error" else found.warnings[0]
        assert mishap is not None
        assert (question["rule"] or None, question["line"]) == (mishap.rule, next(iter(mishap.causes), 0))


def test_there_are_enough_questions():
    """Forty questions at least, sixteen of them from public threads."""
    assert len(ASKED) >= 40
    assert len([question for question in ASKED if "source" in question]) >= 16
    assert len({question["name"] for question in ASKED}) == len(ASKED)
