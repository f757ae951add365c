"""Tensors that stand for one of many: what `vmap` gives its function, where PyTorch has all of them at once.

An op on such tensors gives such a tensor. What would need the elements of one alone is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from reference_impl.base import transforms
from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.dispatch import runner
from reference_impl.core.extension_points import fill
from reference_impl.core.kernel import Kernel
from reference_impl.core.record import OpNode
from reference_impl.core.tensor import Tensor
from specs.op import Op

Levels = frozenset[transforms.Mapping]
NONE: Levels = frozenset()


class Batched(Tensor):
    """A tensor that stands for one of many, in one or several maps."""

    __slots__ = ()
    _maps: Levels | None = None

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.ndim else object.__format__(self, spec)

    @property
    def data(self) -> Tensor:
        """Refuse to give the elements without history."""
        refuse_by("functional/vmap-hides-data", how="accessing `data`")
        return Tensor.data.fget(self)  # type: ignore[attr-defined]

    @data.setter
    def data(self, new: Tensor) -> None:
        Tensor.data.fset(self, new)  # type: ignore[attr-defined]

    def detach(self) -> Tensor:
        """The same elements without history, of the same maps."""
        return marked(vars(Tensor)["detach"](self), levels_of(self))


def _no_number() -> None:
    if not _in_engine():
        refuse_by("functional/vmap-takes-no-numbers")


def _no_branch() -> None:
    if not _in_engine():
        refuse_by("functional/vmap-takes-no-branches")


def _in_engine() -> bool:
    """Tell whether a formula asks, which PyTorch computes otherwise for what stands for many."""
    return bool(STATE.held_warnings) and STATE.held_warnings[-1] is not None


def _no_memory() -> None:
    refuse_by("functional/vmap-has-no-memory")


def _asking(name: str, refuse: Callable[[], None]) -> Callable[..., Any]:
    """Make a method that needs the elements of one of many."""

    def method(self: Tensor, *given: Any, **named: Any) -> Any:
        refuse()
        return getattr(Tensor, name)(self, *given, **named)

    return method


for _refuse, _names in {
    _no_number: ("item", "__float__", "__int__", "__complex__", "__index__", "__contains__"),
    _no_branch: ("__bool__", "is_nonzero"),
    _no_memory: ("tolist", "numpy", "data_ptr", "__array__"),
}.items():
    for _name in _names:
        setattr(Batched, _name, _asking(_name, _refuse))
Batched._plain = Batched
Batched.__name__ = Batched.__qualname__ = "Tensor"  # as users see it


def levels_of(*given: Any) -> Levels:
    """Return the maps that run in which one of the tensors, or of those in sequences, stands for many.

    After its map a tensor stands for itself: a backward computes with those that were saved within it.
    """
    found = NONE
    for x in given:
        if isinstance(x, Batched):
            running = transforms.mappings()
            found |= frozenset(running[-1:]) if x._maps is None else x._maps.intersection(running)
        elif isinstance(x, (tuple, list)):
            found |= levels_of(*x)
    return found


def marked(result: Any, levels: Levels) -> Any:
    """Say of each tensor in a result, and of its tangent, that it stands for many in these maps, and in no
    others.
    """
    if isinstance(result, (tuple, list)):
        for each in result:
            marked(each, levels)
    elif type(result) in (Tensor, Batched):
        result.__class__ = Batched if levels else Tensor
        result.__dict__.pop("_maps", None)
        if levels:
            result._maps = levels
        if STATE.level is not None:
            marked(STATE.level.tangent(result), levels)
    return result


def marking(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that is no op give a tensor that stands for many if it is given one."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        out = function(*args, **kwargs)
        if STATE.transforms and (levels := levels_of(*args, *kwargs.values())):
            return marked(out, levels | levels_of(out))
        return out

    return called


def runner_for(op: Op, types: tuple[type, ...]) -> Callable[..., Any] | None:
    """The function that runs an op on operands of these types if such tensors are among them."""
    if not any(issubclass(each, Batched) for each in types):
        return None
    run = runner(op, tuple([Tensor if issubclass(each, Batched) else each for each in types]))

    def run_batched(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
        if op.composite:
            return run(kernel, operands, attributes)
        levels = levels_of(*operands)
        if op.mutates:
            check_write(op, operands[0], levels)
        if not _in_engine():
            _check_shape_known(op, operands)
        out = marked(run(kernel, operands, attributes), levels)
        if levels and kernel.result:
            _mark_saved(out, kernel, levels)
        return out

    return run_batched


def _mark_saved(out: Tensor, kernel: Kernel, levels: Levels) -> None:
    """Say the same of the result as the op's node saved it."""
    node = out._node
    if isinstance(node, OpNode) and node.kernel is kernel and (saved := node.values[kernel.result]):
        marked(saved.tensor, levels)


@fill
def on_data(tensor: Tensor, new: Tensor) -> None:
    """Refuse to assign the data of, or to, what stands for many."""
    if levels_of(tensor, new):
        refuse_by("functional/vmap-hides-data", how="mutating directly with `.data`", case="written")


@fill
def on_unpack(saved: Tensor, unpacked: Tensor) -> None:
    """Let what is unpacked within a transform stand for many where the saved tensor does."""
    marked(unpacked, levels_of(saved))


