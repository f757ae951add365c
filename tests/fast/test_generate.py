"""Drawing programs: sources of choices, and what the guide promises of a program.

How often the generator reaches what is held in ``tests/quality``; the strategy in ``test_strategy``.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks.core import core
from conformance import adapters
from conformance.adapters.capabilities import FEATURES, Capabilities
from conformance.execution.run import Runner, run
from conformance.execution.trace import DONE
from conformance.generate.guide import swarm
from conformance.generate.guide.guide import Drawn, draw, range_of
from conformance.generate.state.choices import Choices, Prng, weighted
from conformance.generate.state.features import (
    ALL,
    AS_STRIDED,
    COMPLEX,
    DEVICES,
    FUNCTIONS,
    GROUPS,
    HOOKS,
    INTEROP,
    TRAINING,
)
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.oracle import RunnerOracle
from conformance.generate.state.registry import FOLLOW_UPS
from conformance.generate.state.tensor_info import Store
from conformance.generate.steps import autograd_grad, grad_attribute, layer_functions, training
from conformance.program import ANOMALY_MODES, Program, binds, reads, ref
from conformance.program.parsing import parse
from conformance.program.printing import to_text

SEED = 11
LATER = HOOKS | FUNCTIONS | TRAINING | INTEROP | AS_STRIDED | DEVICES | COMPLEX | sum(set(GROUPS) & set(ALL))
ORACLE = adapters.load("reference")
LIMIT = {"float32": 2**24, "float64": 2**53, "complex128": 2**53}


@cache
def sample(count: int = 300) -> tuple[Drawn, ...]:
    """Programs that several tests look at."""
    return tuple(draw(Prng(SEED, index), ORACLE) for index in range(count))


def narrowed(capabilities: Capabilities, count: int = 150) -> list[Program]:
    return [draw(Prng(SEED, index), ORACLE, capabilities).program for index in range(count)]


# -- choices


def test_the_prng_says_the_same_everywhere():
    """The stream of (seed, index) is fixed, whatever the platform and the Python."""
    choices = Prng(1, 2)
    assert [63, 44, 7, 20, 3] == [choices.below(100) for _ in range(5)]


def test_a_span_begins_a_block_and_leaves_the_rest():
    """Taking from a span moves nothing of the block that was begun outside of it."""
    blocks = iter([bytes(range(16)), bytes(range(16, 32)), bytes(range(32, 48))])
    choices = Choices(lambda: next(blocks))
    first = next(choices.words)
    assert 0x1011 == choices.span(lambda: next(choices.words))
    assert [0x0001, 0x0203] == [first, next(choices.words)]


def test_programs_are_as_long_as_the_lengths_say():
    """Going on turn by turn gives each length its share: half of the programs have 14 steps or more that are
    not refused.
    """
    lengths = [sum(seen.outcome is DONE for seen in one.trace) for one in sample()]
    assert 0.43 <= sum(length >= 14 for length in lengths) / len(lengths) <= 0.62


def test_the_simplest_choices_end_at_once():
    """Zeros give the program that everything shrinks to."""
    assert 4 <= len(draw(Choices(lambda: bytes(16)), ORACLE).program) <= 6


def test_weights_are_repetitions():
    """An item stands as often as its weight says, the first one first."""
    assert ("a", "a", "b") == weighted({"a": 2, "b": 1, "c": 0})


# -- what holds for each program


def test_the_same_seed_draws_the_same_programs():
    """Two runs give the same text, byte for byte, whatever was drawn in between."""
    first = [to_text(one.program) for one in sample()[:60]]
    again = [to_text(draw(Prng(SEED, index), ORACLE).program) for index in reversed(range(60))]
    assert first == again[::-1]


def test_guiding_observes_nothing():
    """A program run by itself leaves the trace that it left while it was drawn."""
    for one in sample():
        assert one.trace is not None
        alone = run(one.program, ORACLE, one.density)
        drawn, again = ([repr(o[:3]) for o in t.observations] for t in (one.trace, alone))  # NaN is no NaN
        assert drawn == again, to_text(one.program)


def test_programs_are_text():
    """Printing a drawn program and parsing it gives it back."""
    for one in sample():
        text = to_text(one.program)
        assert text == to_text(parse(text))


@pytest.mark.parametrize(("mode", "steps"), [((), ["del"]), (("no_grad",), ["del"]), (("@no_grad",), [])])
def test_a_decorated_function_unbinds_nothing(mode, steps):
    """A name that is to be forgotten there stays, for `del` is no expression."""
    runner = Runner(ORACLE)
    state = GenState(Prng(0, 0), RunnerOracle(runner))
    assert state.emit("torch.ones", (2,), (), ("a",))
    state.mode = mode
    state.delete_names("a")
    assert steps == [step.op for step in state.steps[1:]]
    runner.close()


@pytest.mark.parametrize(
    ("grad", "settings", "drawn"), [("a", "", False), ("j", "", True), ("a", ", momentum=0.5", True)]
)
def test_an_optimizer_writes_nothing_that_it_is_reading_elsewhere(grad, settings, drawn):
    """Torch does not know that the two share memory, and what it reads would depend on the loop."""
    text = f"""
        a = torch.ones(2, 2)
        d = a.numpy()
        e = torch.from_numpy(d)
        j = e.t()
        j.grad = {grad}.detach()
        u = torch.optim.SGD([j], lr=0.5{settings})
    """
    with Runner(ORACLE) as runner:
        for step in parse(dedent(text)):
            assert runner.step(step).outcome is DONE
        state, store = GenState(Prng(0, 0), RunnerOracle(runner)), Store(3)
        store.shared_with_numpy = True
        *_, tensor = (state.bind(name, store) for name in "aej")
        state.vocabulary = range_of(ORACLE.capabilities).exact
        assert training.optimizer_step(state, training.Optimizer(ref("u"), (tensor,))) is drawn


def test_a_name_is_bound_before_it_is_read():
    """No step mentions a name that no earlier step binds."""
    for one in sample():
        bound: set[str] = set()
        for step in one.program:
            assert set() == set(reads(step)) - bound
            bound.update(binds(step))


def numbers(value: object) -> list[float]:
    """All floats in nested lists, real and imaginary parts apart."""
    if isinstance(value, list | tuple):
        return [number for item in value for number in numbers(item)]
    if isinstance(value, complex):
        return [value.real, value.imag]
    return [value] if isinstance(value, float) else []


def inexact(one: Drawn) -> list[str]:
    """The names that end with a value or a grad that a mantissa cannot be sure to hold."""
    assert one.trace is not None
    found = []
    for name, facts in one.trace.observations[-1].facts.items():
        values = [(str(facts[1]), facts[0])] if len(facts) > 1 else []
        if len(facts) > 10 and isinstance(facts[10], tuple) and len(facts[10]) > 2:
            values.append((facts[10][0], facts[10][2]))
        for dtype, value in values:
            limit = LIMIT.get(dtype, 2**53)
            if any(not math.isfinite(n) or abs(n.as_integer_ratio()[0]) >= limit for n in numbers(value)):
                found.append(name)
    return found


def test_exact_programs_stay_exact():
    """Outside the rounding tier nothing rounds; a saved extreme overwritten through ``.data`` may,
    rarely, give nan.
    """
    exact = [one for one in sample() if one.tier == "exact"]
    assert len([one for one in exact if inexact(one)]) <= len(exact) // 100


# -- capabilities


def test_nothing_is_drawn_beyond_the_features():
    """Without any feature, programs make leaves, calculate, run backward and read gradients."""
    plain = Capabilities(features=frozenset())
    drawn_ops = {step.op for program in narrowed(plain) for step in program}
    assert set() == drawn_ops & {"view", "__getitem__", "mul_", "__iadd__", "detach", ".data", "retain_grad"}
    assert set() == {op for op in drawn_ops if op == "torch.autograd.grad"}
    assert {()} == {step.mode for program in narrowed(plain) for step in program}
    assert {"backward", ".grad", "torch.tensor"} < drawn_ops


@pytest.mark.parametrize(
    ("feature", "marks"),
    [
        ("modes", ()),
        ("detach", ("detach", "detach_")),
        ("data", (".data", ".data=")),
        ("retain", ("retain_grad",)),
    ],
)
def test_each_feature_can_be_left_out(feature, marks):
    """Leaving one feature out leaves its steps out."""
    for program in narrowed(Capabilities(features=FEATURES - {feature})):
        for step in program:
            assert step.op not in marks
            assert feature != "modes" or set() == set(step.mode) - set(ANOMALY_MODES)


def test_scalar_implementations_get_scalars():
    """If only scalars are supported, every literal is a number and no op needs more."""
    ops = frozenset(["torch.tensor", "__add__", "__mul__", "__pow__", "relu", "backward", ".grad"])
    scalar = Capabilities(ops=ops, shapes="scalar", dtypes=frozenset(["float64"]), features=frozenset())
    found = [step for program in narrowed(scalar) for step in program]
    assert ops == {step.op for step in found}
    assert all(isinstance(step.args[0], float) for step in found if step.op == "torch.tensor")


@pytest.mark.parametrize(
    "ops",
    [
        ["torch.tensor", "backward"],
        ["torch.tensor", "backward", "view", "mul_"],
        ["torch.tensor", "backward", "torch.autograd.grad", "retain_grad", "register_hook", "remove"],
    ],
    ids=", ".join,
)
def test_little_is_enough_to_draw_from(ops):
    """An implementation of few operations gets programs of those alone."""
    few = Capabilities(ops=frozenset(ops))
    assert {step.op for program in narrowed(few) for step in program} <= few.ops


def test_valid_programs_can_be_asked_for():
    """Without errors among the features few steps are refused: what backward passes leave behind is not
    foreseen.
    """
    tame = Capabilities(refusals="none")
    outcomes = [
        o.outcome
        for index in range(150)
        for o in draw(Prng(SEED, index), ORACLE, tame).trace.observations  # type: ignore[union-attr]
    ]
    assert sum(outcome is not DONE for outcome in outcomes) < 0.12 * len(outcomes)


def test_the_core_vocabulary_is_kept_to():
    """Programs for comparing costs use plain autograd's steps, modes and dtypes, and each kind of those."""
    found = [step for program in narrowed(core()) for step in program]
    said = " ".join(map(repr, found))
    assert not any(word in said for word in ("Function(", "float16", "complex64", "inference", "saved"))
    assert not {"float64", "float32", "complex128"} - set(re.findall(r"\w+", said))
    assert {step.op for step in found} <= core().ops
    assert {"double", "float", "to", ".data=", "detach_", "del", ".grad="} < {step.op for step in found}
    assert {"no_grad", "@enable_grad"} < {mode for step in found for mode in step.mode}


def test_every_core_group_is_drawn():
    """The core vocabulary leaves out the later kinds of step, and no others."""
    drawn_from = range_of(core())
    core_kinds = swarm.actions(drawn_from.features, drawn_from.supports, drawn_from.exact.empty)
    every = {entry.draw for entry in swarm.STEPS}
    later = {entry.draw for entry in swarm.STEPS if entry.feature & LATER}
    later |= {autograd_grad.by_gradient_edge, grad_attribute.assign_grad_dtype, layer_functions.norm}
    assert later == every - set(core_kinds)


def test_what_is_scheduled_by_name_is_registered():
    """Each follow-up that a step schedules by name exists."""
    sources = [Path(module.__file__).read_text(encoding="utf-8") for module in swarm.MODULES]
    names = {name for text in sources for name in re.findall(r'schedule\(\s*"(\w+)"', text)}
    assert "inplace_op" in names
    assert set() == names - FOLLOW_UPS.keys()
