"""The guided generator: draws a program step by step beside a running oracle, from any source of choices.

The loop lives here, and all that is drawn once for a program: length, features, density, tier. The kinds of
step live in ``steps``, their weights in ``swarm``.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from conformance.execution.claims import names_of
from conformance.execution.run import Runner
from conformance.execution.trace import Trace, Unsupported
from conformance.generate.guide import swarm
from conformance.generate.guide.vocabulary import Recipes, Vocabulary, allows
from conformance.generate.state.choices import Choices, weighted
from conformance.generate.state.features import (
    COMPLEX,
    DERIVATIVES,
    DEVICES,
    DTYPES,
    HOOKS,
    INPLACE,
    LAYER_FUNCTIONS,
    MODES,
    OPERATORS,
    VIEWS,
)
from conformance.generate.state.gen_state import NAMES, GenState, NotDrawn
from conformance.generate.state.oracle import LimitedOracle, Oracle, RunnerOracle
from conformance.generate.state.tensor_info import backward_ready, needs_grad
from conformance.generate.steps import backward, leaves, requires_grad
from conformance.generate.steps.devices import DEVICE_NAMES
from conformance.program import SAVING_MODES, Program, around_saved
from conformance.program.shrink import without_steps
from specs.callbacks import AROUND_SAVED

EXACT, ROUNDING = "exact", "rounding"

DENSITY = weighted({"end": 1, "touched": 1, "each": 2})
LENGTHS = (8, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 24, 27, 31, 35, 40, 40)
"""Least numbers of steps that are not refused; programs mostly have one or two more."""
_LONGER = tuple(sum(length > steps for length in LENGTHS) for steps in range(max(LENGTHS)))
"""The number of lengths that are above so many steps."""
LEAST_STEPS = 4
"""The number of steps with which the simplest choices end."""
_MOST_NAMES = len(NAMES) - 60
"""Names that may be used up before a turn, so that enough are left for it and the end."""
_PRUNINGS = 3
"""The number of times that steps are pruned; what then needs too much is cut off."""
_NO_END = 12
"""One program in so many may end without a backward."""
_DTYPES = ("float64", "float32", "float32", "int64", "bool", "complex128", "complex64", "float16", "bfloat16")

TURNS = tuple(product((False,) * 2 + (True,), (False, True), (False,) * 7 + (True,), (False,) * 19 + (True,)))
"""Kinds of turn: drawn unchecked, taking up a pending follow-up, entering a grad mode, rebinding a name."""

MODE_NESTINGS = weighted({
    ("no_grad",): 5,
    ("no_grad", "enable_grad"): 2,
    ("set_grad_enabled(False)",): 2,
    ("enable_grad",): 1,
    ("set_grad_enabled(True)",): 1,
    ("no_grad", "set_grad_enabled(True)"): 1,
    ("@no_grad",): 2,
    ("@enable_grad",): 1,
    ("no_grad", "@enable_grad"): 1,
    ("inference_mode",): 4,
    ("@inference_mode",): 1,
    ("inference_mode", "enable_grad"): 1,
    ("inference_mode", "inference_mode(False)"): 1,
    ("no_grad", "inference_mode(False)"): 1,
})  # fmt: skip
"""Nestings of grad modes that a step, or a run of steps, may stand in."""
GRAD_MODE_NESTINGS = tuple(modes for modes in MODE_NESTINGS if "inference" not in "".join(modes))
"""Nestings for an implementation without inference mode."""
_COPIED, _DOUBLED_AWAY, _DOUBLED_BACK = (around_saved(*pair) for pair in AROUND_SAVED[2:])
SAVED_HOOK_NESTINGS = weighted({
    **dict.fromkeys([(mode,) for mode in SAVING_MODES], 1),
    ("autograd.graph.save_on_cpu",): 1,
    (_DOUBLED_AWAY, _COPIED): 1,
    (_DOUBLED_BACK, "no_grad"): 1,
    ("no_grad", _DOUBLED_AWAY, "enable_grad"): 1,
})  # fmt: skip
"""Nestings of saved-tensor hooks."""


class Drawn(NamedTuple):
    """A program with the density at which to observe it, and its tier: exact or rounding."""

    program: Program
    density: str
    tier: str
    trace: Trace | None = None


class DrawRange:
    """The choices that an implementation's capabilities leave (ops, shapes, dtypes, features)."""

    def __init__(self, capabilities: Any) -> None:
        self.supports = allows(names_of(capabilities.ops))
        self.features = swarm.allowed(capabilities.features)
        self.errors = capabilities.refusals != "none"
        self.devices = DEVICE_NAMES if "two_devices" in capabilities.features else DEVICE_NAMES[:-1]
        self.shape_sets = leaves.SCALAR_SHAPES if capabilities.shapes == "scalar" else leaves.SHAPE_SETS
        views = "views" in capabilities.features and capabilities.shapes != "scalar"
        if not views:
            self.features &= ~swarm.VIEWS
        inplace = "inplace" in capabilities.features
        recipes = Recipes(self.supports)
        self.exact = Vocabulary(recipes, views=views, writes=inplace, rounding=False)
        self.rounding = Vocabulary(recipes, views=views, writes=inplace, rounding=True)
        halves = [d for d in ("bfloat16", "float16") if d in capabilities.dtypes]
        floats = [d for d in ("float64", "float32") if d in capabilities.dtypes] or halves
        self.float_dtypes = tuple(floats[:1] * 3 + floats[1:])
        self.dtypes = tuple(d for d in _DTYPES if d in capabilities.dtypes)
        if not {"complex64", "complex128"} <= set(capabilities.dtypes):
            self.features &= ~swarm.COMPLEX
        self.always_grad = not (self.supports("requires_grad_") or self.supports("detach"))
        self.inference = "inference" in capabilities.features
        self.full_api = self.supports("torch.autograd.backward")


