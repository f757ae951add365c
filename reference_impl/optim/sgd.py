"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reference_impl.base.rules import by
from reference_impl.core.tensor import Tensor
from reference_impl.optim.optimizer import Optimizer, Update
from reference_impl.optim.settings import check_fused, check_path


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum and weight decay as options."""

    order = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize", "foreach",
             "differentiable", "fused")  # fmt: skip
    later = (("fused", False),)

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
        **how: Any,
    ) -> None:
        check_path(type(self), how)
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("learning rate", lr), ("momentum value", momentum)):
            if value < 0.0:
                raise ValueError(f"Invalid {name}: {value}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        settings = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(params, settings | {"nesterov": nesterov, "maximize": maximize} | how)
        check_fused(how)

    def keeps_state(self, group: dict[str, Any]) -> bool:
        return bool(group["momentum"])

    def begin(self) -> None:
        # A parameter listed twice finds no buffer the second time either: new buffers are stored in `end`.
        self._buffers = {id(state): state.get("momentum_buffer") for state in self.state.values()}
        self._new: list[tuple[dict[str, Any], Tensor]] = []

    def end(self) -> None:
        for state, moving in self._new:
            state["momentum_buffer"] = moving

    def change(self, updates: list[Update], group: dict[str, Any]) -> None:
        gs = [g.neg() if group["maximize"] else g for _, g, _ in updates]
        if group["weight_decay"]:
            gs = [g.add(x, alpha=group["weight_decay"]) for g, (x, _, _) in zip(gs, updates, strict=True)]
        if group["momentum"] and by("optim/momentum-is-its-own"):
            moving = self._moving(gs, updates, group)
            if group["nesterov"]:
                # NB: where PyTorch updates all at once, it adds to the grads themselves.
                in_place = self.together and by("device/nesterov-changes-grads")
                share = group["momentum"]
                gs = [
                    g.add_(m, alpha=share) if in_place else g.add(m, alpha=share)
                    for g, m in zip(gs, moving, strict=True)
                ]
            else:
                gs = moving
        rate = -group["lr"] if by("optim/updates-by-its-algorithm") else group["lr"]
        for g, (x, grad, _) in zip(gs, updates, strict=True):
            if by("optim/leaves-grads-alone"):
                x.add_(g, alpha=rate)
            else:
                x.add_(grad.copy_(g).mul_(rate))

    def _moving(self, gs: list[Tensor], updates: list[Update], group: dict[str, Any]) -> list[Tensor]:
        """Update and return the momentum buffers."""
        held: list[Any] = [self._buffers.get(id(state)) for _, _, state in updates]
        share = 1 - group["dampening"]
        if all(moving is not None for moving in held):
            for moving in held:
                moving.mul_(group["momentum"])
            return [moving.add_(g, alpha=share) for g, moving in zip(gs, held, strict=True)]
        buffers = []
        for g, moving, (_, _, state) in zip(gs, held, updates, strict=True):
            if moving is None:
                moving = g.detach().clone()
                self._new.append((state, moving))
            else:
                moving.mul_(group["momentum"]).add_(g, alpha=share)
            buffers.append(moving)
        return buffers
