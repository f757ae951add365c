"""Strata of a recording: programs drawn for implementations that can do less than PyTorch.

Of programs drawn for PyTorch itself a small implementation can do next to none. In each stratum are programs
within the claims of one kind of it, so that it finds some hundred to be held against.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.adapters.capabilities import Capabilities

_EVERYTHING = Capabilities()
_SCALAR = (
    "add sub mul div neg pow exp log tanh relu sigmoid __add__ __sub__ __mul__ __truediv__ __neg__ __pow__"
)
_COMMON = f"{_SCALAR} sum mean matmul reshape transpose permute unsqueeze squeeze expand sqrt abs square cat"


def _ops(words: str) -> frozenset[str]:
    return frozenset(["torch.tensor", "backward", *words.replace(" cat", " torch.cat").split()])


@dataclass(frozen=True, slots=True)
class Stratum:
    """The claims that programs of a stratum keep to, and how many there are."""

    name: str
    claims: Capabilities
    programs: int

    def numbers(self) -> range:
        """Return the numbers of its programs; those drawn for PyTorch count from 0."""
        first = 1_000_000 * (STRATA.index(self) + 1)
        return range(first, first + self.programs)


STRATA = (
    Stratum(
        "scalars",
        Capabilities(
            ops=_ops(_SCALAR),
            shapes="scalar",
            dtypes=frozenset(["float64"]),
            features=frozenset(),
            refusals="none",
        ),
        100,
    ),
    Stratum(
        "values",
        Capabilities(
            ops=_ops(_COMMON), dtypes=frozenset(["float32"]), features=frozenset(["views"]), refusals="none"
        ),
        100,
    ),
    Stratum(
        "no in-place",
        Capabilities(features=_EVERYTHING.features - {"inplace", "data"}, refusals="rules"),
        25,
    ),
    Stratum("no errors", Capabilities(refusals="none"), 25),
    Stratum("float32", Capabilities(dtypes=frozenset(["float32"])), 25),
)
"""The strata, in the order of their numbers."""
