"""Recurrent layers: RNN, LSTM, GRU; a step is in `next_state`, the cells are in ``recurrent_cells``.

NB: composed of linear layers and elementwise ops; PyTorch runs an LSTM as one node where it has a fused
kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import check_has_rule
from reference_impl.namespace import composite
from reference_impl.namespace.factories import empty, zeros
from reference_impl.nn import functional, init
from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter
from reference_impl.nn.utils.rnn import PackedSequence

State = Any
"""The hidden state, or for an LSTM hidden and cell state."""

Linear = Callable[[Tensor], Tensor]

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


def products(weights: list[Tensor], way: int) -> Linear:
    """The linear map of the input (``way`` 0) or of the state (1)."""
    weight, bias = weights[way], weights[2 + way] if len(weights) > 2 else None
    return lambda x: functional.linear(x, weight, bias)


def next_state(mode: str, x: Tensor, state: State, of_state: Linear, of_input: Linear | None = None) -> State:
    """The next state; without ``of_input``, ``x`` is already the product of the input with its weights."""
    h = state[0] if mode == "LSTM" else state
    if of_input is not None and mode == "GRU":
        x = of_input(x)
    from_state = of_state(h)
    from_input = x if of_input is None or mode == "GRU" else of_input(x)  # second, as in PyTorch
    if mode == "LSTM":
        i, f, g, o = from_state.add(from_input).unsafe_chunk(4, 1)
        cell = f.sigmoid().mul(state[1]).add_(i.sigmoid().mul(g.tanh()))  # in place, as in PyTorch
        return o.sigmoid().mul(cell.tanh()), cell
    if mode == "GRU":
        ir, iz, new = from_input.unsafe_chunk(3, 1)
        hr, hz, hn = from_state.unsafe_chunk(3, 1)
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


def _need_dims(hx: State, dims: int) -> None:
    """Refuse states that have a batch where the input has none, or none where it has one."""
    kind = f"For {'un' * (dims == 2)}batched {dims}-D input,"
    if isinstance(hx, tuple) and any(h.ndim != dims for h in hx):
        got = ", ".join(f"{h.ndim}-D" for h in hx)
        raise RuntimeError(f"{kind} hx and cx should also be {dims}-D but got ({got}) tensors")
    if not isinstance(hx, tuple) and hx.ndim != dims:
        raise RuntimeError(f"{kind} hx should also be {dims}-D but got {hx.ndim}-D tensor")


def _need_pair(hx: Any) -> None:
    """Refuse states of an LSTM that are no sequence of two; those of a single sequence are picked."""
    if not isinstance(hx, (tuple, list)):
        raise TypeError(f"lstm(): argument 'hx' must be tuple of Tensors, not {type(hx).__name__}")
    if len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")


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
        for name, flag in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(flag, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
            if not isinstance(size, int):
                raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
            if size <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being "
                "zeroed"
            )
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        super().__init__()
        self.proj_size = proj_size
        self.mode, self.input_size, self.hidden_size, self.num_layers = (
            mode,
            input_size,
            hidden_size,
            num_layers,
        )
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional = bidirectional
        width = GATES[mode] * hidden_size
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        self._names: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: 1 + bidirectional]:
                shown = proj_size or hidden_size
                fed = input_size if layer == 0 else shown * (1 + bidirectional)
                shapes = {"weight_ih": (width, fed), "weight_hh": (width, shown)}
                if bias:
                    shapes |= {"bias_ih": (width,), "bias_hh": (width,)}  # type: ignore[dict-item]
                if proj_size:
                    shapes |= {"weight_hr": (proj_size, hidden_size)}
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

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer in each direction."""
        return [[getattr(self, name) for name in names] for names in self._names]

    def flatten_parameters(self) -> None:
        """Do nothing: the parameters need not lie side by side."""

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
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
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {data.ndim}D"
                f"{' tensor' * self.mode.startswith('RNN')} instead"
            )
        batched = packed or data.ndim == 3
        given, hx = hx, (hx[0], hx[1]) if hx is not None and self.mode == "LSTM" else hx
        if hx is not None and not packed:
            _need_dims(hx, 3 if batched else 2)
        if batched and hx is not given:
            _need_pair(given)
        if not batched:
            data = data.unsqueeze(0 if self.batch_first else 1)
            hx = each(hx, lambda h: h.unsqueeze(1))
        wanted = next(self.parameters()).dtype
        if data.dtype != wanted and not any(STATE.autocast.dtypes.values()):
            raise ValueError(
                f"RNN input dtype ({data.dtype}) does not match weight dtype ({wanted}). "
                f"Convert input: input.to({wanted}), or convert model: model.to({data.dtype})"
            )
        if data.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, "
                f"got {data.shape[-1]}"
            )
        if self.batch_first and not packed:
            data = data.transpose(0, 1)
        check_has_rule(f"{self.mode.lower()}.{'data' if packed else 'input'}", data, hx, *self.parameters())
        rows = data.shape[1] if sizes is None else sizes[0]
        state = self._begun(data, rows, hx, input.sorted_indices if packed else None)
        out, state = self._run(data, sizes, state)
        if packed:
            state = each(state, lambda h: _ordered(h, input.unsorted_indices))
            kept = (input.batch_sizes, input.sorted_indices, input.unsorted_indices)
            return PackedSequence(out, *kept), state
        if self.batch_first:
            out = out.transpose(0, 1) if self.mode == "LSTM" else out.transpose_(0, 1)
        if not batched:
            out = out.squeeze(0 if self.batch_first else 1)
            state = each(state, lambda h: h.squeeze(1))
        return out, state

    def _begun(self, data: Tensor, rows: int, hx: State, order: Any) -> State:
        count = self.num_layers * (1 + self.bidirectional)
        shapes = [(count, rows, self.proj_size or self.hidden_size), (count, rows, self.hidden_size)]
        if hx is None:
            begun = [zeros(shape, dtype=data.dtype, device=data.device) for shape in shapes]
            return (begun[0], begun[1]) if self.mode == "LSTM" else begun[0]
        for given, name, shape in zip(
            hx if isinstance(hx, tuple) else (hx,), ("hidden[0]", "hidden[1]"), shapes, strict=False
        ):
            if tuple(given.shape) != shape:
                what = f"{name} size" if self.mode == "LSTM" else "hidden size"
                raise RuntimeError(f"Expected {what} {shape}, got {list(given.shape)}")
        return each(hx, lambda h: _ordered(h, order))

    def _run(self, data: Tensor, sizes: list[int] | None, state: State) -> tuple[Tensor, State]:
        """Run all layers; return the outputs of the last one, and the final states."""
        finals: list[State] = []
        directions = 1 + self.bidirectional
        for layer in range(self.num_layers):
            outs = []
            for direction in range(directions):
                at = layer * directions + direction
                weights = [getattr(self, name) for name in self._names[at]]
                begin = each(state, lambda h, at=at: h.select(0, at))
                out, final = self._direction(data, sizes, begin, weights, direction == 1)
                outs.append(out)
                finals.append(final)
            data = outs[0] if len(outs) == 1 else composite.cat(outs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                data = functional.dropout(data, self.dropout, True)
        if self.mode == "LSTM":
            return data, tuple(composite.stack(list(part), 0) for part in zip(*finals, strict=True))
        return data, composite.stack(finals, 0)

    def _direction(
        self, data: Tensor, sizes: list[int] | None, state: State, weights: list[Tensor], back: bool
    ) -> tuple[Tensor, State]:
        """Run one layer in one direction; of packed sequences fewer run at later steps.

        The whole input is multiplied by its weights at once, as PyTorch does on the CPU.
        """
        projection = weights[-1] if self.proj_size else None
        weights = weights[:-1] if self.proj_size else weights
        from_input, of_state = products(weights, 0)(data), products(weights, 1)
        steps = list(from_input.unbind(0) if sizes is None else _narrowed(from_input, sizes))
        outs: list[Tensor] = []
        ended: list[State] = []
        start = state
        rows = steps[-1 if back else 0].shape[0]
        state = _cut_rows(state, rows)
        for x in reversed(steps) if back else steps:
            if x.shape[0] < rows:  # forwards, the shortest have ended
                ended.append(each(state, lambda h, n=x.shape[0]: h.narrow(0, n, h.shape[0] - n)))
                state = _cut(state, x.shape[0])
            elif x.shape[0] > rows:  # backwards, longer ones begin
                state = _grown(state, start, rows, x.shape[0])
            rows = x.shape[0]
            state = next_state(self.mode, x, state, of_state)
            if projection is not None:
                state = functional.linear(state[0], projection), state[1]
            outs.append(state[0] if self.mode == "LSTM" else state)
        joined = composite.stack if sizes is None else composite.cat
        return joined(outs[::-1] if back else outs, 0), _rejoined(state, ended, rows)


def _narrowed(x: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """The rows of each step."""
    return [x.narrow(0, end - size, size) for end, size in zip(accumulate(sizes), sizes, strict=True)]


def _cut_rows(state: State, rows: int) -> State:
    one = state[0] if isinstance(state, tuple) else state
    return state if one.shape[0] == rows else _cut(state, rows)


def _grown(state: State, start: State, have: int, want: int) -> State:
    if isinstance(state, tuple):
        return tuple(_grown(s, b, have, want) for s, b in zip(state, start, strict=True))
    return composite.cat([state, start.narrow(0, have, want - have)], 0)


def each(state: State, change: Any) -> State:
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
        _need_no_projection(more)
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
        _need_no_projection(more)
        super().__init__("GRU", *args, **more)


def _need_no_projection(more: dict[str, Any]) -> None:
    if "proj_size" in more:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
