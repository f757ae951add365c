"""Calls of custom functions: the classes are on the menu in ``specs.callbacks``, here is what each gives."""

from __future__ import annotations

from typing import Any, NamedTuple

from conformance.generate.scene.features import DOUBLE
from conformance.generate.scene.scene import CAP, Live, Scene, Store, made
from conformance.generate.steps import call_op


class Gives(NamedTuple):
    """What a call gives: how many results, each ``bits`` larger (-1: as large as a product), of one tensor,
    of two, or of one and a number; and whether it writes to its argument or looks at its memory.
    """

    bits: int
    results: int = 1
    takes: str = "one"
    memory: str = "own"


USUAL = {
    "Double": Gives(1), "Tenfold": Gives(1), "Square": Gives(-1), "KeepsOutput": Gives(1), "Once": Gives(-1),
    "Within": Gives(-1), "Surplus": Gives(1), "Nothing": Gives(1), "Apart": Gives(1),
    "Scale": Gives(2, takes="number"), "Product": Gives(-1, takes="two"), "Asks": Gives(-1, takes="two"),
    "Pair": Gives(2, results=2), "Lazy": Gives(2, results=2), "Marked": Gives(2, results=2),
    "Same": Gives(0, memory="shared"), "Flat": Gives(0, memory="shared"),
    "Twins": Gives(0, results=2, memory="shared"),
    "Written": Gives(1, memory="written"), "WrittenPair": Gives(2, results=2, memory="written"),
}  # fmt: skip
"""Functions that keep to what is allowed."""

WRONG = {
    "TooMany": Gives(1), "ForNumber": Gives(2, takes="number"), "GivesNumber": Gives(1),
    "WrongShape": Gives(1), "Stranger": Gives(1), "Forgotten": Gives(1),
    "ApartSame": Gives(0, memory="shared"), "SavesNumber": Gives(1), "MarksNumber": Gives(1),
    "NoForward": Gives(1), "NoBackward": Gives(1), "BothWays": Gives(1),
}  # fmt: skip
"""Functions that are refused, or whose gradients are, or that warn."""


def call(scene: Scene, about: Live | None = None) -> bool:
    """One call of a function on the menu, mostly on what requires grad."""
    x = scene.find(_floating)
    if x is None:
        return False
    wrong = scene.wild or scene.below(8) == 0
    menu = WRONG if wrong else USUAL
    name = scene.pick(_NAMES[wrong])
    gives = menu[name]
    if gives.memory == "written" and not scene.wild and (x.multi or (x.grad and x.leaf)):
        return False
    others = _others(scene, gives, x)
    if others is None or (gives.memory == "written" and scene.folded(x)):
        return False
    tensors = (x, *[other for other in others if isinstance(other, Live)])
    bits, frac = _bounds(gives, x, tensors)
    if bits + frac > CAP.get(x.dtype, 20):
        return False
    rough = any(other.store.rough for other in tensors)
    args = (x.ref, *(other.ref if isinstance(other, Live) else other for other in others))
    names = tuple(scene.fresh() for _ in range(gives.results))
    after = Store(bits, frac, rough)
    done = scene.emit(f"{name}.apply", args, (), names)
    if gives.memory == "written" and (done or scene.inference):
        call_op.written(scene, x, (x,), after)
    if not done:
        return True
    lives = [_bound(scene, each, at, gives, tensors, after) for at, each in enumerate(names)]
    last = next((live for live in reversed(lives) if live is not None and made(live)), None)
    if last is not None and name == "Once" and scene.groups & DOUBLE:
        scene.then(scene.vocabulary.kink, last)
    elif last is not None and (wrong or scene.below(2)):
        scene.then(scene.vocabulary.backward, last)
    return True


_NAMES = (tuple(USUAL), tuple(WRONG))


def _floating(live: Live) -> Any:
    return live.grad and live.kind in "fc"


def _others(scene: Scene, gives: Gives, x: Live) -> tuple[Any, ...] | None:
    """What is passed besides ``x``; None if there is nothing that fits."""
    if gives.takes == "number":
        return (scene.pick((2, 4.0, -1)),)
    if gives.takes == "two":
        y = scene.like(x)
        return None if y is None else (y,)
    return ()


def _bounds(gives: Gives, x: Live, tensors: tuple[Live, ...]) -> tuple[int, int]:
    if gives.bits >= 0:
        return x.store.bits + gives.bits, x.store.frac
    y = tensors[-1]
    return x.store.bits + y.store.bits, x.store.frac + y.store.frac


def _bound(
    scene: Scene, name: str, at: int, gives: Gives, tensors: tuple[Live, ...], after: Store
) -> Live | None:
    """Take note of a result: of its own memory, or of that of the first argument."""
    x = tensors[0]
    shares = gives.memory == "shared" or (gives.memory == "written" and at == 0)
    live = scene.bind(name, x.store if shares else Store(*_numbers(after)), tensors)
    if live is not None and shares:
        live.base = (x.base or x) if gives.memory == "shared" else x.base
        live.multi = x.multi or gives.memory == "shared"
    return live


def _numbers(store: Store) -> tuple[int, int, bool]:
    return store.bits, store.frac, store.rough
