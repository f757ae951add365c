"""Forward mode: tensors that carry a tangent, and the tangents of ops.

Inside a dual level (``autograd.forward_ad``) every op passes through `DualLevel.propagate`. Few ops declare a
jvp; it is derived from the op's backward formulas. A formula ``g -> J'g`` is linear in ``g``; the product of
``J'g`` with a tangent, differentiated by ``g``, is ``J`` times the tangent, also for complex numbers. The
tangent of a view is the same view of the tangent, in the same memory. An in-place op writes the tangent in
place too, and views of the tangent see it.

A tangent has the layout of its tensor. Tangents and forward views are kept in the tensor's ``__dict__``;
leaving the level drops the tangents.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.access import (
    alias_type,
    array_of,
    is_inference,
    node_of,
    set_flag,
    set_memory,
    storage_of,
    view_of,
)
from reference_impl.core.engine import execute
from reference_impl.core.graph import gradient_edge
from reference_impl.core.kernel import METADATA, Kernel, all_inference
from reference_impl.core.record import OpNode, real_part
from reference_impl.core.tensor import Tensor, alias, wrap
from specs.op import Op

TANGENT, VIEW = "_tangent", "_forward_view"
Window = tuple[Tensor, Callable[[Tensor], Tensor]]
"""The base of a forward view, and the function that takes such a view of a tensor."""


class DualLevel:
    """The level in which tangents live; leaving it drops them all."""

    def __init__(self) -> None:
        self.holders: list[weakref.ref[Tensor]] = []

    def propagate(
        self,
        execute: Callable[..., Any],
        kernel: Kernel | str,
        operands: tuple[Any, ...],
        attributes: Mapping[str, Any],
    ) -> Any:
        """Run an op and compute the tangent of its result.

        In inference mode, and with inference tensors alone, there is none: these bypass autograd.
        """
        if isinstance(kernel, str):
            if any(self.tangent(x) is not None for x in operands):
                raise NotImplementedError(
                    f"Trying to use forward AD with {kernel}, but an out= function does not support it"
                )
            return execute(kernel, operands, attributes)
        if kernel.op.composite or STATE.inference or all_inference(kernel, operands):
            return execute(kernel, operands, attributes)
        tangents = [self.tangent(x) for x in operands]
        if kernel.op.view:
            return self._take_view(execute, kernel, operands, attributes, tangents[0])
        if all(t is None for t in tangents):
            return execute(kernel, operands, attributes)
        with self.pause():
            # As in PyTorch, only the first operand is kept as it was before the write, even if the same
            # tensor is another operand too.
            before = (operands[0].clone(), *operands[1:]) if kernel.mutates else operands
            out = execute(kernel, operands, attributes)
            if out is NotImplemented or array_of(out).dtype.kind not in DIFFERENTIABLE:
                return out
            if kernel.copies and tangents[1] is not None:
                out_tangent = tangents[1].expand(array_of(out).shape).clone()  # keeps its own dtype
            elif kernel.op.jvp is not None:
                out_tangent = _own_jvp(kernel.op, before, tangents, attributes, out)
            else:
                out_tangent = _jvp(kernel, before, tangents, attributes, out)
            if kernel.mutates and tangents[0] is not None and by("forward/writes-reach-tangents"):
                tangents[0].copy_(out_tangent)
                self._give_saved(out, kernel, tangents[0])
                return out
        if by("forward/ops-carry-tangents"):
            self.give(out, out_tangent, in_place=kernel.mutates)
            self._give_saved(out, kernel, out_tangent)
        return out

    def _take_view(
        self,
        execute: Callable[..., Any],
        kernel: Kernel,
        operands: tuple[Any, ...],
        attributes: Mapping[str, Any],
        tangent: Tensor | None,
    ) -> Any:
        """Take a view and the same view of the tangent; note how it was taken."""
        source = operands[0]
        out = execute(kernel, operands, attributes)
        base, through = forward_view(source) or (source, lambda x: x)

        def taken(x: Tensor) -> Any:
            of_memory = {"storage": storage_of(x)} if "storage" in attributes else {}
            with self.pause():
                return execute(kernel, (x,), {**attributes, **of_memory})

        def part(whole: Tensor, at: int) -> Tensor:
            return _tuple(taken(through(whole)))[at]

        for at, view in enumerate(_tuple(out)):
            view.__dict__[VIEW] = base, partial(part, at=at)
        if tangent is not None:
            for view, window in zip(_tuple(out), _tuple(taken(tangent)), strict=True):
                self._keep(view, window if by("forward/views-share-tangents") else window.clone())
        return out

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Treat tensors as without tangents in the block."""
        STATE.paused += 1
        try:
            yield
        finally:
            STATE.paused -= 1

    def tangent(self, x: Any) -> Tensor | None:
        """The tangent of a tensor: its own, or the view of its base's; None without one."""
        if STATE.paused or not isinstance(x, Tensor):
            return None
        own = x.__dict__.get(TANGENT)
        if own is not None:
            return own
        if (window := forward_view(x)) is None or (of_base := self.tangent(window[0])) is None:
            return None
        with self.pause():
            own = window[1](of_base)
        self._keep(x, own)
        return own

    def give(self, x: Tensor, tangent: Tensor, in_place: bool = False) -> None:
        """Set the tangent of ``x``: ``tangent`` itself, or a copy if its layout differs.

        A view written in place gives its base, which has none then, a tangent that is zero outside the view.
        """
        if self.tangent(tangent) is not None:
            raise RuntimeError("this tangent itself has a forward gradient at the same level")
        if array_of(tangent).shape != array_of(x).shape:
            refuse_by("forward/tangents-fit", got=list(tangent.shape), size=list(x.shape))
        window = forward_view(x) if in_place else None
        if window is not None and by("forward/written-views-reach-the-base"):
            base, through = window
            with self.pause():
                whole = zeros_laid_out(base, array_of(tangent).dtype)
                through(whole).copy_(tangent)
            self._keep(base, whole)
            return
        has_memory = alias_type(tangent) is Tensor or alias_type(x) is not Tensor
        if not (has_memory and same_layout(tangent, x)):
            with self.pause():
                tangent = zeros_laid_out(x, array_of(tangent).dtype).copy_(tangent)
        self._keep(x, tangent)

    def _give_saved(self, out: Tensor, kernel: Kernel, tangent: Tensor) -> None:
        """Give the tangent to the result as the op's node saved it, too: a backward may be differentiated."""
        node = node_of(out)
        if not (kernel.result and isinstance(node, OpNode) and node.kernel is kernel):
            return
        if (saved := node.values[kernel.result]) is not None:
            self._keep(saved.tensor, tangent)

    def follow(self, x: Tensor, view: Tensor) -> None:
        """Give a tensor that is to lie as a view of it does the tangent of that view."""
        tangent = self.tangent(view)
        if VIEW in x.__dict__:
            x.__dict__[VIEW] = forward_view(view)
        if tangent is not None:
            self._keep(x, tangent)

    def pass_on(self, x: Tensor, unpacked: Tensor) -> None:
        """Give a saved tensor that was unpacked the tangent that it was saved with."""
        if (tangent := self.tangent(x)) is not None:
            self._keep(unpacked, tangent)

    def _keep(self, x: Tensor, tangent: Tensor) -> None:
        x.__dict__[TANGENT] = tangent
        self.holders.append(weakref.ref(x))

    def leave(self) -> None:
        """Drop all tangents."""
        for reference in self.holders:
            x = reference()
            if x is not None and by("forward/level-ends"):
                x.__dict__.pop(TANGENT, None)


