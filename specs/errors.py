"""How an implementation of ours says no: an exception that carries the rule it obeys.

Which class and which words a refusal has is the rule's business (``specs/rules``), not the caller's.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NoReturn

import numpy as np

from specs.active_rules import by, torch_release
from specs.rule import RULES


class Refusal(Exception):
    """A refusal by rule; raised as a subclass that also is the Python class torch raises there.

    ``says`` is worded with ``details`` when somebody asks.
    """

    rule: str
    says: str
    details: dict[str, Any]

    def __str__(self) -> str:
        return self.says.format_map(_Blank(self.details)) if self.says else self.rule


def _with(base: type[Exception]) -> type[Refusal]:
    return type(f"Refused{base.__name__}", (Refusal, base), {})


_CLASSES = {
    base.__name__: _with(base)
    for base in (
        RuntimeError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        NotImplementedError,
        AssertionError,
    )
}


def admit(base: type[Exception]) -> type[Exception]:
    """Have rules refuse with an exception class that an implementation brings along; a decorator."""
    _CLASSES[base.__name__] = _with(base)
    return base


class _Blank(dict):
    """Details a caller left out read as ``?`` instead of failing the refusal itself."""

    def __missing__(self, key: str) -> str:
        return "?"


@cache
def _of(rule: str, release: str) -> tuple[type[Refusal], str]:
    """The class and the words with which that torch release refuses by ``rule``."""
    spec = RULES.get(rule)
    return (_CLASSES[spec.error_in(release)], spec.says) if spec else (_CLASSES["RuntimeError"], "")


def refusal(rule: str, **details: Any) -> Refusal:
    """The exception that refuses by ``rule``, worded with ``details``."""
    error, says = _of(rule, torch_release())
    exception = error()
    exception.rule, exception.says, exception.details = rule, says, details
    return exception


class NotInForce(Exception):
    """Stands for the refusal of a knocked-out rule: nothing is said of what an op does instead."""


def refuse(rule: str, **details: Any) -> NoReturn:
    """Raise the refusal of ``rule``."""
    if not by(rule):
        raise NotInForce(rule)
    raise refusal(rule, **details)


def need_kernel(name: str, x: Any, lacking: str) -> None:
    """Refuse an array whose dtype the op has no loop for; ``lacking`` are numpy's letters of kinds."""
    if x.dtype.kind in lacking:
        refuse("op/no-kernel", name=name, dtype=x.dtype)


_SINGLE = 3.4028234663852886e38
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": _SINGLE, "complex64": _SINGLE}
"""The largest number of a dtype, or of either part, that holds fewer than Python's floats do."""


def need_fit(value: Any, dtype: np.dtype) -> None:
    """Refuse a number, or an array of one, that elements of that dtype cannot hold; a bool holds any.

    NB: an integer below zero wraps around in an unsigned dtype, a float does not.
    """
    if dtype.kind == "b":
        return
    number = value.item() if isinstance(value, np.ndarray | np.generic) else value
    real, imaginary = (number.real, number.imag) if isinstance(number, complex) else (number, 0)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low = -limits.max if dtype.kind == "u" and isinstance(real, int) else limits.min
        fits = low <= real <= limits.max
    else:
        top = LARGEST.get(dtype.name, math.inf)
        fits = not any(top < abs(part) < math.inf for part in (real, imaginary))
    if not fits or (imaginary and dtype.kind != "c"):
        refuse("op/value-overflow", value=value, dtype=dtype)


def warning(rule: str, **details: Any) -> Warning:
    """The warning of ``rule``, carrying the rule, of the class torch warns with, worded with ``details``."""
    spec = RULES.get(rule)
    category: type[Warning] = FutureWarning if spec and spec.error == "FutureWarning" else UserWarning
    made = category(spec.says.format_map(_Blank(details)) if spec and spec.says else rule)
    made.rule = rule  # type: ignore[attr-defined]
    return made
