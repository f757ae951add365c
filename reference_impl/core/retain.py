"""``retain_grad``: keeping the gradient of a non-leaf."""

from __future__ import annotations

import weakref

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor


def retain_grad(self: Tensor) -> None:
    """Ask for a non-leaf's gradient to be kept in ``grad``."""
    if not self.requires_grad:
        refuse_by("retain/needs-requires-grad")
    if STATE.transforms:
        refuse_by("functional/transforms-set-no-flag", case="retain_grad")
    if self._node is None and by("retain/leaf-is-noop"):
        return
    if self._retains and by("retain/twice-is-once"):
        return
    node = self.grad_fn
    if node is not None:
        node.retained = [*(node.retained or ()), (self._output_nr, weakref.ref(self))]
    if by("retain/flag"):
        self._retains = True
