"""The scene a program is drawn in: the steps so far, the live tensors, and where attention should go next.

Here live the names and what is known of each, how they are picked, and how a step is emitted. What kind of
step comes next is the guide's and its families' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, partial
from math import isfinite, prod
from typing import Any

import numpy as np

from conformance.execution.trace import DONE
from conformance.generate.scene.choices import Choices
from conformance.generate.scene.oracle import NO_TENSOR, Oracle, RawState
from conformance.program import Ref, Step, ref
from specs.domain import AVOIDANCES

NAMES = tuple(f"{letter}{tail}" for tail in ("", *range(1, 20)) for letter in "abcdefhijkmnpqrstuvwxyz")

_HOT = -6
"""The first of the picks that go by attention instead of by age."""
_AGES = (0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 11, *range(-1, _HOT - 1, -1))
"""How far back to pick a tensor; negative ones count in the list of those that deserve attention."""
CAP = {
    "float64": 20,
    "complex128": 18,
    "complex64": 11,
    "float32": 11,
    "float16": 5,
    "bfloat16": 5,
    "int64": 20,
}
"""How many bits values may span (integer and fraction together); gradients need the rest of the mantissa."""

_step = partial(tuple.__new__, Step)
"""What ``Step`` does with its arguments, without the cost of a call."""


@cache
def _size(shape: tuple[int, ...]) -> int:
    return prod(shape)


@lru_cache(maxsize=4096)
def _span(dtype: np.dtype, elements: bytes) -> tuple[int, int] | None:
    """How many bits and fractional bits these elements span; None if they are not all finite.

    NB: remembered by the bytes, since gradients are read again and again and are much alike.
    """
    array = np.frombuffer(elements, dtype)
    parts = (array.real, array.imag) if dtype.kind == "c" else (array,)
    top, unit = 3, 1  # parts of one; a power of two
    for value in {value for part in parts for value in part.tolist()}:
        if not isfinite(value):
            return None
        top = max(top, abs(value))
        if value % 1:
            unit = max(unit, value.as_integer_ratio()[1])
    return int(top).bit_length(), unit.bit_length() - 1


def kind_of(dtype: str) -> str:
    """The kind of a dtype's elements: b, i, f or c."""
    return "f" if dtype == "bfloat16" else dtype[0]


class Store:
    """Memory shared by some names, with bounds that keep arithmetic on it exact.

    ``bits`` bounds the magnitudes by 2**bits, ``frac`` counts fractional bits, ``rough`` says that values
    were rounded; ``grad`` that a gradient is or may be part of it; ``foreign`` that some of the names came
    through numpy, so that nobody but the memory itself knows them to share it; ``folded`` that some window on
    it shows elements twice; ``known`` how many elements somebody wrote, if there are more behind.
    """

    __slots__ = ("bits", "folded", "foreign", "frac", "grad", "known", "lives", "rough")

    def __init__(self, bits: int, frac: int = 0, rough: bool = False, grad: bool = False) -> None:
        self.bits = bits
        self.frac = frac
        self.rough = rough
        self.grad = grad
        self.foreign = self.folded = False
        self.known: int | None = None
        self.lives: list[Live] = []


class Live:
    """What the guide knows of one name: raw state as last read, and its place in the story.

    ``parents`` made it (through a recorded op); ``base`` is the tensor it is a differentiable view of;
    ``freed`` says that a backward went through; ``filled`` that a gradient has likely arrived; ``multi``
    that several views came with it; ``gone`` that the name was deleted or bound anew. ``kind`` is what
    `kind_of` says of the dtype.
    """

    base: Live | None = None
    filled = False
    multi = False
    freed = False
    gone = False
    place = "cpu"

    def __init__(self, name: str, store: Store, parents: tuple[Live, ...], seen: RawState) -> None:
        self.name = name
        self.ref = ref(name)
        self.store = store
        self.parents = parents
        self.shape, dtype, self.grad, self.leaf = seen
        self.dtype = dtype
        self.kind = kind_of(dtype)
        self.size = _size(self.shape)


