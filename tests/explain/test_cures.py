"""Cures work: a question's script with its cure applied runs, and fills the grad that was None."""

from __future__ import annotations

import tomllib
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ASKED = {q["name"]: q for q in tomllib.loads((HERE / "questions.toml").read_text("utf-8"))["question"]}
CURED = tomllib.loads((HERE / "cured.toml").read_text("utf-8"))["cured"]


@pytest.mark.parametrize("namespace", ["reference_impl", "torch"])
@pytest.mark.parametrize("name", CURED)
def test_a_cure_works(name: str, namespace: str) -> None:
    """The script ends, and what was asked for is there."""
    if find_spec(namespace) is None:
        pytest.skip("needs torch")
    torch: Any = import_module(namespace)
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "__name__": "cured"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(CURED[name], names)
        asked = ASKED[name]["ask"]
        if asked.endswith(".grad"):
            owner = asked.replace("model.0", "model[0]")
            assert eval(owner, names) is not None


def test_there_are_enough_cures() -> None:
    """Twenty-five at least, each of a question that is asked."""
    assert len(CURED) >= 25
    assert set(CURED) <= set(ASKED)
