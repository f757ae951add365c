"""The code blocks of the seed documents, explained: no fact changes without a rule that decides it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.explanation.value import Change
from explained import explained
from specs.rule import RULES

TEXT = (Path(__file__).parent / "seed_blocks.txt").read_text(encoding="utf-8")
BLOCKS: dict[str, str] = dict(re.findall(r"^### (\d{3} .+)\n((?:(?!### \d{3} ).*\n)*)", TEXT, re.MULTILINE))
REFUSED = {
    "001 the flag of a result": "requires_grad/non-leaf-cannot-drop",
    "003 a write between": "save/modified-refused",
}
"""The blocks that end in an error, and its rule."""


def script(name: str) -> str:
    """The block after a line that imports and defines what it needs."""
    given, body = "", BLOCKS[name]
    if body.startswith("= "):
        given, _, body = body.partition("\n")
    return f"import torch; from torch import nn; {given.removeprefix('= ')}\n{body}"


def undecided(changes: list[Change]) -> list[str]:
    """The changes for which no rule is given."""
    return [
        f"{c.name}.{c.fact} = {c.after}"
        for c in changes
        if not c.because or any(r not in RULES for r in c.because)
    ]


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_of_a_seed_document_is_explained(name):
    """It runs as its document says, and a rule decides every change of a fact."""
    found = explained(script(name))
    assert (found.error and found.error.rule) == REFUSED.get(name), found.error
    assert found.ending == ("error" if name in REFUSED else "finished")
    changes = [change for step in found.steps for change in step.changes]
    assert changes
    assert [] == undecided(changes)
    assert all(len(change.because) <= 3 for change in changes)
    assert all(len(line) <= 80 for line in str(found).splitlines() if "`" not in line)


def test_there_are_as_many_blocks_as_the_documents_have():
    """Blocks of five documents, the fourth of which tells its systems in words."""
    documents = [name[:3] for name in BLOCKS]
    counted = {document: documents.count(document) for document in sorted(set(documents))}
    assert {"000": 9, "001": 5, "002": 10, "003": 5, "004": 5} == counted
