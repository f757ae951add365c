"""``torch.nn.utils.prune``: a parameter times a mask of zeros and ones, computed before each forward."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from reference_impl.core.tensor import Tensor
from reference_impl.namespace.missing import loading
from reference_impl.namespace.random import rand_like
from reference_impl.nn.module import Module
from reference_impl.nn.utils import parameters_to_vector

M = TypeVar("M", bound=Module)


def _ones(x: Tensor) -> Tensor:
    return x.detach().mul(0).add(1)


def _need_amount(amount: Any, size: int) -> int:
    """Return how many of ``size`` units that is: a share of them, or their number."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if float(amount) < 0 or (not isinstance(amount, numbers.Integral) and float(amount) > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )
    if isinstance(amount, numbers.Integral):
        if int(amount) > size:
            raise ValueError(
                f"amount={amount} should be smaller than the number of parameters to prune={size}"
            )
        return int(amount)
    return round(float(amount) * size)


class BasePruningMethod(ABC):
    """A way to choose a mask; subclasses define `compute_mask`."""

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Tensor:
        """Return the mask for a tensor that has one already."""

    def apply_mask(self, module: Any) -> Tensor:
        """Return the parameter times its mask."""
        name = self._tensor_name
        mask, orig = getattr(module, f"{name}_mask"), getattr(module, f"{name}_orig")
        return mask.to(dtype=orig.dtype).mul(orig)

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter of a module, beside what has pruned it before."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        old = next((kept for kept in _hooks(module).values() if kept._tensor_name == name), None)
        if old is not None:
            _forget(module, name)
            many = old if isinstance(old, PruningContainer) else PruningContainer(old)
            many.add_pruning_method(method)
            method = many
        orig = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != orig.shape:
            raise AssertionError(f"importance_scores should have the shape of parameter {name} of {module}")
        scores = orig if importance_scores is None else importance_scores
        default = _ones(orig) if old is None else getattr(module, f"{name}_mask").detach().clone()
        mask = method.compute_mask(scores, default_mask=default)
        if old is None:
            module.register_parameter(f"{name}_orig", orig)
            del module._parameters[name]
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Any = None, importance_scores: Any = None) -> Tensor:
        """Return a tensor times its mask, without a module."""
        scores = t if importance_scores is None else importance_scores
        mask = self.compute_mask(scores, default_mask=_ones(t) if default_mask is None else default_mask)
        return t.mul(mask.to(dtype=t.dtype))

    def remove(self, module: Any) -> None:
        """Make the pruned values those of the parameter."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig = module._parameters[f"{name}_orig"]
        orig.data = weight.data
        del module._parameters[f"{name}_orig"]
        del module._buffers[f"{name}_mask"]
        setattr(module, name, orig)


class PruningContainer(BasePruningMethod):
    """Several ways to choose, one after the other."""

    def __init__(self, *methods: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(methods) == 1:
            self._tensor_name = methods[0]._tensor_name
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Let one more way choose, from what the others leave."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def compute_mask(self, t: Any, default_mask: Any) -> Tensor:
        """Let the last way choose among what is left."""
        method = self._pruning_methods[-1]
        left: Any = default_mask.eq(1)
        if method.PRUNING_TYPE != "unstructured":
            left = [slice(None)] * t.ndim
        if method.PRUNING_TYPE == "structured":
            dim = method.dim % t.ndim  # type: ignore[attr-defined]  # as all such have
            left[dim] = default_mask.sum([d for d in range(t.ndim) if d != dim]).ne(0)
        left = tuple(left) if isinstance(left, list) else left
        mask: Any = default_mask.to(dtype=t.dtype)
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=t.dtype)
        return mask

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, at: Any) -> Any:
        return self._pruning_methods[at]


class Identity(BasePruningMethod):
    """Prune nothing."""

    def compute_mask(self, t: Any, default_mask: Any) -> Tensor:
        return default_mask


class _ByAmount(BasePruningMethod):
    def __init__(self, amount: Any) -> None:
        _need_amount(amount, 10**18)
        self.amount = amount


class RandomUnstructured(_ByAmount):
    """Prune elements at random."""

    def compute_mask(self, t: Any, default_mask: Any) -> Tensor:
        count = _need_amount(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view((-1,))[rand_like(t).view((-1,)).topk(count)[1]] = 0
        return mask


class L1Unstructured(_ByAmount):
    """Prune the smallest elements."""

    def compute_mask(self, t: Any, default_mask: Any) -> Tensor:
        count = _need_amount(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view((-1,))[t.detach().abs().view((-1,)).topk(count, largest=False)[1]] = 0
        return mask


class RandomStructured(_ByAmount):
    """Prune whole slices at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Tensor:
        _need_slices(t)
        size = t.shape[self.dim]
        count = _need_amount(self.amount, size)
        chance = rand_like(t.detach().new_zeros((size,)))
        return _kept(t, self.dim, chance, size - count).mul_(default_mask) if count else default_mask


