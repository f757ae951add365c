"""Tangents of custom functions: ``jvp`` computes them, with the same views and writes as forward."""

from __future__ import annotations

from typing import Any

from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.forward.tangents import DualLevel, forward_view

MARKED = "a tensor that was marked as dirty is no input, and has no tangent that jvp could have written"
VIEW = (
    "A custom Function's forward is returning a view (or an input as-is), whose tangent is the same view, "
    "but its jvp is not returning a view"
)


def propagate(level: DualLevel, node: Any, args: tuple[Any, ...], raw: Any, result: Any) -> None:
    """Give the outputs of a call their tangents; forward returned ``raw``, the call ``result``.

    Raises RuntimeError if jvp returns too many or too few tangents, or one that does not match its output.
    """
    tangents = [level.tangent(x) for x in args]
    if all(t is None for t in tangents):
        return
    versions = [None if t is None else t._version for t in tangents]
    node._in_jvp = True
    try:
        with level.pause():
            given = [_given(node, x, t) for x, t in zip(args, tangents, strict=True)]
            out_tangents = node._forward_cls.jvp(node, *given)
    finally:
        node._in_jvp = False
    out_tangents, raws, outputs = (x if isinstance(x, tuple) else (x,) for x in (out_tangents, raw, result))
    if len(out_tangents) != len(raws):
        raise RuntimeError(f"jvp gave {len(out_tangents)} tangents for {len(raws)} outputs")
    for at, (inner, out, tangent) in enumerate(zip(raws, outputs, out_tangents, strict=True)):
        marked = any(inner is x for x in node.non_differentiable)
        if not isinstance(out, Tensor) or marked or array_of(out).dtype.kind not in DIFFERENTIABLE:
            if tangent is not None:
                raise RuntimeError(
                    f"jvp gave a tangent for output {at}, which can have none. You should return None at "
                    "that position instead."
                )
            continue
        if any(inner is x for x in node.dirty_tensors):
            _written(level, out, tangent, args, tangents, versions)
        else:
            level.give(out, tangent, in_place=_is_view_of_plain(level, out, tangent, args))


def _given(node: Any, x: Any, tangent: Tensor | None) -> Tensor | None:
    """The tangent that jvp gets for an argument: zeros for a tensor without one, None for other values."""
    if tangent is not None or not isinstance(x, Tensor) or array_of(x).dtype.kind not in DIFFERENTIABLE:
        return tangent
    return x.zeros_like() if node.materialize_grads else None


def _written(
    level: DualLevel,
    out: Tensor,
    tangent: Tensor,
    args: tuple[Any, ...],
    tangents: list[Tensor | None],
    versions: list[int | None],
) -> None:
    """Check that jvp wrote the tangent of an input that forward wrote, in place."""
    place = next((at for at, x in enumerate(args) if x is out), None)
    if place is None:
        raise RuntimeError(MARKED)
    was = tangents[place]
    if was is None:
        level.give(out, tangent, in_place=True)
    elif tangent._version == versions[place]:
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace: its jvp "
            "function must modify the corresponding gradient inplace, as forward did its input"
        )
    elif tangent is not was:
        raise RuntimeError(
            "the jvp of an inplace custom function has to return the very tangent that it wrote"
        )


def _is_view_of_plain(level: DualLevel, out: Tensor, tangent: Tensor, args: tuple[Any, ...]) -> bool:
    """Return True if an output is a view of an input without tangent.

    Raises RuntimeError if it is a view of one with a tangent, and its tangent is no view of that.
    """
    window = forward_view(out)
    if window is None:
        return False
    for x in args:
        if not isinstance(x, Tensor) or _root(x) is not window[0]:
            continue
        of_input = level.tangent(x)
        if of_input is None:
            return True
        if forward_view(tangent) is None:
            raise RuntimeError(VIEW)
        if _root(tangent) is not _root(of_input):
            which = "the same base as the given one" if forward_view(of_input) else "the given one"
            raise RuntimeError(f"forward is returning a view, but jvp is not returning a view of {which}")
        return False
    return False


def _root(x: Tensor) -> Tensor:
    window = forward_view(x)
    return x if window is None else window[0]