def _tuple(out: Any) -> tuple[Tensor, ...]:
    return out if isinstance(out, tuple) else (out,)


def forward_view(x: Tensor) -> Window | None:
    """The base of ``x`` in forward mode: noted for views taken inside the level, else its autograd base."""
    own = x.__dict__
    view = view_of(x)
    if VIEW in own or view is None:
        return own.get(VIEW)
    shape, strides, offset = array_of(x).shape, x.stride(), x.storage_offset()
    return view.base, lambda whole: whole.as_strided(shape, strides, offset)


def without_tangent(x: Tensor) -> Tensor:
    """A view of ``x`` with its history and without its tangent."""
    with STATE.level.pause() if STATE.level is not None else nullcontext():
        view = alias(x) if is_inference(x) else x.view_as(x)
    view.__dict__[VIEW] = None
    return view


def _elements(x: Tensor) -> int:
    return storage_of(x).nbytes // array_of(x).itemsize


def same_layout(a: Tensor, b: Tensor) -> bool:
    """Return True if two tensors have the same strides and offset in storages of the same size.

    For empty tensors only the size counts.
    """
    if _elements(a) != _elements(b):
        return False
    if not array_of(a).size:
        return True
    strides = zip(array_of(a).shape, a.stride(), b.stride(), strict=True)
    return a.storage_offset() == b.storage_offset() and all(s == t or n == 1 for n, s, t in strides)


