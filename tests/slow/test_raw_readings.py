"""The reference is observed by a short way through raw state, which shows what the public attributes show."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from conformance.adapters import load, topology
from conformance.adapters.reference import Reference
from conformance.adapters.torch_shaped import TorchShaped
from conformance.comparison.compare import plain
from conformance.execution.run import run
from conformance.execution.trace import Trace
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.program.printing import to_text
from specs.fact import DENSITIES

PROGRAMS = 300


class Public(Reference):
    """The reference, observed by its public attributes as torch is."""

    observe, gradient = TorchShaped.observe, TorchShaped.gradient
    memory_place = staticmethod(topology.memory_place)

    def __init__(self) -> None:
        vars(self).update(vars(load("reference")))


def shown(trace: Trace) -> tuple[Any, ...]:
    """All that a trace shows, as text where NaN equals NaN; the rules that fire are of the machine."""
    seen = [
        (
            repr(each.outcome),
            each.warnings,
            repr(plain(each.calls)),
            {n: repr(plain(f)) for n, f in each.facts.items()},
        )
        for each in trace.observations
    ]
    return seen, repr({name: plain(facts) for name, facts in (trace.topology or {}).items()})


@pytest.mark.parametrize("density", DENSITIES)
def test_raw_readings_show_what_public_readings_show(density):
    """On drawn programs of all kinds, the readings that are refused among them."""
    refused: Counter[str] = Counter()
    reference, public = load("reference"), Public()
    for number in range(PROGRAMS):
        program = draw(Prng(7, number), reference).program
        raw = run(program, reference, density)
        assert shown(run(program, public, density)) == shown(raw), to_text(program)
        facts = (fact for seen in raw.observations for each in seen.facts.values() for fact in each)
        refused.update(fact[1] for fact in facts if type(fact) is tuple and fact and fact[0] == "refused")
    assert {"view/stale-tag-refused", "inference/has-no-version"} <= refused.keys()
