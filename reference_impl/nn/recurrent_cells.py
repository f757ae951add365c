"""Single steps of recurrent nets; the layers are in ``recurrent``."""

from __future__ import annotations

import math
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import check_has_rule
from reference_impl.namespace.factories import empty, zeros
from reference_impl.nn import init
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter
from reference_impl.nn.recurrent import GATES, State, each, next_state, products


class _Cell(Module):
    """One step of a recurrent net."""

    mode = ""
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        width = GATES.get(self.mode, 1) * hidden_size
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(empty(width, input_size, **like))
        self.weight_hh = Parameter(empty(width, hidden_size, **like))
        self.register_parameter("bias_ih", Parameter(empty(width, **like)) if bias else None)
        self.register_parameter("bias_hh", Parameter(empty(width, **like)) if bias else None)
        bound = 1 / math.sqrt(hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def forward(self, input: Tensor, hx: State = None) -> State:
        if input.ndim not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead"
            )
        for at, given in enumerate(hx if isinstance(hx, tuple) else () if hx is None else (hx,)):
            if given.ndim not in (1, 2):
                told = f"hx[{at}]" if self.mode == "LSTM" else "hidden"
                raise ValueError(
                    f"{type(self).__name__}: Expected {told} to be 1D or 2D, got {given.ndim}D instead"
                )
        x = input if input.ndim == 2 else input.unsqueeze(0)
        if (got := x.shape[1]) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {got} expected {self.input_size}")
        if hx is None:
            start = zeros(x.shape[0], self.hidden_size, dtype=x.dtype, device=x.device)
            hx = (start, start) if self.mode == "LSTM" else start
        elif input.ndim == 1:
            hx = each(hx, lambda h: h.unsqueeze(0))
        for at, given in enumerate(hx if isinstance(hx, tuple) else (hx,)):
            if given.shape[0] != x.shape[0]:
                raise RuntimeError(
                    f"Input batch size {x.shape[0]} doesn't match hidden{at} batch size {given.shape[0]}"
                )
            if (got := given.shape[1]) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{at} has inconsistent hidden_size: got {got}, expected {self.hidden_size}"
                )
        weights: list[Tensor] = [self.weight_ih, self.weight_hh]
        if self.bias_ih is not None and self.bias_hh is not None:
            weights += [self.bias_ih, self.bias_hh]
        if self.mode == "LSTM":
            check_has_rule("lstm_cell", x, hx, weights)
        of_input, of_state = products(weights, 0), products(weights, 1)
        state = next_state(self.mode, x, hx, of_state, of_input)
        return state if input.ndim == 2 else each(state, lambda h: h.squeeze(0))

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Cell):
    """One step of an Elman network."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", **like: Any
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        super().__init__(input_size, hidden_size, bias, **like)
        self.nonlinearity, self.mode = nonlinearity, f"RNN_{nonlinearity.upper()}"

    def extra_repr(self) -> str:
        more = f", nonlinearity={self.nonlinearity}" if self.nonlinearity != "tanh" else ""
        return super().extra_repr() + more


class LSTMCell(_Cell):
    """One step of an LSTM."""

    mode = "LSTM"


class GRUCell(_Cell):
    """One step of a GRU."""

    mode = "GRU"