class Scene:
    """A program in the making, beside the oracle that runs it.

    ``word``, ``below`` and ``pick`` are the source of choices. ``wild`` says that the step is drawn without
    regard to validity, ``again`` that its result takes a name that was used before (that of ``replaced``);
    ``mode`` is the nesting of grad modes it stands in, for ``modal`` turns more; recording is switched off
    altogether for ``off`` turns more; ``inference`` says that it has been in inference mode. ``lives`` are
    those in one place, ``here``; ``places`` those in each, if the program moves between devices at all.
    """

    __slots__ = (
        "again", "agenda", "always_grad", "below", "count", "dtype", "dtypes", "env", "floats", "groups",
        "here", "hot", "inference", "lives", "may", "modal", "mode", "numbers", "off", "optional", "oracle",
        "palette", "pick", "places", "raw_state", "replaced", "rounding", "run", "steps", "vocabulary",
        "wild", "word",
    )  # fmt: skip

    def __init__(self, choices: Choices, oracle: Oracle) -> None:
        self.ask(choices)
        self.oracle = oracle
        self.env = oracle.env
        self.raw_state = oracle.raw_state
        self.run = oracle.step
        self.steps = oracle.steps
        self.here = "cpu"
        self.lives: list[Live] = []
        self.places: dict[str, list[Live]] | None = None
        self.hot: list[Live] = []
        self.agenda: list[tuple[Callable[[Scene, Any], bool], Any]] = []
        self.count = 0
        self.mode: tuple[str, ...] = ()
        self.modal = self.off = 0
        self.wild = self.again = self.rounding = self.inference = False
        self.replaced: Live | None = None

    palette: tuple[tuple[int, ...], ...]
    dtype: str
    dtypes: tuple[str, ...]
    floats: tuple[str, ...]
    groups: int
    numbers: bool
    always_grad: bool
    optional: bool
    may: Callable[[str], bool]
    vocabulary: Any

    def ask(self, choices: Choices) -> None:
        """Take decisions from this source from now on."""
        self.word = choices.word
        self.below = choices.below
        self.pick = choices.pick

    def close(self) -> None:
        """Let go of what refers to each other, so that nothing is left to the garbage collector."""
        for live in self.everyone():
            live.store.lives.clear()

    # -- emitting --------------------------------------------------------------------------------

    def emit(
        self, op: str, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...] = (), out: Any = ()
    ) -> bool:
        """Append a step and run it; whether it was done."""
        done = self.run(_step((op, args, kwargs, out, self.mode))).outcome is DONE
        if self.replaced is not None:
            if done:
                self.drop(self.replaced)
            self.replaced = None
        return done

    def fresh(self) -> str:
        """A name not used so far."""
        self.count += 1
        return NAMES[self.count - 1]

    def name(self) -> str:
        """The name of the next step's result: a fresh one, or one that is bound anew."""
        if self.again and len(self.lives) > 3:
            self.replaced = self.lives[self.word() * len(self.lives) >> 16]
            return self.replaced.name
        self.count += 1
        return NAMES[self.count - 1]

    def bind(self, name: str, store: Store, parents: tuple[Live, ...] = ()) -> Live | None:
        """Take note of a name just bound; None if it holds no tensor."""
        value = self.env[name]
        if type(value) in NO_TENSOR:
            return None
        live = Live(name, store, parents, self.raw_state(value))
        for parent in parents:
            if parent.freed:
                live.freed = True
        store.lives.append(live)
        if self.places is None:
            self.lives.append(live)
        else:
            live.place = self.oracle.place(value)
            self.places[live.place].append(live)
        return live

    def drop(self, live: Live) -> None:
        """Forget a tensor whose name is gone, or another's."""
        live.gone = True
        (self.lives if self.places is None else self.places[live.place]).remove(live)
        live.store.lives.remove(live)
        if live in self.hot:
            self.hot = [other for other in self.hot if other is not live]
        if self.agenda:
            self.agenda = [plot for plot in self.agenda if plot[1] is not live]

    def forget(self, *names: str) -> None:
        """Unbind names of which no note was taken. They stay in a decorated function, which unbinds
        nothing.
        """
        if not (self.mode and self.mode[-1][0] == "@"):
            for name in names:
                self.emit("del", (ref(name),))

    def look(self, live: Live) -> None:
        """Read a tensor's raw state again."""
        live.shape, live.dtype, live.grad, live.leaf = self.raw_state(self.env[live.name])
        live.kind = kind_of(live.dtype)
        live.size = _size(live.shape)

    def folded(self, live: Live) -> bool:
        """Whether a write to a tensor may reach an element several times, in an order that torch leaves open:
        its own, or, through what a write makes of the history, that of its base.
        """
        if not live.store.folded:
            return False
        for one in (live, live.base):
            if one is not None:
                array = None if one.gone else self.oracle.memory(one.name)
                if array is None or AVOIDANCES["self_overlapping_target"].meets((array,), {}):
                    return True
        return False

    def look_around(self, live: Live) -> None:
        """Read everything again that shares memory with a name, since a write or a flag may have changed
        it.
        """
        for other in live.store.lives:
            self.look(other)

    # -- devices ---------------------------------------------------------------------------------

    def travel(self, places: Sequence[str]) -> None:
        """Have the program move between these devices."""
        self.places = {place: [] for place in places}
        self.lives = self.places[self.here]

    def go(self, place: str) -> bool:
        """Go on in another place; False if there is nothing, or it is here."""
        if self.places is None or place == self.here or not self.places[place]:
            return False
        self.here, self.lives = place, self.places[place]
        self.hot = [live for live in self.hot if live.place == place]
        return True

    def everyone(self) -> tuple[Live, ...]:
        """The live tensors in all places, the latest of each first."""
        lists = [self.lives] if self.places is None else self.places.values()
        return tuple(live for lives in lists for live in reversed(lives))

    # -- picking ---------------------------------------------------------------------------------

    def some(self) -> Live:
        """A live tensor: mostly a recent one, sometimes one the last write or backward made interesting."""
        age = _AGES[self.word() * len(_AGES) >> 16]
        if age < 0:
            if self.hot:
                return self.hot[age % len(self.hot)]
            age -= _HOT
        lives = self.lives
        return lives[-1 - age % len(lives)]

    def find(self, test: Callable[[Live], Any]) -> Live | None:
        """A live tensor that passes the test, or any when drawing wildly; None if there is none."""
        live = self.some()
        if self.wild or test(live):
            return live
        live = self.some()
        if test(live):
            return live
        for live in reversed(self.lives):
            if test(live):
                return live
        return None

    def like(self, live: Live, but: Live | None = None) -> Live | None:
        """The latest tensor of the same shape and dtype, plain ones first; any tensor when drawing wildly."""
        if self.wild and self.below(2):
            return self.some()
        found = None
        for other in reversed(self.lives):
            if other.shape == live.shape and other.dtype == live.dtype and other is not but:
                if not other.grad:
                    return other
                found = found or other
        return found

    # -- bounds ----------------------------------------------------------------------------------

    def fits(self, dtype: str, bits: int, frac: int) -> bool:
        """Whether values with these bounds stay exact, with room for their gradients."""
        return bits + frac <= CAP.get(dtype, 20)

    def bind_gradient(self, name: str, parents: tuple[Live, ...] = ()) -> Live | None:
        """Take note of a gradient just bound; None if there is none."""
        return None if type(self.env[name]) in NO_TENSOR else self.bind(name, self.measure(name), parents)

    def measure(self, name: str) -> Store:
        """Bounds of a gradient, whose values nobody foresaw, read off its raw elements."""
        return Store(*self._bounds(self.oracle.array(name)), True)

    def _bounds(self, elements: Any) -> tuple[int, int, bool]:
        """Bits, fractional bits and roughness of an array's elements, or of what cannot be read (None)."""
        span = None if elements is None else _span(elements.dtype, elements.tobytes())
        return (99, 0, True) if span is None else (*span, self.rounding)

    def grow(self, live: Live) -> None:
        """Somebody wrote who knows where: bounds are read off the elements, and only grow."""
        bits, frac, rough = self._bounds(self.oracle.array(live.name))
        store = live.store
        store.bits, store.frac = max(store.bits, bits), max(store.frac, frac)
        store.rough = store.rough or rough

    # -- attention -------------------------------------------------------------------------------

    def heed(self, lives: Iterable[Live]) -> None:
        """Make these names likelier to be picked next."""
        self.hot = [*[live for live in lives if not live.gone], *self.hot][:6]

    def then(self, plot: Callable[[Scene, Any], bool], about: Any) -> None:
        """Put a follow-up on the agenda; the guide takes it up soon, or never, as if the tensor is gone."""
        if isinstance(about, Live) and about.gone:
            return
        self.agenda.append((plot, about))
        if len(self.agenda) > 4:
            del self.agenda[0]


def history(root: Live, limit: int = 24) -> list[Live]:
    """The names a result was made from, nearest first."""
    path = [root]
    seen = {root}
    for live in path:
        for parent in live.parents:
            if parent not in seen and len(path) < limit:
                seen.add(parent)
                path.append(parent)
    return [live for live in path if not live.gone]


def floating(live: Live) -> bool:
    """Whether a tensor can carry gradients."""
    return live.kind in "fc"


def recorded(live: Live) -> bool:
    """Whether gradients flow to or through a tensor."""
    return live.grad


def made(live: Live) -> bool:
    """Whether a tensor is the result of a recorded op that a backward has not passed yet."""
    return live.grad and not live.leaf and not live.freed


def refs(lives: Sequence[Live]) -> tuple[Ref, ...]:
    """The operands that name these tensors."""
    return tuple(live.ref for live in lives)
