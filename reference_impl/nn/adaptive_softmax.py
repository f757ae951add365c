"""The adaptive softmax: frequent classes first, rarer ones in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from reference_impl.core.tensor import Tensor
from reference_impl.nn import functional
from reference_impl.nn.containers import ModuleList, Sequential
from reference_impl.nn.layers import Linear
from reference_impl.nn.module import Module


class _ASMoutput(NamedTuple):
    """The result of an adaptive softmax."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log probabilities of targets, the rarer in clusters of their own, and their mean loss."""

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
        head_bias: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        ends = list(cutoffs)
        if not ends:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = ends == sorted(set(ends)) and ends[0] > 0 and ends[-1] <= n_classes - 1
        if not rising or any(int(end) != end for end in ends):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*ends, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        made = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for at, (start, end) in enumerate(pairwise(self.cutoffs), 1):
            narrow = int(in_features // div_value**at)
            self.tail.append(
                Sequential(
                    Linear(in_features, narrow, bias=False, **made),
                    Linear(narrow, end - start, bias=False, **made),
                )
            )

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        self.head.reset_parameters()
        for layers in self.tail:
            for layer in layers.children():
                layer.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> _ASMoutput:
        _need_batches(input_, target_)
        single = not target_.ndim
        input = input_.unsqueeze(0) if single else input_
        target = target_.unsqueeze(0) if single else target_
        count = target.shape[0]
        output, places = input.new_zeros(count), target.new_empty(count)
        used = 0
        for at, (low, high) in enumerate(pairwise([0, *self.cutoffs])):
            mask = (target >= low) & (target < high)
            rows = mask.nonzero().squeeze()
            if not rows.numel():
                continue
            if not at:
                places.index_copy_(0, rows, target[mask])
            else:
                self._fill(at, low, rows, target[mask], input, output, places)
            used += rows.numel()
        if used != count:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        head = functional.log_softmax(self.head(input), dim=1)
        output += head.gather(1, places.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def _fill(self, at: int, low: int, rows: Any, target: Any, input: Any, output: Any, places: Any) -> None:
        """Write what a cluster gives for the rows whose targets are in it."""
        relative = target - low
        logits = self.tail[at - 1](input.index_select(0, rows))
        places.index_fill_(0, rows, self.shortlist_size + at - 1)
        local = functional.log_softmax(logits, dim=1).gather(1, relative.unsqueeze(1))
        output.index_copy_(0, rows, local.squeeze(1))

    def _of_all_classes(self, input: Any, head_output: Any) -> Any:
        out = input.new_empty((head_output.shape[0], self.n_classes))
        head: Any = functional.log_softmax(head_output, dim=1)
        out[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for at, (start, end) in enumerate(pairwise(self.cutoffs)):
            cluster = functional.log_softmax(self.tail[at](input), dim=1)
            out[:, start:end] = cluster + head[:, self.shortlist_size + at].unsqueeze(1)
        return out

    def log_prob(self, input: Any) -> Any:
        """The log probabilities of all classes."""
        return self._of_all_classes(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The most probable class of each row."""
        head = self.head(input)
        output = head.argmax(dim=1)
        rarer = output >= self.shortlist_size
        if not rarer.any():
            return output
        if rarer.all():
            return self._of_all_classes(input, head).argmax(dim=1)
        output[rarer] = self._of_all_classes(input[rarer], head[rarer]).argmax(dim=1)
        return output


def _need_batches(input: Any, target: Any) -> None:
    """Refuse an input and a target whose dimensions do not fit."""
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim and input.shape[0] != target.shape[0]:
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with "
            f"size {input.size()}"
        )
