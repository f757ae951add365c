"""Layers that normalise, as modules."""

from __future__ import annotations

from typing import Any

from reference_impl.base.dtypes import int64
from reference_impl.base.rules import by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import empty, ones, tensor, zeros
from reference_impl.nn import functional, init
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter


class LayerNorm(Module):
    """Normalise the last dimensions, then scale and shift."""

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(empty(shape, **like)) if elementwise_affine else None)
        shifts = elementwise_affine and bias
        self.register_parameter("bias", Parameter(empty(shape, **like)) if shifts else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to one and the shift to zero."""
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
            f"{_told_bias(self)}"
        )


def _told_bias(module: Any) -> str:
    """Return what a norm tells of its bias."""
    return f", bias={module.bias is not None}" if by("nn/norms-may-lack-a-bias") else ""


def _shifts(affine: bool, bias: bool) -> bool:
    """Return whether a norm has a bias; raise TypeError if no norm takes that argument."""
    if not bias and not by("nn/norms-may-lack-a-bias"):
        raise TypeError("got an unexpected keyword argument 'bias'")
    return affine and bias


def _reset_affine(module: Any) -> None:
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)


class RMSNorm(Module):
    """Divide the last dimensions by the root of their mean square, then scale."""

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        weight = Parameter(empty(shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        if weight is not None:
            init.ones_(weight)

    def forward(self, input: Tensor) -> Tensor:
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalise groups of each sample's channels, then scale and shift by channel."""

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(empty(num_channels, **like)) if affine else None)
        shifts = _shifts(affine, bias)
        self.register_parameter("bias", Parameter(empty(num_channels, **like)) if shifts else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to one and the shift to zero."""
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}{_told_bias(self)}"
        )


class _NormBase(Module):
    """Channels normalised, with optional running estimates, scale and shift."""

    ranks: tuple[int, ...] = ()
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None
    _version = 2

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(empty(num_features, **like)) if affine else None)
        shifts = _shifts(affine, bias)
        self.register_parameter("bias", Parameter(empty(num_features, **like)) if shifts else None)
        kept = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **like) if kept else None)
        self.register_buffer("running_var", ones(num_features, **like) if kept else None)
        counted = tensor(0, dtype=int64, device=device) if kept else None
        self.register_buffer("num_batches_tracked", counted)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the running estimates."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]  # tracked, so there
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Forget the running estimates, and set the scale to one and the shift to zero."""
        self.reset_running_stats()
        _reset_affine(self)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in self.ranks:
            expected = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"
            f"{_told_bias(self)}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *more: Any) -> None:
        """Keep the count where the state is of a version that had none."""
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats:
            kept = self.num_batches_tracked
            state_dict.setdefault(prefix + "num_batches_tracked", tensor(0) if kept is None else kept)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *more)


class _BatchNorm(_NormBase):
    """Channels normalised over the batch."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        share = self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if share is None:
                share = 1 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracks = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if tracks else None,
            self.running_var if tracks else None,
            self.weight,
            self.bias,
            by_batch,
            0.0 if share is None else share,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of ``(N, C)`` or ``(N, C, L)``."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of ``(N, C, H, W)``."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of ``(N, C, D, H, W)``."""

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation whose batch may be spread over processes; here there is one."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Put such layers in the place of the module's batch normalisations, with the same parameters."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                setattr(made, name, getattr(module, name))
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _InstanceNorm(_NormBase):
    """Channels of each sample normalised."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        x = input.unsqueeze(0) if input.ndim == self.ranks[0] else input
        out = functional.instance_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out.squeeze(0) if x is not input else out


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of ``(N, C, L)`` or ``(C, L)``."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of ``(N, C, H, W)`` or ``(C, H, W)``."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of ``(N, C, D, H, W)`` or ``(C, D, H, W)``."""

    ranks = (4, 5)


class LocalResponseNorm(Module):
    """Divide by what neighbouring channels hold."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
