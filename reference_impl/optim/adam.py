"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import zeros_like
from reference_impl.optim.per_parameter import PerParameter, check_betas, require
from reference_impl.optim.settings import check_rate


class Adam(PerParameter):
    """Adam (Kingma and Ba 2015), with ``amsgrad`` as an option; weight decay is added to the gradient."""

    order = ("lr", "betas", "eps", "weight_decay", "amsgrad", "maximize", "foreach", "capturable",
             "differentiable", "fused", "decoupled_weight_decay")  # fmt: skip

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
        **how: Any,
    ) -> None:
        together = how.get("foreach") and not how.get("capturable")
        if isinstance(lr, Tensor) and together:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_rate(lr)
        require(0.0 <= eps, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        betas = _alike(betas, bool(together))
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        settings |= {"maximize": maximize, "decoupled_weight_decay": decoupled_weight_decay}
        super().__init__(params, settings, how)

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        names = ("exp_avg", "exp_avg_sq", *["max_exp_avg_sq"] * bool(group["amsgrad"]))
        return {name: zeros_like(x) for name in names}

    def check(self, g: Tensor, state: dict[str, Any]) -> None:
        mean = state["exp_avg"]
        if array_of(g).dtype != array_of(mean).dtype:
            refuse_by("optim/adam-wants-one-dtype", want=_spoken(mean), got=_spoken(g))

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        first, second = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        # NB: these calls and no others, in this order: half precision rounds after each.
        mean.lerp_(g, 1 - first)
        square.mul_(second).addcmul_(g, g, value=1 - second)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            older = largest.clone() if group["differentiable"] else largest
            square = largest.copy_(older.maximum(square))
        size = square.sqrt().div_scalar((1 - second**self.count) ** 0.5).add_(group["eps"])
        # NB: what is recorded saves the mean, which the next step writes to.
        mean = mean.clone() if group["differentiable"] else mean
        x.addcdiv_(mean, size, value=-group["lr"] / (1 - first**self.count))


def _alike(betas: tuple[Any, Any], together: bool) -> tuple[Any, Any]:
    """Return the rates of both means as numbers or as tensors without dimensions; refuse a mixture."""
    if not any(isinstance(betas[0], kind) and isinstance(betas[1], kind) for kind in (float, Tensor)):
        raise ValueError("betas must be either both floats or both Tensors")
    for at, beta in enumerate(betas[:2]):
        if isinstance(beta, Tensor):
            if together:
                raise ValueError(
                    f"betas[{at}] as a Tensor is not supported for capturable=False and foreach=True"
                )
            require(beta.numel() == 1, f"Tensor betas[{at}] must be 1-element")
    return tuple(beta.squeeze() if isinstance(beta, Tensor) else beta for beta in betas)


def _spoken(x: Tensor) -> str:
    """The dtype of a tensor, as PyTorch's kernels word it."""
    name = str(array_of(x).dtype)
    return {"float64": "double", "float32": "float", "float16": "c10::Half", "bfloat16": "c10::BFloat16"}.get(
        name, name
    )


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    fixed = (("decoupled_weight_decay", True),)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **how: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, decoupled_weight_decay=True, **how)
