"""Bounds on the magnitude of results, in bits, so that drawn programs stay exact.

An op's declaration says how its results grow (`Op.grows`). Values are never read here; the values on which
an op may be drawn are in ``specs/domain.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance.generate.state.tensor_info import Store

Bound = tuple[int, int]
"""Integer bits and fractional bits."""


def _keeps(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    bits = frac = 0
    for store in stores:  # NB: calls of max() would take several times as long
        bits = store.bits if store.bits > bits else bits
        frac = store.frac if store.frac > frac else frac
    return bits, frac


def _adds(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    bits, frac = _keeps(stores, size, call)
    return bits + 1, frac


def _totals(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    return stores[0].bits + size.bit_length(), stores[0].frac


def _averages(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    return stores[0].bits, stores[0].frac + size.bit_length()


def _multiplies(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    bits = frac = 0
    for store in stores:
        bits += store.bits
        frac += store.frac
    return bits, frac


def _squares(stores: list[Store], size: int, call: Sequence[Any]) -> Bound:
    return 2 * stores[0].bits, 2 * stores[0].frac


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
    "contracts": _contracts,
    "keeps": _keeps,
    "adds": _adds,
    "totals": _totals,
    "averages": _averages,
    "multiplies": _multiplies,
    "squares": _squares,
    "multiplies_all": _multiplies_all,
    "divides": _divides,
    "inverts": _inverts,
    "raises": _raises,
    "explodes": _explodes,
    "saturates": _saturates,
}
"""Bounds by the value of `Op.grows`, given the operands, the size of the first one, and the call."""


def bounds_of_number(number: Any) -> Store:
    """Return the bounds of a Python number."""
    if isinstance(number, complex):
        number = max(abs(number.real), abs(number.imag))
    numer, denom = float(number).as_integer_ratio()
    return Store(max(1, (abs(numer) // denom).bit_length()), denom.bit_length() - 1)
