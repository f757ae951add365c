"""Functions that are no ops, of tensors on several devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import wraps
from typing import Any

from reference_impl.base.device import CPU, device, making_on, place_of
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor


class Numbers(Enum):
    """The 0-d tensors of the CPU that a function takes beside tensors of a device."""

    NONE = "none"
    LATER = "any but the first, on whose device the result is made"
    ANY = "any"


def meeting(function: Callable[..., Any], numbers: Numbers = Numbers.NONE) -> Callable[..., Any]:
    """Make a function refuse tensors on several devices; what it makes is on theirs."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not STATE.devices:
            return function(*args, **kwargs)
        given = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        with making_on(_place_for(given, numbers)):
            return function(*args, **kwargs)

    return called


def _place_for(given: Iterable[Tensor], numbers: Numbers) -> device:
    place = next((p for x in given if (p := place_of(x)) is not CPU), CPU)
    for at, x in enumerate(given):
        if (here := place_of(x)) is place:
            continue
        taken = numbers is Numbers.ANY or (numbers is Numbers.LATER and at > 0)
        if not (taken and here is CPU and not x.ndim and by("device/number-goes-with-all")):
            refuse_by("device/one-for-all", first=place, other=here)
    return place
