"""``torch.nn.utils.weight_norm`` and ``spectral_norm``: a weight that is computed before each forward.

NB: a weight by `weight_norm` has several nodes; PyTorch fuses them into one.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from reference_impl.base.modes import no_grad
from reference_impl.core.tensor import Tensor
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter

M = TypeVar("M", bound=Module)
EPS = 1e-12


def norm_except_dim(v: Tensor, pow: float = 2, dim: int = 0) -> Tensor:
    """Return the norm along all dimensions but one; -1 stands for none."""
    if dim == -1:
        return v.norm(pow)
    if v.ndim == 1:
        return v.view((-1, 1)).norm(pow, 1)
    return v.norm(pow, [d for d in range(v.ndim) if d != dim % v.ndim], True)


def with_norms(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """Return ``v`` with the norms ``g``."""
    return v.mul(g.div(norm_except_dim(v, 2, dim)))


class _WeightNorm:
    def __init__(self, name: str, dim: int) -> None:
        self.name, self.dim = name, dim

    def compute(self, module: Any) -> Tensor:
        return with_norms(getattr(module, f"{self.name}_v"), getattr(module, f"{self.name}_g"), self.dim)

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module))


class _SpectralNorm:
    def __init__(self, name: str, iterations: int, dim: int, eps: float) -> None:
        self.name, self.iterations, self.dim, self.eps = name, iterations, dim, eps

    def compute(self, module: Any, iterate: bool) -> Tensor:
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = as_matrix(weight, self.dim)
        if iterate:
            with no_grad():
                for _ in range(self.iterations):
                    v.copy_(unit(matrix.t().mv(u), self.eps))
                    u.copy_(unit(matrix.mv(v), self.eps))
                u, v = u.clone(), v.clone()
        return weight.div(u.dot(matrix.mv(v)))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module, module.training))


def unit(x: Tensor, eps: float = EPS) -> Tensor:
    """Return a vector divided by its norm."""
    return x.div(x.norm(2, 0, True).clamp_min(eps))


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """Return a weight as a matrix with a row for each element along one dimension."""
    if dim:
        weight = weight.permute((dim, *(d for d in range(weight.ndim) if d != dim)))
    return weight.reshape((weight.shape[0], -1))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Split a weight into its norms and its direction, from which each forward computes it."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    hook = _WeightNorm(name, -1 if dim is None else dim)
    _refuse_twice(module, name, _WeightNorm, "weight_norm")
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(norm_except_dim(weight, 2, hook.dim).data))
    module.register_parameter(f"{name}_v", Parameter(weight.data))
    setattr(module, name, hook.compute(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Make the weight a parameter again."""
    hook = _removed(module, name, _WeightNorm, "weight_norm")
    weight = hook.compute(module)
    delattr(module, name)
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"]
    setattr(module, name, Parameter(weight.data))
    return module


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = EPS, dim: int | None = None
) -> M:
    """Divide a weight by its largest singular value, which power iteration estimates at each forward."""
    if n_power_iterations <= 0:
        raise ValueError(
            f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
        )
    _refuse_twice(module, name, _SpectralNorm, "spectral_norm")
    transposed = type(module).__name__.startswith("ConvTranspose")
    hook = _SpectralNorm(name, n_power_iterations, int(transposed) if dim is None else dim, eps)
    weight = module._parameters[name]
    with no_grad():
        height, width = as_matrix(weight, hook.dim).shape
        u = unit(weight.new_empty(height).normal_(0, 1), eps)
        v = unit(weight.new_empty(width).normal_(0, 1), eps)
    del module._parameters[name]
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make the weight a parameter again."""
    hook = _removed(module, name, _SpectralNorm, "spectral_norm")
    with no_grad():
        weight = hook.compute(module, False)
    for part in (name, f"{name}_u", f"{name}_v", f"{name}_orig"):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight.detach()))
    return module


def _hooks(module: Module) -> list[tuple[Any, Any]]:
    """Return the hooks before forward with their keys, without what they are kept with."""
    kept = module._forward_pre_hooks.items()
    return [(key, hook[0] if isinstance(hook, tuple) else hook) for key, hook in kept]


def _refuse_twice(module: Module, name: str, kind: Any, what: str) -> None:
    if any(isinstance(hook, kind) and hook.name == name for _, hook in _hooks(module)):
        raise RuntimeError(f"Cannot register two {what} hooks on the same parameter {name}")


def _removed(module: Module, name: str, kind: Any, what: str) -> Any:
    for key, hook in _hooks(module):
        if isinstance(hook, kind) and hook.name == name:
            del module._forward_pre_hooks[key]
            return hook
    raise ValueError(f"{what} of '{name}' not found in {module}")
