"""Tangents of functions of PyTorch's own that are written here as custom functions, without a ``jvp``."""

from __future__ import annotations

from typing import Any

from reference_impl.base.modes import enable_grad
from reference_impl.core.engine import execute
from reference_impl.core.graph import gradient_edge
from reference_impl.core.tensor import Tensor


def tangents_by_transposing_twice(
    function: Any, args: tuple[Any, ...], tangents: list[Tensor | None]
) -> tuple[Any, ...]:
    """Return the tangents of the outputs, None for those that have none: gradients are linear in what is
    upstream, and transposing that gives the derivative itself.
    """
    with enable_grad():
        moving = {at: args[at].detach().requires_grad_() for at, t in enumerate(tangents) if t is not None}
        outputs = function.apply(*[moving.get(at, x) for at, x in enumerate(args)])
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        differentiable = [out for out in outputs if isinstance(out, Tensor) and out.requires_grad]
        probes = [out.detach().zeros_like().requires_grad_() for out in differentiable]
        gradients = _grads(differentiable, probes, list(moving.values()), create_graph=True)
        pairs = [
            (g, tangents[at])
            for at, g in zip(moving, gradients, strict=True)
            if g is not None and g.requires_grad
        ]
    found = _grads([g for g, _ in pairs], [t for _, t in pairs], probes, create_graph=False)
    given = iter(
        probe.detach().zeros_like() if t is None else t for probe, t in zip(probes, found, strict=True)
    )
    return tuple(next(given) if any(out is each for each in differentiable) else None for out in outputs)


def _grads(roots: list[Any], upstream: list[Any], targets: list[Tensor], create_graph: bool) -> list[Any]:
    edges = [gradient_edge(root) for root in roots]
    wanted = [gradient_edge(target) for target in targets]
    return execute(edges, upstream, True, create_graph, False, wanted)
