"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reference_impl.optim.optimizer import Optimizer
from reference_impl.rule_marks import by
from reference_impl.tensor import Tensor


class SGD(Optimizer):
    """Steps against the gradient, with momentum if wanted."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if nesterov and (momentum <= 0 or dampening):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        settings = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(params, settings | {"nesterov": nesterov, "maximize": maximize})

    def begin(self) -> None:
        # A parameter that is listed twice finds no buffer the second time either, if it had none before.
        self._held = {id(state): state.get("momentum_buffer") for state in self.state.values()}

    def change(self, x: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if group["maximize"]:
            g = g.neg()
        if group["weight_decay"]:
            decayed = g.add if by("optim/leaves-grads-alone") else g.add_
            g = decayed(x, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum and by("optim/momentum-is-its-own"):
            moving = self._held.get(id(state))
            if moving is None:
                moving = state["momentum_buffer"] = g.detach().clone()
            else:
                moving.mul_(momentum).add_(g, alpha=1 - group["dampening"])
            g = g.add(moving, alpha=momentum) if group["nesterov"] else moving
        x.add_(g, alpha=-group["lr"])
