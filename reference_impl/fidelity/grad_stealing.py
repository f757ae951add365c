"""Grad stealing: when the incoming gradient itself becomes a leaf's ``grad``, and how a copy is laid out.

PyTorch looks at reference counts; CPython's are taken for them. It compares strides also where a dimension
has one element.
"""

from __future__ import annotations

import sys

import numpy as np

from reference_impl.base.device import making_on, place_of
from reference_impl.base.rules import Unspecified, by, warn_once
from reference_impl.base.session import STATE
from reference_impl.core.extension_points import fill
from reference_impl.core.tensor import Tensor, hold, wrap
from specs.layout import empty_strided
from specs.memory import dense

Grads = list[Tensor | None]


@fill
def can_steal(grads: Grads, leaf: Tensor, num_expected_refs: int) -> bool:
    """Return whether the first gradient may itself become the ``grad`` of a leaf that has none."""
    if use_count(grads) > num_expected_refs and by("grad/copied-when-shared"):
        return False
    assert grads[0] is not None
    obeys = obeys_grad_layout_contract(grads[0]._array, leaf._array)
    if not obeys and by("grad/copied-when-layout-differs"):
        return False
    return by("grad/stolen-when-alone")


def _references(grads: Grads) -> int:
    """Return CPython's count of references to the first gradient, with those of this call."""
    return sys.getrefcount(grads[0])


_OF_THE_CALL = _references([wrap(np.zeros(()))]) - 1


def use_count(grads: Grads) -> int:
    """Return the number of references to the first gradient, that of the list included.

    NB: PyTorch asks the tensor; here a variable that holds the gradient would count.
    """
    return _references(grads) - _OF_THE_CALL


def storage_is_unique(x: Tensor) -> bool:
    """Return whether no other tensor is on the same memory."""
    own = x._array is x._storage or x._array.base is x._storage
    return sys.getrefcount(x._storage) <= 2 + own  # one of the two is the call's


@fill
def clone_obey_contract(g: Tensor, leaf: Tensor) -> Tensor:
    """Return a copy with the strides of a dense leaf, otherwise a contiguous one."""
    if not dense(leaf._array):
        return g.clone_contiguous()
    dtype = g._array.dtype  # NB: the leaf's own from before its `.data` was assigned
    strides = tuple([s // leaf._array.itemsize * dtype.itemsize for s in leaf._array.strides])
    array = empty_strided(leaf._array.shape, strides, dtype)
    with making_on(place_of(leaf)):
        copy = wrap(array)
        hold(copy, array)  # with the leaf's very strides, also where it has no elements
    if STATE.enabled or leaf._array.shape != g._array.shape:
        return copy.copy_(g)
    copy._array[...] = g._array
    copy._version_counter[0] = 1  # as copy_ leaves it
    return copy


@fill
def on_accumulated(leaf: Tensor) -> None:
    """Warn if an accumulated grad is laid out otherwise than its leaf."""
    assert leaf._grad is not None
    if not obeys_grad_layout_contract(leaf._grad._array, leaf._array):
        warn_once("grad/layout-warns")


def obeys_grad_layout_contract(grad: np.ndarray, leaf: np.ndarray) -> bool:
    """Return whether a gradient is laid out as its leaf, or by rows for a leaf with holes or overlaps."""
    if not dense(leaf):
        return bool(grad.flags.c_contiguous)
    if grad.strides == leaf.strides and grad.dtype is leaf.dtype and 0 not in grad.strides:
        return True
    if grad.ndim > leaf.ndim:
        raise Unspecified("the leaf has lost dimensions, and PyTorch reads on behind its strides")
    for size, stride, wanted in zip(grad.shape, grad.strides, leaf.strides, strict=False):
        if stride * leaf.itemsize != wanted * grad.itemsize if size != 1 else stride == 0:
            return False
    return True
