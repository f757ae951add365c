"""The ``out=`` argument: the result of an op is copied into a tensor that the caller brings along."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reference_impl.base.device import place_of
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.core import extension_points
from reference_impl.core.dispatch import Given, Plan
from reference_impl.core.extension_points import fill
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import levels_of
from specs.dtype_names import type_in_c
from specs.op import Op


@fill
def plan_with_out(name: str, planned: Callable[..., Plan], count: int, names: tuple[str, ...]) -> Plan:
    """Plan a call whose result goes into an ``out``."""

    def execute(kernel: Any, given: Given, attributes: Any) -> Tensor:
        args, kwargs = given[:count], dict(zip(names, given[count:], strict=True))
        out = kwargs.pop("out")
        tensors = [x for x in (*given, out) if isinstance(x, Tensor)]
        if STATE.transforms and levels_of(*tensors):
            why = "the fallback path doesn't work on out= or view ops."
            refuse_by("functional/vmap-has-no-rule", why=f"aten::{name}.out; {why}")
        if STATE.enabled and any(x.requires_grad for x in tensors):
            refuse_by("write/out-is-not-recorded", name=name)
        values = (*args, *kwargs.values())
        run, kernel, operands, attributes = planned((*map(type, values), *kwargs), args, kwargs)
        if STATE.devices:
            run = functools.partial(extension_points.run_on_devices, run)
        result = run(
            kernel,
            values if operands is None else operands(values),
            kernel.defaults if attributes is None else attributes(values),
        )
        if (place := place_of(result)) is not place_of(out):
            refuse_by("device/one-for-all", first=place, other=place_of(out))
        _need_room(kernel.op, result, out)
        return out._shaped_for(result).copy_(result)

    # `execute` finds the kernel itself; the name is for the messages of refusals.
    return execute, f"{name}_out", None, lambda given: {}  # type: ignore[return-value]


def taking_out(function: Callable[..., Any], *, casts: bool, name: str | None = None) -> Callable[..., Any]:
    """Give a function that is no op the argument ``out``; of several results, a tuple of them, which have the
    dtypes of these.
    """

    @functools.wraps(function)
    def call(*args: Any, out: Any = None, **named: Any) -> Any:
        if out is None:
            return function(*args, **named)
        outs = (out,) if isinstance(out, Tensor) else tuple(out)
        given = [x for each in args for x in (each if isinstance(each, (list, tuple)) else (each,))]
        tensors = [x for x in (*given, *named.values(), *outs) if isinstance(x, Tensor)]
        if STATE.enabled and any(x.requires_grad for x in tensors):
            refuse_by("write/out-is-not-recorded", name=name or function.__name__)
        result = function(*args, **named)
        results = (result,) if isinstance(result, Tensor) else tuple(result)
        for one, into in zip(results, outs, strict=True):
            if not (casts and one is result) and into.dtype != one.dtype:
                raise RuntimeError(
                    f"Expected out tensor to have dtype {type_in_c(one)}, but got {type_in_c(into)} instead"
                )
            into._need_room_for(one)
            into._shaped_for(one).copy_(one)
        return out if isinstance(result, Tensor) else type(result)(*outs)

    return call


def _need_room(op: Op, result: Tensor, out: Tensor) -> None:
    """Refuse an ``out`` that cannot hold the result's dtype, or that has another if the op does not cast."""
    if not op.casts_out:
        if result.dtype != out.dtype:
            raise NotModelled(f"torch.{op.name}(out=...) of dtype {result.dtype} into {out.dtype}")
    elif op.dtypes in ("float", "keep", "numeric", "promote"):
        out._need_room_for(result)
