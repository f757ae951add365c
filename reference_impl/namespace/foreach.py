"""``torch._foreach_*``: an op for each tensor of a list, which scripts that clip or average by hand call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

_OPS = (
    "abs", "add", "addcdiv", "addcmul", "clamp_max", "clamp_min", "div", "exp", "lerp", "log", "mul", "neg",
    "norm", "pow", "reciprocal", "sigmoid", "sqrt", "sub", "tanh",
)  # fmt: skip
_WRITES = ("copy", "zero", *(name for name in _OPS if name != "norm"))


def _each(name: str) -> Callable[..., Any]:
    def each(tensors: Sequence[Any], *given: Any, **named: Any) -> Any:
        """Call the op with each tensor, and with the part of each list of operands that stands beside it."""
        for x in given:
            if isinstance(x, (list, tuple)) and len(x) != len(tensors):
                raise RuntimeError(
                    f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(x)}"
                )
        rows = [[x[at] if isinstance(x, (list, tuple)) else x for x in given] for at in range(len(tensors))]
        made = tuple(getattr(x, name)(*row, **named) for x, row in zip(tensors, rows, strict=True))
        return list(tensors) if name.endswith("_") else made

    each.__name__ = f"_foreach_{name}"
    return each


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"_foreach_{name}": _each(name) for name in (*_OPS, *(f"{name}_" for name in _WRITES))
}
"""The functions by name."""
