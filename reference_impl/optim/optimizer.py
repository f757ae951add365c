"""What optimizers share: groups of parameters with settings, and a state for each parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reference_impl.modes import enable_grad, no_grad
from reference_impl.nn.module import clear_grads
from reference_impl.tensor import Tensor


class Optimizer:
    """Changes parameters in place by their gradients, one `step` at a time."""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts"
            )
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        self.defaults = defaults
        self.state: dict[Tensor, dict[str, Any]] = {}
        self.param_groups: list[dict[str, Any]] = []
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Further parameters, with settings of their own."""
        given = group["params"]
        params = [given] if isinstance(given, Tensor) else list(given)
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {type(parameter)}"
                )
            if not parameter.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        self.param_groups.append(self.defaults | group | {"params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or fill them with zeros."""
        for group in self.param_groups:
            clear_grads(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; ``closure`` computes the loss again before it."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self.change(parameter, parameter.grad, group, self.state.setdefault(parameter, {}))
        return loss

    def change(self, x: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        """Change one parameter by its gradient."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Settings and states, parameters by number."""
        number = {id(x): n for n, x in enumerate(x for group in self.param_groups for x in group["params"])}
        groups = [group | {"params": [number[id(x)] for x in group["params"]]} for group in self.param_groups]
        return {"state": {number[id(x)]: dict(s) for x, s in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Settings and states as `state_dict` gave them, for the parameters there are."""
        params = [x for group in self.param_groups for x in group["params"]]
        for group, saved in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group.update({key: value for key, value in saved.items() if key != "params"})
        self.state = {params[number]: dict(state) for number, state in state_dict["state"].items()}
