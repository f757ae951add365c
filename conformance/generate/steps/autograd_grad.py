"""``torch.autograd.grad``, and the second derivatives that begin with its results.

What ``backward`` shares with it, roots and upstream gradients, lives in ``backward``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.scene.features import DOUBLE, ROOTS
from conformance.generate.scene.scene import Live, Scene, history, recorded
from conformance.generate.steps.backward import CREATE, RETAIN, backward, feeds_back, root, upstream
from conformance.program import ref

_UNUSED: tuple[tuple[str, Any], ...] = (("allow_unused", True),)
_ZEROS: tuple[tuple[str, Any], ...] = (("materialize_grads", True),)
_EDGE_KINDS = ((), RETAIN, RETAIN, _UNUSED, _UNUSED, _ZEROS)


def _inputs(scene: Scene, live: Live) -> list[Live]:
    """What to differentiate by: as a rule something the root was made from."""
    path = [one for one in history(live)[1:] if one.grad] or [live]
    found = [scene.pick(path)]
    k = scene.below(6)
    if k >= 4:
        found.append(scene.pick(path) if k == 4 else scene.find(recorded) or live)
    if scene.wild:
        found.append(scene.some())
    return found


def grad_call(scene: Scene, about: Live | None = None) -> bool:
    """``torch.autograd.grad`` of one or two outputs by one or two inputs."""
    live = about or root(scene)
    if live is None:
        return False
    g = upstream(scene, live)
    if g is False:
        return False
    if g is not None:
        g.store.grad = True  # a gradient may be (part of) the very tensor
    outputs: Any = live.ref
    gs: Any = g and g.ref
    if scene.groups & ROOTS and scene.below(4) == 3:
        other = root(scene)
        h: Any = upstream(scene, other) if other is not None else False
        if other is not None and h is not False:
            if h is not None:
                h.store.grad = True
            outputs, gs = [live.ref, other.ref], [gs, h and h.ref] if gs or h else None
    inputs = _inputs(scene, live)
    args: tuple[Any, ...] = (outputs, inputs[0].ref if len(inputs) == 1 else [one.ref for one in inputs])
    if gs is not None:
        args = (*args, gs)
    k = scene.below(8)
    create = k >= 4 and scene.groups & DOUBLE
    kwargs: tuple[tuple[str, Any], ...] = CREATE if create else RETAIN if k & 1 else ()
    k = scene.below(12)
    if k >= 9 or (len(inputs) > 1 and k >= 5):
        kwargs = (*kwargs, ("allow_unused", True))
    elif k >= 7 or (len(inputs) > 1 and k >= 3):
        kwargs = (*kwargs, ("materialize_grads", True))
        if scene.wild:
            kwargs = (*kwargs, ("allow_unused", False))
    names = tuple(scene.fresh() for _ in inputs)
    if not scene.emit("torch.autograd.grad", args, kwargs, names):
        return True
    _take(
        scene,
        live,
        inputs,
        names,
        bool(create),
        not kwargs or kwargs[0][0] not in ("create_graph", "retain_graph"),
    )
    return True


def _take(
    scene: Scene, live: Live, inputs: list[Live], names: tuple[str, ...], create: bool, frees: bool
) -> None:
    """Note the gradients under their names; a recorded one invites a second derivative."""
    path = history(live)
    if frees:
        for one in path:
            one.freed = not one.leaf
    for name, x in zip(names, inputs, strict=True):
        g = scene.bind_gradient(name, (live, x) if create else ())
        if g is not None and create:
            g.store.bits += 1
            scene.heed((g, x))
            if g.grad and scene.below(3):
                scene.then(backward if scene.below(2) else grad_call, g)


def by_edge(scene: Scene, about: Live | None = None) -> bool:
    """A derivative at an edge of the graph, or of one; wildly also of what has none, or with zeros for it."""
    live = root(scene)
    if live is None:
        return False
    of_edge = scene.below(3) == 0
    x = live if of_edge else scene.pick(_inputs(scene, live))
    if scene.below(6) == 0:
        x = scene.some()
    g = upstream(scene, live)
    if g is False or (of_edge and g is not None and feeds_back(scene, g)):
        return False
    edge = scene.fresh()
    if not scene.emit("torch.autograd.graph.get_gradient_edge", (x.ref,), (), (edge,)):
        return True
    if g is not None:
        g.store.grad = True
    kwargs = _EDGE_KINDS[scene.below(len(_EDGE_KINDS))]
    given = () if g is None else (g.ref,)
    if of_edge:
        keep = kwargs is RETAIN
        if scene.emit("torch.autograd.backward", (ref(edge), *given), RETAIN if keep else ()) and not keep:
            for one in history(live):
                one.freed = not one.leaf
        return True
    name = scene.fresh()
    if scene.emit("torch.autograd.grad", (live.ref, ref(edge), *given), kwargs, (name,)):
        _take(scene, live, [x], (name,), False, kwargs is not RETAIN)
    return True


def kink(scene: Scene, about: Live) -> bool:
    """Differentiate an absolute value twice, which gives zeros without memory, and go on with those."""
    x = next((parent for parent in about.parents if parent.grad and not parent.gone), None)
    if x is None or about.gone or not scene.may("torch.autograd.grad"):
        return False
    first = _derivative(scene, about, x, CREATE)
    if first is None or not first.grad:
        return True
    if scene.below(2):
        scene.then(backward, first)
        return backward(scene, first)
    zeros = _derivative(scene, first, x, RETAIN)
    if zeros is not None:
        scene.heed((zeros, zeros))
        scene.then(scene.vocabulary.use, zeros)
        scene.then(scene.vocabulary.edit, zeros)
    return True


def _derivative(scene: Scene, y: Live, x: Live, kwargs: tuple[tuple[str, Any], ...]) -> Live | None:
    g = upstream(scene, y)
    if g is False:
        return None
    name = scene.fresh()
    args = (y.ref, x.ref) if g is None else (y.ref, x.ref, g.ref)
    if not scene.emit("torch.autograd.grad", args, kwargs, (name,)):
        return None
    return scene.bind_gradient(name, (y, x) if kwargs is CREATE else ())
