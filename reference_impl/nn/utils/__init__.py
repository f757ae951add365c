"""``torch.nn.utils``: clip gradients, flatten parameters."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

from reference_impl.base.modes import no_grad
from reference_impl.base.rules import UnspecifiedOrder, by, refuse_by
from reference_impl.core.access import share_memory
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.namespace.addresses import give_addresses
from reference_impl.namespace.factories import zeros
from reference_impl.namespace.missing import loading


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale all gradients so that their joint norm is at most ``max_norm``; return the norm before."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [x.grad for x in tensors if x.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    if by("nn/clipping-bounds-the-norm"):
        clip_grads_with_norm_(tensors, max_norm, total)  # NB: it reads the grads anew, and warns anew
    return total


def _scale(grads: list[Tensor], total: Tensor, max_norm: float) -> None:
    """Scale gradients whose joint norm is ``total``."""
    max_norm = float(max_norm)
    if not grads:
        return
    scale = total.add(1e-6).reciprocal().mul(max_norm).clamp_max(1.0)
    if not all(g.is_cpu for g in grads) and share_memory(grads):
        raise UnspecifiedOrder("memory is clipped twice")
    for g in grads:
        g.mul_(scale)


def clip_grad_norm(*given: Any, **named: Any) -> Tensor:
    """`clip_grad_norm_`, under its old name."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*given, **named)


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """The norm of all elements of some tensors."""
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    order = float(norm_type)
    if not given:
        return zeros(())
    total = composite.stack([x.norm(order) for x in given]).norm(order)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
            "anyway, set `error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients whose joint norm is known so that it is at most ``max_norm``."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    _scale([x.grad for x in tensors if x.grad is not None], total_norm, max_norm)


@no_grad()
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clamp every gradient to ``[-clip_value, clip_value]``."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [x.grad for x in tensors if x.grad is not None]
    if not grads:
        refuse_by("nn/clipping-values-takes-a-grad")
    alike: dict[Any, list[Tensor]] = {}
    for g in grads:
        alike.setdefault((g.device, g.dtype), []).append(g)
    for group in alike.values():
        # NB: plain tensors are clamped together, by one bound after the other, which counts two writes.
        together = all(type(g) is Tensor for g in group) if foreach is None else foreach
        for g in group:
            if together:
                g.clamp_min_(-clip_value)
                g.clamp_max_(clip_value)
            else:
                g.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate all parameters into one vector."""
    return composite.cat([x.view((-1,)) for x in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the data of parameters from a vector, as `parameters_to_vector` laid it out."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    at = 0
    for x in parameters:
        part: Tensor = vec[at : at + x.numel()]  # type: ignore[index]
        x.data = part.view(tuple(x.shape)).data
        at += x.numel()


_LATER = ("weight_norm", "remove_weight_norm", "spectral_norm", "remove_spectral_norm")
"""Names of a module that needs `Module`, which needs this one."""
_missing = loading(__name__, "rnn", "parametrize", "parametrizations", "prune")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from reference_impl.nn.utils import normalized_weights

        return getattr(normalized_weights, name)
    return _missing(name)


give_addresses(
    __name__,
    {
        "clip_grad": "clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ get_total_norm",
        "convert_parameters": "parameters_to_vector vector_to_parameters",
    },
    sys.modules[__name__],
)
