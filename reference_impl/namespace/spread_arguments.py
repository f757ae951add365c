"""The arguments of ``var`` and ``std``, alone and with the mean: three overloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.rules import refuse_arguments
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.like_operands import NUMPY

_BY_PLACE = ("dim", "unbiased", "keepdim")


def spread_arguments(name: str, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the dimensions, and what is left by name with ``correction`` in place of ``unbiased``.

    That flag goes alone, or behind dimensions and without a ``correction``. Refuses anything else.
    """
    alone = len(given) == 1 and isinstance(given[0], bool)
    by_place = {"unbiased": given[0]} if alone else dict(zip(_BY_PLACE, given, strict=False))
    by_name = {NUMPY.get(each, each): value for each, value in named.items()}
    found = by_place | by_name
    fits = len(found) == len(given) + len(named) and type(found.get("keepdim", False)) is bool
    fits = fits and not isinstance(found.get("dim"), bool)
    if "unbiased" in found:
        fits = fits and type(found["unbiased"]) is bool and "correction" not in found
        fits = fits and ("dim" in found or found.keys() == {"unbiased"})
    if not fits:
        refuse_arguments(name, given, named)
    if "unbiased" in found:
        found["correction"] = int(found.pop("unbiased"))
    elif found.get("correction", 1) is None:
        del found["correction"]
    return found.pop("dim", None), found


def with_unbiased(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Add the ``unbiased`` flag, which stands for a correction of 1 or 0, to ``var`` or ``std``."""

    def measure(input: Tensor, *given: Any, **named: Any) -> Tensor:
        dim, how = spread_arguments(function.__name__, given, named)
        return function(input, dim, **how)

    return measure
