"""From a call to the op it means: overload, operands, attributes; then on to whoever runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.apply import call, call_view
from reference_impl.core.inplace import call_in_place
from reference_impl.core.record import Kernel
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity import cross_device
from reference_impl.fidelity.zero_tensor import Zeros, call_with_zeros, compose_with_zeros
from specs.errors import Refusal
from specs.op import Op, Overloads
from specs.signature import picker

Given = tuple[Any, ...]
"""Arguments, the values of keywords behind the others."""
Plan = tuple[
    Callable[..., Any],
    Kernel,
    Callable[[Given], Any] | None,
    Callable[[Given], dict[str, Any]] | None,
]
"""What arguments of certain types mean: who runs the op, the op, and how to tell its operands (None: they are
all that is given) and its attributes (None: they have their defaults).
"""


def _plan(kernel: Kernel, places: Mapping[str, Any], types: tuple[type, ...]) -> Plan:
    """The plan for arguments of those types, at whose ``places`` the op's parameters stand."""
    op = kernel.op
    operands = [places[name] for name in op.names]
    whole = operands == list(range(len(types)))
    run = _runner(op, any(issubclass(types[at], Zeros) for at in operands))
    return run, kernel, None if whole else picker(operands), _reader(op, places)


def _reader(op: Op, places: Mapping[str, Any]) -> Callable[[Given], dict[str, Any]] | None:
    """The function that finds the attributes among the arguments."""
    passed = tuple((a.name, places[a.name], a.kind.read) for a in op.attributes if a.name in places)
    if not passed:
        return None
    if len(passed) == len(op.attributes) == 1:
        return _one_reader(*passed[0])

    def read(given: Given) -> dict[str, Any]:
        attributes = op.defaults.copy()
        for name, at, read in passed:
            attributes[name] = read(given[at])
        return attributes

    return read


def _one_reader(name: str, at: Any, read: Callable[[Any], Any]) -> Callable[[Given], dict[str, Any]]:
    """The function that finds the only attribute there is."""
    return lambda given: {name: read(given[at])}


def _into(name: str, planned: Callable[..., Plan], count: int, names: tuple[str, ...]) -> Plan:
    """The plan for arguments among which is an ``out`` to put the result into."""

    def execute(kernel: Any, given: Given, attributes: Any) -> Tensor:
        args, kwargs = given[:count], dict(zip(names, given[count:], strict=True))
        out = kwargs.pop("out")
        tensors = [x for x in (*given, out) if isinstance(x, Tensor)]
        if STATE.enabled and any(x.requires_grad for x in tensors):
            refuse_by("write/out-is-not-recorded")
        values = (*args, *kwargs.values())
        run, kernel, operands, attributes = planned((*map(type, values), *kwargs), args, kwargs)
        made = run(
            kernel,
            values if operands is None else operands(values),
            kernel.defaults if attributes is None else attributes(values),
        )
        _need_room(kernel.op, made, out)
        return out.resize_(out._warn_of_output(made)._array.shape).copy_(made)

    # It finds the kernel itself; the name is for who refuses it.
    return execute, f"{name}_out", None, lambda given: {}  # type: ignore[return-value]


def _need_room(op: Op, made: Tensor, out: Tensor) -> None:
    """Refuse an ``out`` that cannot hold the result's dtype, or that has another if the op does not cast."""
    if not op.casts_out:
        if made.dtype != out.dtype:
            raise NotImplementedError(f"{op.name} of dtype {made.dtype} with an out of dtype {out.dtype}")
    elif op.dtypes in ("float", "keep", "numeric", "promote"):
        out._need_room_for(made)


def _runner(op: Op, zeros: bool) -> Callable[..., Any]:
    """Who runs an op that was given zeros without memory, or none."""
    if op.composite:
        return compose_with_zeros if zeros else _call_composite
    if zeros:
        return call_with_zeros
    if op.mutates:
        return call_in_place
    return call_view if op.view else call


def _call_composite(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    return kernel.op.body(*operands, **attributes)


def dispatch(overloads: Overloads) -> Callable[..., Any]:
    """The Python function that runs whichever overload takes its arguments."""
    kernels = {op.key: Kernel(op) for op in overloads.ops}
    plans: dict[Any, Plan] = {}

    def planned(key: Any, args: Given, kwargs: Mapping[str, Any]) -> Plan:
        """The plan for arguments of these types, remembered: it depends on nothing else."""
        if "out" in kwargs:
            plan = plans[key] = _into(overloads.name, planned, len(args), tuple(kwargs))
            return plan
        types = tuple(map(type, args))
        named = {name: type(value) for name, value in kwargs.items()}
        op = overloads.choose(types, named, Tensor)
        plan = plans[key] = _plan(kernels[op.key], op.places(types, kwargs), (*types, *named.values()))
        return plan

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            given = args
            key: Any
            if kwargs:
                given = (*args, *kwargs.values())
                key = (*map(type, given), *kwargs)
            elif len(args) == 1:
                key = type(args[0])
            elif len(args) == 2:
                key = type(args[0]), type(args[1])
            else:
                key = tuple(map(type, args))
            execute, kernel, operands, attributes = plans.get(key) or planned(key, args, kwargs)
            if STATE.level is not None:
                execute = partial(STATE.level.run, execute)
            if STATE.devices:
                execute = partial(cross_device.run, execute)
            return execute(
                kernel,
                given if operands is None else operands(given),
                kernel.defaults if attributes is None else attributes(given),
            )
        except Refusal as refused:
            if by(refused.rule):
                raise
            return args[0]

    run.__name__ = run.__qualname__ = overloads.name
    run.__doc__ = overloads.ops[0].doc
    return run
