"""The capabilities that an implementation declares before anything is drawn for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from specs.fact import FACTS

MOVING = frozenset(["devices", "two_devices"])
"""Features of implementations with devices: something that `cuda` stands for, and a `cuda:1` too."""

FEATURES = MOVING | {
    "modes", "views", "inplace", "detach", "data", "retain", "double", "grad_call", "hooks", "functions",
    "errors",
}  # fmt: skip
"""Groups of behaviour a program may touch; an implementation names those it has."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The features that may be drawn for an implementation, and the facts it shows; the defaults mean
    everything on the CPU.

    `ops` are operations as steps spell them (None: all); `shapes` is "any" or "scalar".
    """

    ops: frozenset[str] | None = None
    shapes: str = "any"
    dtypes: frozenset[str] = frozenset(
        ["float64", "float32", "float16", "bfloat16", "complex128", "complex64", "int64", "bool"]
    )
    features: frozenset[str] = FEATURES - MOVING
    facts: tuple[str, ...] = FACTS

    @property
    def limited(self) -> bool:
        """Tell whether it lacks anything that can be done on the CPU."""
        return replace(self, features=self.features - MOVING) != Capabilities()
