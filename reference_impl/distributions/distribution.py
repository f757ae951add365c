"""The base of distributions, and `Independent`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from reference_impl.base.modes import enable_grad, no_grad
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import by
from reference_impl.base.size import Size
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint
from reference_impl.namespace import composite
from reference_impl.namespace.factories import as_tensor
from reference_impl.namespace.missing import refuse_name


def without_history() -> AbstractContextManager[Any]:
    """Return the block in which samples are drawn."""
    return no_grad() if by("functional/samples-have-no-history") else nullcontext()


def _holds(checked: Tensor) -> bool:
    """Tell whether all elements are True; of one of many, as vmap gives it, those that are there."""
    return bool(array_of(checked).all())


_METHODS = {"cdf", "icdf", "mode", "enumerate_support", "support", "sample_n"}
"""Names that all distributions of PyTorch have, and some of these do not."""


class Distribution:
    """Parameters batched over ``batch_shape``; a sample adds ``event_shape``."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    support: Constraint
    has_rsample = False
    has_enumerate_support = False
    _validate_args = True

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                if name in self.__dict__ or isinstance(getattr(type(self), name, None), property):
                    self._check_parameter(name, constraint)

    def __getattr__(self, name: str) -> Any:
        refuse_name("distributions", name, self)
        if name in _METHODS:
            raise NotModelled(f"torch.distributions.{type(self).__name__}.{name}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distribution with its parameters, and those of distributions within, expanded."""
        shape, rank = tuple(batch_shape), len(self._batch_shape)
        new = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            if isinstance(value, Distribution):
                value = value.expand(shape + tuple(value.batch_shape)[rank:])
            elif isinstance(value, Tensor) and name != "temperature":  # one for all
                value = value.expand(shape + tuple(value.shape)[rank:])
            new.__dict__[name] = value
        new.__dict__["_batch_shape"] = Size(shape)
        return new

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Tell whether arguments are checked unless a distribution is told otherwise."""
        Distribution._validate_args = value

    def _check_parameter(self, name: str, constraint: Constraint) -> None:
        value = getattr(self, name)
        if not _holds(constraint.check(value)):
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                f"values:\n{value}"
            )

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one event."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw values without history."""
        with without_history():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw values that are functions of the parameters."""
        raise NotImplementedError

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability of a value."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def extended(self, sample_shape: Any = ()) -> Size:
        """The shape of a sample of that many."""
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def check_sample(self, value: Any) -> None:
        """Refuse a value that cannot have been drawn."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        try:
            composite.broadcast_tensors(value.detach(), value.new_zeros(self.extended()))
        except RuntimeError:
            raise ValueError(
                "Value is not broadcastable with batch_shape+event_shape: "
                f"{tuple(value.shape)} vs {tuple(self.extended())}."
            ) from None
        if not _holds(self.support.check(value.detach())):
            raise ValueError(
                "Expected value argument "
                f"({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({self.support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        shown = []
        for name in (n for n in self.arg_constraints if n in self.__dict__):
            value = self.__dict__[name]
            shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Lazy:
    """An attribute that is computed once, with a history, when it is first read."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self.compute, self.name = compute, compute.__name__

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        if owner is None:
            return self
        with enable_grad():
            value = self.compute(owner)
        owner.__dict__[self.name] = value
        return value


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape, of tensors and numbers."""
    model = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = None if model is None else model.dtype
    device = None if model is None else model.device
    return composite.broadcast_tensors(
        *(v if isinstance(v, Tensor) else as_tensor(float(v), dtype=dtype, device=device) for v in values)
    )


def sum_rightmost(value: Tensor, dims: int) -> Tensor:
    """Sum the last ``dims`` dimensions."""
    return value.reshape((*value.shape[: value.ndim - dims], -1)).sum(-1) if dims else value


class Independent(Distribution):
    """The last batch dimensions of another distribution taken for one event."""

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        count = len(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > count:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {count}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        cut = count - reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args)

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The support of the other, for events of more dimensions."""
        return constraints.independent(self.base_dist.support, self.reinterpreted_batch_ndims)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Tell whether samples can have a history."""
        return self.base_dist.has_rsample

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
