"""Optimizers that adapt the rate of each element: RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam, Rprop.

Adam and AdamW are in ``adam``, L-BFGS in ``lbfgs``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import full_like, zeros_like
from reference_impl.optim.per_parameter import PerParameter, check_betas, counter, in_both_parts, require


class RMSprop(PerParameter):
    """The gradient over the root of a running mean of its square (Hinton), optionally centred."""

    order = ("lr", "momentum", "alpha", "eps", "centered", "weight_decay", "capturable", "foreach",
             "maximize", "differentiable")  # fmt: skip
    later = (("momentum", 0),)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require(eps >= 0, f"Invalid epsilon value: {eps}")
        require(momentum >= 0, f"Invalid momentum value: {momentum}")
        require(alpha >= 0, f"Invalid alpha value: {alpha}")
        settings = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        settings |= {"weight_decay": weight_decay, "maximize": maximize}
        more = {"capturable": capturable, "foreach": foreach, "differentiable": differentiable}
        super().__init__(params, settings, more)

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        names = [
            "square_avg",
            *["momentum_buffer"] * (group["momentum"] > 0),
            *["grad_avg"] * group["centered"],
        ]
        return {name: zeros_like(x) for name in names}

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        square = state["square_avg"]
        square.mul_(group["alpha"]).addcmul_(g, g, value=1 - group["alpha"])
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(g, 1 - group["alpha"])
            size = square.addcmul(mean, mean, value=-1).sqrt().add(group["eps"])
        else:
            size = square.sqrt().add(group["eps"])
        if group["momentum"] > 0:
            moving = state["momentum_buffer"]
            moving.mul_(group["momentum"]).addcdiv_(g, size)
            x.add_(moving, alpha=-group["lr"])
        else:
            x.addcdiv_(g, size, value=-group["lr"])


class Adagrad(PerParameter):
    """The gradient over the root of the sum of its squares (Duchi et al. 2011)."""

    order = ("lr", "lr_decay", "eps", "weight_decay", "initial_accumulator_value", "foreach", "maximize",
             "differentiable", "fused")  # fmt: skip

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        **more: Any,
    ) -> None:
        require(lr_decay >= 0, f"Invalid lr_decay value: {lr_decay}")
        begin = initial_accumulator_value
        require(begin >= 0, f"Invalid initial_accumulator_value value: {begin}")
        require(eps >= 0, f"Invalid epsilon value: {eps}")
        settings = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        settings |= {"initial_accumulator_value": begin, "maximize": maximize}
        super().__init__(params, settings, {"foreach": foreach, **more})
        for group in self.param_groups:
            for x in group["params"]:
                self.state[x] = {"step": counter()} | self.begun(x, group)

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"sum": full_like(x, in_both_parts(x, group["initial_accumulator_value"]))}

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        total = state["sum"]
        total.addcmul_(g, g, value=1)
        rate = group["lr"] / (1 + (self.count - 1) * group["lr_decay"])
        x.addcdiv_(g, total.sqrt().add(group["eps"]), value=-rate)


class Adadelta(PerParameter):
    """The gradient times the ratio of a running mean of steps to one of gradients (Zeiler 2012)."""

    order = ("lr", "rho", "eps", "weight_decay", "maximize", "capturable", "foreach", "differentiable")
    capturing_devices = 4

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        **more: Any,
    ) -> None:
        require(0 <= rho <= 1, f"Invalid rho value: {rho}")
        require(eps >= 0, f"Invalid epsilon value: {eps}")
        settings = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, settings, {"foreach": foreach, **more})

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"square_avg": zeros_like(x), "acc_delta": zeros_like(x)}

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        rho, eps = group["rho"], group["eps"]
        square, steps = state["square_avg"], state["acc_delta"]
        square.mul_(rho).addcmul_(g, g, value=1 - rho)
        step = steps.add(eps).sqrt().div(square.add(eps).sqrt()).mul(g)
        steps.mul_(rho).addcmul_(step, step, value=1 - rho)
        x.add_(step, alpha=-group["lr"])


class Adamax(PerParameter):
    """Adam with the largest past gradient instead of the mean square (Kingma and Ba 2015)."""

    order = ("lr", "betas", "eps", "weight_decay", "foreach", "maximize", "differentiable", "capturable")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        **more: Any,
    ) -> None:
        require(eps >= 0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, settings, {"foreach": foreach, **more})

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"exp_avg": zeros_like(x), "exp_inf": zeros_like(x)}

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        first, second = group["betas"]
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(g, 1 - first)
        largest.mul_(second)
        older = largest.clone() if group["differentiable"] else largest
        largest.copy_(older.maximum(g.abs().add(group["eps"])))
        x.addcdiv_(mean, largest, value=-group["lr"] / (1 - first**self.count))


class NAdam(PerParameter):
    """Adam with Nesterov's momentum, whose share grows with the steps (Dozat 2016)."""

    order = ("lr", "betas", "eps", "weight_decay", "momentum_decay", "decoupled_weight_decay",
             "maximize", "foreach", "capturable", "differentiable")  # fmt: skip
    captured = "params, mu_products and state_steps"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
        **more: Any,
    ) -> None:
        require(eps >= 0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        require(momentum_decay >= 0, f"Invalid momentum_decay value: {momentum_decay}")
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        settings |= {"momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay}
        super().__init__(params, settings, more)

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"mu_product": counter(1.0), "exp_avg": zeros_like(x), "exp_avg_sq": zeros_like(x)}

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        (first, second), rate, step = group["betas"], group["lr"], self.count
        share, next_share = (
            first * (1 - 0.5 * 0.96 ** (n * group["momentum_decay"])) for n in (step, step + 1)
        )
        product = state["mu_product"].mul_(share).item()
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(g, 1 - first)
        square.mul_(second).addcmul_(g, g, value=1 - second)
        size = square.div(1 - second**step).sqrt().add(group["eps"])
        by_gradient = -rate * (1 - share) / (1 - product)
        by_mean = -rate * next_share / (1 - product * next_share)
        if group["differentiable"]:  # what is recorded saves the mean, which the next step writes to
            x.addcdiv_(g.mul_scalar(by_gradient), size)
            x.addcdiv_(mean.mul_scalar(by_mean), size)
        else:
            x.addcdiv_(g, size, value=by_gradient)
            x.addcdiv_(mean, size, value=by_mean)


class RAdam(PerParameter):
    """Adam that begins without the mean square until it is known well enough (Liu et al. 2020)."""

    order = ("lr", "betas", "eps", "weight_decay", "maximize", "foreach", "capturable",
             "decoupled_weight_decay", "differentiable")  # fmt: skip

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
        **more: Any,
    ) -> None:
        require(eps >= 0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, settings | {"decoupled_weight_decay": decoupled_weight_decay}, more)

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"exp_avg": zeros_like(x), "exp_avg_sq": zeros_like(x)}

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        (first, second), step = group["betas"], self.count
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(g, 1 - first)
        square.mul_(second).addcmul_(g, g, value=1 - second)
        direction = mean.div(1 - first**step)
        most = 2 / (1 - second) - 1
        known = most - 2 * step * second**step / (1 - second**step)
        if known > 5:
            share = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
            root = math.sqrt(1 - second**step)
            direction = direction.mul(math.sqrt(share) * root).div(square.sqrt().add(group["eps"]))
        x.add_(direction, alpha=-group["lr"])


class Rprop(PerParameter):
    """Steps that grow while the gradient keeps its sign and shrink when it changes (Riedmiller 1993)."""

    order = ("lr", "etas", "step_sizes", "foreach", "maximize", "differentiable", "capturable")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
        **more: Any,
    ) -> None:
        require(0 < etas[0] < 1 < etas[1], f"Invalid eta values: {etas[0]}, {etas[1]}")
        settings = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize}
        super().__init__(params, settings, more)

    def begun(self, x: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"prev": zeros_like(x), "step_size": full_like(x, in_both_parts(x, group["lr"]))}

    def one(self, x: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        (less, more), (least, most) = group["etas"], group["step_sizes"]
        before = state["prev"].clone() if group["differentiable"] else state["prev"]
        sign = g.mul(before).sign()
        factor = sign.masked_fill(sign.eq(1), more).masked_fill(sign.eq(-1), less)
        factor = factor.masked_fill(sign.eq(0), 1)
        state["step_size"].mul_(factor).clamp_(least, most)
        g = g.masked_fill(sign.eq(-1), 0)
        x.addcmul_(g.sign(), state["step_size"], value=-1)
        state["prev"].copy_(g)
