"""Optimizers that scripts use now and then: ASGD, Adafactor, Muon."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.rules import by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import as_tensor, zeros_like
from reference_impl.optim.optimizer import Optimizer, Update
from reference_impl.optim.per_parameter import PerParameter, counter, require
from reference_impl.optim.settings import check_rate


class ASGD(PerParameter):
    """Gradient descent that keeps the average of the parameters besides (Polyak and Juditsky 1992)."""

    order = ("lr", "lambd", "alpha", "t0", "weight_decay", "foreach", "maximize", "differentiable",
             "capturable")  # fmt: skip
    captured = "params, mus, etas, and state_steps"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        settings = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay}
        more = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
        super().__init__(params, settings | {"maximize": maximize}, more)

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"eta": counter(float(group["lr"])), "mu": counter(1.0), "ax": zeros_like(x)}

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        eta, mu, average, lr, lambd = state["eta"], state["mu"], state["ax"], group["lr"], group["lambd"]
        rate = eta.item()
        x.mul_(1 - lambd * rate)
        x.add_(g, alpha=-rate)
        if mu.item() == 1:
            average.copy_(x)
        else:
            average.add_(x.sub(average).mul_(mu))
        eta.copy_(as_tensor(lr / ((1 + lambd * lr * self.count) ** group["alpha"])))
        mu.copy_(as_tensor(1 / max(1, self.count - group["t0"])))


class Adafactor(Optimizer):
    """The gradient over the root of its mean square, of which rows and columns are kept (Shazeer 2018)."""

    later = (("foreach", None),)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_rate(lr, "Learning rate should be >= 0 but is: {}")
        require(beta2_decay <= 0, f"beta2_decay should be <= 0 but is: {beta2_decay}")
        require(eps[0] is None or eps[0] >= 0, f"epsilon1 should be >= 0 but is: {eps[0]}")
        require(eps[1] >= 0, f"epsilon2 should be >= 0 but is: {eps[1]}")
        require(d >= 1, f"Clipping threshold d should be >= 1 but is: {d}")
        require(weight_decay >= 0, f"weight_decay should be >= 0 but is: {weight_decay}")
        settings = {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay}
        super().__init__(params, settings | {"foreach": foreach, "maximize": maximize})

    def change(self, updates: list[Update], group: dict[str, Any]) -> None:
        for x, g, state in updates:
            if not state:
                state |= {"step": counter()} | _means(g)
            state["step"].add_(1)
            if by("optim/updates-by-its-algorithm"):
                _factored(x, g.neg() if group["maximize"] else g, state, group)


def _means(g: Tensor) -> dict[str, Any]:
    if g.ndim < 2:
        return {"variance": zeros_like(g)}
    rows, columns = list(g.shape), list(g.shape)
    rows[-1] = columns[-2] = 1
    return {"row_var": g.new_zeros(rows), "col_var": g.new_zeros(columns)}


def _factored(x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    least, relative = group["eps"]
    least = float(dtypes.limits(array_of(x).dtype).eps) if least is None else least
    count, lr = state["step"].item(), group["lr"]
    weight = count ** group["beta2_decay"]
    alpha = max(relative, x.norm(2).item() / x.numel() ** 0.5) * min(lr, 1 / count**0.5)
    if group["weight_decay"]:
        x.mul_(1 - lr * group["weight_decay"])
    if g.ndim > 1:
        for name, dim in (("row_var", -1), ("col_var", -2)):
            mean = g.norm(dim=dim, keepdim=True).square_().div_(g.shape[dim])
            state[name].lerp_(mean, weight)
        rows = state["row_var"]
        square = rows.matmul(state["col_var"])
        square.div_(rows.mean(dim=-2, keepdim=True).clamp_(min=least))
    else:
        state["variance"].lerp_(g.mul(g), weight)
        square = state["variance"].clone()
    update = square.clamp_(min=least * least).rsqrt_()
    update.mul_(g)
    large = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
    x.add_(update, alpha=-alpha / large)


class Muon(Optimizer):
    """A running mean of the gradient of a matrix, made orthogonal by Newton and Schulz (Jordan 2024)."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_rate(lr, "Learning rate should be >= 0 but is: {}")
        require(momentum >= 0, f"momentum should be >= 0 but is: {momentum}")
        require(weight_decay >= 0, f"weight decay should be >= 0 but is: {weight_decay}")
        known = adjust_lr_fn in (None, "original", "match_rms_adamw")
        require(known, f"Adjust learning rate function {adjust_lr_fn} is not supported")
        settings = {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov}
        settings |= {"ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps}  # type: ignore[dict-item]
        super().__init__(params, settings | {"adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for x in group["params"]:
                shape = x.size()
                text = f"Muon only supports 2D parameters whereas we found a parameter with size: {shape}"
                require(x.ndim == 2, text)

    def change(self, updates: list[Update], group: dict[str, Any]) -> None:
        lr, momentum = group["lr"], group["momentum"]
        for x, g, state in updates:
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros_like(g)
            moving = state["momentum_buffer"]
            moving.lerp_(g, 1 - momentum)
            if by("optim/updates-by-its-algorithm"):
                update = _orthogonal(g.lerp(moving, momentum) if group["nesterov"] else moving, group)
                x.mul_(1 - lr * group["weight_decay"])
                x.add_(update, alpha=-lr * _ratio(x, group["adjust_lr_fn"]))


def _ratio(x: Tensor, adjusted: str | None) -> float:
    rows, columns = x.shape
    return (
        0.2 * math.sqrt(max(rows, columns))
        if adjusted == "match_rms_adamw"
        else max(1, rows / columns) ** 0.5
    )


def _orthogonal(g: Tensor, group: dict[str, Any]) -> Tensor:
    """Bring the singular values near 1, in bfloat16."""
    require(group["ns_steps"] < 100, "Number of steps must be less than 100 for computational efficiency")
    require(len(group["ns_coefficients"]) == 3, "Coefficients must be a tuple of exactly 3 values")
    a, b, c = group["ns_coefficients"]
    tall = g.shape[0] > g.shape[1]
    found = g.bfloat16().T if tall else g.bfloat16()
    found.div_(found.norm().clamp(min=group["eps"]))
    for _ in range(group["ns_steps"]):
        gram = found @ found.T
        change = gram.addmm(gram, gram, beta=b, alpha=c)
        found = found.addmm(change, found, beta=a)
    return found.T if tall else found
