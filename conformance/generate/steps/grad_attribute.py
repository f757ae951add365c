"""The state of ``.grad``: reading, assigning, clearing and editing it.

Who fills it is ``backward``'s business; edits of a gradient once it has a name are ordinary writes.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.scene.scene import Live, Scene, recorded
from conformance.generate.steps import leaves
from conformance.program import Dtype


def _filled(live: Live) -> bool:
    return live.filled


def _receiver(live: Live) -> bool:
    return live.grad and (live.leaf or live.filled)


_GRAD_DTYPES = (Dtype("float64"), Dtype("float32"), None)
_OWNERS = (_filled, _filled, _receiver, recorded)


def read(scene: Scene, about: Live | None = None) -> bool:
    """``.grad`` of something a backward has likely filled, under a name of its own."""
    live = about or scene.find(_filled) or (scene.find(_receiver) if scene.below(4) == 0 else None)
    if live is None or not scene.may(".grad"):
        return False
    name = scene.name()
    if scene.emit(".grad", (live.ref,), (), (name,)):
        g = scene.bind_gradient(name)
        if g is not None:
            scene.heed((g, live))
            if scene.vocabulary.writes and scene.below(3) == 0:
                scene.then(edit, g)
    return True


def edit(scene: Scene, g: Live) -> bool:
    """A write to a gradient that was read under a name."""
    return scene.vocabulary.edit(scene, g)


def assign(scene: Scene, about: Any = None) -> bool:
    """An assignment to ``.grad``: None, or a tensor like the one it belongs to."""
    live = scene.find(scene.pick(_OWNERS))
    if live is None:
        return False
    kind = scene.below(4)
    if kind == 0:
        if scene.emit(".grad=", (live.ref, None)):
            live.filled = False
        return True
    g = scene.like(live, but=live)
    if kind == 1 and live.kind == "f" and len(live.shape) == 2 and not scene.wild and scene.may("t"):
        g = _turned(scene, live) or g
    if scene.wild:
        g = scene.some()
        if kind == 1:
            scene.emit(".grad=", (live.ref, 1.0))
            return True
    if g is None or scene.folded(g):  # it may be added to in place
        return False
    if scene.emit(".grad=", (live.ref, g.ref)):
        live.filled = g.store.grad = True
        scene.heed((g, live))
        scene.then(scene.vocabulary.reach, live)
    return True


def own_dtype(scene: Scene, about: Live | None = None) -> bool:
    """A dtype for the grad of a leaf, or of anything."""
    live = scene.some() if scene.wild else scene.find(_receiver)
    if live is None or live.kind != "f":
        return False
    if scene.emit(".grad_dtype=", (live.ref, scene.pick(_GRAD_DTYPES))):
        scene.heed((live,))
        scene.then(scene.vocabulary.reach, live)
    return True


def _turned(scene: Scene, live: Live) -> Live | None:
    """A tensor of the same shape that lies in memory the other way round, made for the purpose."""
    shape = live.shape[::-1]
    plain = (x for x in reversed(scene.lives) if x.shape == shape and x.dtype == live.dtype and not x.grad)
    other = next(plain, None) or leaves.needed(scene, shape, "any", live.dtype)
    name = scene.fresh()
    if scene.emit("t", (other.ref,), (), (name,)):
        g = scene.bind(name, other.store, (other,))
        if g is not None:
            g.base = other.base or other
        return g
    return None