@fill
def offset_of_window(tensor: Tensor, size: Any, stride: Any, offset: int | None) -> int:
    """Count a window's offset from where the first element of a map is; refuse what is beyond the element."""
    own = tensor.storage_offset()
    if not isinstance(tensor, Batched) or _in_engine():
        return own if offset is None else offset
    moved = sum(
        level.at * whole.stride(dim)
        for level in levels_of(tensor)
        for one, whole, dim in level.elements
        if one._storage is tensor._storage
    )
    first = own - moved
    start = first if offset is None else offset
    end, reach = _end(size, stride, start), _end(tensor.shape, tensor.stride(), first)
    if 0 not in size and (first > start or 0 in tensor.shape or end > reach):
        raise RuntimeError(
            f"result = tensor.as_strided({list(size)}, {list(stride)}, {start}) can access memory outside of "
            f"`tensor`. `result` can access some memory in range [{start}, {end}], but `tensor` can only "
            f"access some memory in range [{first}, {reach}]. This is not supported inside of vmap, please "
            "try to rewrite the `as_strided` call as a sequence of PyTorch view operations"
        )
    return start + moved


def _end(size: Any, stride: Any, offset: int) -> int:
    return offset + 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=False))


def _check_shape_known(op: Op, operands: tuple[Any, ...]) -> None:
    """Refuse an op whose result has a shape that the elements of such a tensor decide."""
    for operand, x in zip(op.operands, operands, strict=True):
        if not isinstance(x, Batched):
            continue
        if operand.name == op.sized_by:
            _refuse_shape(
                f"Attempted to vmap over `{operand.name}` in torch.{op.name}(self, {operand.name}) We cannot "
                "support this because for each batch this would return a differently shaped Tensor. "
                + _PLEASE
            )
        elif operand.kind.name == "indices" and x._array.dtype.kind == "b":
            _refuse_shape(
                "We do not support batching operators that can support dynamic shape. Attempting to batch "
                "over indexing with a boolean mask."
            )


_PLEASE = "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."


def _refuse_shape(why: str) -> None:
    refuse_by("functional/vmap-shapes-are-fixed", why=f"vmap: {why}")


def check_shape_known(x: Tensor, name: str) -> None:
    """Refuse a function, of that name in PyTorch, whose result has a shape that the elements decide."""
    if isinstance(x, Batched):
        _refuse_shape(
            "We do not support batching operators that can output dynamic shape. Attempted to vmap over "
            f"aten::{name}. {_PLEASE}"
        )


def check_compared(name: str, *given: Any) -> None:
    """Refuse to compare whole tensors, of which one stands for many."""
    if levels_of(*given):
        refuse_by(
            "functional/vmap-has-no-rule", why=f"aten::{name}. We could not generate a fallback.", case=name
        )


def check_has_rule(name: str, *given: Any) -> None:
    """Refuse a kernel that is given what stands for many, and that PyTorch runs on single tensors alone."""
    if STATE.transforms and levels_of(*given):
        refuse_by("functional/vmap-has-no-rule", why=f"aten::{name}. We could not generate a fallback.")


def check_write(op: Op, target: Tensor, levels: Levels) -> None:
    """Refuse to write what stands for many into a tensor that does not.

    New memory of a formula's own stands for as many as its first elements.
    """
    many = levels - levels_of(target)
    if not many:
        return
    base = target if target._view is None else target._view.base
    if _in_engine() and not base._version:
        marked(base, levels)
        return
    name = op.batched_write or f"aten::{op.name}"
    if name == "broadcast":
        size = next(each.size for each in reversed(transforms.mappings()) if each in many)
        shape = list(target._array.shape)
        case = "mapped" if levels_of(target) else ""  # in another map: PyTorch's shapes are longer
        refuse_by("write/broadcast-shape", got=[size, *shape], want=shape, case=case)
    by_hand = op.batched_write and not name.startswith("aten::")
    level = next(at for at, each in enumerate(transforms.mappings(), 1) if each in many)
    where = "in a vmap" if by_hand else f"at level {level}"
    refuse_by("functional/vmap-writes-into-batched", name=name, where=where)


def drawn_anew(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a factory of random tensors, which differ between the elements of the maps that ask for it, and
    of no others.
    """

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        out = function(*args, **kwargs)
        if STATE.transforms:
            apart = {level for level in transforms.mappings() if level.randomness == "different"}
            return marked(out, frozenset(apart))
        return out

    return called


def check_random_operands(*given: Any) -> None:
    """Refuse the same numbers for all elements of a map, if they depend on what stands for many."""
    if any(level.randomness == "same" for level in levels_of(*given)):
        refuse_by(
            "functional/vmap-randomness-fits",
            why="Vmap does not currently support same randomness with a batched tensor input. Please file an "
            "issue with functorch",
        )


def check_random_write(target: Tensor, *given: Any) -> None:
    """Refuse to write random numbers that differ between elements into a tensor that does not."""
    check_random_operands(*given)
    levels = transforms.mappings()
    if given and levels_of(*given) - levels_of(target):
        refuse_by("functional/vmap-writes-into-batched", name="inplace bernoulli", where="in a vmap")
    if any(level.randomness == "different" and level not in levels_of(target) for level in levels):
        refuse_by(
            "functional/vmap-randomness-fits",
            why="vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear "
            "like same randomness. If this is necessary for your usage, please file an issue with functorch.",
        )
