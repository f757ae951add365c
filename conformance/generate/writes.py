"""In-place writes: ops' in-place forms, in-place operators, and a write under ``no_grad`` on its own.

The call itself is drawn by ``maths``; here is decided what gets written, and when that is refused on purpose.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.groups import MODES
from conformance.generate.maths import apply
from conformance.generate.scene import Live, Scene, floating

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


def _write(scene: Scene, recipes: tuple[Any, ...], x: Live | None) -> bool:
    if not recipes:
        return False
    x = x or scene.find(floating)
    if x is None:
        return False
    recipe = scene.pick(recipes)
    if scene.mode or writable(x):
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
