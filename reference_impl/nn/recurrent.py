"""Recurrent layers and cells: RNN, LSTM, GRU; the computation of a step is in `_step`.

NB: composed of linear layers and elementwise ops; PyTorch runs an LSTM as one node where it has a fused
kernel.
"""

from __future__ import annotations

import math
from typing import Any

from reference_impl.base.not_modelled import refuse_unless_default
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.namespace.factories import empty, zeros
from reference_impl.nn import functional, init
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter
from reference_impl.nn.utils.rnn import PackedSequence

State = Any
"""The hidden state, or for an LSTM hidden and cell state."""

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


def _step(mode: str, x: Tensor, state: State, weights: list[Tensor]) -> State:
    """The next state from an input whose product with the input weights is made here too."""
    w_ih, w_hh, *biases = weights
    b_ih, b_hh = biases or (None, None)
    h = state[0] if mode == "LSTM" else state
    from_input, from_state = functional.linear(x, w_ih, b_ih), functional.linear(h, w_hh, b_hh)
    if mode == "LSTM":
        i, f, g, o = from_state.add(from_input).chunk(4, 1)
        cell = f.sigmoid().mul(state[1]).add_(i.sigmoid().mul(g.tanh()))  # in place, as in PyTorch
        return o.sigmoid().mul(cell.tanh()), cell
    if mode == "GRU":
        ir, iz, new = from_input.chunk(3, 1)
        hr, hz, hn = from_state.chunk(3, 1)
        reset, update = hr.add(ir).sigmoid(), hz.add(iz).sigmoid()
        new = new.add(hn.mul(reset)).tanh()
        return h.sub(new).mul_(update).add_(new)  # in place, as in PyTorch
    total = from_state.add(from_input)
    return total.tanh() if mode == "RNN_TANH" else total.relu()


def _cut(state: State, rows: int) -> State:
    return tuple(_cut(s, rows) for s in state) if isinstance(state, tuple) else state.narrow(0, 0, rows)


def _rejoined(state: State, rest: list[State], rows: int) -> State:
    """The states of sequences that run, and of those that have ended, in their order."""
    if isinstance(state, tuple):
        return tuple(_rejoined(s, [r[n] for r in rest], rows) for n, s in enumerate(state))
    return composite.cat([state, *reversed(rest)], 0) if rest else state


class RNNBase(Module):
    """Layers of a recurrent net over ``(L, N, H)``, over ``(N, L, H)`` if ``batch_first``, or packed."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        refuse_unless_default(f"nn.{type(self).__name__}", {"proj_size": proj_size}, proj_size=0)
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being "
                "zeroed"
            )
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = (
            mode,
            input_size,
            hidden_size,
            num_layers,
        )
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional = bidirectional
        width = _GATES[mode] * hidden_size
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        self._names: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: 1 + bidirectional]:
                fed = input_size if layer == 0 else hidden_size * (1 + bidirectional)
                shapes = {"weight_ih": (width, fed), "weight_hh": (width, hidden_size)}
                if bias:
                    shapes |= {"bias_ih": (width,), "bias_hh": (width,)}  # type: ignore[dict-item]
                names = [f"{name}_l{layer}{suffix}" for name in shapes]
                for name, shape in zip(names, shapes.values(), strict=True):
                    self.register_parameter(name, Parameter(empty(*shape, **like)))
                self._names.append(names)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fill with uniform numbers bounded by ``1 / sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing: the parameters need not lie side by side."""

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, default in (
            ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0.0),
            ("bidirectional", False),
        ):  # fmt: skip
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text

    def forward(self, input: Any, hx: State = None) -> Any:
        packed = isinstance(input, PackedSequence)
        data, sizes = (input.data, input.batch_sizes.tolist()) if packed else (input, None)
        if not packed and data.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {data.ndim}D instead"
            )
        batched = packed or data.ndim == 3
        if not batched:
            data = data.unsqueeze(0 if self.batch_first else 1)
            hx = _each(hx, lambda h: h.unsqueeze(1))
        if data.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, "
                f"got {data.shape[-1]}"
            )
        if packed:
            steps = list(data.split(sizes, 0))
        else:
            steps = list((data.transpose(0, 1) if self.batch_first else data).unbind(0))
        rows = steps[0].shape[0]
        state = self._begun(data, rows, hx, input.sorted_indices if packed else None)
        outs, state = self._run(steps, state)
        if packed:
            state = _each(state, lambda h: _ordered(h, input.unsorted_indices))
            kept = (input.batch_sizes, input.sorted_indices, input.unsorted_indices)
            return PackedSequence(composite.cat(_side_by_side(outs), 0), *kept), state
        ways = [composite.stack(out, 0) for out in outs]
        out = ways[0] if len(ways) == 1 else composite.cat(ways, -1)
        if self.batch_first:
            out = out.transpose(0, 1) if self.mode == "LSTM" else out.transpose_(0, 1)
        if not batched:
            out = out.squeeze(0 if self.batch_first else 1)
            state = _each(state, lambda h: h.squeeze(1))
        return out, state

    def _begun(self, data: Tensor, rows: int, hx: State, order: Any) -> State:
        shape = (self.num_layers * (1 + self.bidirectional), rows, self.hidden_size)
        if hx is None:
            begun = [zeros(shape, dtype=data.dtype, device=data.device) for _ in range(2)]
            return (begun[0], begun[1]) if self.mode == "LSTM" else begun[0]
        for given, name in zip(
            hx if isinstance(hx, tuple) else (hx,), ("hidden[0]", "hidden[1]"), strict=False
        ):
            if tuple(given.shape) != shape:
                what = f"{name} size" if self.mode == "LSTM" else "hidden size"
                raise RuntimeError(f"Expected {what} {shape}, got {list(given.shape)}")
        return _each(hx, lambda h: _ordered(h, order))

    def _run(self, steps: list[Tensor], state: State) -> tuple[list[list[Tensor]], State]:
        """Run all layers; return the steps of the last one in each direction, and the final states."""
        finals: list[State] = []
        directions = 1 + self.bidirectional
        for layer in range(self.num_layers):
            outs = []
            for direction in range(directions):
                at = layer * directions + direction
                weights = [getattr(self, name) for name in self._names[at]]
                begin = _each(state, lambda h, at=at: h.select(0, at))
                out, final = self._direction(steps, begin, weights, direction == 1)
                outs.append(out)
                finals.append(final)
            if layer == self.num_layers - 1:
                break
            steps = _side_by_side(outs)
            if self.dropout and self.training:
                sizes = [x.shape[0] for x in steps]
                dropped = functional.dropout(composite.cat(steps, 0), self.dropout, True)
                steps = list(dropped.split(sizes, 0))
        if self.mode == "LSTM":
            return outs, tuple(composite.stack(list(part), 0) for part in zip(*finals, strict=True))
        return outs, composite.stack(finals, 0)

    def _direction(
        self, steps: list[Tensor], state: State, weights: list[Tensor], back: bool
    ) -> tuple[list[Tensor], State]:
        """Run one layer in one direction; of packed sequences fewer run at later steps."""
        outs: list[Tensor] = []
        ended: list[State] = []
        start = state
        rows = steps[-1 if back else 0].shape[0]
        state = _cut_rows(state, rows)
        for x in reversed(steps) if back else steps:
            if x.shape[0] < rows:  # forwards, the shortest have ended
                ended.append(_each(state, lambda h, n=x.shape[0]: h.narrow(0, n, h.shape[0] - n)))
                state = _cut(state, x.shape[0])
            elif x.shape[0] > rows:  # backwards, longer ones begin
                state = _grown(state, start, rows, x.shape[0])
            rows = x.shape[0]
            state = _step(self.mode, x, state, weights)
            outs.append(state[0] if self.mode == "LSTM" else state)
        return outs[::-1] if back else outs, _rejoined(state, ended, rows)


