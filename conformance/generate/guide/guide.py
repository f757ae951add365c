"""The guided generator: draws a program step by step beside a running oracle, from any source of choices.

The loop is here, and what holds for a whole program: length, groups, density, tier. The kinds of step live
in their own modules (``leaves``, ``maths``, ``writes``, ``flags``, ``grads``, ``backward``, ``grad_call``),
their frequencies in ``swarm``.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from conformance.execution.run import Runner
from conformance.execution.trace import Trace
from conformance.generate.guide import swarm
from conformance.generate.guide.vocabulary import Recipes, Vocabulary, allows
from conformance.generate.state.choices import Choices, weighted
from conformance.generate.state.features import DEVICES, DTYPES, HOOKS, MODES, OPERATORS
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.oracle import Oracle, RunnerOracle
from conformance.generate.state.tensor_info import backward_ready
from conformance.generate.steps import backward, leaves, requires_grad
from conformance.generate.steps.devices import DEVICE_NAMES
from conformance.program import SAVING_MODES, Program, around_saved
from specs.callbacks import AROUND_SAVED

EXACT, ROUNDING = "exact", "rounding"

DENSITY = weighted({"end": 1, "touched": 1, "each": 2})
LEAST_STEPS = 4
LENGTHS = (8, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 24, 27, 31, 35, 40, 40)
"""How many steps a program has at least; as a rule one or two more."""
_LAST = 12
_DTYPES = ("float64", "float32", "float32", "int64", "bool", "complex128", "complex64", "float16", "bfloat16")

TURN_KINDS = tuple(
    product((False,) * 4 + (True,), (False, True), (False,) * 9 + (True,), (False,) * 19 + (True,))
)
"""What holds of a turn: whether it is drawn without regard to validity, takes up the agenda, enters a grad
mode, and gives its result a name that is used already.
"""

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
"""Nestings of grad modes a step, or a run of steps, may stand in."""
GRAD_MODE_NESTINGS = tuple(stack for stack in MODE_NESTINGS if "inference" not in "".join(stack))
"""Those that an implementation without inference mode knows."""
_COPIED, _DOUBLED_AWAY, _DOUBLED_BACK = (around_saved(*pair) for pair in AROUND_SAVED[2:])
SAVED_HOOK_NESTINGS = weighted({
    **dict.fromkeys([(mode,) for mode in SAVING_MODES], 1),
    ("autograd.graph.save_on_cpu",): 1,
    (_DOUBLED_AWAY, _COPIED): 1,
    (_DOUBLED_BACK, "no_grad"): 1,
    ("no_grad", _DOUBLED_AWAY, "enable_grad"): 1,
})  # fmt: skip
"""Hooks around what is saved, and their nestings."""


class Drawn(NamedTuple):
    """A program with what was drawn along with it: how densely to observe it, and whether it rounds
    (``tier``).
    """

    program: Program
    density: str
    tier: str
    trace: Trace | None = None


class DrawRange:
    """What is drawn for an implementation, read off its capabilities (ops, shapes, dtypes, features) once."""

    def __init__(self, capabilities: Any) -> None:
        self.supports = allows(capabilities.ops)
        self.features = swarm.allowed(capabilities.features)
        self.errors = "errors" in capabilities.features
        self.devices = DEVICE_NAMES if "two_devices" in capabilities.features else DEVICE_NAMES[:-1]
        self.shape_sets = leaves.SCALAR_SHAPES if capabilities.shapes == "scalar" else leaves.SHAPE_SETS
        views = "views" in capabilities.features and capabilities.shapes != "scalar"
        if not views:
            self.features &= ~swarm.VIEWS
        inplace = "inplace" in capabilities.features
        recipes = Recipes(self.supports)
        self.exact = Vocabulary(recipes, views=views, writes=inplace, rounding=False)
        self.rounding = Vocabulary(recipes, views=views, writes=inplace, rounding=True)
        floats = [d for d in ("float64", "float32") if d in capabilities.dtypes]
        self.float_dtypes = tuple(floats[:1] * 3 + floats[1:])
        self.dtypes = tuple(d for d in _DTYPES if d in capabilities.dtypes)
        self.always_grad = not (self.supports("requires_grad_") or self.supports("detach"))
        self.inference = self.supports("torch.inference_mode")
        self.saving = self.supports("torch.autograd.graph.saved_tensors_hooks")
        self.full_api = self.supports("torch.autograd.backward")


@lru_cache(maxsize=32)
def range_of(capabilities: Any) -> DrawRange:
    """The range of an implementation's capabilities, made once."""
    return DrawRange(capabilities)


