"""Hooks: registering them on tensors, leaves and nodes, and taking them off again.

The functions are on the menu in ``specs.callbacks``; when they are called is the business of the backwards
that follow.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.scene.scene import Live, Scene, made, recorded
from conformance.generate.steps import backward
from conformance.program import Function, Ref, ref
from specs import callbacks

_TENSOR = tuple(map(Function, callbacks.TENSOR_HOOKS))
_WRITING = tuple(map(Function, callbacks.WRITING_HOOKS))
_WRONG = tuple(map(Function, callbacks.WRONG_HOOKS))
_POST = tuple(map(Function, callbacks.POST_HOOKS))
_BEFORE = tuple(map(Function, callbacks.BEFORE_NODE))
_AFTER = tuple(map(Function, callbacks.AFTER_NODE))
_OF_ALL = tuple(map(Function, callbacks.OF_ALL))
_OF_ANY = tuple(map(Function, callbacks.OF_ANY))
_SEVERAL = "torch.autograd.graph.register_multi_grad_hook"


def on_tensor(scene: Scene, about: Live | None = None) -> bool:
    """``register_hook`` on what a gradient flows through."""
    live = scene.find(recorded)
    if live is None:
        return False
    menu = _WRONG if scene.wild and scene.below(3) == 0 else _WRITING if scene.below(8) == 0 else _TENSOR
    return _register(scene, "register_hook", (live.ref, scene.pick(menu)), (live,))


def on_sibling(scene: Scene, live: Live) -> bool:
    """A hook of a view that came with others, which gets no gradient when another is differentiated."""
    for other in reversed(scene.lives):
        if other.multi and other is not live and other.parents == live.parents and made(other):
            menu = _WRONG if scene.wild or scene.below(2) else _TENSOR
            if scene.emit("register_hook", (live.ref, scene.pick(menu))):
                scene.then(backward.backward, other)
            return True
    return False


def on_leaf(scene: Scene, about: Live | None = None) -> bool:
    """``register_post_accumulate_grad_hook`` on a leaf."""
    live = scene.find(_leaf)
    if live is None:
        return False
    return _register(scene, "register_post_accumulate_grad_hook", (live.ref, scene.pick(_POST)), (live,))


def on_node(scene: Scene, about: Live | None = None) -> bool:
    """A node by ``.grad_fn``, with a hook to be called before or after it."""
    live = scene.find(made)
    if live is None:
        return False
    node = scene.fresh()
    if not scene.emit(".grad_fn", (live.ref,), (), (node,)):
        return True
    if scene.below(2):
        return _register(scene, "register_prehook", (ref(node), scene.pick(_BEFORE)), (live,))
    return _register(scene, "register_hook", (ref(node), scene.pick(_AFTER)), (live,))


def on_several(scene: Scene, about: Live | None = None) -> bool:
    """One hook of several tensors, for all their gradients or for the first that comes."""
    live = scene.find(recorded)
    if live is None:
        return False
    others = [scene.some() if scene.wild else scene.find(recorded) or live for _ in range(1 + scene.below(2))]
    lives = (live, *others)
    hook = scene.pick(_OF_ALL)
    kwargs: tuple[tuple[str, Any], ...] = ()
    if scene.below(2):
        hook, kwargs = scene.pick(_OF_ANY), (("mode", "some" if scene.wild and scene.below(2) else "any"),)
    return _register(scene, _SEVERAL, ([one.ref for one in lives], hook), lives, kwargs)


def _register(
    scene: Scene,
    op: str,
    args: tuple[Any, ...],
    lives: tuple[Live, ...],
    kwargs: tuple[tuple[str, Any], ...] = (),
) -> bool:
    """Register a hook, with a handle now and then; the backward of one tensor follows, of several seldom."""
    handle = scene.fresh() if scene.below(3) == 0 else None
    if scene.emit(op, args, kwargs, (handle,) if handle else ()):
        scene.heed(lives)
        if len(lives) == 1 or scene.below(3) == 0:
            scene.then(backward.backward, lives[0])
        if handle:
            scene.then(_remove, ref(handle))
    return True


def _remove(scene: Scene, handle: Ref) -> bool:
    """``handle.remove()``, perhaps twice."""
    return scene.emit("remove", (handle,))


def _leaf(live: Live) -> Any:
    return live.grad and live.leaf
