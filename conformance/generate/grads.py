"""The state of ``.grad``: reading, assigning, clearing and editing it.

Who fills it is ``backward``'s business; edits of a gradient once it has a name are ordinary writes.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.scene import Live, Scene


def _filled(live: Live) -> bool:
    return live.filled


def _receiver(live: Live) -> bool:
    return live.grad and (live.leaf or live.filled)


def read(scene: Scene, about: Live | None = None) -> bool:
    """``.grad`` of something a backward has likely filled, under a name of its own."""
    live = about or scene.find(_filled) or (scene.find(_receiver) if scene.below(4) == 0 else None)
    if live is None or not scene.may(".grad"):
        return False
    name = scene.fresh()
    if scene.emit(".grad", (live.ref,), (), (name,)) and scene.oracle.peek(name) is not None:
        g = scene.bind(name, scene.measure(name))
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
    live = scene.find(_filled if scene.below(2) else _receiver)
    if live is None:
        return False
    kind = scene.below(4)
    if kind == 0:
        if scene.emit(".grad=", (live.ref, None)):
            live.filled = False
        return True
    g = scene.like(live, but=live)
    if scene.wild:
        g = scene.some()
        if kind == 1:
            scene.emit(".grad=", (live.ref, 1.0))
            return True
    if g is None:
        return False
    if scene.emit(".grad=", (live.ref, g.ref)):
        live.filled = True
        scene.heed((g, live))
    return True
