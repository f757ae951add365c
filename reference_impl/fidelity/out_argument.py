"""The ``out=`` argument: the result of an op is copied into a tensor that the caller brings along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.dispatch import Given, Plan
from reference_impl.core.extension_points import fill
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import levels_of
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
            refuse_by("write/out-is-not-recorded")
        values = (*args, *kwargs.values())
        run, kernel, operands, attributes = planned((*map(type, values), *kwargs), args, kwargs)
        result = run(
            kernel,
            values if operands is None else operands(values),
            kernel.defaults if attributes is None else attributes(values),
        )
        _need_room(kernel.op, result, out)
        return out.resize_(out._warn_of_output(result)._array.shape).copy_(result)

    # `execute` finds the kernel itself; the name is for the messages of refusals.
    return execute, f"{name}_out", None, lambda given: {}  # type: ignore[return-value]


def _need_room(op: Op, result: Tensor, out: Tensor) -> None:
    """Refuse an ``out`` that cannot hold the result's dtype, or that has another if the op does not cast."""
    if not op.casts_out:
        if result.dtype != out.dtype:
            raise NotModelled(f"torch.{op.name}(out=...) of dtype {result.dtype} into {out.dtype}")
    elif op.dtypes in ("float", "keep", "numeric", "promote"):
        out._need_room_for(result)
