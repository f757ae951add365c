"""Memory geometry: ``as_strided``, complex numbers as pairs of reals, and tensors whose shape, strides or
memory change in place.

Writes through views that show an element twice are excluded by ``GenState.self_overlapping``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from conformance.generate.state.features import AS_STRIDED, RETAIN
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import TensorInfo, backward_ready, is_constant

Geometry = tuple[tuple[int, ...], tuple[int, ...]]
GEOMETRIES: tuple[Geometry, ...] = (
    ((2,), (1,)), ((3,), (1,)), ((2,), (2,)), ((2, 2), (2, 1)), ((2, 2), (1, 2)), ((2, 2), (1, 1)),
    ((3, 2), (1, 1)), ((2,), (0,)), ((2, 2), (0, 1)), ((4,), (1,)), ((), ()), ((1, 2), (5, 1)), ((0,), (1,)),
    ((2, 2), (3, 1)), ((2, 1, 2), (2, 7, 1)),
)  # fmt: skip
"""Sizes and strides."""
SELF_OVERLAPPING = frozenset(geometry for geometry in GEOMETRIES if geometry[1] == (1, 1))
"""Geometries that show elements several times without torch noticing."""
INVALID_GEOMETRIES: tuple[Geometry, ...] = (((2, 2), (1,)), ((2,), (-1,)), ((9,), (9,)), ((2,), (1, 1)))
"""Geometries that are refused for any small memory."""
_PARTS = (".real", ".imag", "torch.view_as_real")
_DIM_CHANGES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("transpose_", (0, 1)), ("transpose_", (0, -1)), ("t_", ()), ("unsqueeze_", (0,)), ("unsqueeze_", (-1,)),
    ("squeeze_", ()), ("squeeze_", (0,)), ("squeeze_", (-1,)), ("swapdims_", (0, 1)),
)  # fmt: skip
_RANK_KEEPING = tuple(change for change in _DIM_CHANGES if "squeeze" not in change[0])
"""Changes for grads and leaves with a grad: torch compares strides of a grad with those of its leaf."""
_SHAPES = ((2,), (1,), (2, 1), (1, 2), (2, 2), (), (4,), (3,), (0,))


@step(6, AS_STRIDED, emits=("as_strided",))
def as_strided(state: GenState, about: TensorInfo | None = None) -> bool:
    """``as_strided``. The memory of a gradient may have gaps, so there it stays within the dense part."""
    x = about or state.any_tensor()
    if state.self_overlapping(x):
        return False
    begins, first, end = _visible_memory(state, x)
    op = "as_strided" if state.below(7) else "torch.as_strided"
    if state.unchecked and state.below(2):
        geometry, offset = state.pick(INVALID_GEOMETRIES), state.pick((None, 0, -1, 40))
    else:
        fitting = [geometry for geometry in GEOMETRIES if first + _extent(geometry) <= end]
        if not fitting:
            return False
        geometry = state.pick(fitting)
        offset = first + state.below(end - first - _extent(geometry) + 1)
        if offset == begins and state.below(2):
            offset = None
    kwargs = () if offset is None or state.below(3) else (("storage_offset", offset),)
    args = (x.ref, *geometry) if offset is None or kwargs else (x.ref, *geometry, offset)
    out = _emit_view(state, op, args, kwargs, x)
    if out is not None and geometry in SELF_OVERLAPPING:
        x.store.self_overlapping = True
    return True


def _extent(geometry: Geometry) -> int:
    """Number of elements of memory that a view spans."""
    shape, strides = geometry
    return 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def _visible_memory(state: GenState, x: TensorInfo) -> tuple[int, int, int]:
    """A tensor's storage offset, and the start and end of the memory that views may show."""
    begins, elements = state.oracle.window(x.name)
    if x.store.may_hold_grad or x.store.shared_with_numpy:
        return begins, begins, begins + state.oracle.block(x.name)
    return begins, 0, elements if x.store.initialised is None else min(elements, x.store.initialised)


@step(5, AS_STRIDED, emits=(".real", ".imag", "torch.view_as_real", "torch.view_as_complex"))
def complex_view(state: GenState, about: Any = None) -> bool:
    """Pairs of reals viewed as complex numbers, or complex numbers as their parts."""
    x = state.find(_is_complex if state.below(2) else _has_pairs)
    if x is None:
        return False
    if x.kind == "c" or state.below(4) == 0:
        return _part(state, x)
    if not _has_pairs(x) or not state.fits("complex64", x.store.bits, x.store.frac) or not state.dtypes:
        return False
    out = _emit_view(state, "torch.view_as_complex", (x.ref,), (), x)
    if out is not None:
        state.schedule(_part, out)
    return True


