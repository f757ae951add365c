"""Where ops are drawn and where not: value domains and avoidances, each with its reason, all in this one
place.

The predicates look at raw arrays, so a generator can ask them about intermediate values too, not only about
what it draws itself. Whether a result is exact at all is the op's own ``exact`` and ``ulp``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from specs.memory import overlaps_itself, overlaps_partly


@dataclass(frozen=True)
class Domain:
    """Operand values an op is drawn on: ``holds(array)``, and why the rest is left out."""

    holds: Callable[[Any], Any]
    reason: str


@dataclass(frozen=True)
class Avoidance:
    """Calls an op is not drawn with: ``meets(operands, attributes)`` tells one, ``reason`` says what would
    differ.
    """

    meets: Callable[[tuple[Any, ...], Mapping[str, Any]], Any]
    reason: str


def _powers_of_two(x: Any) -> bool:
    mantissa, _ = np.frexp(np.abs(np.asarray(x, dtype=np.float64)))
    return bool(np.all(mantissa == 0.5))


DOMAINS = {
    "any": Domain(lambda x: True, "nothing is left out"),
    "nonzero": Domain(
        lambda x: bool(np.all(np.asarray(x) != 0)),
        "at zero the value or a derivative is inf or nan, and what nan compares to is nobody's rule",
    ),
    "positive": Domain(
        lambda x: bool(np.all(np.asarray(x) > 0)),
        "outside, the value or a derivative is nan or inf",
    ),
    "power_of_two": Domain(
        _powers_of_two,
        "a quotient by anything else rounds, so that sums of it depend on the order of summation",
    ),
    "zero_or_power_of_two": Domain(
        lambda x: _powers_of_two(np.where(np.asarray(x) == 0, 1, x)),
        "a quotient by anything else rounds; where there is a zero nothing is divided",
    ),
    "moderate": Domain(
        lambda x: bool(np.all(np.abs(np.asarray(x)) <= 8)),
        "further out the function saturates or overflows, and libraries differ in where",
    ),
}
"""Domains of operand values, by the name an op's ``domain`` gives."""


def _count(operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> int:
    """How many elements of operand 0 go into one element of a reduction."""
    shape = np.shape(operands[0])
    dim = attributes.get("dim")
    dims = (dim,) if isinstance(dim, int) else dim or range(len(shape))
    return int(np.prod([shape[d] for d in dims if -len(shape) <= d < len(shape)], dtype=np.int64))


AVOIDANCES = {
    "inexact_count": Avoidance(
        lambda operands, attributes: not _powers_of_two(_count(operands, attributes)),
        "dividing by a count that is no power of two rounds (and by zero gives nan)",
    ),
    "odd_ties": Avoidance(
        lambda operands, attributes: not _powers_of_two(_ties(operands, attributes)),
        "a gradient shared evenly among tied extremes rounds unless their number is a power of two",
    ),
    "partly_overlapping_write": Avoidance(
        lambda operands, attributes: any(
            overlaps_partly(operands[0], value, attributes.get("foreign", False)) for value in operands[1:]
        ),
        "what is overwritten already when it is read depends on how much the processor takes at once",
    ),
    "self_overlapping_target": Avoidance(
        lambda operands, attributes: overlaps_itself(operands[0]),
        "an element that is written several times ends up with whichever the loop writes last",
    ),
    "gradient_shares_a_grad": Avoidance(
        lambda operands, attributes: any(np.shares_memory(operands[0], grad) for grad in operands[1:]),
        "accumulating into that grad then writes what is still being read",
    ),
    "data_of_other_rank": Avoidance(
        lambda operands, attributes: np.ndim(operands[0]) != np.ndim(operands[1]),
        "a gradient of the old rank is then held against strides that are not there",
    ),
    "data_of_complex_kind": Avoidance(
        lambda operands, attributes: "c" in {a.dtype.kind for a in operands} != {"c"},
        "a formula that holds for real numbers only then meets a complex one that its op was never drawn on",
    ),
    "inexact_power": Avoidance(
        lambda operands, attributes: operands[1] not in (0, 1, 2, 3, 4),
        "fractional and negative powers round",
    ),
}
"""Whole calls that are not drawn, by the names in an op's ``avoid`` (those of writes and of ``.data =``
by the generator).
"""


def _ties(operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """How many elements share each extreme of a reduction of operand 0, at either end."""
    x = np.asarray(operands[0])
    axis = attributes.get("dim") or None
    if not x.size:
        return 1
    counts = [np.sum(x == end(x, axis=axis, keepdims=True), axis=axis) for end in (np.max, np.min)]
    return np.concatenate([np.ravel(count) for count in counts])


def within(domain: str | Mapping[str, str], names: tuple[str, ...], operands: tuple[Any, ...]) -> bool:
    """Whether raw operands lie in an op's ``domain`` (one name for all, or one per operand)."""
    if isinstance(domain, str):
        return domain == "any" or all(DOMAINS[domain].holds(value) for value in operands)
    return all(DOMAINS[domain[n]].holds(v) for n, v in zip(names, operands, strict=True) if n in domain)
