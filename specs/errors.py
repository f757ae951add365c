"""Refusals: exceptions that carry the rule they obey.

Their class and wording come from the rule (``specs/rules``), not from the caller.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

import numpy as np

from specs.active_rules import by, torch_release
from specs.rule import RULES


class Unspecified(NotImplementedError):
    """Raised where PyTorch's result depends on the processor or on uninitialised memory."""


AT_ONCE = "a device does at once what the CPU does in order: "


class UnspecifiedOrder(Unspecified):
    """Raised where PyTorch's result depends on what a device comes to first; ``why`` says of what it does."""

    def __init__(self, why: str) -> None:
        super().__init__(AT_ONCE + why)


def unspecified_unless(specified: bool, why: str) -> None:
    """Raise `Unspecified` where PyTorch's result is not specified."""
    if not specified:
        raise Unspecified(why)


class Refusal(Exception):
    """A refusal by a rule, raised as a subclass that is also the exception class that torch raises.

    The text is formatted from ``says`` and ``details`` on demand.
    """

    rule: str
    says: str
    details: dict[str, Any]

    def __str__(self) -> str:
        return self.in_own_words()

    def in_own_words(self) -> str:
        """Return the reference's own text."""
        try:
            return self.says.format(**self.details) or self.rule
        except KeyError:
            return self.says.format_map(_Blank(self.details))


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
    """Let rules refuse with an exception class of an implementation; a decorator."""
    _CLASSES[base.__name__] = _with(base)
    return base


class _Blank(dict):
    """Details, with ``?`` for those that a caller left out."""

    def __missing__(self, key: str) -> str:
        return "?"


@cache
def _of(rule: str, release: str) -> tuple[type[Refusal], str]:
    """Class and text of a refusal by ``rule`` in that torch release."""
    spec = RULES.get(rule)
    return (_CLASSES[spec.error_in(release)], spec.says) if spec else (_CLASSES["RuntimeError"], "")


def refusal(rule: str, **details: Any) -> Refusal:
    """Return the exception of a refusal by ``rule``, with ``details`` for its text."""
    error, says = _of(rule, torch_release())
    exception = error()
    exception.rule, exception.says, exception.details = rule, says, details
    return exception


class NotInForce(Exception):
    """Raised in place of the refusal of a knocked-out rule: the op's result is then not specified."""


def refuse(rule: str, **details: Any) -> NoReturn:
    """Raise the refusal of ``rule``."""
    if not by(rule):
        raise NotInForce(rule)
    raise refusal(rule, **details)


def need_kernel(name: str, x: Any, lacking: str) -> None:
    """Refuse an array (or its dtype) without a kernel.

    ``lacking`` are numpy's letters of kinds (bfloat16 is V), and e for float16; after a dash, of dtypes of
    those kinds that have one.
    """
    dtype = np.dtype(getattr(x, "dtype", x))
    if _is_among(dtype, lacking):
        refuse("op/no-kernel", name=name, dtype=dtype)


def need_late_kernel(rule: str, name: str, x: Any, lacking: str) -> None:
    """Refuse those dtypes unless ``rule`` holds, which tells since which release they have a kernel."""
    dtype = np.dtype(getattr(x, "dtype", x))
    if _is_among(dtype, lacking) and not by(rule):
        refuse("op/no-kernel", name=name, dtype=dtype)


def _is_among(dtype: np.dtype, letters: str) -> bool:
    kinds, _, but = letters.partition("-")
    return (dtype.kind in kinds or (dtype.char == "e" and "e" in kinds)) and dtype.char not in but


def taking(body: Callable[..., Any], name: str, lacking: str) -> Callable[..., Any]:
    """The body of an op that refuses a first operand without a kernel; itself if none is ``lacking``."""
    if not lacking:
        return body

    @functools.wraps(body)
    def taking(*operands: Any, **given: Any) -> Any:
        need_kernel(name, operands[0] if operands else next(iter(given.values())), lacking)
        return body(*operands, **given)

    return taking


_SINGLE = 3.4028234663852886e38
LARGEST_NUMBERS = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": _SINGLE,
    "complex64": _SINGLE,
}
"""The largest number of each dtype (or of its parts) that is narrower than Python's floats."""


def need_fit(value: Any, dtype: np.dtype, case: str = "") -> None:
    """Refuse a number, or an array of one element, that does not fit the dtype; a bool holds any.

    A negative integer wraps around in an unsigned dtype; a negative float does not.
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
        top = LARGEST_NUMBERS.get(dtype.name, math.inf)
        fits = not any(top < abs(part) < math.inf for part in (real, imaginary))
    if not fits or (imaginary and dtype.kind != "c"):
        refuse("op/value-overflow", value=value, dtype=dtype, case=case)


def warning(rule: str, **details: Any) -> Warning:
    """Return the warning of ``rule``, of torch's class, with ``details`` for its text."""
    spec = RULES.get(rule)
    category: type[Warning] = FutureWarning if spec and spec.error == "FutureWarning" else UserWarning
    made = category(spec.says.format_map(_Blank(details)) if spec and spec.says else rule)
    made.rule, made.details = rule, details  # type: ignore[attr-defined]
    return made
