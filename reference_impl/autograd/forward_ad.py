"""``torch.autograd.forward_ad``: dual tensors, which carry a tangent.

``reference_impl.forward.tangents`` propagates tangents. As in PyTorch there is one level at a time, level 0.
"""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import NamedTuple

from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, is_inference
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import levels_of
from reference_impl.forward.tangents import DualLevel, without_tangent

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual",
]  # fmt: skip


def __getattr__(name: str) -> int:
    """Compute ``_current_level``, which code built on PyTorch reads: 0 inside a level, -1 outside."""
    if name == "_current_level":
        return -1 if STATE.level is None else 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class UnpackedDualTensor(NamedTuple):
    """A tensor without its tangent, and the tangent or None."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Enter level 0 and return 0.

    Raises RuntimeError inside another level."""
    if STATE.level is not None:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: level 0 has to be left first"
        )
    STATE.level = DualLevel()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level and drop its tangents.

    Raises RuntimeError outside a level, and for any level but the innermost."""
    entered = -1 if STATE.level is None else 0
    if level is not None and level != entered:
        raise RuntimeError("only the forward AD level that was entered last can be left")
    if STATE.level is None:
        raise RuntimeError("there is no forward AD level to leave")
    STATE.level.leave()
    STATE.level = None


class dual_level(ContextDecorator):
    """A dual level for a block or a function."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of ``tensor`` that carries ``tangent``, or a copy of it if the layouts differ.

    Raises RuntimeError outside a level or if ``tensor`` has a tangent already, ValueError for integers."""
    if STATE.level is None or (level is not None and level < 0):
        raise RuntimeError(
            "a dual tensor lives in a level, and there is none: enter_dual_level() comes first"
        )
    _need_level(level, "_make_dual")
    if STATE.transforms and levels_of(tensor, tangent):
        why = "aten::_make_dual; the fallback path doesn't work on out= or view ops."
        refuse_by("functional/vmap-has-no-rule", why=why)
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if array_of(x).dtype.kind not in DIFFERENTIABLE:
            raise ValueError(f"Expected {what} to be floating point or complex, not {x.dtype}")
    if STATE.level.tangent(tensor) is not None:
        refuse_by("forward/one-tangent-each")
    dual = without_tangent(tensor)
    if STATE.inference or (is_inference(tensor) and is_inference(tangent)):
        return dual  # without its tangent: inference mode bypasses autograd
    STATE.level.give(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A view of the tensor without its tangent, and the tangent; outside a level the tensor and None."""
    if STATE.level is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}"
        )
    tangent = STATE.level.tangent(tensor)
    if tangent is not None:
        _need_level(level, "_fw_primal")
    return UnpackedDualTensor(without_tangent(tensor), tangent)


def _need_level(level: int | None, name: str) -> None:
    if level:
        raise RuntimeError(f"Invalid level given to {name}")


class _set_fwd_grad_enabled(ContextDecorator):
    """Turn tangents on or off at once; as a context manager, restore them at the end."""

    def __init__(self, mode: bool) -> None:
        self._before = STATE.paused
        STATE.paused = 0 if mode else 1

    def __enter__(self) -> None: ...

    def __exit__(self, *exc: object) -> None:
        STATE.paused = self._before


def _is_fwd_grad_enabled() -> bool:
    return not STATE.paused
