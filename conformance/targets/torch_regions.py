"""Modes of torch that take a function: each is given the differentiable middle of a program at once.

Eager torch is the truth for them. What the documentation of a mode excludes is not claimed. Leaves, backward
and readings are eager torch's own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from conformance.adapters.capabilities import Capabilities
from conformance.execution.claims import known_ops
from conformance.execution.op_reach import may_change_others
from conformance.targets.torch_modes import Mode
from specs.fact import FACTS

Does = Callable[[Callable[..., Any], tuple[Any, ...]], Any]
"""Called with a function of tensors and its arguments; gives the function's results."""

OTHER_GRAPH = tuple(fact for fact in FACTS if fact not in ("grad_fn", "output_nr", "is_view"))
"""The facts where results have a history of the mode's own making."""

UNCOUNTED = tuple(fact for fact in OTHER_GRAPH if fact != "version")
"""The same where a write within comes to several."""

_CLAIMED = Capabilities()


class InRegions(Mode):
    """Torch that has regions done by a function; if it is for ``pure`` ones that are
    differentiated, eager torch does those that write, and those of plain tensors.
    """

    def __init__(
        self, name: str, does: Does, claimed: Capabilities, fresh: Any = None, *, pure: bool = False
    ) -> None:
        super().__init__(name)
        self._does, self._fresh, self._pure = does, fresh, pure
        does(lambda x: x.neg(), (torch.ones((), requires_grad=True),))  # what it imports is no program's
        self.capabilities = claimed
        self.wiring = None  # type: ignore[assignment]  # nodes and their ages are the mode's own

    def start(self) -> None:
        super().start()
        if self._fresh is not None:
            self._fresh()

    def run(self, session: None, region: Any, values: tuple[Any, ...]) -> Any:
        function = region.function(torch)
        if self._pure:
            writes = any(may_change_others(step.op) for step in region.program)
            if writes or not any(x.requires_grad for x in values):
                return function(*values)
        return self._does(function, values)


def without(*features: str, facts: tuple[str, ...] = FACTS) -> Capabilities:
    """All that is claimed on the CPU but some features."""
    return replace(_CLAIMED, features=_CLAIMED.features - set(features), facts=facts, refusals="outside")


def _compiled(backend: str, *left_out: str, facts: tuple[str, ...] = FACTS) -> InRegions:
    def does(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        return torch.compile(function, backend=backend)(*values)

    return InRegions(f"compiled by {backend}", does, without(*left_out, facts=facts), torch.compiler.reset)


def compile_eager() -> InRegions:
    """`torch.compile`, whose graphs run as they were captured."""
    return _compiled("eager")


def compile_aot_eager() -> InRegions:
    """`torch.compile`, whose graphs are functional and differentiated ahead of time, and run as they are."""
    return _compiled("aot_eager", "double", facts=UNCOUNTED)


def compile_inductor() -> InRegions:
    """`torch.compile` with its own code generator: seconds for each program."""
    return _compiled("inductor", "double", facts=UNCOUNTED)


def checkpoint_reentrant() -> InRegions:
    """`torch.utils.checkpoint` by a backward within the backward."""
    return _checkpointed(True)


def checkpoint() -> InRegions:
    """`torch.utils.checkpoint` by hooks on saved tensors."""
    return _checkpointed(False)


def _checkpointed(reentrant: bool) -> InRegions:
    from torch.utils.checkpoint import checkpoint

    def does(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        return checkpoint(function, *values, use_reentrant=reentrant)

    if not reentrant:
        return InRegions("checkpoint", does, without(), pure=True)
    left_out = "views", "inplace", "modes", "detach", "data", "grad_call", "double", "hooks", "inference"
    whole = "backward(gradient, retain_graph)", "torch.autograd.backward(grad_tensors, retain_graph)"
    others = {op for op in known_ops() if "backward" not in op}
    claimed = replace(without(*left_out, facts=OTHER_GRAPH), ops=frozenset([*others, *whole]))
    return InRegions("checkpoint, reentrant", does, claimed, pure=True)


def functionalize() -> InRegions:
    """`torch.func.functionalize`: writes become new tensors, and are copied back in the end."""

    def does(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        return torch.func.functionalize(function)(*values)

    return InRegions("functionalize", does, without(facts=OTHER_GRAPH))


def make_fx() -> InRegions:
    """The graph that `make_fx` traces with fake tensors, run on the true ones."""
    from torch.fx.experimental.proxy_tensor import make_fx

    def does(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        return make_fx(function, tracing_mode="fake")(*values)(*values)

    return InRegions("make_fx", does, without("modes", facts=OTHER_GRAPH))


def _copied(x: Any) -> Any:
    """A copy that is a leaf if the tensor is one."""
    copy = x.detach().clone()
    if x.requires_grad and not (x.is_floating_point() or x.is_complex()):
        copy.fill_(torch.zeros((), requires_grad=True))  # by which alone integers come to require grad
        copy.detach().copy_(x.detach())
        return copy
    copy.requires_grad_(x.requires_grad)
    return copy if x.is_leaf else copy.clone()


def jit_trace() -> InRegions:
    """The graph that `torch.jit.trace` records on copies, run on the true ones."""

    def does(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        function.__module__ = __name__  # which it asks for
        copies = tuple(map(_copied, values))
        with warnings.catch_warnings(action="ignore"):  # it is deprecated
            traced = torch.jit.trace(function, copies, check_trace=False)
        return traced(*values)

    return InRegions("jit.trace", does, without("modes", facts=OTHER_GRAPH))


def export() -> InRegions:
    """The program that `torch.export` makes of the function."""

    class Middle(torch.nn.Module):
        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__()
            self._function = function

        def forward(self, *values: Any) -> Any:
            return self._function(*values)

    def does(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        return torch.export.export(Middle(function), values, strict=False).module()(*values)

    return InRegions("export", does, without(facts=OTHER_GRAPH))
