"""The sample: so many mutations of each part of the reference, drawn by a hash of their names.

A change of one function leaves the draw of all others as it was. Each file of a part gives mutations in
proportion to those that it has, and at least one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from benchmarks.mutations.changes import REFERENCE, Mutation, mutations

STRATA = {"core": 160, "autograd": 60, "fidelity": 50, "forward": 30}
"""The mutations of each part: 300."""
SEED = 1


def files(part: str) -> list[Path]:
    """The files of a part of the reference."""
    return sorted((REFERENCE / part).glob("*.py"))


def sample(seed: int = SEED, strata: dict[str, int] = STRATA) -> list[Mutation]:
    """The mutations that are tried."""
    return [each for part, count in strata.items() for each in _of_part(part, count, seed)]


def _of_part(part: str, count: int, seed: int) -> list[Mutation]:
    listed = {path: _shuffled(mutations(path), seed) for path in files(part)}
    listed = {path: found for path, found in listed.items() if found}
    total = sum(map(len, listed.values()))
    # Each file is owed its share; the next mutation comes from the file that is owed most.
    owed = {path: count * len(found) / total for path, found in listed.items()}
    taken: dict[Path, int] = dict.fromkeys(listed, 1)
    while sum(taken.values()) < count:
        path = max(listed, key=lambda each: (owed[each] - taken[each], -len(each.name), str(each)))
        taken[path] += 1
    return [mutation for path, found in listed.items() for mutation in found[: taken[path]]]


def _shuffled(found: list[Mutation], seed: int) -> list[Mutation]:
    return sorted(found, key=lambda each: hashlib.sha256(f"{seed} {each.id}".encode()).digest())
