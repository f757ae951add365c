"""Functions that are no ops: where their results are, and for how many these stand."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from reference_impl.base.device import making_on, place_of
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import marking

NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""The parameters that numpy's users call by other names."""


def like_its_operands(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function whose new memory is on the device of its first tensor; it takes numpy's keywords.

    Within a map its result stands for many if a tensor among its arguments does.
    """
    within_a_map = marking(function)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {NUMPY.get(name, name): value for name, value in kwargs.items()}
        run = within_a_map if STATE.transforms else function
        if not STATE.devices:
            return run(*args, **kwargs)
        with making_on(next((place_of(x) for x in args if isinstance(x, Tensor)), None)):
            return run(*args, **kwargs)

    return called
