"""Watching the reference at work, for explanations: which tensors each op takes and gives.

The watchers are put in place in a process of its own; nothing else pays for them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import reference_impl
from conformance.adapters.call_names import SILENT, STEP
from conformance.adapters.reference_state import TENSOR, elements
from reference_impl.autograd.function import Function
from reference_impl.base.session import STATE
from reference_impl.core import apply, engine, extension_points, inplace
from reference_impl.core.access import raw_state, view_of
from reference_impl.distributions.distribution import Distribution
from reference_impl.namespace import binning, bits, distinct, legacy, non_differentiable, random
from reference_impl.namespace.casts import CASTS
from reference_impl.nn.parameter import Parameter
from reference_impl.optim import grad_scaler, optimizer

LEAVES_TORCH = ("numpy", "item", "tolist", "__float__", "__int__", "__array__", "__format__")
"""Methods whose result is no tensor: what is computed from it has no history."""


Told = Callable[[str, list[Any], list[Any]], None]
"""Called with an op's name, the tensors that it gives and those that it takes."""


class Watcher:
    """Tells of each call of an op by the user: ``begin`` before it runs, ``end`` after."""

    def __init__(self, begin: Callable[[], None], end: Told) -> None:
        self.begin, self.end = begin, end
        self.in_engine = 0

    def start(self) -> None:
        """Put the watchers in place."""
        before = extension_points.runner_for

        def runner_for(op: Any, types: tuple[type, ...]) -> Callable[..., Any]:
            run = before(op, types) or _runner(op)
            return self._watched(op.name, run)

        extension_points.fill(runner_for)
        for forget in extension_points.on_switch:
            forget()
        self._watch_functions()

    def watch_engine(self, note: Callable[[Any, list[Any]], None]) -> None:
        """Have ``note`` called with each node that the engine reaches, and the elements of its gradients."""
        evaluate = engine.evaluate_function

        def noted(node: Any, grads: Any, task: Any) -> None:
            note(node, [None if g is None else elements(g) for g in grads])
            self.in_engine += 1
            try:
                evaluate(node, grads, task)
            finally:
                self.in_engine -= 1

        engine.evaluate_function = noted

    def _watched(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def watched(kernel: Any, operands: Any, attributes: Any) -> Any:
            taken = (*operands, *attributes.values())  # indices are attributes
            return self._told(name, functools.partial(run, kernel, operands, attributes), taken)

        return watched

    def _told(self, name: str, run: Callable[[], Any], operands: Any) -> Any:
        if self.in_engine:
            return run()
        self.begin()
        out: Any = None
        try:
            out = run()
            return out
        finally:
            self.end(name, list(_tensors(out)), list(_tensors(operands)))

    def _watch_functions(self) -> None:
        """Watch what is no op: detaching, wrapping, custom functions, and the ways out of torch."""
        for name in ("detach", "detach_", "deepcopy", "__deepcopy__", "__copy__", *LEAVES_TORCH, *CASTS):
            if name in vars(TENSOR):
                setattr(TENSOR, name, self._function(name.strip("_"), getattr(TENSOR, name)))
        copied = self._function("deepcopy", self._quietly(Parameter.__deepcopy__))
        Parameter.__deepcopy__ = copied  # type: ignore[method-assign]  # this is the point
        data: Any = vars(TENSOR)["data"]
        watched = property(self._function(".data", data.fget), data.fset, data.fdel)
        setattr(TENSOR, "data", watched)  # noqa: B010  which mypy takes for an attribute
        for name in (*non_differentiable.BOTH, *binning.BOTH, *bits.BOTH, *distinct.BOTH):
            function = self._function(name, getattr(TENSOR, name))
            setattr(TENSOR, name, function)
            if hasattr(reference_impl, name):
                setattr(reference_impl, name, function)
        random.multinomial = self._function("multinomial", random.multinomial)
        reference_impl.multinomial = random.multinomial
        for name in ("_check_parameter", "check_sample"):
            setattr(Distribution, name, self._quietly(getattr(Distribution, name)))
        grad_scaler.divide_silently = self._function(SILENT, grad_scaler.divide_silently)
        hooked = optimizer.hooked
        optimizer.hooked = lambda step: hooked(self._stepping(step))
        for kind in _below(optimizer.Optimizer):
            if getattr(vars(kind).get("step"), "hooked", False):
                kind.step = self._stepping(kind.step)  # made before
        for name in ("tensor", "as_tensor", "from_numpy"):
            setattr(reference_impl, name, self._function(f"torch.{name}", getattr(reference_impl, name)))
        legacy.tensor = self._function("torch.Tensor", legacy.tensor)
        made, called = Parameter.__init__, Function.apply.__func__  # type: ignore[attr-defined]  # of a class method

        def init(parameter: Any, data: Any = None, requires_grad: bool = True) -> None:
            def run() -> Any:
                made(parameter, data, requires_grad)
                return parameter

            self._told("nn.Parameter", run, (data,))

        def applied(cls: Any, *args: Any, **kwargs: Any) -> Any:
            return self._told(f"{cls.__name__}.apply", functools.partial(called, cls, *args, **kwargs), args)

        Parameter.__init__ = init  # type: ignore[method-assign,assignment]  # this is the point
        Function.apply = classmethod(applied)  # type: ignore[method-assign,assignment]

    def _stepping(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """Return the ``step`` of a class of optimizers, which tells when it has run."""

        @functools.wraps(step)
        def noted(*args: Any, **kwargs: Any) -> Any:
            out = step(*args, **kwargs)
            self.begin()
            self.end(STEP, [], [x for group in args[0].param_groups for x in group["params"]])
            return out

        return noted

    def _quietly(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose own calls are not told."""

        @functools.wraps(function)
        def quiet(*args: Any) -> Any:
            self.in_engine += 1
            try:
                return function(*args)
            finally:
                self.in_engine -= 1

        return quiet

    def _function(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            return self._told(name, functools.partial(function, *args, **kwargs), args)

        return watched


def _below(kind: Any) -> Iterator[Any]:
    """Give the classes below one."""
    for below in kind.__subclasses__():
        yield below
        yield from _below(below)


def _runner(op: Any) -> Callable[..., Any]:
    """The function that runs an op which nothing special is known of."""
    if op.composite:
        return lambda kernel, operands, attributes: op.body(*operands, **attributes)
    if op.mutates:
        return inplace.call_in_place
    return apply.call_view if op.view else apply.call


def _tensors(x: Any, deep: int = 3) -> Iterator[Any]:
    if isinstance(x, TENSOR):
        yield x
    elif isinstance(x, (tuple, list)) and deep:
        for part in x[:100]:
            yield from _tensors(part, deep - 1)


def mode_rule() -> str:
    """Return the rule by which nothing is recorded now, or nothing if grad mode is on."""
    if STATE.inference:
        return "inference/records-nothing"
    return "" if STATE.enabled else "mode/no-grad-records-nothing"


def raw_needs_grad(x: Any) -> bool:
    """Tell whether a tensor requires grad, from raw state."""
    return raw_state(x)[2]


def base_of(x: Any) -> Any:
    """Return the tensor of which another is a view, or None."""
    view = view_of(x)
    return None if view is None else view.base
