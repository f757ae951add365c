"""The loss of connectionist temporal classification: of all ways to spell a target, blanks between."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.kind import Bool, Count, Indices, IntList, Tensor
from specs.op import op
from specs.ops.helpers import without_derivative

_FACTS: dict[str, Any] = {
    "internal": True,
    "dtypes": "keep",
    "exact": False,
    "ulp": 64,
    "torch_names": {"logs": "log_probs"},
}
Lengths = tuple[int, ...]


def _spelled(targets: np.ndarray, counts: Lengths, blank: int) -> list[np.ndarray]:
    """Each target with blanks around its labels; targets are rows, or all in one row."""
    starts = np.cumsum((0, *counts))
    found = []
    for n, count in enumerate(counts):
        labels = targets[n, :count] if targets.ndim == 2 else targets[starts[n] : starts[n + 1]]
        spelled = np.full(2 * count + 1, blank)
        spelled[1::2] = labels
        found.append(spelled)
    return found


def _forwards(logs: np.ndarray, spelled: np.ndarray) -> np.ndarray:
    """The logarithms of the probabilities to have spelled so much at each time."""
    seen = logs[:, spelled]
    out = np.full(seen.shape, -np.inf)
    if not len(seen):
        return out
    jumps = np.zeros(len(spelled), bool)
    jumps[2:] = spelled[2:] != spelled[:-2]
    out[0, :2] = seen[0, :2]
    for t in range(1, len(seen)):
        stayed = out[t - 1]
        step = np.concatenate([[-np.inf], stayed[:-1]])
        jump = np.where(jumps, np.concatenate([[-np.inf, -np.inf], stayed[:-2]])[: len(spelled)], -np.inf)
        out[t] = np.logaddexp(np.logaddexp(stayed, step), jump) + seen[t]
    return out


def _loss(forwards: np.ndarray) -> float:
    if not len(forwards):
        return 0.0 if forwards.shape[1] == 1 else np.inf
    return float(-np.logaddexp.reduce(forwards[-1, -2:]))


@op(node="CtcLossBackward0", lacks="biuceV", kernel="ctc_loss", **_FACTS)
def _ctc(
    logs: Tensor, targets: Indices, *, lengths: IntList, counts: IntList, blank: Count, finite: Bool
) -> Any:
    """Minus the logarithm of the probability of each target; saves its result."""
    spelled = _spelled(targets, counts, blank)
    losses = [_loss(_forwards(logs[: lengths[n], n], each)) for n, each in enumerate(spelled)]
    return np.array(losses, logs.dtype)


@op(node="torch::autograd::NotImplemented", **_FACTS)
def _ctc_backward(
    dy: Tensor, logs: Tensor, targets: Indices, losses: Tensor, *,
    lengths: IntList, counts: IntList, blank: Count, finite: Bool,
) -> Any:  # fmt: skip
    """The gradient, as if the logarithms came from a softmax; zero of impossible targets if ``finite``."""
    out = np.zeros_like(logs, order="C")
    for n, spelled in enumerate(_spelled(targets, counts, blank)):
        if finite and losses[n] == np.inf:
            continue
        of_one = logs[: lengths[n], n].astype(np.float64)
        both = _forwards(of_one, spelled) + _forwards(of_one[::-1], spelled[::-1])[::-1, ::-1]
        reached = np.full(of_one.shape, -np.inf)
        for at, label in enumerate(spelled):
            reached[:, label] = np.logaddexp(reached[:, label], both[:, at])
        out[: lengths[n], n] = (np.exp(of_one) - np.exp(reached + losses[n] - of_one)) * dy[n]
    return out


_ctc.wrt(
    logs=lambda g, logs, targets, out, lengths, counts, blank, finite: g._ctc_backward(
        logs, targets, out, lengths=lengths, counts=counts, blank=blank, finite=finite
    )
)
_ctc_backward.wrt(**dict.fromkeys(("dy", "logs", "losses"), without_derivative("_ctc_loss_backward")))