class Guide:
    """Draws one program: so many `turn`s, then the `end`."""

    def __init__(self, choices: Choices, oracle: Oracle, drawn: DrawRange) -> None:
        self.state = state = GenState(choices, oracle)
        state.features = groups = swarm.draw_features(choices, drawn.features)
        state.rounding = choices.below(8) >= 6
        state.vocabulary = vocabulary = drawn.rounding if state.rounding else drawn.exact
        state.shapes = choices.pick(drawn.shape_sets)
        state.dtype = choices.pick(drawn.float_dtypes)
        state.float_dtypes = drawn.float_dtypes
        state.dtypes = drawn.dtypes if groups & DTYPES else ()
        state.numbers = bool(groups & OPERATORS)
        state.always_grad = drawn.always_grad
        state.full_api = drawn.full_api
        state.supports = drawn.supports
        self._errors = drawn.errors
        self._modes = bool(groups & MODES)
        self._stacks = MODE_NESTINGS if drawn.inference else GRAD_MODE_NESTINGS
        if groups & HOOKS and drawn.saving:
            self._stacks = self._stacks * 2 + SAVED_HOOK_NESTINGS
        self._actions = swarm.actions(groups, drawn.supports, vocabulary.empty)
        self._unchecked = swarm.unchecked_actions(groups, drawn.supports, vocabulary.empty)
        if groups & DEVICES:
            state.use_devices(drawn.devices)
        leaves.first_leaf(state)

    def turn(self) -> bool:
        """Draw a step, now and then with one it needs first; every few turns without regard to validity."""
        state = self.state
        word = state.word
        unchecked, follow, enter, state.rebind = TURN_KINDS[word() * len(TURN_KINDS) >> 16]
        state.unchecked = unchecked = unchecked and self._errors
        if state.mode_turns:
            state.mode_turns -= 1
            if not state.mode_turns:
                state.mode = ()
        elif enter and self._modes:
            state.mode = state.pick(self._stacks)
            state.inference = state.inference or "inference_mode" in state.mode[0]
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
            if actions[word() * len(actions) >> 16](state, None):
                return True
        return leaves.leaf(state)

    def end(self) -> None:
        """A program that differentiated nothing does so last, as a rule."""
        state = self.state
        requires_grad.switch_on(state)
        if any("grad" in step.op or "backward" in step.op for step in state.steps[-8:]):
            return
        state.unchecked, state.rebind, state.mode = False, False, ()
        if state.tensors and state.below(_LAST) and any(backward_ready(tensor) for tensor in state.tensors):
            backward.backward(state)
            if state.pending and state.pending[-1][0] is backward.backward:
                state.pending.pop()[0](state, state.focus[0] if state.focus else None)


def draw(choices: Choices, adapter: Any, capabilities: Any = None, density: str | None = None) -> Drawn:
    """A program drawn beside ``adapter`` as the oracle, within ``capabilities`` (the oracle's own by
    default).

    The oracle's trace, observed at the density drawn, comes along: nothing is run twice.
    """
    if density is None:
        density = choices.pick(DENSITY)
    with Runner(adapter, density) as runner:
        guide = Guide(choices, RunnerOracle(runner), range_of(capabilities or adapter.capabilities))
        length = choices.pick(LENGTHS)
        while len(runner.steps) < length:
            guide.turn()
        guide.end()
        guide.state.close()
        trace = runner.finish()
    return Drawn(trace.program, density, ROUNDING if guide.state.rounding else EXACT, trace)
