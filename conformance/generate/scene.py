"""The scene a program is drawn in: the steps so far, the live tensors, and where attention should go next.

Here live the names and what is known of each, how they are picked, and how a step is emitted. What kind of
step comes next is the guide's and its families' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import isfinite, prod
from typing import Any

from conformance.generate.choices import Choices
from conformance.generate.oracle import Oracle
from conformance.program import Ref, Step, ref

NAMES = tuple(f"{letter}{tail}" for tail in ("", *range(1, 20)) for letter in "abcdefhijkmnpqrstuvwxyz")
MAX_STEPS = 40

_RECENT = (0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 11)
_CAP = {"float64": 20, "complex128": 18, "complex64": 11, "float32": 11, "int64": 20}
"""How many bits values may span (integer and fraction together); gradients need the rest of the mantissa."""


@cache
def _size(shape: tuple[int, ...]) -> int:
    return prod(shape)


class Store:
    """Memory shared by some names, with bounds that keep arithmetic on it exact.

    ``bits`` bounds the magnitudes by 2**bits, ``frac`` counts fractional bits, ``rough`` says that values
    were rounded.
    """

    __slots__ = ("bits", "frac", "lives", "rough")

    def __init__(self, bits: int, frac: int = 0, rough: bool = False) -> None:
        self.bits = bits
        self.frac = frac
        self.rough = rough
        self.lives: list[Live] = []


class Live:
    """What the guide knows of one name: raw state as last peeked, and its place in the story.

    ``parents`` made it (through a recorded op); ``base`` is the tensor it is a differentiable view of;
    ``freed`` says that a backward went through; ``filled`` that a gradient has likely arrived; ``multi``
    that several views came with it; ``gone`` that the name was deleted.
    """

    __slots__ = (
        "base", "dtype", "filled", "freed", "gone", "grad", "leaf", "multi", "name", "parents", "ref",
        "shape", "size", "store",
    )  # fmt: skip

    def __init__(self, name: str, store: Store, parents: tuple[Live, ...]) -> None:
        self.name = name
        self.ref = ref(name)
        self.store = store
        self.parents = parents
        self.base: Live | None = None
        self.filled = False
        self.multi = False
        self.freed = False
        self.gone = False

    shape: tuple[int, ...]
    size: int
    dtype: str
    grad: bool
    leaf: bool
    parents: tuple[Live, ...]


class Scene:
    """A program in the making, beside the oracle that runs it."""

    __slots__ = (
        "agenda", "always_grad", "below", "chance", "count", "dtype", "dtypes", "groups", "hot",
        "lives", "may", "mode", "numbers", "optional", "oracle", "palette", "pick", "rounding", "steps",
        "vocabulary", "wild",
    )  # fmt: skip

    def __init__(self, choices: Choices, oracle: Oracle) -> None:
        self.ask(choices)
        self.oracle = oracle
        self.steps: list[Step] = []
        self.lives: list[Live] = []
        self.hot: list[Live] = []
        self.agenda: list[tuple[Callable[[Scene, Any], bool], Any]] = []
        self.count = 0
        self.mode: tuple[str, ...] = ()
        self.wild = False
        self.rounding = False

    palette: tuple[tuple[int, ...], ...]
    dtype: str
    dtypes: tuple[str, ...]
    groups: int
    numbers: bool
    always_grad: bool
    optional: bool
    may: Callable[[str], bool]
    vocabulary: Any

    def ask(self, choices: Choices) -> None:
        """Take decisions from this source from now on."""
        self.below = choices.below
        self.chance = choices.chance
        self.pick = choices.pick

    # -- emitting --------------------------------------------------------------------------------

    def emit(
        self, op: str, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...] = (), out: Any = ()
    ) -> bool:
        """Append a step and run it; whether it was done."""
        step = Step(op, args, kwargs, out, self.mode)
        self.steps.append(step)
        return self.oracle.step(step)

    def fresh(self) -> str:
        """A name not used so far."""
        self.count += 1
        return NAMES[self.count - 1]

    def bind(self, name: str, store: Store, parents: tuple[Live, ...] = ()) -> Live | None:
        """Take note of a name just bound; None if it holds no tensor."""
        live = Live(name, store, parents)
        if not self.look(live):
            return None
        for parent in parents:
            if parent.freed:
                live.freed = True
        store.lives.append(live)
        self.lives.append(live)
        return live

    def look(self, live: Live) -> bool:
        """Read a name's raw state again; False if it holds no tensor."""
        seen = self.oracle.peek(live.name)
        if seen is None:
            return False
        live.shape, live.dtype, live.grad, live.leaf = seen
        live.size = _size(live.shape)
        return True

    def look_around(self, live: Live) -> None:
        """Read everything again that shares memory with a name, since a write or a flag may have changed
        it.
        """
        for other in live.store.lives:
            self.look(other)

    # -- picking ---------------------------------------------------------------------------------

    def some(self) -> Live:
        """A live tensor: mostly a recent one, sometimes one the last write or backward made interesting."""
        k = self.below(22)
        if k > 15:
            if self.hot:
                return self.hot[(k - 16) % len(self.hot)]
            k -= 8
        lives = self.lives
        return lives[-1 - _RECENT[k] % len(lives)]

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
        if self.wild and self.chance(1, 2):
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
        return bits + frac <= _CAP.get(dtype, 20)

    def measure(self, name: str) -> Store:
        """Bounds of a gradient, whose values nobody foresaw, read off its raw elements."""
        try:
            elements = self.oracle.array(name)
        except RuntimeError:
            return Store(99, 0, True)
        parts = [elements.real, elements.imag] if elements.dtype.kind == "c" else [elements]
        bits, frac = 2, 0
        for value in (v for part in parts for v in part.ravel().tolist()):
            if not isfinite(value):
                return Store(99, 0, True)
            numer, denom = float(value).as_integer_ratio()
            bits = max(bits, abs(numer // denom).bit_length())
            frac = max(frac, denom.bit_length() - 1)
        return Store(bits, frac, self.rounding)

    # -- attention -------------------------------------------------------------------------------

    def heed(self, lives: Iterable[Live]) -> None:
        """Make these names likelier to be picked next."""
        self.hot = [*[live for live in lives if not live.gone], *self.hot][:6]

    def then(self, plot: Callable[[Scene, Any], bool], about: Any) -> None:
        """Put a follow-up on the agenda; the guide takes it up soon, or never."""
        self.agenda.append((plot, about))
        if len(self.agenda) > 4:
            del self.agenda[0]


def history(root: Live, limit: int = 24) -> list[Live]:
    """The names a result was made from, nearest first."""
    path, seen = [root], {id(root)}
    for live in path:
        for parent in live.parents:
            if id(parent) not in seen and len(path) < limit:
                seen.add(id(parent))
                path.append(parent)
    return [live for live in path if not live.gone]


def floating(live: Live) -> bool:
    """Whether a tensor can carry gradients."""
    return live.dtype[0] in "fc"


def recorded(live: Live) -> bool:
    """Whether gradients flow to or through a tensor."""
    return live.grad


def made(live: Live) -> bool:
    """Whether a tensor is the result of a recorded op that a backward has not passed yet."""
    return live.grad and not live.leaf and not live.freed


def refs(lives: Sequence[Live]) -> tuple[Ref, ...]:
    """The operands that name these tensors."""
    return tuple(live.ref for live in lives)
