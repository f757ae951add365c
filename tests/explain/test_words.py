"""Words of explanations: numbers as torch prints them, rules found by torch's words, cures with names."""

from __future__ import annotations

import re

import pytest

from conformance.explanation.search import rules_about, rules_saying
from conformance.explanation.words import in_print, names
from explained import explained
from specs.rule import RULES
from together import together

PRINTED = {
    "3.": 3.0,
    "[1., 2.]": [1.0, 2.0],
    "[0.4413, 0.3829]": [0.44129, 0.38291],
    "[1.0000e-08, 1.0000e+00]": [1e-8, 1.0],
    "[1, 2]": [1, 2],
    "None": None,
}


@pytest.mark.parametrize("text", PRINTED)
def test_numbers_look_as_torch_prints_them(text):
    """Four decimals, whole numbers with a point, powers of ten where sizes differ much."""
    assert text == in_print(PRINTED[text])


def test_many_numbers_are_shortened():
    """A large tensor takes less than a line."""
    text = in_print([[0.1234] * 8] * 3)
    assert len(text) <= 60
    assert "..." in text
    assert "a, b, c, d, e and 3 more" == names(list("abcdefgh"))


SAYING = [rule for rule in RULES.values() if rule.torch_says and "{" not in rule.torch_says]


@together("rule", SAYING, by=lambda rule: rule.chapter, row_id=lambda rule: rule.id)
def test_a_rule_is_found_by_torchs_words(rule):
    """Pasted with its class, as a traceback shows it, or without."""
    text = rule.torch_says.replace("...", "1")
    assert rule.id in [found.id for found in rules_saying(text)]
    assert rule.id in [found.id for found in rules_saying(f"{rule.error}: {text}")]


ASKED = {
    "why is my grad None": "grad/only-leaves-are-filled",
    "is .cuda() a leaf?": "device/copy-is-an-op",
    "detach or data": "version/data-has-its-own",
    "do gradients accumulate": "grad/accumulates",
    "how to freeze parameters": "nn/freezes-the-parameters-themselves",
    "numpy shares memory": "copy/numpy-shares",
}


@pytest.mark.parametrize("question", ASKED)
def test_a_question_finds_its_rule(question):
    """Rules are found by what they state."""
    assert ASKED[question] in [rule.id for rule in rules_about(question)]


def test_nonsense_finds_nothing():
    """No rule is about it."""
    assert [] == rules_saying("blah blah")


@together(
    "rule",
    [rule for rule in RULES.values() if rule.cure and "{tensor}" in rule.cure],
    by=lambda rule: rule.chapter,
    row_id=lambda rule: rule.id,
)
def test_a_cure_is_told_with_the_name_of_the_tensor(rule):
    """No brace is left."""
    text = rule.cure.format(tensor="model.fc.weight")
    assert "model.fc.weight" in text
    assert not re.search(r"[{}]", text)


UNKNOWN = {
    "weigth.grad": "did you mean weight?",
    "weight.foo": "one of is_leaf, requires_grad, grad",
    "line 99": "the script has lines 1 to 2",
}


@pytest.mark.parametrize("question", UNKNOWN)
def test_a_question_that_means_nothing_gets_the_nearest_names(question):
    """The hint says what can be asked."""
    found = explained("import torch\nweight = torch.ones(2)\n")
    with pytest.raises(KeyError) as unknown:
        found.why(question)
    assert UNKNOWN[question] in str(unknown.value)
