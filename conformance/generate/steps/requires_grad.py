"""Flags and cuts: requires_grad, retain_grad, detach, data, and whether anything is recorded at all.

Gradients themselves are read and assigned in ``grads``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.scene.choices import weighted
from conformance.generate.scene.scene import Live, Scene, floating, made
from conformance.generate.steps import leaves
from specs.domain import AVOIDANCES

_SET = weighted({True: 3, False: 2})
_ODD = (1, None, "yes", 0.0)


def _leaf(live: Live) -> bool:
    return live.leaf and live.kind in "fc"


def _plain_leaf(live: Live) -> bool:
    return live.leaf and not live.grad and live.kind in "fc"


def set_flag(scene: Scene, about: Any = None) -> bool:
    """``requires_grad_()`` or an assignment of ``requires_grad``."""
    flag = scene.pick(_SET)
    live = scene.find(_plain_leaf if flag and scene.below(4) else _leaf)
    if live is None:
        return False
    if scene.below(2):
        value: Any = scene.pick(_ODD) if scene.wild and scene.below(3) == 2 else flag
        done = scene.emit(".requires_grad=", (live.ref, value))
    elif flag:
        done = scene.emit("requires_grad_", (live.ref,))
    else:
        done = scene.emit("requires_grad_", (live.ref, False))
    if done:
        scene.look_around(live)
        scene.heed((live,))
    return True


def retain(scene: Scene, about: Live | None = None) -> bool:
    """``retain_grad()``, as a rule on a result."""
    live = about or scene.find(made)
    if live is None:
        return False
    if scene.emit("retain_grad", (live.ref,)):
        live.filled = False
        scene.heed((live,))
    return True


def detach(scene: Scene, about: Live | None = None) -> bool:
    """``detach()``, whose result shares memory and versions."""
    return _alias(scene, "detach", about)


def data(scene: Scene, about: Live | None = None) -> bool:
    """``.data``, whose result shares memory but no versions."""
    return _alias(scene, ".data", about)


def _alias(scene: Scene, op: str, about: Live | None) -> bool:
    live = about or scene.some()
    name = scene.name()
    if scene.emit(op, (live.ref,), (), (name,)):
        alias = scene.bind(name, live.store)
        if alias is not None:
            scene.heed((alias, live))
    return True


def detach_in_place(scene: Scene, about: Any = None) -> bool:
    """``detach_()``, which makes a leaf of a result."""
    live = scene.find(made)
    if live is None or (live.base is not None and not scene.wild and scene.below(4)):
        return False
    if scene.emit("detach_", (live.ref,)):
        live.parents = ()
        live.freed = False
        scene.then(scene.vocabulary.reach, live)
        scene.look_around(live)
    return True


def set_data(scene: Scene, about: Live | None = None) -> bool:
    """An assignment to ``data``, as a rule of something with the same dtype; a result that has got another
    shape is then differentiated.
    """
    live = about or (_viewed(scene) if scene.below(2) else scene.some() if scene.below(4) == 3 else None)
    live = live or scene.find(floating)
    if live is None:
        return False
    views = [one for one in live.store.lives if one.base is live]
    new = _smaller(scene, live) if about or (views and scene.below(2)) else None
    if new is None:
        new = (scene.below(3) and scene.like(live, but=live)) or scene.some()
    if not scene.wild and new.dtype != live.dtype:
        return False
    arrays = (scene.oracle.memory(live.name), scene.oracle.memory(new.name))
    if arrays[0] is not None and any(
        AVOIDANCES[name].meets(arrays, {}) for name in ("data_of_other_rank", "data_of_complex_kind")
    ):
        return False
    shape = live.shape
    if scene.emit(".data=", (live.ref, new.ref)):
        live.store.lives.remove(live)
        live.store = new.store
        new.store.lives.append(live)
        scene.look_around(live)
        scene.heed((live, new))
        if live.shape != shape and made(live):
            scene.then(scene.vocabulary.backward, live)
            if views:
                scene.then(scene.vocabulary.edit, scene.pick(views))
    return True


def _viewed(scene: Scene) -> Live | None:
    """A result that views were taken of."""
    return next(
        (one.base for one in reversed(scene.lives) if one.base is not None and _whole(one.base)), None
    )


def _whole(live: Live) -> bool:
    return made(live) and not live.gone and live.size > 1


def _smaller(scene: Scene, live: Live) -> Live | None:
    """A tensor of the same rank and dtype with fewer elements: too small for the windows on the old data, or
    for what was done with it.
    """
    if live.size < 2:
        return None
    for other in reversed(scene.lives):
        if other.dtype == live.dtype and len(other.shape) == len(live.shape) and other.size < live.size:
            return other
    held = {"i": "indices", "b": "bool", "c": "complex"}.get(live.kind, "any")
    return leaves.needed(scene, (1,) * len(live.shape), held, live.dtype)


def switch_off(scene: Scene, about: Any = None) -> bool:
    """``torch.set_grad_enabled(False)`` as a statement: nothing is recorded until it is said again, or the
    block ends that it stands in.
    """
    if not scene.off and scene.emit("torch.set_grad_enabled", (False,)):
        scene.off = 1 + scene.below(5)
        return True
    return False


def tick(scene: Scene) -> None:
    """One turn without recording is over; after the last, recording is on again, outside of any block."""
    scene.off -= 1
    if not scene.off:
        scene.mode, scene.modal = (), 0
        scene.emit("torch.set_grad_enabled", (True,))


def switch_on(scene: Scene) -> None:
    """Record again, if that was switched off."""
    if scene.off:
        scene.off = 1
        tick(scene)


def delete(scene: Scene, about: Any = None) -> bool:
    """``del``: what nobody refers to any more may be freed, or stolen."""
    if len(scene.lives) < 3 or (scene.mode and scene.mode[-1][0] == "@"):
        return False
    live = scene.some()
    if scene.emit("del", (live.ref,)):
        scene.drop(live)
    return True
