"""Forward mode: tensors that carry a tangent, and what ops make of it.

Inside a level (``autograd.forward_ad``) every op passes through `Level.run`. No op declares how it pushes
tangents: that is read off its formulas. A formula is linear in the gradient, so it can itself be
differentiated by it: the product of a formula ``g -> J'g`` with a tangent, differentiated by ``g``, is that
of ``J`` and the tangent, conjugates of complex numbers and all. A view needs not even that: its tangent is
the same view of its source's tangent, in the same memory. What an op writes in place is written into the
tangent in place, which views of it then see.

A tensor's tangent has the layout of the tensor. Both the tangent and what the tensor is a forward view of are
kept beside the attributes that every tensor has; leaving the level drops the tangents.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.session import STATE
from reference_impl.core.access import (
    alias_type,
    array_of,
    is_inference,
    set_flag,
    set_memory,
    storage_of,
    view_of,
)
from reference_impl.core.engine import execute
from reference_impl.core.graph import alias, gradient_edge
from reference_impl.core.record import METADATA, Kernel, all_inference, real_part
from reference_impl.core.tensor import Tensor, wrap

TANGENT, VIEW = "_tangent", "_forward_view"
Window = tuple[Tensor, Callable[[Tensor], Tensor]]
"""What a tensor is a forward view of, and how such a view is taken."""


class Level:
    """A block in which tangents live; leaving it drops them all."""

    def __init__(self) -> None:
        self.paused = 0
        self.holders: list[weakref.ref[Tensor]] = []

    def run(
        self,
        execute: Callable[..., Any],
        kernel: Kernel | str,
        operands: tuple[Any, ...],
        attributes: Mapping[str, Any],
    ) -> Any:
        """Run an op, and push the tangents of its operands through it.

        NB: not in inference mode, nor where there are inference tensors alone; that passes over autograd.
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
            # NB: only the first operand is as it was before the write, also where it is another operand, too.
            before = (operands[0].clone(), *operands[1:]) if kernel.mutates else operands
            made = execute(kernel, operands, attributes)
            if array_of(made).dtype.kind not in DIFFERENTIABLE:
                return made
            if kernel.copies and tangents[1] is not None:
                pushed = tangents[1].expand(array_of(made).shape).clone()  # NB: in its own dtype
            else:
                pushed = _pushed(kernel, before, tangents, attributes, made)
            if kernel.mutates and tangents[0] is not None:
                tangents[0].copy_(pushed)
                return made
        self.give(made, pushed, in_place=kernel.mutates)
        return made

    def _take_view(
        self,
        execute: Callable[..., Any],
        kernel: Kernel,
        operands: tuple[Any, ...],
        attributes: Mapping[str, Any],
        tangent: Tensor | None,
    ) -> Any:
        """Take a view, the same view of the tangent, and remember how it was taken."""
        source, others = operands[0], operands[1:]
        made = execute(kernel, operands, attributes)
        base, through = forward_view(source) or (source, lambda x: x)

        def taken(x: Tensor) -> Any:
            with self.pause():
                return execute(kernel, (x, *others), attributes)

        def part(whole: Tensor, at: int) -> Tensor:
            return _tuple(taken(through(whole)))[at]

        for at, view in enumerate(_tuple(made)):
            view.__dict__[VIEW] = base, partial(part, at=at)
        if tangent is not None:
            for view, window in zip(_tuple(made), _tuple(taken(tangent)), strict=True):
                self._keep(view, window)
        return made

    @contextmanager
    def pause(self) -> Iterator[None]:
        """In the block tensors count as having no tangent."""
        self.paused += 1
        try:
            yield
        finally:
            self.paused -= 1

    # -- tangents --------------------------------------------------------------------------------
    def tangent(self, x: Any) -> Tensor | None:
        """A tensor's tangent: its own, or the window on that of what it is a view of."""
        if self.paused or not isinstance(x, Tensor):
            return None
        own = x.__dict__.get(TANGENT)
        if own is None:
            window = forward_view(x)
            of_base = None if window is None else self.tangent(window[0])
            if window is not None and of_base is not None:
                with self.pause():
                    own = window[1](of_base)
                self._keep(x, own)
        return own

    def give(self, x: Tensor, tangent: Tensor, in_place: bool = False) -> None:
        """Make ``tangent`` that of ``x``, or a copy of it if its layout is another one.

        A view that is written gives its base a tangent, too, which is zero beside the window.
        """
        if self.tangent(tangent) is not None:
            raise RuntimeError("this tangent itself has a forward gradient at the same level")
        if array_of(tangent).shape != array_of(x).shape:
            raise RuntimeError(
                f"Trying to set a forward gradient that has a different size: {list(tangent.shape)} for a "
                f"tensor of {list(x.shape)}"
            )
        window = forward_view(x) if in_place else None
        if window is not None and self.tangent(window[0]) is None:
            base, through = window
            with self.pause():
                whole = zeros_laid_out(base, array_of(tangent).dtype)
                own = through(whole)
                own.copy_(tangent)
            self._keep(base, whole)
            self._keep(x, own)
            return
        if not same_layout(tangent, x):
            with self.pause():
                tangent = zeros_laid_out(x, array_of(tangent).dtype).copy_(tangent)
        self._keep(x, tangent)

    def _keep(self, x: Tensor, tangent: Tensor) -> None:
        x.__dict__[TANGENT] = tangent
        self.holders.append(weakref.ref(x))

    def leave(self) -> None:
        """Drop all tangents."""
        for reference in self.holders:
            x = reference()
            if x is not None:
                x.__dict__.pop(TANGENT, None)