@lru_cache(maxsize=32)
def range_of(capabilities: Any) -> DrawRange:
    """Return the choices that capabilities leave, worked out once."""
    return DrawRange(capabilities)


class Guide:
    """Draws one program: a number of `turn`s, then the `end`."""

    def __init__(self, choices: Choices, oracle: Oracle, drawn: DrawRange) -> None:
        self.state = state = GenState(choices, oracle)
        self._choices, self._steps = choices, 0
        state.features = features = swarm.draw_features(choices, drawn.features)
        state.rounding = choices.below(8) >= (
            2 if features & (LAYER_FUNCTIONS | DERIVATIVES) else 4 if features & COMPLEX else 6
        )
        state.vocabulary = vocabulary = drawn.rounding if state.rounding else drawn.exact
        state.shapes = choices.pick(drawn.shape_sets)
        state.dtype = choices.pick(drawn.float_dtypes)
        state.float_dtypes = drawn.float_dtypes
        state.dtypes = drawn.dtypes if features & DTYPES else ()
        state.numbers = bool(features & OPERATORS)
        state.always_grad = drawn.always_grad
        state.full_api = drawn.full_api
        state.indices = "int64" in drawn.dtypes
        state.supports = drawn.supports
        self._errors = drawn.errors
        self._modes = bool(features & MODES)
        self._views = bool(features & VIEWS and vocabulary.views)
        self._nestings = MODE_NESTINGS if drawn.inference else GRAD_MODE_NESTINGS
        if features & HOOKS:
            self._nestings = self._nestings * 3 + SAVED_HOOK_NESTINGS * 2
        self._actions = swarm.actions(features, drawn.supports, vocabulary.empty)
        self._unchecked = swarm.unchecked_actions(features, drawn.supports, vocabulary.empty)
        if features & DEVICES:
            state.use_devices(drawn.devices)
        leaves.first_leaf(state)
        for opener in swarm.openers(features):
            if opener in self._actions:
                state.schedule(opener, None)

    def turn(self) -> bool:
        """Draw a step, sometimes with one that it needs first; one turn in three is unchecked."""
        state = self.state
        pick = state.pick
        unchecked, follow, enter, state.rebind = pick(TURNS)
        state.unchecked = unchecked = unchecked and self._errors
        if state.mode_turns:
            state.mode_turns -= 1
            if not state.mode_turns:
                state.mode = ()
        elif enter and self._modes:
            state.mode = pick(self._nestings)
            if "inference_mode" in state.mode[0]:
                state.inference = True
                if self._views and state.tensors and not state.below(3):
                    state.schedule("view_op", state.find(needs_grad))
            elif state.mode[-1] in SAVING_MODES and state.features & INPLACE and not state.below(3):
                state.schedule("square_and_write", None)
            state.mode_turns = 1 if state.mode[-1][0] == "@" else 1 + state.below(7)
        if state.no_grad_turns:
            requires_grad.count_down(state)
        if follow and state.pending:
            follow_up, about = state.pending.pop()
            if follow_up(state, about):
                return True
        if not state.tensors:
            return any(map(state.switch_device, state.by_device or ())) or leaves.leaf(state)
        actions = self._unchecked if unchecked else self._actions
        for _ in range(6):
            if pick(actions)(state, None):
                return True
        return leaves.leaf(state)

    def go_on(self) -> bool:
        """Draw a turn, or that there is none any more, so that programs are as long as `LENGTHS` says.

        It is drawn turn by turn, not once before all: then a shrinker can leave out turns. Steps that were
        refused do not count, so that errors cost nothing of what else a program does.
        """
        state, chance = self.state, next(self._choices.words)
        steps = len(state.steps) - state.refused
        if state.names_used > _MOST_NAMES or steps >= len(_LONGER) or (not chance and steps >= LEAST_STEPS):
            return False  # NB: of few operations there may be nothing to draw, and names run out
        longer, all_of_them = _LONGER[steps], _LONGER[self._steps]
        if chance * all_of_them >> 16 < all_of_them - longer:
            return False
        self._steps = steps
        try:
            self.turn()
        except NotDrawn:
            leaves.leaf(state)
        return True

    def end(self) -> None:
        """End with a backward, mostly, if the last steps differentiated nothing."""
        state = self.state
        requires_grad.enable_grad(state)
        if any("grad" in step.op or "backward" in step.op for step in state.steps[-8:]):
            return
        state.unchecked, state.rebind, state.mode = False, False, ()
        if state.tensors and state.below(_NO_END) and any(backward_ready(tensor) for tensor in state.tensors):
            backward.backward(state)
            if state.pending and state.pending[-1][0] is backward.backward:
                state.pending.pop()[0](state, state.focus[0] if state.focus else None)


