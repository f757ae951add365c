"""Tangents of custom functions: ``jvp`` computes them, with the same views and writes as forward."""

from __future__ import annotations

from typing import Any

from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.forward.own_functions import tangents_by_transposing_twice
from reference_impl.forward.tangents import DualLevel, forward_view

MARKED = "a tensor that was marked as dirty is no input, and has no tangent that jvp could have written"
MISSING = "A custom Function's jvp returned no tangent for an output that can have one."
VIEW = (
    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
)
IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
    "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
)
AS_IS = (
    "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is "
    "modifying an input inplace, then the jvp function must modify the gradient inplace and return it as-is."
)


def propagate(
    level: DualLevel, node: Any, args: tuple[Any, ...], raw: Any, result: Any, is_own: bool = False
) -> None:
    """Give the outputs of a call their tangents; forward returned ``raw``, the call ``result``. A function of
    PyTorch's own (``is_own``) needs no jvp.

    Raises RuntimeError if jvp returns too many or too few tangents, or one that does not match its output.
    """
    tangents = [level.tangent(x) for x in args]
    if all(t is None for t in tangents) or not by("forward/jvp-computes-tangents"):
        return
    versions = [None if t is None else t._version for t in tangents]
    node._in_jvp = True
    try:
        with level.pause():
            if is_own:
                out_tangents = tangents_by_transposing_twice(node._forward_cls, args, tangents)
            else:
                given = [_given(node, x, t) for x, t in zip(args, tangents, strict=True)]
                out_tangents = node._forward_cls.jvp(node, *given)
    finally:
        node._in_jvp = False
    out_tangents, raws, outputs = (x if isinstance(x, tuple) else (x,) for x in (out_tangents, raw, result))
    for at, tangent in enumerate(out_tangents):
        if tangent is not None and not isinstance(tangent, Tensor):
            _refuse(f"expected Variable or None (got {type(tangent).__name__}) for grad output {at}.")
    if len(out_tangents) != len(raws):
        _refuse(
            "Function's jvp returned an invalid number of forward gradients "
            f"(expected {len(raws)} but got {len(out_tangents)})"
        )
    for at, (inner, out, tangent) in enumerate(zip(raws, outputs, out_tangents, strict=True)):
        if not isinstance(out, Tensor):
            continue  # NB: PyTorch drops a tangent of what is no tensor, unseen.
        marked = any(inner is x for x in node.non_differentiable or ())
        if marked or array_of(out).dtype.kind not in DIFFERENTIABLE:
            if tangent is not None:
                _refuse(
                    f"Function's jvp returned a gradient at position {at}, but  the corresponding forward "
                    "output is not a differentiable Tensor.You should return None at that position instead."
                )
            continue
        if tangent is None:
            _refuse(MISSING)  # NB: PyTorch fails at an assertion of its own.
        if any(inner is x for x in node.dirty_tensors or ()):
            _written(level, out, tangent, args, tangents, versions)
        else:
            level.give(out, tangent, in_place=_is_view_of_plain(level, out, tangent, args))


def _refuse(why: str) -> None:
    refuse_by("forward/jvp-fits-the-outputs", why=why)


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
        _refuse(IN_PLACE)
    elif tangent is not was:
        _refuse(AS_IS)


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
            _refuse(VIEW)
        if _root(tangent) is not _root(of_input):
            whose = "the same base as the given" if forward_view(of_input) else "the given"
            _refuse(
                "A custom Function is returning a view but the jvp is not returning a view of "
                f"{whose} grad input."
            )
        return False
    return False


def _root(x: Tensor) -> Tensor:
    window = forward_view(x)
    return x if window is None else window[0]
