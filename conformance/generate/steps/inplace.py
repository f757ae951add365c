"""In-place writes: ops' in-place forms, in-place operators, and a write under ``no_grad`` on its own.

The call itself is drawn by ``maths``; here is decided what gets written, and when that is refused on purpose.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.scene.features import INPLACE, MODES
from conformance.generate.scene.scene import Live, Scene, Store, floating
from conformance.generate.steps import leaves
from conformance.generate.steps.call_op import apply, written

_LISTS = ([0], [-1], [0, 0], [0, -1])
_VALUES = (1.0, 2.0, 0.0, -1.0)
_ALONE = (("no_grad",), ("@no_grad",), ("no_grad",), ("set_grad_enabled(False)",))


def writable(live: Live) -> bool:
    """Whether a write is not refused in grad mode, as far as is known without looking."""
    if live.multi or (live.grad and live.leaf):
        return False
    base = live.base
    return base is None or not (base.grad and base.leaf)


def write(scene: Scene, about: Any = None) -> bool:
    """An in-place op on something that may be written, or on a leaf under ``no_grad``."""
    return _write(scene, scene.vocabulary.writes, about)


def assign_operator(scene: Scene, about: Any = None) -> bool:
    """An in-place Python operator, which rebinds its name."""
    return _write(scene, scene.vocabulary.assigns, about)


def fill(scene: Scene, about: Any = None) -> bool:
    """``copy_``, ``zero_``, ``fill_`` or an assignment to a part."""
    return _write(scene, scene.vocabulary.fills, about)


def scatter(scene: Scene, about: Live | None = None) -> bool:
    """An assignment by a list of positions, which even a tensor takes that shows an element several times."""
    x = about or scene.find(_listed)
    if x is None or not (x.shape or scene.wild) or not scene.may("__setitem__") or scene.folded(x):
        return False
    value: Any = scene.pick(_VALUES)
    after = Store(2)
    operands: tuple[Live, ...] = (x,)
    if scene.below(2):
        y = scene.some()
        if scene.wild or (y.dtype == x.dtype and y.size == 1 and y.store is not x.store):
            value, after, operands = y.ref, y.store, (x, y)
    args = (x.ref, scene.pick(_LISTS), value)
    if scene.emit("__setitem__", args) or scene.inference:
        written(scene, x, operands, after)
    return True


def mix(scene: Scene, x: Live) -> bool:
    """A real tensor that requires grad put all over one of another kind, to which a gradient may not flow."""
    if not scene.groups & INPLACE or not scene.may("fill_") or scene.folded(x):
        return False
    y = next((y for y in reversed(scene.lives) if y.kind == "f" and y.grad and not y.shape), None)
    y = y or leaves.needed(scene, (), "any", scene.dtype, True)
    if scene.emit("fill_", (x.ref, y.ref)) or scene.inference:
        written(scene, x, (x, y), y.store)
        scene.then(scene.vocabulary.reach, y)
        if x.kind != "c":
            scene.then(scene.vocabulary.use, x)
    return True


def _listed(live: Live) -> bool:
    return bool(live.shape) and floating(live) and writable(live)


def _write(scene: Scene, recipes: tuple[Any, ...], x: Live | None) -> bool:
    if not recipes:
        return False
    recipe = scene.pick(recipes)
    x = x or (scene.find(floating) if recipe.casts else scene.some())
    if x is None:
        return False
    if scene.mode or scene.off or writable(x):
        return apply(scene, recipe, x)
    if scene.groups & MODES and scene.below(4):
        scene.mode = scene.pick(_ALONE)
        done = apply(scene, recipe, x)
        scene.mode = ()
        return done
    if scene.wild or not scene.below(4):
        return apply(scene, recipe, x)
    x = scene.find(writable)
    return x is not None and apply(scene, recipe, x)
