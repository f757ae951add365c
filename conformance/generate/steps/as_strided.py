"""Windows on memory: ``as_strided``, complex numbers as pairs of reals and the other way round, and tensors
that are given another shape, another window or another memory in place.

Which writes are not drawn through windows that show an element twice says ``Scene.folded``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from conformance.generate.scene.scene import Live, Scene, made

Form = tuple[tuple[int, ...], tuple[int, ...]]
FORMS: tuple[Form, ...] = (
    ((2,), (1,)), ((3,), (1,)), ((2,), (2,)), ((2, 2), (2, 1)), ((2, 2), (1, 2)), ((2, 2), (1, 1)),
    ((3, 2), (1, 1)), ((2,), (0,)), ((2, 2), (0, 1)), ((4,), (1,)), ((), ()), ((1, 2), (5, 1)), ((0,), (1,)),
    ((2, 2), (3, 1)), ((2, 1, 2), (2, 7, 1)),
)  # fmt: skip
"""Shapes and strides of windows."""
FOLDED = frozenset(form for form in FORMS if form[1] == (1, 1))
"""Those that show elements several times, and whose overlap torch does not notice."""
MISFITS: tuple[Form, ...] = (((2, 2), (1,)), ((2,), (-1,)), ((9,), (9,)), ((2,), (1, 1)))
"""Forms that are refused of any small memory."""
_PARTS = (".real", ".imag", "torch.view_as_real")
_TURNS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("transpose_", (0, 1)), ("transpose_", (0, -1)), ("t_", ()), ("unsqueeze_", (0,)), ("unsqueeze_", (-1,)),
    ("squeeze_", ()), ("squeeze_", (0,)), ("swapdims_", (0, 1)),
)  # fmt: skip
_RANKED_TURNS = tuple(turn for turn in _TURNS if "squeeze" not in turn[0])
"""Those that keep the rank: a gradient of another one is held against strides that its leaf does not have."""
_SHAPES = ((2,), (1,), (2, 1), (1, 2), (2, 2), (), (4,), (3,), (0,))


def strided(scene: Scene, about: Live | None = None) -> bool:
    """``as_strided``: a window on the memory behind a tensor. NB: a gradient may lie in memory with gaps, of
    which nobody knows what is in them, so there it keeps to the block that the gradient fills.
    """
    x = about or scene.some()
    if scene.folded(x):
        return False
    begins, first, end = _reach(scene, x)
    op = "as_strided" if scene.below(7) else "torch.as_strided"
    if scene.wild and scene.below(2):
        form, offset = scene.pick(MISFITS), scene.pick((None, 0, -1, 40))
    else:
        fitting = [form for form in FORMS if first + _span(form) <= end]
        if not fitting:
            return False
        form = scene.pick(fitting)
        offset = first + scene.below(end - first - _span(form) + 1)
        if offset == begins and scene.below(2):
            offset = None
    kwargs = () if offset is None or scene.below(3) else (("storage_offset", offset),)
    args = (x.ref, *form) if offset is None or kwargs else (x.ref, *form, offset)
    live = _seen(scene, op, args, kwargs, x)
    if live is not None and form in FOLDED:
        x.store.folded = True
    return True


def _span(form: Form) -> int:
    """How many elements of memory a window takes."""
    shape, strides = form
    return 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def _reach(scene: Scene, x: Live) -> tuple[int, int, int]:
    """Where a tensor begins in its memory, and the part of it that windows may show."""
    begins, elements = scene.oracle.window(x.name)
    if x.store.grad or x.store.foreign:
        return begins, begins, begins + scene.oracle.block(x.name)
    return begins, 0, elements if x.store.known is None else x.store.known


def pairs(scene: Scene, about: Any = None) -> bool:
    """Reals as the parts of complex numbers, or the parts of complex ones."""
    x = scene.find(_complex if scene.below(2) else _paired)
    if x is None:
        return False
    if x.kind == "c" or scene.below(4) == 0:
        return _parts(scene, x)
    if not _paired(x) or not scene.fits("complex64", x.store.bits, x.store.frac) or not scene.dtypes:
        return False
    live = _seen(scene, "torch.view_as_complex", (x.ref,), (), x)
    if live is not None:
        scene.then(_parts, live)
    return True


def _parts(scene: Scene, x: Live) -> bool:
    """The parts of complex numbers; of real ones there is one alone."""
    _seen(scene, scene.pick(_PARTS), (x.ref,), (), x)
    return True


def _complex(live: Live) -> Any:
    return live.kind == "c"


def _paired(live: Live) -> Any:
    return live.dtype in ("float64", "float32") and live.shape and live.shape[-1] == 2


def _seen(scene: Scene, op: str, args: tuple[Any, ...], kwargs: tuple[Any, ...], x: Live) -> Live | None:
    """Emit a view of ``x``, which is written to or differentiated next as often as not."""
    name = scene.name()
    if not scene.emit(op, args, kwargs, (name,)):
        return None
    live = scene.bind(name, x.store, (x,))
    if live is not None:
        live.base, live.multi = x.base or x, x.multi
        scene.heed((live, x))
        if made(live) and scene.below(2):
            scene.then(scene.vocabulary.backward, live)
        elif not scene.below(3):
            scene.then(scene.vocabulary.edit, live)
    return live


def turned(scene: Scene, about: Any = None) -> bool:
    """Another order or number of dimensions, in place. NB: a view's base hears nothing of it."""
    live = scene.find(_dims)
    if live is None:
        return False
    op, args = scene.pick(_RANKED_TURNS if _ranked(live) else _TURNS)
    _changed(scene, live, op, (live.ref, *args))
    return True