def zeros_laid_out(like: Tensor, dtype: np.dtype) -> Tensor:
    """Zeros in new memory, with the layout of ``like``."""
    out = wrap(np.zeros(_elements(like), dtype))
    strides = [s * dtype.itemsize for s in like.stride()]
    memory, offset = storage_of(out), like.storage_offset() * dtype.itemsize
    set_memory(out, np.ndarray(array_of(like).shape, dtype, memory, offset, strides), memory)
    return out


def _jvp(
    kernel: Kernel,
    operands: Sequence[Any],
    tangents: Sequence[Tensor | None],
    attributes: Mapping[str, Any],
    result: Tensor,
) -> Tensor:
    """Compute the tangent of an op's result from its formulas; it is recorded if grad mode is on."""
    recorded = STATE.enabled
    kept = STATE.enabled, STATE.inference, STATE.anomaly
    STATE.enabled, STATE.inference, STATE.anomaly = True, False, None
    try:
        if not recorded:
            operands = [_plain(x) for x in operands]
            tangents = [_plain(x) for x in tangents]
        promoted = (
            kernel.prepare(tuple(operands))[1] if kernel.mutates else None
        )  # of the promoted dtype, which a write does not keep
        # which number it is makes no difference, but that formulas may take logarithms of it
        g = wrap(np.ones(array_of(result).shape, promoted or array_of(result).dtype))
        set_flag(g, True)
        out = result if recorded else _plain(result)
        values = [_value(slot, g, operands, attributes, out) for slot in kernel.op.slots]
        roots: list[Any] = []
        seeds: list[Tensor | None] = []
        for formula, pick, at in kernel.formulas:
            operand = kernel.edges[at][0]
            tangent = tangents[operand]
            if tangent is None:
                continue
            root = formula(*pick(values))
            if root is None:
                continue
            root = real_part(root, array_of(tangent).dtype)
            if root.requires_grad:
                roots.append(gradient_edge(root))
                seeds.append(_seed(tangent, root))
        total = execute(roots, seeds, recorded, recorded, False, [gradient_edge(g)])[0] if roots else None
        if total is None:
            return wrap(np.zeros_like(array_of(result), array_of(g).dtype))
        if any(storage_of(total) is storage_of(t) for t in tangents if t is not None):
            total = total.clone()
        return total
    finally:
        STATE.enabled, STATE.inference, STATE.anomaly = kept


def _own_jvp(
    op: Op,
    operands: Sequence[Any],
    tangents: Sequence[Tensor | None],
    attributes: Mapping[str, Any],
    result: Tensor,
) -> Tensor:
    """Compute the tangent of an op that says how."""
    assert op.jvp is not None
    known: dict[str, Any] = {**attributes, "out": result}
    for operand, x, tangent in zip(op.operands, operands, tangents, strict=True):
        known[operand.name] = x
        known[f"d{operand.name}"] = x.zeros_like() if tangent is None and isinstance(x, Tensor) else tangent
    found: Tensor = op.jvp(**{name: known[name] for name in signature(op.jvp).parameters})
    return found


def _plain(x: Any) -> Any:
    """The same elements without history, as a normal tensor."""
    if not isinstance(x, Tensor):
        return x
    plain = wrap(array_of(x), kind=alias_type(x))
    set_memory(plain, array_of(plain), storage_of(x))
    return plain


def _value(slot: Any, g: Tensor, operands: Sequence[Any], attributes: Mapping[str, Any], out: Tensor) -> Any:
    """The value of one parameter of a formula."""
    if slot.source == "g":
        return g
    if slot.source == "out":
        return out
    if slot.source == "attribute":
        return attributes[slot.name]
    operand = operands[slot.operand]
    return operand if slot.source == "operand" else METADATA[slot.source](operand)


def _seed(tangent: Tensor, root: Tensor) -> Tensor:
    """The tangent, broadcast as its operand was."""
    shape = array_of(root).shape
    return tangent if array_of(tangent).shape == shape else tangent.expand(shape)
