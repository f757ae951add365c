"""The op table is whole: each fact of an op is a field of its declaration."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from specs import ops
from specs.kind import WORDS
from specs.op import Op, op

ROOT = Path(__file__).parents[2]
EVERY = "*"

INNOCENT = {
    "conformance/adapters/micrograd.py": (EVERY, "the operations of another library"),
    "conformance/adapters/reference_guard.py": (
        "elu leaky_relu relu silu",
        "functions of PyTorch, and those that they hand their arguments on to",
    ),
    "conformance/adapters/remote.py": ("trace", "a word of the protocol"),
    "conformance/adapters/templates/adapter.py": (EVERY, "the operations of a toy engine"),
    "conformance/adapters/templates/server.py": (EVERY, "the operations of a toy engine"),
    "conformance/execution/json_form.py": ("slice", "the tag of a Python slice"),
    "conformance/explanation/": (EVERY, "words for people, and Graphviz's; nothing is computed by them"),
    "conformance/grading/host.py": ("trace", "a word of the protocol"),
    "conformance/generate/steps/": (EVERY, "menus of calls: a step names those that it writes"),
    "conformance/generate/steps/call_op.py": ("", "calls any op, so it knows none"),
    "conformance/generate/steps/inplace.py": ("fill_", "a call that the step writes"),
    "conformance/generate/state/tensor_info.py": ("frac", "the bits of a fraction"),
    "conformance/program/": (
        "slice chunk split unbind torch.chunk torch.split torch.unbind",
        "syntax: Python's slices, and the operations that bind a tuple",
    ),
    "conformance/targets/": (EVERY, "what implementations call the ops"),
    "reference_impl/__init__.py": ("zeros_like", "the names that the namespace exports"),
    "reference_impl/autograd/var_mean.py": ("std var", "one function over two ops"),
    "reference_impl/mutants/": ("reshape", "the method that a mutant replaces"),
    "reference_impl/namespace/argument_names.py": (EVERY, "other names for the arguments of ops"),
    "reference_impl/namespace/composite.py": (EVERY, "functions over ops, and other names for ops"),
    "reference_impl/namespace/foreach.py": (EVERY, "ops under their names for lists of tensors"),
    "reference_impl/namespace/install.py": ("copy_ reshape", "methods that take more than their ops"),
    "reference_impl/namespace/non_differentiable.py": (
        "remainder remainder_ floor_divide floor_divide_ _rfloor_divide _rremainder",
        "the ops behind operators",
    ),
    "reference_impl/namespace/rarer_names.py": (EVERY, "ops under their names for copies and for writes"),
    "reference_impl/namespace/spectra.py": (
        "_circular _reflected1d _replicated1d",
        "the ops behind the words for ways to pad",
    ),
    "reference_impl/namespace/special.py": (EVERY, "ops under their names in torch.special"),
    "reference_impl/linalg/": ("diagonal norm sign vector_norm", "exported names, and fields of results"),
    "reference_impl/namespace/settings.py": ("threshold", "a print option"),
    "reference_impl/namespace/tensor_arguments.py": (
        "log_softmax norm sigmoid softmax split tanh",
        "functions that PyTorch has in Python, so that they fail otherwise",
    ),
    "reference_impl/optim/": ("abs cos sum t", "words of PyTorch's for options, and names of states"),
    "reference_impl/namespace/sorting.py": ("maximum minimum", "functions over ops"),
    "reference_impl/nn/": (EVERY, "functions and layers over ops, and reductions of losses"),
    "reference_impl/namespace/view_copies.py": (EVERY, "ops under their names for copies"),
    "specs/cases/": (EVERY, "cases are PyTorch text"),
}
"""Files, or folders, that name ops without stating a fact of them: which names, and why."""


def names_of_ops() -> set[str]:
    """Public names, keys of overloads, and names of functions; no words that are fields of a declaration."""
    ops.load()
    every = [o for table in (ops.ALL, ops.IN_PLACE) for overloads in table.values() for o in overloads]
    names = {o.name for o in every} | {o.key for o in every} | set(ops.ALL) | set(ops.IN_PLACE)
    return (names | {f"torch.{name}" for name in names}) - {field.name for field in fields(Op)}


def named_in(text: str, names: set[str]) -> Iterator[str]:
    """The names that stand in a module as strings, other than as the ``name=`` of a message."""
    tree = ast.parse(text)
    said = {id(word.value) for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords
            if word.arg == "name"}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in names and id(node) not in said:
            yield node.value


@cache
def found() -> dict[str, set[str]]:
    """The ops named outside of the op table, by file."""
    names = names_of_ops()
    files = [
        p for package in ("conformance", "reference_impl", "specs") for p in (ROOT / package).rglob("*.py")
    ]
    met = {p.relative_to(ROOT).as_posix(): set(named_in(p.read_text(encoding="utf-8"), names)) for p in files}
    return {file: named for file, named in met.items() if named and not file.startswith("specs/ops/")}


def excuse(file: str) -> str:
    """The entry that a file falls under: its own, or that of a folder."""
    return file if file in INNOCENT else next((place for place in INNOCENT if file.startswith(place)), "")


def test_no_fact_of_an_op_is_stated_by_its_name():
    """Outside of specs/ops no string is the name of an op, but for those that are listed."""
    guilty = {}
    for file, named in found().items():
        allowed, _ = INNOCENT.get(excuse(file), ("", ""))
        if allowed != EVERY and not named <= set(allowed.split()):
            guilty[file] = sorted(named - set(allowed.split()))
    assert {} == guilty


@pytest.mark.parametrize("place", INNOCENT)
def test_no_excuse_is_left_over(place):
    """Each entry of the list, and each name in it, is still needed."""
    allowed, _ = INNOCENT[place]
    met = {name for file, named in found().items() if excuse(file) == place for name in named}
    assert met if allowed == EVERY else set(allowed.split()) == met


@pytest.mark.parametrize("fact", WORDS)
def test_a_word_that_is_none_is_refused(fact):
    """A declaration with a misspelt word fails, and lists the words."""
    with pytest.raises(TypeError, match=f"misspelt: {fact}='nonsense' is none of "):

        @op(**{fact: "nonsense"})
        def misspelt(x):
            return x


@pytest.mark.parametrize("fact", WORDS)
def test_each_word_is_used(fact):
    """Every word that is explained is used by an op."""
    ops.load()
    every = [o for table in (ops.ALL, ops.IN_PLACE) for overloads in table.values() for o in overloads]
    assert set(WORDS[fact]) == {getattr(o, fact) for o in every}