def resized(scene: Scene, about: Any = None) -> bool:
    """``resize_`` within the memory there is: what would be new in a larger one, nobody knows."""
    live = scene.some() if scene.wild else scene.find(_plain)
    if live is None:
        return False
    begins, _, end = _reach(scene, live)
    fitting = [shape for shape in _SHAPES if begins + prod(shape) <= end and _keeps_rank(live, shape)]
    if not fitting:
        return False
    shape = scene.pick(fitting)
    args = (live.ref, *shape) if shape and scene.below(2) else (live.ref, shape)
    _changed(scene, live, "resize_", args)
    return True


def moved(scene: Scene, about: Any = None) -> bool:
    """``set_`` to the memory of another tensor, or to none."""
    live = scene.some() if scene.wild else scene.find(_plain if scene.below(2) else made)
    if live is None:
        return False
    new = scene.like(live, but=live) if scene.below(3) else scene.some()
    if new is None or scene.below(9) == 0:
        if not _keeps_rank(live, (0,)):
            return False
        _changed(scene, live, "set_", (live.ref,))
        return True
    if not _keeps_rank(live, new.shape):
        return False
    if _changed(scene, live, "set_", (live.ref, new.ref)) and new.store is not live.store:
        live.store.lives.remove(live)
        live.store = new.store
        new.store.lives.append(live)
    return True


def _keeps_rank(live: Live, shape: tuple[int, ...]) -> bool:
    """Whether a tensor may get that shape."""
    return not _ranked(live) or len(shape) == len(live.shape)


def _ranked(live: Live) -> bool:
    """Whether a tensor's rank is left as it is: that of a gradient, and of a leaf that has one or will."""
    return live.store.grad or (live.grad and live.leaf)


def _changed(scene: Scene, live: Live, op: str, args: tuple[Any, ...]) -> bool:
    """Emit a change of a tensor's own window, which is differentiated next where there is something to."""
    done = scene.emit(op, args)
    if done or scene.inference:
        scene.look_around(live)
        scene.heed((live,))
        if made(live):
            scene.then(scene.vocabulary.backward, live)
    return done


def _dims(live: Live) -> Any:
    return live.shape


def _plain(live: Live) -> Any:
    return not live.grad
