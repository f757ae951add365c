"""Ways out of the graph and back: through numpy, and through the factories that take a tensor."""

from __future__ import annotations

from typing import Any

from conformance.generate.scene.scene import Live, Scene, Store
from conformance.program import ref

_FLAG = (("requires_grad", True),)


def array(scene: Scene, about: Any = None) -> bool:
    """``numpy()``, and a tensor on that very memory; refused, as a rule, for what requires grad."""
    live = scene.find(_plain) if scene.below(4) else scene.some()
    if live is None:
        return False
    held = scene.fresh()
    if not scene.emit("numpy", (live.ref,), (), (held,)):
        return True
    name = scene.name()
    if scene.emit("torch.from_numpy", (ref(held),), (), (name,)):
        alias = scene.bind(name, live.store)
        if alias is not None:
            live.store.foreign = True
            scene.heed((alias, live))
            scene.then(scene.vocabulary.edit, alias)
    return True


def copied(scene: Scene, about: Any = None) -> bool:
    """``torch.tensor`` of a tensor, or ``torch.as_tensor``, which is the tensor itself."""
    live = scene.some()
    name = scene.name()
    if scene.below(2):
        if scene.emit("torch.as_tensor", (live.ref,), (), (name,)):
            scene.bind(name, live.store, live.parents)
        return True
    store = Store(live.store.bits, live.store.frac, live.store.rough, live.store.grad)
    kwargs = _FLAG if scene.below(2) and (live.kind in "fc" or scene.wild) else ()
    if scene.emit("torch.tensor", (live.ref,), kwargs, (name,)):
        scene.bind(name, store)
    return True


def counted(scene: Scene, about: Any = None) -> bool:
    """A write that autograd is told of, and has not seen; what had saved the tensor may be used next."""
    live = scene.some()
    if scene.emit("torch.autograd.graph.increment_version", (live.ref,)):
        scene.then(scene.vocabulary.reach, live)
    return True


def _plain(live: Live) -> Any:
    return not live.grad
