"""``torch.nn.utils``: clip gradients, flatten parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.namespace.factories import zeros
from reference_impl.namespace.missing import loading


@no_grad()
def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scale all gradients so that their joint norm is at most ``max_norm``; return the norm before."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [x.grad for x in tensors if x.grad is not None]
    if not grads:
        return zeros(())
    total = composite.stack([g.norm(norm_type) for g in grads]).norm(norm_type)
    scale = total.add(1e-6).reciprocal().mul(max_norm).clamp_max(1.0)
    for g in grads if by("nn/clipping-bounds-the-norm") else ():
        g.mul_(scale)
    return total


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clamp every gradient to ``[-clip_value, clip_value]``."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [x.grad for x in tensors if x.grad is not None]
    if not grads:
        refuse_by("nn/clipping-values-takes-a-grad")
    for g in grads:
        g.clamp_min_(-clip_value)
        g.clamp_max_(clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate all parameters into one vector."""
    return composite.cat([x.view((-1,)) for x in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the data of parameters from a vector, as `parameters_to_vector` laid it out."""
    at = 0
    for x in parameters:
        x.data = vec.narrow(0, at, x.numel()).view(tuple(x.shape)).data
        at += x.numel()


_LATER = ("weight_norm", "remove_weight_norm", "spectral_norm", "remove_spectral_norm")
"""Names of a module that needs `Module`, which needs this one."""
_missing = loading(__name__, "rnn", "parametrize", "parametrizations", "prune")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from reference_impl.nn.utils import normalized_weights

        return getattr(normalized_weights, name)
    return _missing(name)
