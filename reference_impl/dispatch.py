"""From a call to the op it means: overload, operands, attributes; then on to whoever runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reference_impl.apply import call
from reference_impl.record import Kernel
from reference_impl.rule_marks import by
from reference_impl.tensor import Tensor
from reference_impl.write import call_in_place
from reference_impl.zeros import Zeros, call_with_zeros
from specs.op import Overloads
from specs.refusal import Refusal


class Plan:
    """How positional arguments of certain types become an op's operands and attributes."""

    __slots__ = ("attributes", "count", "kernel", "places")

    def __init__(self, kernel: Kernel, count: int) -> None:
        op = kernel.op
        self.kernel = kernel
        order = op.order
        places = tuple(order.index(name) for name in op.names)
        self.count = len(places)
        self.places = None if places == tuple(range(self.count)) else places
        self.attributes = tuple(
            (a.name, order.index(a.name), a.kind.read) for a in op.attributes if order.index(a.name) < count
        )

    def bind(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Operands and attributes."""
        defaults = self.kernel.op.defaults
        operands = args[: self.count] if self.places is None else tuple([args[i] for i in self.places])
        if not self.attributes:
            return operands, defaults
        attributes = defaults.copy()
        for name, at, read in self.attributes:
            attributes[name] = read(args[at])
        return operands, attributes


def dispatch(overloads: Overloads) -> Callable[..., Any]:
    """The Python function that runs whichever overload takes its arguments."""
    kernels = {id(op): Kernel(op) for op in overloads.ops}
    plans: dict[tuple[type, ...], Plan] = {}

    def slowly(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Bind in full, and remember how where the types alone tell."""
        op, operands, attributes = overloads.bind(args, kwargs, Tensor)
        kernel = kernels[id(op)]
        if (
            not kwargs
            and Zeros not in map(type, args)
            and not any(isinstance(a, int) and k.variadic for a, k in zip(args, op._kinds, strict=False))
        ):
            plans[tuple(map(type, args))] = Plan(kernel, len(args))
        return kernel, operands, attributes

    def run(*args: Any, **kwargs: Any) -> Any:
        plan = None if kwargs else plans.get(tuple(map(type, args)))
        try:
            if plan is not None:
                kernel = plan.kernel
                operands, attributes = plan.bind(args)
            else:
                kernel, operands, attributes = slowly(args, kwargs)
            op = kernel.op
            if op.composite:
                return op.body(*operands, **attributes)
        except Refusal as refused:
            if by(refused.rule):
                raise
            return args[0]
        if plan is None and Zeros in map(type, operands):
            return call_with_zeros(kernel, operands, attributes)
        if op.mutates:
            return call_in_place(kernel, operands, attributes)
        return call(kernel, operands, attributes)

    run.__name__ = run.__qualname__ = overloads.name
    run.__doc__ = overloads.ops[0].doc
    return run