def draw(choices: Choices, adapter: Any, capabilities: Any = None, density: str | None = None) -> Drawn:
    """Draw a program beside ``adapter`` as the oracle, within ``capabilities`` (by default the oracle's own).

    The oracle's trace comes with it, observed at the density drawn: nothing is run twice.
    """
    if density is None:
        density = choices.pick(DENSITY)
    limits = capabilities or adapter.capabilities
    with Runner(adapter, density) as runner:
        oracle = oracle_within(limits, runner)
        guide = Guide(choices, oracle, range_of(limits))
        while choices.span(guide.go_on):
            pass
        guide.end()
        guide.state.close()
        trace = runner.finish()
    trace = pruned(trace, oracle, adapter, limits)
    return Drawn(trace.program, density, ROUNDING if guide.state.rounding else EXACT, trace)


def oracle_within(limits: Any, runner: Runner) -> RunnerOracle:
    """An oracle that keeps to an implementation's capabilities, if it lacks anything."""
    return LimitedOracle(runner, limits) if limits.limited else RunnerOracle(runner)


_outcome_of = itemgetter(0)


def unfit(trace: Trace, oracle: RunnerOracle) -> set[int]:
    """The steps that need more than is claimed, and those that the oracle says nothing about."""
    beyond: set[int] = getattr(oracle, "beyond", set())
    outcomes = [*map(type, map(_outcome_of, trace.observations))]
    if Unsupported not in outcomes:
        return beyond
    return beyond.union([i for i, outcome in enumerate(outcomes) if outcome is Unsupported])


def pruned(trace: Trace, oracle: RunnerOracle, adapter: Any, limits: Any) -> Trace:
    """The trace of the program without the steps that turned out to need more than is claimed, or whose
    result PyTorch leaves to chance.
    """
    cuts = 0
    while beyond := unfit(trace, oracle):
        steps, first, cuts = trace.program.steps, min(beyond), cuts + 1
        kept = without_steps(steps, beyond) if cuts <= _PRUNINGS else steps[:first]
        with Runner(adapter, trace.density) as runner:
            oracle = oracle_within(limits, runner)
            for step in kept:
                oracle.step(step)
            trace = runner.finish()
    return trace
