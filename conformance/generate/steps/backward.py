"""Backward passes: roots, upstream gradients, what is kept and who receives.

``torch.autograd.grad`` and what is done with its results live in ``grad_call``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.scene.choices import weighted
from conformance.generate.scene.features import DOUBLE, ROOTS
from conformance.generate.scene.features import RETAIN as _RETAINING
from conformance.generate.scene.scene import Live, Scene, floating, history, made, recorded
from conformance.generate.steps import grad_attribute, requires_grad
from specs.domain import AVOIDANCES

RETAIN: tuple[tuple[str, Any], ...] = (("retain_graph", True),)
CREATE: tuple[tuple[str, Any], ...] = (("create_graph", True),)

_ENDINGS = weighted({"none": 4, "read": 3, "again": 2, "write": 3, "use": 1, "twice": 1})


def root(scene: Scene) -> Live | None:
    """Something to differentiate: a result no backward has passed, now and then one that it has, or a
    leaf.
    """
    if scene.below(6) == 5:
        return scene.find(recorded)
    return scene.find(made) or (scene.find(recorded) if scene.below(4) == 0 else None)


def upstream(scene: Scene, live: Live) -> Any:
    """A tensor to start from, None where none is needed, or False where one is needed and there is none."""
    if live.size == 1 and (live.kind != "c" or scene.wild) and (not scene.optional or scene.below(6)):
        return None
    if scene.wild and scene.below(3) == 0:
        return None
    if not scene.optional:
        return False
    if scene.dtypes and scene.below(8) == 7:
        for other in reversed(scene.lives):
            if other.shape == live.shape and other.dtype != live.dtype and floating(other):
                return other
    return scene.like(live, but=live) or (live if live.kind == "c" or scene.below(4) == 3 else False)


def backward(scene: Scene, about: Live | None = None) -> bool:
    """One backward pass from one root, in one of its many forms."""
    live = about or root(scene)
    if live is None:
        return False
    g = upstream(scene, live)
    if g is False:
        return reduce(scene, live)
    kwargs = _options(scene, live)
    if scene.optional and scene.groups & ROOTS and scene.below(8) == 7:
        return _function(scene, live, g, kwargs)
    return _run(scene, "backward", (live.ref,) if g is None else (live.ref, g.ref), kwargs, (live,), (g,))


def reach(scene: Scene, live: Live) -> bool:
    """A pass that reaches a tensor; if nothing was made from it, something is, and the pass may follow."""
    for one in reversed(scene.lives):
        if made(one) and live in history(one):
            return backward(scene, one)
    if live.grad and scene.below(2):
        scene.then(reach, live)
        return bool(scene.vocabulary.use(scene, live))
    return False


def reduce(scene: Scene, live: Live) -> bool:
    """Sum a root up so that it has an implicit gradient; the backward follows."""
    if not scene.may("sum") or live.size < 2:
        return False
    bits = live.store.bits + live.size.bit_length()
    if not scene.fits(live.dtype, bits, live.store.frac):
        return False
    name = scene.name()
    if scene.emit("sum", (live.ref,), (), (name,)):
        total = scene.bind(name, type(live.store)(bits, live.store.frac, live.store.rough), (live,))
        if total is not None and total.grad:
            scene.then(backward, total)
    return True


def _options(scene: Scene, live: Live) -> tuple[tuple[str, Any], ...]:
    """Keywords of a backward pass."""
    if not scene.optional:
        return ()
    k = scene.below(12)
    kwargs: tuple[tuple[str, Any], ...] = ()
    if k >= 7:
        kwargs = RETAIN
        if k >= 10 and scene.groups & DOUBLE:
            kwargs = CREATE
    elif k == 6 and scene.wild:
        kwargs = (("retain_graph", False), ("create_graph", True))
    if scene.groups & ROOTS and scene.below(4) == 3:
        kwargs = (*kwargs, ("inputs", receivers(scene, live)))
    return kwargs


def receivers(scene: Scene, live: Live) -> Any:
    """Some of what a root was made from, as the inputs a pass is restricted to."""
    if scene.wild and scene.below(3) == 2:
        return [scene.some().ref, scene.some().ref] if scene.below(3) else []
    path = [one for one in history(live) if one.grad and (one.leaf or one is not live)] or [live]
    first = scene.pick(path)
    if scene.below(3):
        return first.ref if scene.below(2) else [first.ref]
    return [first.ref, scene.pick(path).ref]


def _function(scene: Scene, live: Live, g: Live | None, kwargs: tuple[tuple[str, Any], ...]) -> bool:
    """``torch.autograd.backward`` with one root or several."""
    roots, gs = [live], [g]
    if scene.below(4):
        other = scene.find(made)
        if other is not None:
            h = upstream(scene, other)
            if h is not False:
                roots.append(other)
                gs.append(h)
    args: tuple[Any, ...] = ([one.ref for one in roots],)
    if any(gs):
        args = (*args, [h and h.ref for h in gs])
        if scene.wild and scene.below(2):
            args[1].pop()
    return _run(scene, "torch.autograd.backward", args, kwargs, tuple(roots), tuple(gs))


def _run(
    scene: Scene,
    op: str,
    args: tuple[Any, ...],
    kwargs: tuple[tuple[str, Any], ...],
    roots: tuple[Live, ...],
    gs: tuple[Live | None, ...],
) -> bool:
    for g in gs:
        if g is not None:
            if feeds_back(scene, g):
                return False
            g.store.grad = True  # what arrives may be (part of) the very tensor
    done = scene.emit(op, args, kwargs)
    path = history(roots[0]) if len(roots) == 1 else [one for each in roots for one in history(each)]
    if done:
        freed = not kwargs or kwargs[0][0] == "inputs"
        for one in path:
            if one.leaf:
                one.filled = one.grad
            elif freed:
                one.freed = True
    for one in scene.lives:
        if one.store.grad:  # it may have been added to
            scene.grow(one)
    scene.hot = path[:5]
    if path:
        follow(scene, roots[0], path)
    return True


def feeds_back(scene: Scene, g: Live) -> bool:
    """Whether an upstream gradient is (part of) a grad that the pass may write. Through numpy it may be any
    part of that of a leaf without a name, which torch then does not know to be the same memory.
    """
    if not g.store.grad:
        return False
    array = scene.oracle.memory(g.name)
    if array is None:
        return False
    return bool(AVOIDANCES["gradient_shares_a_grad"].meets((array, *scene.oracle.grads(g.store.foreign)), {}))


def follow(scene: Scene, live: Live, path: list[Live]) -> None:
    """What people do after a backward, and what breaks engines: read, run again, write into its path,
    use it.
    """
    ending = scene.pick(_ENDINGS)
    if ending == "read":
        leaf = next((one for one in path if one.leaf and one.grad), None)
        if leaf is not None:
            scene.then(grad_attribute.read, leaf)
    elif ending == "again":
        scene.then(backward, live)
    elif ending == "twice":
        scene.then(backward, live)
        retaining = scene.groups & _RETAINING and scene.may("retain_grad")
        scene.then(requires_grad.retain if retaining else backward, live)
    elif ending == "write" and scene.vocabulary.writes:
        scene.then(backward, live)
        scene.then(grad_attribute.edit, path[-1] if len(path) > 1 else live)
    elif ending == "use":
        scene.then(scene.vocabulary.use, path[-1])
