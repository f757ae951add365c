"""Programs that round somewhere, and the names that rounding reaches in them."""

from __future__ import annotations

from conformance.adapters import load
from conformance.comparison.tolerance.bounds import RoundingBounds
from conformance.execution.run import run
from conformance.execution.trace import Trace
from conformance.program.parsing import parse

REFERENCE = load("reference")
LEAF = "a = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)\n"


def trace(text: str, density: str = "each") -> Trace:
    return run(parse(text), REFERENCE, density)


def reached(text: str, density: str = "each", step: int = -1) -> tuple[str, str]:
    """The names whose values, and those whose grads, may be off after a step, the last by default."""
    seen = trace(text, density)
    rounding, step = RoundingBounds(seen), step % len(seen)
    names = sorted({name for at in seen.observations for name in at.facts})
    return (
        " ".join(name for name in names if rounding.of(step, name).terms),
        " ".join(name for name in names if rounding.of_grad(step, name).terms),
    )
