"""L-BFGS (Liu and Nocedal 1989), and its line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from reference_impl.base.modes import enable_grad, no_grad
from reference_impl.base.rules import by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.optim.optimizer import Optimizer
from reference_impl.optim.settings import with_numbers

Phi = Callable[[float], tuple[float, Tensor, Tensor]]
"""The loss at a distance along the direction, with the gradient and its part along the direction."""
_KNOWN = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")
"""The names of that which a step leaves for the next one, unless it was refused."""


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last ``history_size`` changes of the gradient; ``step`` needs a closure."""

    order = ("lr", "max_iter", "max_eval", "tolerance_grad", "tolerance_change", "history_size",
             "line_search_fn")  # fmt: skip

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        settings = {"lr": lr, "max_iter": max_iter, "tolerance_grad": tolerance_grad}
        settings |= {"max_eval": max_iter * 5 // 4 if max_eval is None else max_eval}
        settings |= {"tolerance_change": tolerance_change, "history_size": history_size}
        super().__init__(params, settings | {"line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take up to ``max_iter`` steps; ``closure`` clears the gradients and computes loss and gradients."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        closure, group = enable_grad()(closure), with_numbers(self.param_groups[0])
        state = self.state.setdefault(self._params[0], {})
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss, g, evaluated = float(first), self._gradient(), 1
        state["func_evals"] += 1
        if float(g.abs().max()) <= group["tolerance_grad"]:
            return first
        known = {name: state.get(name) for name in _KNOWN}
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(g, state, known, group["history_size"])
            before, kept = loss, known["prev_flat_grad"]
            known["prev_flat_grad"] = g.clone() if kept is None else kept.copy_(g)
            length = group["lr"]
            if state["n_iter"] == 1:
                length *= min(1.0, 1.0 / float(g.abs().sum()))
            slope = float(g.dot(direction))
            known |= {"d": direction, "t": length, "prev_loss": before}
            if slope > -group["tolerance_change"]:
                break
            counted, last = 0, n == group["max_iter"]
            if group["line_search_fn"] is not None:
                phi = self._along(direction, closure)
                limit = group["max_eval"] - evaluated
                loss, g, length, counted = self._searched(phi, length, direction, (loss, g, slope), limit)
                known["t"] = length
                self._move(direction, length)
            else:
                self._move(direction, length)
                if not last:
                    loss, g, counted = float(closure()), self._gradient(), 1
            evaluated += counted
            state["func_evals"] += counted
            if (
                last
                or evaluated >= group["max_eval"]
                or float(g.abs().max()) <= group["tolerance_grad"]
                or float(direction.mul(length).abs().max()) <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        state |= known
        return first

    def _gradient(self) -> Tensor:
        """All gradients in one vector."""
        parts = [x.new_zeros(x.numel()) if x.grad is None else x.grad.reshape((-1,)) for x in self._params]
        return composite.cat(parts, 0)

    def _move(self, direction: Tensor, length: float) -> None:
        start = 0
        for x in self._params:
            x.add_(direction.narrow(0, start, x.numel()).view_as(x), alpha=length)
            start += x.numel()

    def _direction(self, g: Tensor, state: dict[str, Any], known: dict[str, Any], size: int) -> Tensor:
        """Minus the gradient times an estimate of the inverse Hessian, by the two-loop recursion."""
        if state["n_iter"] == 1 or not by("optim/updates-by-its-algorithm"):
            known |= {"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1}
            return g.neg()
        changes, steps, ro = known["old_dirs"], known["old_stps"], known["ro"]
        change, step = g.sub(known["prev_flat_grad"]), known["d"].mul(known["t"])
        along = change.dot(step)
        if float(along) > 1e-10:
            for kept, new in ((changes, change), (steps, step), (ro, along.reciprocal())):
                del kept[: max(len(kept) - size + 1, 0)]
                kept.append(new)
            known["H_diag"] = along.div(change.dot(change))
        q, shares = g.neg(), state.setdefault("al", [None] * size)
        for i in reversed(range(len(changes))):
            shares[i] = steps[i].dot(q).mul(ro[i])
            q.sub_(changes[i].mul(shares[i]))
        q = q.mul(known["H_diag"])
        for i in range(len(changes)):
            q.add_(steps[i].mul(shares[i].sub(changes[i].dot(q).mul(ro[i]))))
        return q

    def _along(self, direction: Tensor, closure: Callable[[], Any]) -> Phi:
        start = [x.clone() for x in self._params]

        def phi(length: float) -> tuple[float, Tensor, Tensor]:
            self._move(direction, length)
            loss, g = float(closure()), self._gradient()
            for x, old in zip(self._params, start, strict=True):
                x.copy_(old)
            return loss, g, g.dot(direction)

        return phi

    def _searched(
        self, phi: Phi, length: float, direction: Tensor, at_zero: tuple[float, Tensor, float], limit: int
    ) -> tuple[float, Tensor, float, int]:
        if self.param_groups[0]["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        return strong_wolfe(phi, length, float(direction.abs().max()), at_zero, limit)


def _cubic(
    x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, low: float, high: float
) -> float:
    """The minimum, within bounds, of the cubic with these values and slopes; the middle if it has none."""
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2
    root = math.sqrt(square)
    if x1 <= x2:
        place = x2 - (x2 - x1) * ((g2 + root - d1) / (g2 - g1 + 2 * root))
    else:
        place = x1 - (x1 - x2) * ((g1 + root - d1) / (g1 - g2 + 2 * root))
    return min(max(place, low), high)


def strong_wolfe(
    phi: Phi, t: float, size: float, at_zero: tuple[float, Tensor, float], limit: int
) -> tuple[float, Tensor, float, int]:
    """Search a length where the loss and its slope have fallen enough (Nocedal and Wright, algorithm 3.5).

    ``size`` is the largest element of the direction. Returns the loss, the gradient, the length, and
    the number of evaluations; ``limit`` bounds them.
    """
    c1, c2, tolerance, most = 1e-4, 0.9, 1e-9, limit
    f0, g0, slope0 = at_zero
    f, g, slope = phi(t)
    count, last = 1, (0.0, f0, g0, slope0)
    rounds, done = 0, False
    ends: list[tuple[float, float, Tensor, float]] = []
    while rounds < most:
        here = (t, f, g, float(slope))
        rises = f > f0 + c1 * t * slope0 or (rounds > 1 and f >= last[1])
        flat = abs(here[3]) <= -c2 * slope0
        if rises or flat or here[3] >= 0:
            done = flat and not rises
            ends = [here, here] if done else [last, here]
            break
        low, high = t + 0.01 * (t - last[0]), t * 10
        new = _cubic(last[0], last[1], last[3], t, f, here[3], low, high)
        last, t = here, new
        f, g, slope = phi(t)
        count, rounds = count + 1, rounds + 1
    else:
        ends = [(0.0, f0, g0, slope0), (t, f, g, float(slope))]
    if done:
        return ends[0][1], ends[0][2], ends[0][0], count
    return _zoomed(phi, ends, size, (f0, slope0), (rounds, most, count, tolerance), (c1, c2))


def _zoomed(phi: Phi, ends: Any, size: float, start: Any, counts: Any, shares: Any) -> Any:
    """Narrow the bracket until a length fulfils both conditions, or too little is left of it."""
    (f0, slope0), (rounds, most, count, tolerance), (c1, c2) = start, counts, shares
    low, high = (0, 1) if ends[0][1] <= ends[1][1] else (1, 0)
    stuck = False
    while rounds < most:
        (xa, fa, _, sa), (xb, fb, _, sb) = ends
        if abs(xb - xa) * size < tolerance:
            break
        left, right = min(xa, xb), max(xa, xb)
        t = _cubic(xa, fa, sa, xb, fb, sb, left, right)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        f, g, along = phi(t)
        count, rounds, slope = count + 1, rounds + 1, float(along)
        if f > f0 + c1 * t * slope0 or f >= ends[low][1]:
            ends[high] = (t, f, g, slope)
            low, high = (0, 1) if ends[0][1] <= ends[1][1] else (1, 0)
        else:
            flat = abs(slope) <= -c2 * slope0
            if not flat and slope * (ends[high][0] - ends[low][0]) >= 0:
                ends[high] = ends[low]
            ends[low] = (t, f, g, slope)
            if flat:
                break
    return ends[low][1], ends[low][2], ends[low][0], count