class LnStructured(_ByAmount):
    """Prune the slices of the smallest norm."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n, self.dim = n, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Tensor:
        _need_slices(t)
        size = t.shape[self.dim]
        count = _need_amount(self.amount, size)
        rest = [d for d in range(t.ndim) if d != self.dim % t.ndim]
        norms = t.detach().norm(self.n, rest)
        return _kept(t, self.dim, norms, size - count).mul_(default_mask) if count else default_mask


def _need_slices(t: Tensor) -> None:
    if t.ndim < 2:
        raise ValueError(
            f"Structured pruning can only be applied to multidimensional tensors, not to {t.shape}"
        )


def _kept(t: Tensor, dim: int, scores: Tensor, count: int) -> Tensor:
    """The mask of the slices with the largest scores."""
    mask = t.detach().mul(0)
    mask.index_fill_(dim, scores.topk(count)[1], 1)
    return mask


class CustomFromMask(BasePruningMethod):
    """Prune by a mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"a mask of shape {default_mask.shape} takes none of {self.mask.shape}")
        return default_mask.mul(self.mask.to(dtype=default_mask.dtype))


# -- functions ---------------------------------------------------------------------------------------
def _hooks(module: Any) -> dict[Any, BasePruningMethod]:
    kept = {k: h[0] if isinstance(h, tuple) else h for k, h in module._forward_pre_hooks.items()}
    return {key: hook for key, hook in kept.items() if isinstance(hook, BasePruningMethod)}


def _forget(module: Any, name: str) -> BasePruningMethod:
    """Take out the hook of a parameter."""
    for key, hook in _hooks(module).items():
        if hook._tensor_name == name:
            del module._forward_pre_hooks[key]
            return hook
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def identity(module: M, name: str) -> M:
    """Add a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: Any) -> M:
    """Prune elements at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: M, name: str, amount: Any, importance_scores: Any = None) -> M:
    """Prune the smallest elements."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: Any, dim: int) -> M:
    """Prune whole slices at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: M, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> M:
    """Prune the slices of the smallest norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Prune by a mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]], pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters as if they were one."""
    scores = importance_scores or {}
    flat = parameters_to_vector([scores.get(key, getattr(*key)) for key in parameters])
    old = [getattr(module, f"{name}_mask", _ones(getattr(module, name))) for module, name in parameters]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    mask, at = PruningContainer(method).compute_mask(flat, parameters_to_vector(old)), 0
    for module, name in parameters:
        param = getattr(module, name)
        custom_from_mask(module, name, mask.narrow(0, at, param.numel()).view_as(param))
        at += param.numel()


def remove(module: M, name: str) -> M:
    """Make the pruned values those of the parameter."""
    _forget(module, name).remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Tell whether a module, or one inside it, is pruned."""
    return any(_hooks(inside) for _, inside in module.named_modules())


__getattr__ = loading(__name__)
