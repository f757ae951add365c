"""Domains and avoidances: the values on which ops are drawn, and the calls that are not drawn, with reasons.

The predicates read raw arrays, so that a generator can apply them to intermediate values too. The exactness
of results is declared by the op (``exact``, ``ulp``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from specs.memory import overlaps_itself, overlaps_partly


@dataclass(frozen=True)
class Domain:
    """Operand values on which an op is drawn: ``holds(array)``, and the ``reason`` to leave out the rest."""

    holds: Callable[[Any], Any]
    reason: str


@dataclass(frozen=True)
class Avoidance:
    """Calls that are not drawn: ``meets(operands, attributes)`` is true for them; ``reason`` says why."""

    meets: Callable[[tuple[Any, ...], Mapping[str, Any]], Any]
    reason: str


def _powers_of_two(x: Any) -> bool:
    x = np.asarray(x)
    if x.dtype.kind == "c":
        # Of whose squared magnitude the parts are exact multiples: an axis or a diagonal.
        real, imag = np.abs(x.real), np.abs(x.imag)
        axis = (real == 0) | (imag == 0) | (real == imag)
        return bool(np.all(axis)) and _powers_of_two(np.maximum(real, imag))
    mantissa, _ = np.frexp(np.abs(x.astype(np.float64)))
    return bool(np.all(mantissa == 0.5))


def _positive(x: Any) -> bool:
    return bool(np.all(np.real(x) > 0))


def _moderate(x: Any) -> bool:
    """Tell whether no element is large, or near a pole, which complex functions have off the real axis."""
    return bool(np.all(np.abs(np.real(x)) <= 8) and np.all(np.abs(np.imag(x)) <= 1))


DOMAINS = {
    "any": Domain(lambda x: True, "no value is left out"),
    "nonzero": Domain(
        lambda x: bool(np.all(np.asarray(x) != 0)),
        "at zero the value or a derivative is inf or nan, and comparisons with nan are not specified",
    ),
    "positive": Domain(
        _positive,
        "at other values the result or a derivative is nan or inf",
    ),
    "power_of_two": Domain(
        _powers_of_two,
        "dividing by other numbers rounds, so that sums depend on the order of summation",
    ),
    "zero_or_power_of_two": Domain(
        lambda x: _powers_of_two(np.where(np.asarray(x) == 0, 1, x)),
        "dividing by other numbers rounds; nothing is divided by zeros",
    ),
    "moderate": Domain(
        _moderate,
        "at larger values the function saturates or overflows, and libraries differ in where",
    ),
}
"""Domains by the name in an op's ``domain``."""


def _count(operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> int:
    """Number of elements of operand 0 that are reduced to one."""
    shape = np.shape(operands[0])
    dim = attributes.get("dim")
    dims = (dim,) if isinstance(dim, int) else dim or range(len(shape))
    return int(np.prod([shape[d] for d in dims if -len(shape) <= d < len(shape)], dtype=np.int64))


AVOIDANCES = {
    "inexact_count": Avoidance(
        lambda operands, attributes: not _powers_of_two(_count(operands, attributes)),
        "dividing by a count that is not a power of two rounds (and dividing by zero gives nan)",
    ),
    "odd_ties": Avoidance(
        lambda operands, attributes: not _powers_of_two(_ties(operands, attributes)),
        "a gradient shared evenly among tied extremes rounds unless their number is a power of two",
    ),
    "partly_overlapping_write": Avoidance(
        lambda operands, attributes: any(
            overlaps_partly(operands[0], value, attributes.get("foreign", False)) for value in operands[1:]
        ),
        "the result depends on the CPU's vector width: elements may be overwritten before they are read",
    ),
    "self_overlapping_target": Avoidance(
        lambda operands, attributes: overlaps_itself(operands[0]),
        "an element written several times keeps the value that the loop writes last",
    ),
    "gradient_shares_a_grad": Avoidance(
        lambda operands, attributes: any(np.shares_memory(operands[0], grad) for grad in operands[1:]),
        "accumulating into that grad writes memory that is still being read",
    ),
    "data_of_other_rank": Avoidance(
        lambda operands, attributes: np.ndim(operands[0]) != np.ndim(operands[1]),
        "torch then compares a gradient of the old rank with strides that do not exist",
    ),
    "data_of_complex_kind": Avoidance(
        lambda operands, attributes: "c" in {a.dtype.kind for a in operands} != {"c"},
        "a formula that holds for real numbers only would get complex ones",
    ),
    "inexact_power": Avoidance(
        lambda operands, attributes: operands[1] not in (0, 1, 2, 3, 4),
        "fractional and negative powers round",
    ),
}
"""Avoidances by the names in an op's ``avoid``; the generator applies those of writes and of ``.data =``."""


def _ties(operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Numbers of elements that share each maximum and each minimum of a reduction of operand 0."""
    x = np.asarray(operands[0])
    axis = attributes.get("dim") or None
    if not x.size:
        return 1
    counts = [np.sum(x == end(x, axis=axis, keepdims=True), axis=axis) for end in (np.max, np.min)]
    return np.concatenate([np.ravel(count) for count in counts])


def within(domain: str | Mapping[str, str], names: tuple[str, ...], operands: tuple[Any, ...]) -> bool:
    """True if operands lie in an op's ``domain`` (one name for all, or one for each operand)."""
    if isinstance(domain, str):
        return domain == "any" or all(DOMAINS[domain].holds(value) for value in operands)
    return all(DOMAINS[domain[n]].holds(v) for n, v in zip(names, operands, strict=True) if n in domain)
