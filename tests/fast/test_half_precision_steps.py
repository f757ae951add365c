"""Steps of generated programs in half precision."""

from __future__ import annotations

from conformance import adapters
from conformance.execution.run import Runner
from conformance.execution.trace import DONE
from conformance.generate.guide.guide import range_of
from conformance.generate.state.choices import Prng
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.oracle import RunnerOracle
from conformance.generate.state.tensor_info import Store
from conformance.generate.steps import half_precision
from conformance.program.parsing import parse

ORACLE = adapters.load("reference")


def test_a_leaf_is_scaled_in_half_precision_as_long_as_it_has_it():
    """Another dtype may be assigned to its data before the step that was scheduled comes."""
    with Runner(ORACLE) as runner:
        for step in parse("a = torch.ones(2, dtype=torch.float16)\na.data = torch.arange(2)"):
            assert runner.step(step).outcome is DONE
        state = GenState(Prng(0, 0), RunnerOracle(runner))
        state.vocabulary = range_of(ORACLE.capabilities).exact
        assert not half_precision.scale_half(state, state.bind("a", Store(1)))