def _tuple(made: Any) -> tuple[Tensor, ...]:
    return made if isinstance(made, tuple) else (made,)


def forward_view(x: Tensor) -> Window | None:
    """What ``x`` is a forward view of: inside levels it is noted, before it is what it is a view of."""
    own = x.__dict__
    view = view_of(x)
    if VIEW in own or view is None:
        return own.get(VIEW)
    shape, strides, offset = array_of(x).shape, x.stride(), x.storage_offset()
    return view.base, lambda whole: whole.as_strided(shape, strides, offset)


def apart(x: Tensor) -> Tensor:
    """A view of ``x`` that backward goes through, and tangents do not."""
    with STATE.level.pause() if STATE.level is not None else nullcontext():
        view = alias(x) if is_inference(x) else x.view_as(x)
    view.__dict__[VIEW] = None
    return view


# -- layout ----------------------------------------------------------------------------------------
def _elements(x: Tensor) -> int:
    return storage_of(x).nbytes // array_of(x).itemsize


def same_layout(a: Tensor, b: Tensor) -> bool:
    """Whether the same indices mean the same place in memories of one size; of empty tensors only the
    latter.
    """
    if _elements(a) != _elements(b):
        return False
    if not array_of(a).size:
        return True
    strides = zip(array_of(a).shape, a.stride(), b.stride(), strict=True)
    return a.storage_offset() == b.storage_offset() and all(s == t or n == 1 for n, s, t in strides)


def zeros_laid_out(like: Tensor, dtype: np.dtype) -> Tensor:
    """Zeros that lie in a memory of their own as the elements of ``like`` do in theirs."""
    made = wrap(np.zeros(_elements(like), dtype))
    strides = [s * dtype.itemsize for s in like.stride()]
    memory, offset = storage_of(made), like.storage_offset() * dtype.itemsize
    set_memory(made, np.ndarray(array_of(like).shape, dtype, memory, offset, strides), memory)
    return made


# -- pushing ---------------------------------------------------------------------------------------
def _pushed(
    kernel: Kernel,
    operands: Sequence[Any],
    tangents: Sequence[Tensor | None],
    attributes: Mapping[str, Any],
    made: Tensor,
) -> Tensor:
    """The tangent of what the op made: new, and recorded if ops are recorded now."""
    recorded = STATE.enabled
    kept = STATE.enabled, STATE.inference, STATE.anomaly
    STATE.enabled, STATE.inference, STATE.anomaly = True, False, None
    try:
        if not recorded:
            operands = [_plain(x) for x in operands]
            tangents = [_plain(x) for x in tangents]
        promoted = (
            kernel.prepare(tuple(operands))[1] if kernel.mutates else None
        )  # NB: what a write does not keep
        g = wrap(np.zeros(array_of(made).shape, promoted or array_of(made).dtype))
        set_flag(g, True)
        out = made if recorded else _plain(made)
        values = [_value(slot, g, operands, attributes, out) for slot in kernel.op.slots]
        roots: list[Any] = []
        seeds: list[Tensor | None] = []
        for formula, pick, at in kernel.formulas:
            operand = kernel.edges[at][0]
            tangent = tangents[operand]
            if tangent is None:
                continue
            root = _product(formula(*pick(values)), array_of(tangent).dtype, kernel)
            if root is not None and root.requires_grad:
                roots.append(gradient_edge(root))
                seeds.append(_seed(tangent, root))
        found = execute(roots, seeds, recorded, recorded, False, [gradient_edge(g)])[0] if roots else None
        if found is None:
            return wrap(np.zeros_like(array_of(made), array_of(g).dtype))
        if any(storage_of(found) is storage_of(t) for t in tangents if t is not None):
            found = found.clone()
        return found
    finally:
        STATE.enabled, STATE.inference, STATE.anomaly = kept


def _plain(x: Any) -> Any:
    """The same elements without history, and no inference tensor."""
    if not isinstance(x, Tensor):
        return x
    plain = wrap(array_of(x), kind=alias_type(x))
    set_memory(plain, array_of(plain), storage_of(x))
    return plain


def _value(slot: Any, g: Tensor, operands: Sequence[Any], attributes: Mapping[str, Any], made: Tensor) -> Any:
    """What a formula gets for one of its parameters."""
    if slot.source == "g":
        return g
    if slot.source == "out":
        return made
    if slot.source == "attribute":
        return attributes[slot.name]
    operand = operands[slot.operand]
    return operand if slot.source == "operand" else METADATA[slot.source](operand)


def _product(gradient: Tensor | None, dtype: np.dtype, kernel: Kernel) -> Tensor | None:
    """A formula's gradient as the engine would hand it on, but for what broadcasting added."""
    if gradient is None:
        return None
    gradient = real_part(gradient, dtype)
    if gradient is not None and array_of(gradient).dtype != dtype:
        return gradient.cast(dtype)
    return gradient


def _seed(tangent: Tensor, root: Tensor) -> Tensor:
    """The tangent, repeated where broadcasting repeated the operand."""
    shape = array_of(root).shape
    return tangent if array_of(tangent).shape == shape else tangent.expand(shape)
