"""Windows on memory: ``as_strided``, complex numbers as pairs of reals and the other way round, and tensors
that are given another shape, another window or another memory in place.

Which writes are not drawn through windows that show an element twice says ``Scene.folded``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from conformance.generate.state.gen_state import GenState
from conformance.generate.state.tensor_info import TensorInfo, backward_ready

Geometry = tuple[tuple[int, ...], tuple[int, ...]]
GEOMETRIES: tuple[Geometry, ...] = (
    ((2,), (1,)), ((3,), (1,)), ((2,), (2,)), ((2, 2), (2, 1)), ((2, 2), (1, 2)), ((2, 2), (1, 1)),
    ((3, 2), (1, 1)), ((2,), (0,)), ((2, 2), (0, 1)), ((4,), (1,)), ((), ()), ((1, 2), (5, 1)), ((0,), (1,)),
    ((2, 2), (3, 1)), ((2, 1, 2), (2, 7, 1)),
)  # fmt: skip
"""Shapes and strides of windows."""
SELF_OVERLAPPING = frozenset(geometry for geometry in GEOMETRIES if geometry[1] == (1, 1))
"""Those that show elements several times, and whose overlap torch does not notice."""
INVALID_GEOMETRIES: tuple[Geometry, ...] = (((2, 2), (1,)), ((2,), (-1,)), ((9,), (9,)), ((2,), (1, 1)))
"""Forms that are refused of any small memory."""
_PARTS = (".real", ".imag", "torch.view_as_real")
_TURNS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("transpose_", (0, 1)), ("transpose_", (0, -1)), ("t_", ()), ("unsqueeze_", (0,)), ("unsqueeze_", (-1,)),
    ("squeeze_", ()), ("squeeze_", (0,)), ("swapdims_", (0, 1)),
)  # fmt: skip
_RANKED_TURNS = tuple(turn for turn in _TURNS if "squeeze" not in turn[0])
"""Those that keep the rank: a gradient of another one is held against strides that its leaf does not have."""
_SHAPES = ((2,), (1,), (2, 1), (1, 2), (2, 2), (), (4,), (3,), (0,))


def strided(state: GenState, about: TensorInfo | None = None) -> bool:
    """``as_strided``: a window on the memory behind a tensor. NB: a gradient may lie in memory with gaps, of
    which nobody knows what is in them, so there it keeps to the block that the gradient fills.
    """
    x = about or state.any_tensor()
    if state.self_overlapping(x):
        return False
    begins, first, end = _reach(state, x)
    op = "as_strided" if state.below(7) else "torch.as_strided"
    if state.unchecked and state.below(2):
        geometry, offset = state.pick(INVALID_GEOMETRIES), state.pick((None, 0, -1, 40))
    else:
        fitting = [geometry for geometry in GEOMETRIES if first + _span(geometry) <= end]
        if not fitting:
            return False
        geometry = state.pick(fitting)
        offset = first + state.below(end - first - _span(geometry) + 1)
        if offset == begins and state.below(2):
            offset = None
    kwargs = () if offset is None or state.below(3) else (("storage_offset", offset),)
    args = (x.ref, *geometry) if offset is None or kwargs else (x.ref, *geometry, offset)
    tensor = _seen(state, op, args, kwargs, x)
    if tensor is not None and geometry in SELF_OVERLAPPING:
        x.store.self_overlapping = True
    return True


def _span(geometry: Geometry) -> int:
    """How many elements of memory a window takes."""
    shape, strides = geometry
    return 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def _reach(state: GenState, x: TensorInfo) -> tuple[int, int, int]:
    """Where a tensor begins in its memory, and the part of it that windows may show."""
    begins, elements = state.oracle.window(x.name)
    if x.store.may_hold_grad or x.store.shared_with_numpy:
        return begins, begins, begins + state.oracle.block(x.name)
    return begins, 0, elements if x.store.initialised is None else x.store.initialised


def pairs(state: GenState, about: Any = None) -> bool:
    """Reals as the parts of complex numbers, or the parts of complex ones."""
    x = state.find(_complex if state.below(2) else _paired)
    if x is None:
        return False
    if x.kind == "c" or state.below(4) == 0:
        return _parts(state, x)
    if not _paired(x) or not state.fits("complex64", x.store.bits, x.store.frac) or not state.dtypes:
        return False
    tensor = _seen(state, "torch.view_as_complex", (x.ref,), (), x)
    if tensor is not None:
        state.schedule(_parts, tensor)
    return True


def _parts(state: GenState, x: TensorInfo) -> bool:
    """The parts of complex numbers; of real ones there is one alone."""
    _seen(state, state.pick(_PARTS), (x.ref,), (), x)
    return True


def _complex(tensor: TensorInfo) -> Any:
    return tensor.kind == "c"


def _paired(tensor: TensorInfo) -> Any:
    return tensor.dtype in ("float64", "float32") and tensor.shape and tensor.shape[-1] == 2


def _seen(
    state: GenState, op: str, args: tuple[Any, ...], kwargs: tuple[Any, ...], x: TensorInfo
) -> TensorInfo | None:
    """Emit a view of ``x``, which is written to or differentiated next as often as not."""
    name = state.result_name()
    if not state.emit(op, args, kwargs, (name,)):
        return None
    tensor = state.bind(name, x.store, (x,))
    if tensor is not None:
        tensor.base, tensor.multi_view = x.base or x, x.multi_view
        state.prioritise((tensor, x))
        if backward_ready(tensor) and state.below(2):
            state.schedule(state.vocabulary.backward, tensor)
        elif not state.below(3):
            state.schedule(state.vocabulary.edit, tensor)
    return tensor


def turned(state: GenState, about: Any = None) -> bool:
    """Another order or number of dimensions, in place. NB: a view's base hears nothing of it."""
    tensor = state.find(_dims)
    if tensor is None:
        return False
    op, args = state.pick(_RANKED_TURNS if _ranked(tensor) else _TURNS)
    _changed(state, tensor, op, (tensor.ref, *args))
    return True


