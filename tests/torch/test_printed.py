"""Explained scripts print what they print under torch: the expressions of ``printed.txt``, and tensors."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import failing_calls
import printed
import reference_impl

pytest.importorskip("torch", reason="needs torch")

EXPRESSIONS = Path(__file__).with_name("printed.txt")
SECTIONS = failing_calls.sections(EXPRESSIONS)


@cache
def printed_by(which):
    """The text of each expression's value on torch, or on the reference."""
    return failing_calls.answers(printed.__file__, which, EXPRESSIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_an_expression_prints_what_torch_prints(section):
    """Tensors, named results, modules, optimizers, what they hold, data and distributions."""
    torch, ours = printed_by("torch"), printed_by("reference")
    expressions = SECTIONS[section]
    assert [] == [text for text in expressions if torch[text].startswith("refused")]
    assert {text: torch[text] for text in expressions} == {text: ours[text] for text in expressions}


SHAPES = [(), (1,), (5,), (0,), (2, 0, 3), (3, 4), (2, 3, 4), (13, 2), (1, 40), (1001,), (50, 60), (3, 4, 99)]
DTYPES = ["float32", "float64", "bfloat16", "int64", "uint8", "bool", "complex64"]


def drawn(rng, kind, shape):
    """Numbers of many sizes: ordinary, tiny or huge, of all sizes, whole, with NaNs or infinities, sparse."""
    x = rng.standard_normal(shape).astype(np.float32)
    return {
        "ordinary": x,
        "scaled": x * np.float32(10.0) ** rng.integers(-12, 9),
        "of all sizes": x * np.float32(10.0) ** rng.integers(-6, 6, shape),
        "whole": np.round(x * 5),
        "with NaNs": np.where(rng.random(shape) < 0.3, np.float32("nan"), x),
        "with infinities": np.where(rng.random(shape) < 0.3, np.float32("-inf"), np.round(x)),
        "sparse": np.where(rng.random(shape) < 0.7, np.float32(0), x),
    }[kind]


def made(side, x, dtype, history):
    """A tensor of a dtype that some numbers make, plain, a leaf that requires grad, or a result."""
    if dtype in ("int64", "uint8", "bool"):
        x = np.clip(np.nan_to_num(x, neginf=-3), 0 if dtype == "uint8" else -1e9, 200)
    made = side.tensor(x.tolist(), dtype=getattr(side, dtype)).reshape(x.shape)
    if not (made.is_floating_point() or made.is_complex()) or history == "plain":
        return made
    return made.requires_grad_() if history == "leaf" else made.requires_grad_().clone()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "kind", ["ordinary", "scaled", "of all sizes", "whole", "with NaNs", "with infinities", "sparse"]
)
def test_a_tensor_prints_as_torchs(kind, dtype):
    """Of each shape: widths, exponents, cuts, breaks and suffixes."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        x, history = drawn(rng, kind, shape), rng.choice(["plain", "leaf", "result"])
        assert repr(made(torch, x, dtype, history)) == repr(made(reference_impl, x, dtype, history))
