"""A program's text is a PyTorch script, and printing and parsing are inverse to each other."""

from __future__ import annotations

import ast
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.execution import json_form
from conformance.program import GRAD_MODES, MODES, Dtype, Program, Ref, Step
from conformance.program.parsing import ProgramError, parse
from conformance.program.printing import AUGMENTED, BINARY, REFLECTED, UNARY, script, to_text

NAMES = st.sampled_from(["a", "b", "c", "x1"])
REFS = NAMES.map(Ref)
NUMBERS = st.one_of(
    st.integers(-(2**40), 2**40),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.just(float("inf")),
)
LITERALS = st.one_of(
    NUMBERS, st.booleans(), st.none(), st.sampled_from(["sum", "it's"]), REFS, st.just(Dtype("float32"))
)
BOUNDS = st.one_of(st.none(), st.integers(-3, 3))
SLICES = st.builds(slice, BOUNDS, BOUNDS, BOUNDS)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(LITERALS, st.just(Ellipsis), SLICES),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=6,
)
KWARGS = st.dictionaries(st.sampled_from(["dim", "keepdim", "retain_graph"]), VALUES, max_size=2).map(
    lambda d: tuple(d.items())
)
OUTS = st.one_of(st.just(()), st.tuples(NAMES), st.tuples(NAMES, NAMES), st.tuples(NAMES, st.just("*")))
MODE = st.tuples(
    st.lists(st.sampled_from(MODES), max_size=2),
    st.one_of(st.none(), st.sampled_from(GRAD_MODES).map(lambda m: "@" + m)),
).map(lambda pair: (*pair[0], *([pair[1]] if pair[1] else [])))
BLOCKS = st.lists(st.sampled_from(MODES), max_size=2).map(tuple)

NOTHING = st.just(())


def step(
    op: st.SearchStrategy[str],
    args: st.SearchStrategy[Any],
    kwargs: Any = NOTHING,
    out: Any = OUTS,
    mode: Any = MODE,
) -> Any:
    return st.builds(Step, op, args.map(tuple), kwargs, out, mode)


STEPS = st.one_of(
    step(st.sampled_from(["mul", "add_", "unbind", "__add__", "__iadd__", "__setitem__"]),
         st.builds(lambda x, rest: (x, *rest), REFS, st.lists(VALUES, max_size=3)), KWARGS),
    step(st.sampled_from(["torch.tensor", "torch.autograd.grad", "torch.set_grad_enabled"]), st.lists(VALUES,
    max_size=2), KWARGS), step(st.sampled_from([*BINARY, *REFLECTED, "__getitem__"]), st.tuples(REFS,
    VALUES)), step(st.sampled_from([*UNARY]), st.tuples(REFS)), step(st.sampled_from([".grad", ".data"]),
    st.tuples(REFS)), step(st.sampled_from([".grad=", ".requires_grad="]), st.tuples(REFS, VALUES)),
    step(st.just("__setitem__"), st.tuples(REFS, VALUES, VALUES), out=st.just(())), st.builds(lambda op, name,
    value, mode: Step(op, (Ref(name), value), (), (name,), mode),
              st.sampled_from([*AUGMENTED]), NAMES, VALUES, MODE),
    step(st.just("del"), st.lists(REFS, min_size=1, max_size=2), out=st.just(()), mode=BLOCKS),
)  # fmt: skip
PROGRAMS = st.lists(STEPS, min_size=1, max_size=6).map(lambda steps: Program(tuple(steps)))


@given(PROGRAMS)
def test_parsing_inverts_printing(program: Program) -> None:
    """The text says everything a program holds, to the sign of a zero."""
    text = to_text(program)
    assert repr(program) == repr(parse(text))


@given(PROGRAMS)
def test_the_report_script_parses_to_the_same_program(program: Program) -> None:
    """The try, print and comments that a report adds are not part of the program."""
    ast.parse(text := script(program, refused=range(0, len(program), 2), notes={0: ["# here", "print(a)"]}))
    assert repr(program) == repr(parse(text))


@given(PROGRAMS)
def test_json_is_inverse_and_valid(program: Program) -> None:
    """The JSON form survives a round trip through text and fits its schema."""
    form = json.loads(json.dumps(json_form.to_json(program)))
    jsonschema.validate(form, json_form.schema("program"))
    assert repr(program) == repr(json_form.from_json(form))


SOURCE = """
import torch
a = torch.tensor([1., 2.], requires_grad=True)
loss = 10 - (a @ a).sum()
b, c = a.unbind()
g = torch.autograd.grad(c, [a], create_graph=True)[0]
with torch.no_grad():
    a[0:1, None, ..., ::2] = -2.0
    with torch.enable_grad():
        a += -1
a.grad.zero_()
a.grad += 1
y = torch.no_grad()(lambda: a.mul(2.0))()
w = 2 > a
a.grad, w.grad = a.detach(), None
print(y)
"""
PRINTED = """import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
_2 = a @ a
_1 = _2.sum()
loss = 10 - _1
del _1, _2
b, c = a.unbind()
g, *_ = torch.autograd.grad(c, [a], create_graph=True)
with torch.no_grad():
    a[0:1, None, ..., ::2] = -2.0
    with torch.enable_grad():
        a += -1
_3 = a.grad
_3.zero_()
del _3
_4 = a.grad
_4 += 1
a.grad = _4
del _4
y = torch.no_grad()(lambda: a.mul(2.0))()
w = a < 2
_5 = a.detach()
a.grad = _5
w.grad = None
del _5
"""


def test_what_people_write_becomes_a_straight_line() -> None:
    """Nested expressions become temporaries that are dropped when their statement is over."""
    assert PRINTED == to_text(parse(SOURCE))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = (", "not Python"),
        ("", "no step"),
        ("for i in x:\n    pass", "line 1: a program is a straight line"),
        ("x = torch.ones(2)\nassert x", "line 2: a program holds no assert"),
        ("with open(x):\n    pass", "is no mode of a program"),
        ("x = y", "no operation"),
        ("x = f(2)", "no operation"),
        ("x = torch.ones(2)\nx.grad, x.data = x.unbind()", "cannot bind x.grad"),
        ("x = torch.ones(2)\nx.grad, y = x, x", "cannot bind x.grad"),
    ],
)
def test_what_is_no_program_says_where_and_why(text: str, problem: str) -> None:
    """A file that is no program gives one clear line."""
    with pytest.raises(ProgramError, match=problem):
        parse(text)


CALLED = """
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * FACTOR


a = torch.tensor(1.0, requires_grad=True)
b = Double.apply(a)
"""


def test_a_custom_function_comes_with_its_class():
    """A script brings the class of a function on the menu along; one written otherwise is no program."""
    program = parse(CALLED.replace("FACTOR", "2"))
    assert ["torch.tensor", "Double.apply"] == [step.op for step in program]
    assert to_text(program) == CALLED.replace("FACTOR", "2").lstrip()
    with pytest.raises(ProgramError, match="Double is not on the menu"):
        parse(CALLED.replace("FACTOR", "3"))