def resized(state: GenState, about: Any = None) -> bool:
    """``resize_`` within the memory there is: what would be new in a larger one, nobody knows."""
    tensor = state.any_tensor() if state.unchecked else state.find(_plain)
    if tensor is None:
        return False
    begins, _, end = _reach(state, tensor)
    fitting = [shape for shape in _SHAPES if begins + prod(shape) <= end and _keeps_rank(tensor, shape)]
    if not fitting:
        return False
    shape = state.pick(fitting)
    args = (tensor.ref, *shape) if shape and state.below(2) else (tensor.ref, shape)
    _changed(state, tensor, "resize_", args)
    return True


def moved(state: GenState, about: Any = None) -> bool:
    """``set_`` to the memory of another tensor, or to none."""
    tensor = (
        state.any_tensor() if state.unchecked else state.find(_plain if state.below(2) else backward_ready)
    )
    if tensor is None:
        return False
    new = state.like(tensor, excluding=tensor) if state.below(3) else state.any_tensor()
    if new is None or state.below(9) == 0:
        if not _keeps_rank(tensor, (0,)):
            return False
        _changed(state, tensor, "set_", (tensor.ref,))
        return True
    if not _keeps_rank(tensor, new.shape):
        return False
    if _changed(state, tensor, "set_", (tensor.ref, new.ref)) and new.store is not tensor.store:
        tensor.store.aliases.remove(tensor)
        tensor.store = new.store
        new.store.aliases.append(tensor)
    return True


def _keeps_rank(tensor: TensorInfo, shape: tuple[int, ...]) -> bool:
    """Whether a tensor may get that shape."""
    return not _ranked(tensor) or len(shape) == len(tensor.shape)


def _ranked(tensor: TensorInfo) -> bool:
    """Whether a tensor's rank is left as it is: that of a gradient, and of a leaf that has one or will."""
    return tensor.store.may_hold_grad or (tensor.requires_grad and tensor.is_leaf)


def _changed(state: GenState, tensor: TensorInfo, op: str, args: tuple[Any, ...]) -> bool:
    """Emit a change of a tensor's own window, which is differentiated next where there is something to."""
    done = state.emit(op, args)
    if done or state.inference:
        state.refresh_aliases(tensor)
        state.prioritise((tensor,))
        if backward_ready(tensor):
            state.schedule(state.vocabulary.backward, tensor)
    return done


def _dims(tensor: TensorInfo) -> Any:
    return tensor.shape


def _plain(tensor: TensorInfo) -> Any:
    return not tensor.requires_grad
