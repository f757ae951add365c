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
from conformance.generate.scene.choices import Choices, weighted
from conformance.generate.scene.features import DEVICES, DTYPES, HOOKS, MODES, OPERATORS
from conformance.generate.scene.oracle import Beside, Oracle
from conformance.generate.scene.scene import Scene, made
from conformance.generate.steps import backward, leaves, requires_grad
from conformance.generate.steps.devices import PLACES
from conformance.program import SAVING_MODES, Program, around_saved
from specs.callbacks import AROUND_SAVED

EXACT, ROUNDING = "exact", "rounding"

DENSITY = weighted({"end": 1, "touched": 1, "each": 2})
LEAST_STEPS = 4
LENGTHS = (8, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 24, 27, 31, 35, 40, 40)
"""How many steps a program has at least; as a rule one or two more."""
_LAST = 12
_DTYPES = ("float64", "float32", "float32", "int64", "bool", "complex128", "complex64", "float16", "bfloat16")

TURNS = tuple(product((False,) * 4 + (True,), (False, True), (False,) * 9 + (True,), (False,) * 19 + (True,)))
"""What holds of a turn: whether it is drawn without regard to validity, takes up the agenda, enters a grad
mode, and gives its result a name that is used already.
"""

STACKS = weighted({
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
GRAD_STACKS = tuple(stack for stack in STACKS if "inference" not in "".join(stack))
"""Those that an implementation without inference mode knows."""
_COPIED, _DOUBLED_AWAY, _DOUBLED_BACK = (around_saved(*pair) for pair in AROUND_SAVED[2:])
SAVING_STACKS = weighted({
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


class Range:
    """What is drawn for an implementation, read off its capabilities (ops, shapes, dtypes, features) once."""

    def __init__(self, capabilities: Any) -> None:
        self.may = allows(capabilities.ops)
        self.groups = swarm.allowed(capabilities.features)
        self.errors = "errors" in capabilities.features
        self.places = PLACES if "two_devices" in capabilities.features else PLACES[:-1]
        self.palettes = leaves.SCALAR if capabilities.shapes == "scalar" else leaves.PALETTES
        views = "views" in capabilities.features and capabilities.shapes != "scalar"
        if not views:
            self.groups &= ~swarm.VIEWS
        inplace = "inplace" in capabilities.features
        recipes = Recipes(self.may)
        self.exact = Vocabulary(recipes, views=views, writes=inplace, rounding=False)
        self.rounding = Vocabulary(recipes, views=views, writes=inplace, rounding=True)
        floats = [d for d in ("float64", "float32") if d in capabilities.dtypes]
        self.floats = tuple(floats[:1] * 3 + floats[1:])
        self.dtypes = tuple(d for d in _DTYPES if d in capabilities.dtypes)
        self.always_grad = not (self.may("requires_grad_") or self.may("detach"))
        self.inference = self.may("torch.inference_mode")
        self.saving = self.may("torch.autograd.graph.saved_tensors_hooks")
        self.optional = self.may("torch.autograd.backward")


@lru_cache(maxsize=32)
def range_of(capabilities: Any) -> Range:
    """The range of an implementation's capabilities, made once."""
    return Range(capabilities)


class Guide:
    """Draws one program: so many `turn`s, then the `end`."""

    def __init__(self, choices: Choices, oracle: Oracle, drawn: Range) -> None:
        self.scene = scene = Scene(choices, oracle)
        scene.groups = groups = swarm.groups(choices, drawn.groups)
        scene.rounding = choices.below(8) >= 6
        scene.vocabulary = vocabulary = drawn.rounding if scene.rounding else drawn.exact
        scene.palette = choices.pick(drawn.palettes)
        scene.dtype = choices.pick(drawn.floats)
        scene.floats = drawn.floats
        scene.dtypes = drawn.dtypes if groups & DTYPES else ()
        scene.numbers = bool(groups & OPERATORS)
        scene.always_grad = drawn.always_grad
        scene.optional = drawn.optional
        scene.may = drawn.may
        self._errors = drawn.errors
        self._modes = bool(groups & MODES)
        self._stacks = STACKS if drawn.inference else GRAD_STACKS
        if groups & HOOKS and drawn.saving:
            self._stacks = self._stacks * 2 + SAVING_STACKS
        self._actions = swarm.actions(groups, drawn.may, vocabulary.empty)
        self._wild = swarm.wild(groups, drawn.may, vocabulary.empty)
        if groups & DEVICES:
            scene.travel(drawn.places)
        leaves.first_leaf(scene)

    def turn(self) -> bool:
        """Draw a step, now and then with one it needs first; every few turns without regard to validity."""
        scene = self.scene
        word = scene.word
        wild, follow, enter, scene.again = TURNS[word() * len(TURNS) >> 16]
        scene.wild = wild = wild and self._errors
        if scene.modal:
            scene.modal -= 1
            if not scene.modal:
                scene.mode = ()
        elif enter and self._modes:
            scene.mode = scene.pick(self._stacks)
            scene.inference = scene.inference or "inference_mode" in scene.mode[0]
            scene.modal = 1 if scene.mode[-1][0] == "@" else 1 + scene.below(7)
        if scene.off:
            requires_grad.tick(scene)
        if follow and scene.agenda:
            plot, about = scene.agenda.pop()
            if plot(scene, about):
                return True
        if not scene.lives:
            return any(map(scene.go, scene.places or ())) or leaves.leaf(scene)
        actions = self._wild if wild else self._actions
        for _ in range(6):
            if actions[word() * len(actions) >> 16](scene, None):
                return True
        return leaves.leaf(scene)

    def end(self) -> None:
        """A program that differentiated nothing does so last, as a rule."""
        scene = self.scene
        requires_grad.switch_on(scene)
        if any("grad" in step.op or "backward" in step.op for step in scene.steps[-8:]):
            return
        scene.wild, scene.again, scene.mode = False, False, ()
        if scene.lives and scene.below(_LAST) and any(made(live) for live in scene.lives):
            backward.backward(scene)
            if scene.agenda and scene.agenda[-1][0] is backward.backward:
                scene.agenda.pop()[0](scene, scene.hot[0] if scene.hot else None)


def draw(choices: Choices, adapter: Any, capabilities: Any = None, density: str | None = None) -> Drawn:
    """A program drawn beside ``adapter`` as the oracle, within ``capabilities`` (the oracle's own by
    default).

    The oracle's trace, observed at the density drawn, comes along: nothing is run twice.
    """
    if density is None:
        density = choices.pick(DENSITY)
    with Runner(adapter, density) as runner:
        guide = Guide(choices, Beside(runner), range_of(capabilities or adapter.capabilities))
        length = choices.pick(LENGTHS)
        while len(runner.steps) < length:
            guide.turn()
        guide.end()
        guide.scene.close()
        trace = runner.finish()
    return Drawn(trace.program, density, ROUNDING if guide.scene.rounding else EXACT, trace)