def _cut_rows(state: State, rows: int) -> State:
    one = state[0] if isinstance(state, tuple) else state
    return state if one.shape[0] == rows else _cut(state, rows)


def _grown(state: State, start: State, have: int, want: int) -> State:
    if isinstance(state, tuple):
        return tuple(_grown(s, b, have, want) for s, b in zip(state, start, strict=True))
    return composite.cat([state, start.narrow(0, have, want - have)], 0)


def _side_by_side(outs: list[list[Tensor]]) -> list[Tensor]:
    """The outputs of both directions at each step."""
    return outs[0] if len(outs) == 1 else [composite.cat(both, -1) for both in zip(*outs, strict=True)]


def _each(state: State, change: Any) -> State:
    """Change the hidden state, or both states."""
    if state is None:
        return None
    return tuple(change(s) for s in state) if isinstance(state, (tuple, list)) else change(state)


def _ordered(h: Tensor, order: Any) -> Tensor:
    return h if order is None else h.index_select(1, order)


class RNN(RNNBase):
    """An Elman network with tanh or ReLU."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, *args: Any, **more: Any
    ) -> None:
        given = list(args)
        nonlinearity = more.pop("nonlinearity", None) or (given.pop(0) if given else "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, *given, **more)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber 1997)."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__("LSTM", *args, **more)


class GRU(RNNBase):
    """A gated recurrent unit (Cho et al. 2014)."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__("GRU", *args, **more)


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
        width = _GATES.get(self.mode, 1) * hidden_size
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
        x = input if input.ndim == 2 else input.unsqueeze(0)
        if (got := x.shape[1]) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {got} expected {self.input_size}")
        if hx is None:
            start = zeros(x.shape[0], self.hidden_size, dtype=x.dtype, device=x.device)
            hx = (start, start) if self.mode == "LSTM" else start
        elif input.ndim == 1:
            hx = _each(hx, lambda h: h.unsqueeze(0))
        if any(given.shape[0] != x.shape[0] for given in (hx if isinstance(hx, tuple) else (hx,))):
            raise RuntimeError(f"Input batch size {x.shape[0]} doesn't match that of the hidden state")
        weights: list[Tensor] = [self.weight_ih, self.weight_hh]
        if self.bias_ih is not None and self.bias_hh is not None:
            weights += [self.bias_ih, self.bias_hh]
        state = _step(self.mode, x, hx, weights)
        return state if input.ndim == 2 else _each(state, lambda h: h.squeeze(0))

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
