"""Settings of optimizers that choose a way, or may be tensors: their defaults, and what is refused."""

from __future__ import annotations

from typing import Any

from reference_impl.base.not_modelled import NotModelled
from reference_impl.core.tensor import Tensor

PATHS = {"foreach": None, "fused": None, "capturable": False, "differentiable": False}
"""Settings that choose among PyTorch's implementations of one update, and what they are unless given."""

LATER = PATHS | dict.fromkeys(
    ("amsgrad", "centered", "decoupled_weight_decay", "maximize", "nesterov"), False
)
"""Settings that old states may lack, and what they are then."""


def check_path(kind: Any, how: dict[str, Any]) -> None:
    """Take the arguments that choose among PyTorch's implementations of one update; refuse the rest."""
    for name in how:
        if name not in PATHS or name not in kind.order:
            raise TypeError(f"{kind.__name__}.__init__() got an unexpected keyword argument {name!r}")


def check_fused(how: dict[str, Any]) -> None:
    """Refuse a fused update that is to be another, too; PyTorch does so once it has the parameters."""
    if how.get("fused"):
        if how.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if how.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_rate(rate: Any, text: str = "Invalid learning rate: {}") -> None:
    """Refuse a learning rate that is negative, or a tensor of several."""
    if isinstance(rate, Tensor) and rate.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not 0.0 <= rate:
        raise ValueError(text.format(rate))


def with_numbers(group: dict[str, Any]) -> dict[str, Any]:
    """The settings of a group, its rates as numbers if they are tensors: updates only scale by them."""
    numbers: dict[str, Any] = {}
    if isinstance(group.get("lr"), Tensor):
        if group["lr"].requires_grad and group.get("differentiable"):
            raise NotModelled("torch.optim.Optimizer(lr=torch.Tensor that requires grad)")
        numbers["lr"] = group["lr"].item()
    if "betas" in group and any(isinstance(beta, Tensor) for beta in group["betas"]):
        numbers["betas"] = tuple(float(beta) for beta in group["betas"])
    return group | numbers if numbers else group
