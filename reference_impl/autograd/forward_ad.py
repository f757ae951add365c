"""``torch.autograd.forward_ad``: tensors that carry a tangent along, which ops push forward.

``reference_impl.forward.tangents`` propagates them. As in PyTorch there is one level at a time, number 0.
"""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import NamedTuple

from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, is_inference
from reference_impl.core.tensor import Tensor
from reference_impl.forward.tangents import Level, apart

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual",
]  # fmt: skip


def __getattr__(name: str) -> int:
    """Compute ``_current_level``, which code built on PyTorch reads: 0 inside a level, -1 outside."""
    if name == "_current_level":
        return -1 if STATE.level is None else 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class UnpackedDualTensor(NamedTuple):
    """A tensor's values and its tangent, None if it has none."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begin a level, 0; raises RuntimeError inside another one."""
    if STATE.level is not None:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: level 0 has to be left first"
        )
    STATE.level = Level()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: its tangents are gone, except for who holds them."""
    entered = -1 if STATE.level is None else 0
    if level is not None and level != entered:
        raise RuntimeError("only the forward AD level that was entered last can be left")
    if STATE.level is None:
        raise RuntimeError("there is no forward AD level to leave")
    STATE.level.leave()
    STATE.level = None


class dual_level(ContextDecorator):
    """A level for a block."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of ``tensor`` that carries ``tangent``: itself if it has the tensor's layout, or else a copy."""
    if STATE.level is None or (level is not None and level < 0):
        raise RuntimeError(
            "a dual tensor lives in a level, and there is none: enter_dual_level() comes first"
        )
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if array_of(x).dtype.kind not in DIFFERENTIABLE:
            raise ValueError(f"Expected {what} to be floating point or complex, not {x.dtype}")
    if STATE.level.tangent(tensor) is not None:
        raise RuntimeError("the primal already has a forward gradient at the same level")
    dual = apart(tensor)
    if STATE.inference or (is_inference(tensor) and is_inference(tangent)):
        return dual  # NB: without its tangent, as autograd is passed over
    STATE.level.give(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A view of the tensor without its tangent, and the tangent; outside levels the tensor itself and
    None.
    """
    if STATE.level is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(apart(tensor), STATE.level.tangent(tensor))


class _set_fwd_grad_enabled(ContextDecorator):
    """Whether tensors count as having tangents, from now on, and as a block until its end."""

    def __init__(self, mode: bool) -> None:
        self._level = STATE.level
        self._before = 0 if self._level is None else self._level.paused
        if self._level is not None:
            self._level.paused = 0 if mode else 1

    def __enter__(self) -> None: ...

    def __exit__(self, *exc: object) -> None:
        if self._level is not None:
            self._level.paused = self._before


def _is_fwd_grad_enabled() -> bool:
    return STATE.level is None or not STATE.level.paused
