"""Dispatch: find the overload that a call means, and pass its operands and attributes to whatever runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from reference_impl.base.quietly import run_quietly
from reference_impl.base.rules import by, refuse_arguments
from reference_impl.base.session import STATE
from reference_impl.core import extension_points
from reference_impl.core.apply import call, call_view
from reference_impl.core.inplace import call_in_place
from reference_impl.core.kernel import Kernel
from reference_impl.core.tensor import Tensor
from specs.op import Op, Overloads
from specs.signature import picker

Given = tuple[Any, ...]
"""Arguments, the values of keywords behind the others."""
Plan = tuple[
    Callable[..., Any], Kernel, Callable[[Given], Any] | None, Callable[[Given], dict[str, Any]] | None
]
"""The meaning of arguments of certain types: the function that runs the op, the op's kernel, and the readers
of its operands (None: all arguments are operands) and of its attributes (None: they have their defaults).
"""


def _plan(kernel: Kernel, places: Mapping[str, Any], types: tuple[type, ...]) -> Plan:
    """Plan a call with arguments of these types; ``places`` maps the op's parameters to arguments."""
    op = kernel.op
    operands = [places[name] for name in op.names]
    whole = operands == list(range(len(types)))
    run = runner(op, tuple([types[at] for at in operands]))
    return run, kernel, None if whole else picker(operands), _reader(op, places)


def _reader(op: Op, places: Mapping[str, Any]) -> Callable[[Given], dict[str, Any]] | None:
    """Make the function that reads the attributes among the arguments; None if none is given."""
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
    """Make the function that reads the only attribute of an op."""
    return lambda given: {name: read(given[at])}


def runner(op: Op, types: tuple[type, ...]) -> Callable[..., Any]:
    """The function that runs an op on operands of these types."""
    special = extension_points.runner_for(op, types)
    if special is not None:
        return special
    if op.composite:
        return _call_by_name if op.interleaved else _call_composite
    if op.mutates:
        return call_in_place
    return call_view if op.view else call


def _call_composite(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    return kernel.op.body(*operands, **attributes)


def _call_by_name(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    return kernel.op.body(**dict(zip(kernel.op.names, operands, strict=True)), **attributes)


def _planner(overloads: Overloads, plans: dict[Any, Plan], operator: bool) -> Callable[..., Plan]:
    """Make the function that plans a call and remembers the plan in ``plans``."""
    kernels: dict[str, Kernel] = {}

    def kernel_of(op: Op) -> Kernel:
        """Make the kernel of an op where it is wanted first: most programs call few of the ops."""
        if op.key not in kernels:
            kernels[op.key] = Kernel(op)
        return kernels[op.key]

    def planned(key: Any, args: Given, kwargs: Mapping[str, Any]) -> Plan:
        """Plan a call; the plan depends on nothing but the types of the arguments."""
        if "out" in kwargs:
            plans[key] = extension_points.plan_with_out(overloads.name, planned, len(args), tuple(kwargs))
        else:
            types = tuple(map(type, args))
            named = {name: type(value) for name, value in kwargs.items()}
            if _numpys((*types, *named.values()), not overloads.fitting(types, named, Tensor)):
                return _with_plain_numbers(planned, args, kwargs)
            if operator and any(_is_foreign(overloads, given) for given in types[1:]):
                return _left_to_python, kernel_of(overloads.ops[0]), None, None
            op = overloads.choose(types, named, Tensor)
            plans[key] = _plan(kernel_of(op), op.places(types, kwargs), (*types, *named.values()))
        return plans[key]

    return planned


def _numpys(types: tuple[type, ...], any_kind: bool) -> bool:
    """Tell whether a number of numpy's is among the arguments, or one that is a Python float too."""
    return any(issubclass(given, np.generic if any_kind else np.float64) for given in types)


def _with_plain_numbers(planned: Callable[..., Plan], args: Given, kwargs: Mapping[str, Any]) -> Plan:
    """Plan a call with numpy's numbers, which count as Python's."""
    plain, named = _plain(args), dict(zip(kwargs, _plain(tuple(kwargs.values())), strict=True))
    run, kernel, operands, attributes = planned((*map(type, plain), *kwargs), plain, named)

    def plain_operands(given: Given) -> Any:
        return _plain(given) if operands is None else operands(_plain(given))

    def plain_attributes(given: Given) -> dict[str, Any]:
        return kernel.defaults if attributes is None else attributes(_plain(given))

    return run, kernel, plain_operands, plain_attributes


def _plain(given: Given) -> Given:
    return tuple([each.item() if isinstance(each, np.generic) else each for each in given])


def _is_foreign(overloads: Overloads, given: type) -> bool:
    """Tell whether an operator takes no second operand of that type."""
    return not any(op._kinds[1].takes(given, Tensor) for op in overloads.ops)


def _is_of_numbers(given: Any) -> bool:
    return isinstance(given, np.ndarray) and given.dtype.kind in "biufc"


def _left_to_python(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Leave an operator to its other operand; with some, arrays of numpy's are for tensors."""
    if kernel.op.with_array is not None and _is_of_numbers(operands[1]):
        return kernel.op.with_array(*operands)
    if by("op/operators-leave-what-is-foreign"):
        return NotImplemented
    refuse_arguments(kernel.op.name, operands)


def dispatch(overloads: Overloads, operator: bool = False) -> Callable[..., Any]:
    """Make the Python function that runs the overload which takes its arguments; an ``operator`` leaves
    operands that are neither tensors nor numbers to Python.
    """
    plans: dict[Any, Plan] = {}
    planned = _planner(overloads, plans, operator)
    extension_points.on_switch.append(plans.clear)

    def run(*args: Any, **kwargs: Any) -> Any:
        given: Any = args
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
            execute = partial(STATE.level.propagate, execute)
        if STATE.devices:
            execute = partial(extension_points.run_on_devices, execute)
        inputs = given if operands is None else operands(given)
        options = kernel.defaults if attributes is None else attributes(given)
        if STATE.silent:
            return execute(kernel, inputs, options)
        return run_quietly(execute, kernel, inputs, options)

    run.__name__ = run.__qualname__ = overloads.name
    run.__doc__ = overloads.ops[0].doc
    return run