def _part(state: GenState, x: TensorInfo) -> bool:
    """The real or imaginary part of complex numbers; of reals only ``.real`` is not refused."""
    _emit_view(state, state.pick(_PARTS), (x.ref,), (), x)
    return True


def _is_complex(tensor: TensorInfo) -> Any:
    return tensor.kind == "c"


def _has_pairs(tensor: TensorInfo) -> Any:
    return tensor.dtype in ("float64", "float32") and tensor.shape and tensor.shape[-1] == 2


def _emit_view(
    state: GenState, op: str, args: tuple[Any, ...], kwargs: Kwargs, x: TensorInfo
) -> TensorInfo | None:
    """Emit a view of ``x``; half of the time a backward or a write to it follows."""
    name = state.result_name()
    if not state.emit(op, args, kwargs, (name,)):
        return None
    out = state.bind(name, x.store, (x,))
    if out is not None:
        out.base, out.multi_view = x.base or x, x.multi_view
        state.prioritise((out, x))
        if backward_ready(out) and state.below(2):
            state.schedule("backward", out)
        elif not state.below(3):
            state.schedule("inplace_op", out)
    return out


@step(3, AS_STRIDED, emits=("transpose_", "t_", "unsqueeze_", "squeeze_", "swapdims_"))
def change_dims(state: GenState, about: Any = None) -> bool:
    """``transpose_``, ``squeeze_`` and the like, which change a tensor's dimensions but not its base's."""
    keeps = state.features & RETAIN and state.supports("retain_grad")
    tensor = state.find(_has_dims_and_history if keeps and state.below(2) else _has_dims)
    if tensor is None:
        return False
    if keeps and backward_ready(tensor) and state.below(3):
        state.emit("retain_grad", (tensor.ref,))  # which stays with the old dimensions
    op, args = state.pick(_RANK_KEEPING if _rank_is_fixed(tensor) else _DIM_CHANGES)
    _emit_change(state, tensor, op, (tensor.ref, *args))
    return True


@step(1, AS_STRIDED, emits=("resize_",))
def resize_(state: GenState, about: Any = None) -> bool:
    """``resize_`` within the memory there is: new memory would be uninitialised."""
    tensor = state.any_tensor() if state.unchecked else state.find(is_constant)
    if tensor is None:
        return False
    begins, _, end = _visible_memory(state, tensor)
    fitting = [shape for shape in _SHAPES if begins + prod(shape) <= end and _may_have_rank(tensor, shape)]
    if not fitting:
        return False
    shape = state.pick(fitting)
    args = (tensor.ref, *shape) if shape and state.below(2) else (tensor.ref, shape)
    _emit_change(state, tensor, "resize_", args)
    return True


@step(1, AS_STRIDED, emits=("set_",))
def set_(state: GenState, about: Any = None) -> bool:
    """``set_`` to the memory of another tensor, or to none."""
    tensor = (
        state.any_tensor()
        if state.unchecked
        else state.find(is_constant if state.below(2) else backward_ready)
    )
    if tensor is None:
        return False
    new = state.like(tensor, excluding=tensor) if state.below(3) else state.any_tensor()
    if new is None or state.below(9) == 0:
        if not _may_have_rank(tensor, (0,)):
            return False
        _emit_change(state, tensor, "set_", (tensor.ref,))
        return True
    if not _may_have_rank(tensor, new.shape):
        return False
    if _emit_change(state, tensor, "set_", (tensor.ref, new.ref)) and new.store is not tensor.store:
        tensor.store.aliases.remove(tensor)
        tensor.store = new.store
        new.store.aliases.append(tensor)
    return True


def _may_have_rank(tensor: TensorInfo, shape: tuple[int, ...]) -> bool:
    """True if a tensor may get a shape of that rank."""
    return not _rank_is_fixed(tensor) or len(shape) == len(tensor.shape)


def _rank_is_fixed(tensor: TensorInfo) -> bool:
    """True for gradients, and for leaves that have a grad or will have one."""
    return tensor.store.may_hold_grad or (tensor.requires_grad and tensor.is_leaf)


def _emit_change(state: GenState, tensor: TensorInfo, op: str, args: tuple[Any, ...]) -> bool:
    """Emit a change of a tensor's own geometry; a backward follows if it has a graph."""
    done = state.emit(op, args)
    if done or state.inference:
        state.refresh_aliases(tensor)
        state.prioritise((tensor,))
        if backward_ready(tensor):
            state.schedule("backward", tensor)
    return done


def _has_dims(tensor: TensorInfo) -> Any:
    return tensor.shape


def _has_dims_and_history(tensor: TensorInfo) -> Any:
    return tensor.shape and backward_ready(tensor)
