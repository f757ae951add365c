"""Flags and cuts: requires_grad, retain_grad, detach, data.

Gradients themselves are read and assigned in ``grads``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.choices import weighted
from conformance.generate.scene import Live, Scene, floating, made
from specs.domain import AVOIDANCES

_SET = weighted({True: 3, False: 2})
_ODD = (1, None, "yes", 0.0)


def _leaf(live: Live) -> bool:
    return live.leaf and live.dtype[0] in "fc"


def _plain_leaf(live: Live) -> bool:
    return live.leaf and not live.grad and live.dtype[0] in "fc"


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
    name = scene.fresh()
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
        scene.look_around(live)
    return True


def set_data(scene: Scene, about: Any = None) -> bool:
    """An assignment to ``data``, as a rule of something with the same dtype."""
    live = scene.find(floating)
    if live is None:
        return False
    new = (scene.below(3) and scene.like(live, but=live)) or scene.some()
    if not scene.wild and new.dtype != live.dtype:
        return False
    arrays = (scene.oracle.memory(live.name), scene.oracle.memory(new.name))
    if arrays[0] is not None and any(
        AVOIDANCES[name].meets(arrays, {}) for name in ("data_of_other_rank", "data_of_other_kind")
    ):
        return False
    if scene.emit(".data=", (live.ref, new.ref)):
        if live in live.store.lives:
            live.store.lives.remove(live)
        live.store = new.store
        new.store.lives.append(live)
        scene.look(live)
        scene.heed((live, new))
    return True


def delete(scene: Scene, about: Any = None) -> bool:
    """``del``: what nobody refers to any more may be freed, or stolen."""
    if len(scene.lives) < 3 or (scene.mode and scene.mode[-1][0] == "@"):
        return False
    live = scene.some()
    if scene.emit("del", (live.ref,)):
        live.gone = True
        scene.lives.remove(live)
        if live in live.store.lives:
            live.store.lives.remove(live)
        scene.hot = [other for other in scene.hot if other is not live]
        scene.agenda.clear()
    return True
