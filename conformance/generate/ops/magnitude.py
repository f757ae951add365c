"""Bounds on what arithmetic gives, so that drawn programs stay exact: how many bits each op's result spans.

One table by op name; an op that is not in it is taken to multiply its operands and to add the products up.
Values themselves are never looked at here; which op may be drawn on which values is ``specs/domain.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance.generate.state.tensor_info import Store

Bound = tuple[int, int]
"""Integer bits and fractional bits."""


def _keeps(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    bits = frac = 0
    for store in stores:
        bits, frac = max(bits, store.bits), max(frac, store.frac)
    return bits, frac


def _adds(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    bits, frac = _keeps(stores, size, call)
    return bits + 1, frac


def _totals(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    return stores[0].bits + size.bit_length(), stores[0].frac


def _averages(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    return stores[0].bits, stores[0].frac + size.bit_length()


def _multiplies(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    return sum(s.bits for s in stores), sum(s.frac for s in stores)


def _contracts(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    bits, frac = _multiplies(stores, size, call)
    return bits + size.bit_length(), frac


def _divides(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    x, y = stores[0], stores[-1]
    return x.bits + y.frac, x.frac + y.bits


def _inverts(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    x = stores[0]
    return x.bits + x.frac, x.bits + x.frac


def _multiplies_all(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    return stores[0].bits * size, stores[0].frac * size


def _raises(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    exponent = next((n for n in call if isinstance(n, int | float)), 4)
    times = max(1, int(abs(exponent)))
    bits, frac = stores[0].bits * times, stores[0].frac * times
    return (frac + bits, frac + bits) if exponent < 0 else (bits, frac)


def _saturates(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    return 2, 0


def _explodes(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    return (3 << stores[0].bits) // 2, 0


GROWTH: dict[str, Callable[[list[Store], int, Sequence[Any]], Bound]] = {
    **dict.fromkeys(
        [
            "neg",
            "abs",
            "relu",
            "maximum",
            "minimum",
            "where",
            "clamp",
            "amax",
            "amin",
            "clone",
            "flip",
            "gather",
            "index_select",
            "masked_fill",
            "copy",
            "zero",
            "fill",
            "setitem",
            "getitem",
            "contiguous",
            "to",
            "double",
            "half",
            "bfloat16",
            "float",
            "sort",
            "pos",
            "sgn",
            "sign",
        ],
        _keeps,
    ),
    **dict.fromkeys(["add", "sub", "rsub"], _adds),
    **dict.fromkeys(["sum", "cumsum", "index_add", "scatter_add"], _totals),
    **dict.fromkeys(["mul", "square"], _multiplies),
    **dict.fromkeys(["mm", "mv", "dot", "matmul", "rmatmul", "outer"], _contracts),
    **dict.fromkeys(["prod", "cumprod"], _multiplies_all),
    **dict.fromkeys(
        [
            "sin",
            "cos",
            "tanh",
            "sigmoid",
            "log",
            "sqrt",
            "gt",
            "lt",
            "ge",
            "le",
            "eq",
            "ne",
            "isnan",
            "argmax",
            "argmin",
        ],
        _saturates,
    ),
    "mean": _averages,
    "div": _divides,
    "rtruediv": _inverts,
    "reciprocal": _inverts,
    "pow": _raises,
    "rpow": _explodes,
    "exp": _explodes,
    "square": lambda stores, size, call: (2 * stores[0].bits, 2 * stores[0].frac),
}

JUMPS = frozenset(
    [
        "relu",
        "abs",
        "maximum",
        "minimum",
        "clamp",
        "amax",
        "amin",
        "gt",
        "lt",
        "ge",
        "le",
        "eq",
        "ne",
        "where",
        "argmax",
        "argmin",
        "sign",
        "sgn",
        "sort",
        "masked_fill",
    ]
)
"""Ops whose value or derivative jumps: they are kept away from rounded operands, on which they may go
either way.
"""


def of_number(number: Any) -> Store:
    """The bounds of a Python number."""
    if isinstance(number, complex):
        number = max(abs(number.real), abs(number.imag))
    numer, denom = float(number).as_integer_ratio()
    return Store(max(1, (abs(numer) // denom).bit_length()), denom.bit_length() - 1)
