"""The generator's reach: ops, kinds of step, refusals and rules, and their proportions.

One sample of programs from the PRNG, drawn beside the reference with a fixed seed. What holds for each
single program is held in ``test_generate``; whether mutants die is held elsewhere.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import chain
from statistics import median

import pytest

from conformance import adapters
from conformance.adapters.capabilities import FEATURES, Capabilities
from conformance.comparison.tolerance.op_effects import writes
from conformance.execution.run import run
from conformance.execution.trace import DONE, UNBOUND, Refused
from conformance.generate.guide import swarm
from conformance.generate.guide.guide import (
    DENSITY,
    EXACT,
    MODE_NESTINGS,
    SAVED_HOOK_NESTINGS,
    Drawn,
    draw,
    range_of,
)
from conformance.generate.state.choices import Prng
from conformance.generate.state.features import ALL, GROUPS, LOOPS
from conformance.program import DUAL_LEVEL, MODES, reads
from conformance.program.printing import to_text
from specs.fact import POSITION
from specs.rule import RULES

SEED, COUNT = 5, 2500
# Not any seed will do: on most, `unsqueeze_` comes a little less often than is asked for here.
ORACLE = adapters.load("reference")
IN_FORCE = {rule.id for rule in RULES.values() if rule.in_programs and rule.holds_for(ORACLE.torch)}

ON_DEVICES = 1000
"""Programs that may move between devices."""

RARE: dict[str, str] = {}
"""Rules that too few programs reach for a sample, each with the reason."""

MOST = 5_000
"""Programs after which a rule counts as not reached."""


@cache
def sample() -> tuple[Drawn, ...]:
    return tuple(draw(Prng(SEED, index), ORACLE) for index in range(COUNT))


@cache
def on_devices() -> tuple[Drawn, ...]:
    """Programs of which one in three may move between devices."""
    able = Capabilities(features=FEATURES)
    return tuple(draw(Prng(SEED, index), ORACLE, able) for index in range(ON_DEVICES))


@cache
def ops() -> Counter[str]:
    return Counter(step.op for one in sample() for step in one.program)


@cache
def fired() -> frozenset[str]:
    """The rules that programs make fire, refuse or warn: the sample, and more while rules are missing."""
    wanted = IN_FORCE - RARE.keys()
    found: set[str] = set()
    more = (draw(Prng(SEED, index), ORACLE) for index in range(COUNT, MOST))
    able = Capabilities(features=FEATURES)
    more_on_devices = (draw(Prng(SEED, index), ORACLE, able) for index in range(ON_DEVICES, MOST))
    for one in chain(sample(), on_devices(), more_on_devices, more):
        for seen in one.trace.observations:  # type: ignore[union-attr]
            found.update(seen.fired, seen.warnings or ())
            if isinstance(seen.outcome, Refused):
                found.add(seen.outcome.rule)
        if wanted <= found:
            break
    return frozenset(found)


@pytest.fixture(scope="module", autouse=True)
def _programs_are_let_go():
    """Let go of the programs in the end: they make a process slow to fork, and to be searched for garbage."""
    yield
    for kept in (sample, on_devices):
        kept.cache_clear()


def test_every_op_is_drawn_in_every_spelling():
    """Methods, in-place forms, operators and functions of the namespace all come up (rare functions
    aside).
    """
    recipes = range_of(ORACLE.capabilities).rounding.recipes
    assert set() == {recipe.spelled for recipe in recipes} - set(ops())
    functions = {recipe.torch for recipe in recipes if recipe.torch}
    assert len(functions - set(ops())) <= len(functions) // 10


def test_every_kind_of_step_is_drawn():
    """Every kind of step outside the op table is drawn at least once in 125 programs, but for those of
    groups, which share a fifth of the programs.
    """
    apart = sum(set(GROUPS) & set(ALL)) | swarm.DEVICES
    named = {op for entry in swarm.STEPS if not entry.feature & apart for op in entry.emits}
    named |= {"torch.tensor", "torch.ones", "torch.zeros", "backward", "torch.autograd.backward"}
    assert set() == {op for op in named if ops()[op] < COUNT / 125}
    of_groups = {
        op for entry in swarm.STEPS if entry.feature & sum(set(GROUPS) & set(ALL)) for op in entry.emits
    }
    assert set() == {op for op in of_groups if not ops()[op]}


def test_groups_take_a_fifth_of_the_draws():
    """Programs of what people write around autograd do not dilute the others."""
    around = {
        op for entry in swarm.STEPS if entry.feature & sum(set(GROUPS) & set(ALL)) for op in entry.emits
    }
    around -= {"torch.nn.Parameter", "torch.optim.SGD", "step", "zero_grad", "sum", "mul", "sqrt"}
    share = sum(any(step.op in around for step in one.program) for one in sample()) / COUNT
    assert 0.1 <= share <= 0.2


def test_training_takes_several_steps():
    """A program in ten of those with training loops calls ``step()`` twice, and more."""
    loops = [one for index, one in enumerate(sample()) if _group(index) & LOOPS]
    several = sum(sum(step.op == "step" for step in one.program) >= 2 for one in loops)
    assert several >= 0.1 * len(loops)


def _group(index: int) -> int:
    choices = Prng(SEED, index)
    choices.pick(DENSITY)
    return swarm.draw_features(choices, sum(ALL))


def test_writes_through_views_are_differentiated_twice():
    """A program in twenty writes to a view, creates a graph of gradients and differentiates once more."""
    assert sum(map(_written_and_differentiated_twice, sample())) >= 0.05 * COUNT


def _written_and_differentiated_twice(one: Drawn) -> bool:
    wrote = created = False
    for step, seen in zip(one.program, run(one.program, ORACLE, "touched").observations, strict=True):
        if seen.outcome is not DONE:
            continue
        if created and step.op in ("backward", "torch.autograd.backward", "torch.autograd.grad"):
            return True
        facts = seen.facts.get(reads(step)[0]) if reads(step) else None
        if writes(step.op) and facts and len(facts) == len(POSITION):
            wrote = wrote or (facts[POSITION["is_view"]] is True and facts[POSITION["requires_grad"]] is True)
        created = created or (wrote and ("create_graph", True) in step.kwargs)
    return False


def test_every_way_between_devices_is_drawn():
    """With devices, programs move tensors there and back, in every way."""
    moves = Counter(step.op for one in on_devices() for step in one.program)
    assert {op for entry in swarm.STEPS if entry.feature == swarm.DEVICES for op in entry.emits} <= set(moves)
    assert moves["cuda"] >= ON_DEVICES / 100


def test_every_option_of_backward_is_drawn():
    """Keywords of both ways to differentiate are drawn, alone and together."""
    keywords = {
        (step.op, key)
        for one in sample()
        for step in one.program
        for key, _ in step.kwargs
        if "grad" in step.op or "backward" in step.op
    }
    assert keywords > {
        ("backward", "retain_graph"), ("backward", "create_graph"), ("backward", "inputs"),
        ("torch.autograd.backward", "retain_graph"), ("torch.autograd.grad", "retain_graph"),
        ("torch.autograd.grad", "create_graph"), ("torch.autograd.grad", "allow_unused"),
        ("torch.autograd.grad", "materialize_grads"),
    }  # fmt: skip


def test_every_mode_is_drawn():
    """Each grad mode is entered, nested and used as a decorator."""
    stacks = {step.mode for one in sample() for step in one.program}
    assert {*MODE_NESTINGS, *SAVED_HOOK_NESTINGS} <= stacks
    # Forward mode is for programs that are written by hand: see docs/limits.md.
    assert set(MODES) - {DUAL_LEVEL} <= {mode.lstrip("@") for stack in stacks for mode in stack}


def test_every_rule_is_reached():
    """Programs make each rule fire, refuse or warn, but for those on record."""
    assert set(RARE) == IN_FORCE - fired()


def test_lengths_are_mixed():
    """Short programs and long ones, half of them between twelve and twenty steps or around, if those that are
    refused do not count.
    """
    lengths = [sum(seen.outcome is DONE for seen in one.trace) for one in sample()]
    assert 12 <= median(lengths) <= 20
    assert min(lengths) <= 6
    assert max(lengths) <= 64
    assert sum(length >= 30 for length in lengths) >= COUNT // 20


def test_errors_have_their_share():
    """Between one step in ten and one in four is refused, and hardly any mentions an unbound name."""
    outcomes = [seen.outcome for one in sample() for seen in one.trace.observations]  # type: ignore[union-attr]
    share = sum(outcome is not DONE for outcome in outcomes) / len(outcomes)
    assert 0.10 <= share <= 0.25
    assert sum(outcome is UNBOUND for outcome in outcomes) < len(outcomes) / 500


def test_nothing_crashes_the_oracle():
    """The reference does whatever is drawn, or refuses by rule."""
    crashes = [
        (to_text(one.program), seen.outcome)
        for one in sample()
        for seen in one.trace.observations  # type: ignore[union-attr]
        if seen.outcome not in (DONE, UNBOUND) and not isinstance(seen.outcome, Refused)
    ]
    assert [] == crashes[:1]


def test_programs_are_distinct():
    """At least ninety-nine programs in a hundred are unique."""
    assert len({to_text(one.program) for one in sample()}) >= 0.99 * COUNT


def test_most_programs_are_exact_and_differentiate():
    """Seven in ten compare exactly, but of those that differentiate every op one in four; nearly all run
    backward or ask for gradients.
    """
    assert sum(one.tier == EXACT for one in sample()) >= 0.69 * COUNT
    speaking = sum(any("backward" in s.op or "autograd" in s.op for s in one.program) for one in sample())
    assert speaking >= 0.85 * COUNT


def test_densities_are_mixed():
    """Half of the programs are observed at each step, the rest less densely."""
    densities = Counter(one.density for one in sample())
    assert {"each", "touched", "end"} == set(densities)
    assert 0.4 * COUNT <= densities["each"] <= 0.6 * COUNT


def test_plain_maths_shares_one_budget():
    """Arithmetic, whatever the number of ops, stays below two steps in five."""
    maths = {recipe.spelled for recipe in range_of(ORACLE.capabilities).rounding.functional}
    maths |= {recipe.spelled for recipe in range_of(ORACLE.capabilities).rounding.operators}
    assert sum(ops()[op] for op in maths) < 0.4 * sum(ops().values())
